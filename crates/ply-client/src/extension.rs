//! Messages that the protocol does not know: a client's own methods, and those of its agents.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use ply_rpc::{CallOptions, Posted, Request, RpcError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{Agent, Error};

/// A request or a notification with a name that begins with an underscore, which only this client knows.
#[derive(Debug)]
pub struct Extension {
    method: Box<str>,
    params: Option<Box<RawValue>>,
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
    /// They do not fit the type: "invalid params", to be returned from [`Extensions::request`].
    pub fn params<T: DeserializeOwned>(&self) -> Result<T, RpcError> {
        let params = self.params.as_ref().map_or("{}", |params| params.get());
        serde_json::from_str(params).map_err(|error| RpcError::from_decode(&error))
    }

    /// Returns the params as they came.
    #[must_use]
    pub fn raw_params(&self) -> Option<&RawValue> {
        self.params.as_deref()
    }
}

impl From<Request<'_>> for Extension {
    fn from(request: Request<'_>) -> Self {
        Self {
            method: request.method.into(),
            params: request.raw_params.map(ToOwned::to_owned),
        }
    }
}

impl From<Posted> for Extension {
    fn from(posted: Posted) -> Self {
        Self {
            method: posted.method,
            params: posted.raw_params,
        }
    }
}

/// What a client does about messages of its own that agents send. Give it to [`Client::extensions`](crate::Client::extensions).
///
/// ```
/// use ply_client::{Client, Extension, Extensions, RpcError, Value, serde_json::json};
///
/// struct Editor;
///
/// impl Extensions for Editor {
///     async fn request(&self, request: &Extension) -> Result<Value, RpcError> {
///         match request.method() {
///             "_example.com/selection" => Ok(json!({"from": 3, "to": 9})),
///             _ => Err(RpcError::method_not_found()),
///         }
///     }
/// }
///
/// let client = Client::new().extensions(Editor);
/// ```
pub trait Extensions: Send + Sync + 'static {
    /// Serves a request. It may take its time: whatever else the agent sends is served meanwhile, and this is dropped if the
    /// agent takes the request back.
    #[doc(alias = "ext_method")]
    fn request(&self, request: &Extension) -> impl Future<Output = Result<Value, RpcError>> + Send {
        let _ = request;
        std::future::ready(Err(RpcError::method_not_found()))
    }

    /// Hears of a notification. They come one after the other, in their order. An agent that sends faster than this returns
    /// loses some, which [`Agent::reports`] tells.
    #[doc(alias = "ext_notification")]
    fn notification(&self, notification: &Extension) -> impl Future<Output = ()> + Send {
        let _ = notification;
        std::future::ready(())
    }
}

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// [`Extensions`] in a form that can be kept without knowing their type.
pub(crate) trait DynExtensions: Send + Sync {
    fn request(self: Arc<Self>, request: Extension) -> Work<Result<Value, RpcError>>;
    fn notification(self: Arc<Self>, notification: Extension) -> Work<()>;
}

/// Extensions whose type is forgotten.
pub(crate) struct Erased<T>(pub(crate) T);

impl<T: Extensions> DynExtensions for Erased<T> {
    fn request(self: Arc<Self>, request: Extension) -> Work<Result<Value, RpcError>> {
        Box::pin(async move { self.0.request(&request).await })
    }

    fn notification(self: Arc<Self>, notification: Extension) -> Work<()> {
        Box::pin(async move { self.0.notification(&notification).await })
    }
}

impl fmt::Debug for dyn DynExtensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Extensions")
    }
}

impl Agent {
    /// Calls a method of the agent's own, whose name begins with an underscore. It may take as long as the agent needs; an agent
    /// that died is started again first.
    ///
    /// Nothing keeps it from calling a method of the protocol as well; this client then does nothing about it but pass it on.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent says no, also that it has no such method; otherwise the agent is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the agent is told that the answer is no longer wanted.
    #[doc(alias = "ext_method")]
    #[doc(alias = "send_request")]
    pub async fn call<R: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize + Send,
    ) -> Result<R, Error> {
        let connection = self.inner.connection().await?;
        let options = CallOptions::default().patient();
        let call = connection.parts.peer.call_with(method, &params, options);
        match call.await {
            Ok(answer) => Ok(answer),
            Err(error) => Err(connection.failed(error).await),
        }
    }

    /// Sends the agent a notification of this client's own, whose name begins with an underscore. An agent that died is started
    /// again first.
    ///
    /// # Errors
    ///
    /// The agent is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, it is not sent.
    #[doc(alias = "ext_notification")]
    #[doc(alias = "send_notification")]
    pub async fn notify(&self, method: &str, params: impl Serialize + Send) -> Result<(), Error> {
        let connection = self.inner.connection().await?;
        match connection.parts.peer.notify(method, &params).await {
            Ok(()) => Ok(()),
            Err(error) => Err(connection.failed(error).await),
        }
    }
}
