//! Asking the user while a request of the client waits that belongs to no session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ply_rpc::CallOptions;
use ply_wire::link::Typed as _;
use ply_wire::negotiate::Version;
use ply_wire::{convert, v1, v2};

use crate::client::Client;
use crate::{Caller, Elicited, Error, Result, asking};

/// The user behind a request that is being served, such as a login.
///
/// What is asked names the request, so that the client can show it where the user waits. It is taken back when the client
/// takes the request back.
#[derive(Debug)]
pub struct Asker {
    client: Arc<Client>,
    /// The request in the client's own numbers.
    request: serde_json::Value,
    urls: AtomicU64,
}

impl Asker {
    pub(crate) fn new(client: Arc<Client>, request: serde_json::Value) -> Self {
        Self {
            client,
            request,
            urls: AtomicU64::new(1),
        }
    }

    /// Returns what the server knows of the client.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.client.caller
    }

    /// Returns whether the client can show forms.
    #[must_use]
    pub fn has_forms(&self) -> bool {
        self.client.answers().form
    }

    /// Returns whether the client can send its user to a URL.
    #[must_use]
    pub fn has_urls(&self) -> bool {
        self.client.answers().url
    }

    /// Has the user fill in a form. Never ask for secrets with it; that is what URLs are for.
    ///
    /// # Errors
    ///
    /// The client has no forms or is gone, or the form asks for a secret or is nested.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the question is taken back.
    pub async fn elicit_form(
        &self,
        message: impl Into<String>,
        schema: v2::ElicitationSchema,
    ) -> Result<Elicited> {
        if !self.has_forms() {
            return Err(Error::not_offered("forms"));
        }
        asking::check_form(&schema)?;
        let mode = v2::ElicitationFormMode::new(self.scope()?, schema);
        self.ask(mode.into(), message.into()).await
    }

    /// Asks the user to visit a URL, and returns the name under which [`finish_url`](Self::finish_url) says that the visit is
    /// over.
    ///
    /// # Errors
    ///
    /// The client has no way to do that or is gone, or the URL is not https or holds what gives access.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the question is taken back.
    pub async fn elicit_url(
        &self,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<(Elicited, v2::ElicitationId)> {
        if !self.has_urls() {
            return Err(Error::not_offered("URLs"));
        }
        let url = url.into();
        asking::check_url(&url, None)?;
        let number = self.urls.fetch_add(1, Ordering::Relaxed);
        let id = v2::ElicitationId::new(format!("request/{}/url-{number}", self.request));
        let mode = v2::ElicitationUrlMode::new(self.scope()?, id.clone(), url);
        let elicited = self.ask(mode.into(), message.into()).await?;
        Ok((elicited, id))
    }

    /// Tells the client that the visit to a URL is over.
    ///
    /// # Errors
    ///
    /// The client is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is told.
    pub async fn finish_url(&self, id: v2::ElicitationId) -> Result<()> {
        self.client
            .finish_url(&v2::CompleteElicitationNotification::new(id))
            .await
    }

    /// Returns the request that the question belongs to (V2-ELIC-03).
    fn scope(&self) -> Result<v2::ElicitationScope> {
        let request: v2::RequestId = serde_json::from_value(self.request.clone())?;
        Ok(v2::ElicitationRequestScope::new(request).into())
    }

    async fn ask(&self, mode: v2::ElicitationMode, message: String) -> Result<Elicited> {
        let request = v2::CreateElicitationRequest::new(mode, message);
        let (peer, patient) = (&self.client.peer, CallOptions::default().patient());
        let action = match self.client.version {
            Version::V2 => {
                let answer = peer.ask_with(&request, patient).await;
                answer.map_err(Error::client)?.action
            }
            Version::V1 => {
                // It is the client's own request, whose id is the same in both readings.
                let same = |id: &v2::RequestId| -> Option<v1::RequestId> {
                    serde_json::from_value(serde_json::to_value(id).ok()?).ok()
                };
                let request = convert::elicitation::request_down(&request, same);
                let request = request.ok_or_else(|| Error::not_offered("this question"))?;
                let answer = peer.ask_with(&request, patient).await;
                convert::elicitation::response_up(&answer.map_err(Error::client)?).action
            }
        };
        Ok(Elicited::of(action))
    }
}
