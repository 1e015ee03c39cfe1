//! Messages that the protocol does not know: an agent's own methods, and those of its clients.

use std::fmt;
use std::sync::Arc;

use ply_rpc::{CallOptions, RpcError};
use ply_wire::negotiate::Version;
use ply_wire::v2;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::connection::Views;
use crate::{Caller, Error, Result, Session, Turn, client};

/// A request or a notification with a name that begins with an underscore, which only this agent knows.
#[derive(Debug)]
pub struct Extension {
    pub(crate) method: Box<str>,
    pub(crate) params: Option<Box<RawValue>>,
    pub(crate) client: Client,
    pub(crate) views: Views,
}

impl Extension {
    /// Returns its name, with the underscore.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Reads the params. Params that were left out are read as an empty object.
    ///
    /// # Errors
    ///
    /// They do not fit the type. Returned from [`Agent::extension`](crate::Agent::extension) this is "invalid params".
    pub fn params<T: DeserializeOwned>(&self) -> Result<T> {
        let params = self.params.as_ref().map_or("{}", |params| params.get());
        serde_json::from_str(params).map_err(|error| RpcError::from_decode(&error).into())
    }

    /// Returns the params as they came.
    #[must_use]
    pub fn raw_params(&self) -> Option<&RawValue> {
        self.params.as_deref()
    }

    /// Returns what the server knows of the client that sent it.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.client.0.caller
    }

    /// Returns the client that sent it.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the session that the params name as `sessionId`, if the client has it open.
    ///
    /// # Errors
    ///
    /// The params name no session, or none that this client has open.
    pub fn session(&self) -> Result<Session> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Names {
            session_id: v2::SessionId,
        }

        let Names { session_id } = self.params()?;
        let session = self.views.session(&session_id);
        session.ok_or_else(|| crate::error::no_such_session(&session_id).into())
    }
}

/// A client. Clones are the same client.
#[derive(Clone)]
pub struct Client(pub(crate) Arc<client::Client>);

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.info()).finish()
    }
}

impl Client {
    /// Returns who the client says it is. Clients of version 1 need not say it.
    #[must_use]
    pub fn info(&self) -> Option<&v2::Implementation> {
        self.0.info.as_ref()
    }

    /// Returns what the client can do, in the words of version 2. Its `_meta` is where clients name the extensions they know.
    #[must_use]
    pub fn capabilities(&self) -> &v2::ClientCapabilities {
        &self.0.capabilities
    }

    /// Returns the protocol version that the client speaks.
    #[must_use]
    pub fn version(&self) -> Version {
        self.0.version
    }

    /// Calls a method of the client's own, whose name begins with an underscore. In a turn, prefer [`Turn::call_client`], which
    /// ends with the turn.
    ///
    /// Nothing keeps it from calling a method of the protocol as well; Ply then does nothing about it but pass it on.
    ///
    /// # Errors
    ///
    /// The client has no such method, refuses or is gone. [`Error::as_rpc`] has the error it answered with.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the client is told that the answer is no longer wanted.
    #[doc(alias = "ext_method")]
    #[doc(alias = "send_request")]
    pub async fn call<R: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize + Send,
    ) -> Result<R> {
        let options = CallOptions::default().patient();
        let call = self.0.peer.call_with(method, &params, options);
        call.await.map_err(Error::client)
    }

    /// Sends the client a notification of the agent's own, whose name begins with an underscore.
    ///
    /// # Errors
    ///
    /// The client is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, it is not sent.
    #[doc(alias = "ext_notification")]
    #[doc(alias = "send_notification")]
    pub async fn notify(&self, method: &str, params: impl Serialize + Send) -> Result<()> {
        let sent = self.0.peer.notify(method, &params);
        sent.await.map_err(Error::client)
    }
}

impl Turn {
    /// Returns the client that sent the prompt; none for a turn that the agent started itself.
    #[must_use]
    pub fn client(&self) -> Option<Client> {
        let (client, _) = self.context.client.as_ref()?;
        Some(Client(Arc::clone(client)))
    }

    /// Calls a method of the client's own, whose name begins with an underscore, after everything that was reported before.
    ///
    /// # Errors
    ///
    /// The client has no such method, refuses or is gone, or the turn has no client; or the turn was cancelled.
    /// [`Error::as_rpc`] has the error that the client answered with.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the client is told that the answer is no longer wanted.
    #[doc(alias = "ext_method")]
    pub async fn call_client<R: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize + Send,
    ) -> Result<R> {
        let client = self.any_client()?;
        let call = async {
            self.context.written().await?;
            client.call(method, params).await
        };
        self.context.unless_cancelled(call).await
    }

    /// Sends the client a notification of the agent's own, whose name begins with an underscore, after everything that was
    /// reported before.
    ///
    /// # Errors
    ///
    /// The client is gone, or the turn has none; or the turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, it is not sent.
    #[doc(alias = "ext_notification")]
    pub async fn notify_client(&self, method: &str, params: impl Serialize + Send) -> Result<()> {
        let client = self.any_client()?;
        let notify = async {
            self.context.written().await?;
            client.notify(method, params).await
        };
        self.context.unless_cancelled(notify).await
    }

    fn any_client(&self) -> Result<Client> {
        let client = self.client();
        client.ok_or_else(|| Error::not_offered("anything in a turn that the agent started itself"))
    }
}
