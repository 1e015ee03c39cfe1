//! What the client asks of the agent, in either version.

use std::path::Path;
use std::sync::Arc;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema as v1;
use agent_client_protocol::v2::schema as v2;
use agent_client_protocol::{JsonRpcRequest, JsonRpcResponse};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{End, Error, SdkClient, Version, within};
use crate::record::{Event, Record, word};

const NAME: &str = "sdk-client";

/// Requests. Each fails when the agent refuses it or does not answer in time, and dropping its future does not take the
/// request back.
impl SdkClient {
    /// Sends `initialize` and returns its answer.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses or speaks another version.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn initialize(&self) -> Result<Value, Error> {
        let release = env!("CARGO_PKG_VERSION");
        if self.version == Version::V2 {
            let info = v2::Implementation::new(NAME, release);
            let request = v2::InitializeRequest::new(ProtocolVersion::V2, info);
            return self.call(request).await;
        }
        let settings = &self.shared.settings;
        let files = v1::FileSystemCapabilities::new()
            .read_text_file(settings.files.is_some())
            .write_text_file(settings.files.is_some());
        let services = v1::ClientCapabilities::new()
            .fs(files)
            .terminal(settings.terminal);
        let request = v1::InitializeRequest::new(ProtocolVersion::V1)
            .client_info(v1::Implementation::new(NAME, release))
            .client_capabilities(services);
        self.call(request).await
    }

    /// Makes a session and returns its id.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn new_session(&self, cwd: impl AsRef<Path>) -> Result<String, Error> {
        let cwd = cwd.as_ref();
        let answer = match self.version {
            Version::V1 => self.call(v1::NewSessionRequest::new(cwd)).await,
            Version::V2 => self.call(v2::NewSessionRequest::new(cwd)).await,
        }?;
        Ok(word(&answer, "sessionId").to_owned())
    }

    /// Sends a prompt and waits for the end of its turn.
    ///
    /// On version 2 that is the idle state after the prompt's own message.
    ///
    /// # Errors
    ///
    /// On version 2 fails when the agent refuses to insert the prompt; an error on version 1 is an [`End`].
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn prompt(&self, session: &str, text: &str) -> Result<End, Error> {
        if self.version == Version::V1 {
            let request = v1::PromptRequest::new(session.to_owned(), vec![text.into()]);
            return match self.call(request).await {
                Ok(answer) => Ok(End::Stopped(word(&answer, "stopReason").to_owned())),
                Err(Error::Refused { error, .. }) => Ok(End::Failed(error)),
                Err(error) => Err(error),
            };
        }
        let request = v2::PromptRequest::new(session.to_owned(), vec![text.into()]);
        let answer = self.call(request).await?;
        let message = word(&answer, "messageId");
        let look = |record: &Record| end_of(record, session, message);
        within("the idle state", self.shared.log.until(look)).await
    }

    /// Sends `session/cancel` and lets go of held permission requests.
    ///
    /// # Errors
    ///
    /// Fails when the connection is gone.
    pub fn cancel(&self, session: &str) -> Result<(), Error> {
        let session = session.to_owned();
        match self.version {
            Version::V1 => {
                let cancel = v1::CancelNotification::new(session);
                self.agent.send_notification(cancel)?;
            }
            Version::V2 => {
                let cancel = v2::CancelSessionNotification::new(session);
                self.agent.send_notification(cancel)?;
            }
        }
        self.shared.cancels.send_replace(());
        Ok(())
    }

    /// Opens a session with its history: `session/load` on version 1, `session/resume` from the start on version 2.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn replay(&self, session: &str, cwd: impl AsRef<Path>) -> Result<Value, Error> {
        let (session, cwd) = (session.to_owned(), cwd.as_ref());
        match self.version {
            Version::V1 => self.call(v1::LoadSessionRequest::new(session, cwd)).await,
            Version::V2 => {
                let start = v2::ReplayFrom::Start(v2::ReplayFromStart::new());
                let request = v2::ResumeSessionRequest::new(session, cwd).replay_from(start);
                self.call(request).await
            }
        }
    }

    /// Opens a session without its history.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn resume(&self, session: &str, cwd: impl AsRef<Path>) -> Result<Value, Error> {
        let (session, cwd) = (session.to_owned(), cwd.as_ref());
        match self.version {
            Version::V1 => self.call(v1::ResumeSessionRequest::new(session, cwd)).await,
            Version::V2 => self.call(v2::ResumeSessionRequest::new(session, cwd)).await,
        }
    }

    /// Lists the sessions and returns the answer.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn list(&self) -> Result<Value, Error> {
        match self.version {
            Version::V1 => self.call(v1::ListSessionsRequest::new()).await,
            Version::V2 => self.call(v2::ListSessionsRequest::new()).await,
        }
    }

    /// Closes a session.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn close(&self, session: &str) -> Result<Value, Error> {
        let session = session.to_owned();
        match self.version {
            Version::V1 => self.call(v1::CloseSessionRequest::new(session)).await,
            Version::V2 => self.call(v2::CloseSessionRequest::new(session)).await,
        }
    }

    /// Sets a config option with a list of values.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn set_option(&self, session: &str, id: &str, to: &str) -> Result<Value, Error> {
        let (session, id) = (session.to_owned(), id.to_owned());
        match self.version {
            Version::V1 => {
                let value = v1::SessionConfigOptionValue::value_id(to.to_owned());
                let request = v1::SetSessionConfigOptionRequest::new(session, id, value);
                self.call(request).await
            }
            Version::V2 => {
                let value = v2::SessionConfigOptionValue::id(to.to_owned());
                let request = v2::SetSessionConfigOptionRequest::new(session, id, value);
                self.call(request).await
            }
        }
    }

    /// Sets a session's mode by `session/set_mode`, which only version 1 has.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn set_mode(&self, session: &str, mode: &str) -> Result<Value, Error> {
        let (session, mode) = (session.to_owned(), mode.to_owned());
        self.call(v1::SetSessionModeRequest::new(session, mode))
            .await
    }

    pub(super) async fn call<R: JsonRpcRequest>(&self, request: R) -> Result<Value, Error> {
        let method = request.method().to_owned();
        let (answered, answer) = oneshot::channel();
        let (shared, name) = (Arc::clone(&self.shared), method.clone());
        // Handled in order, so that the record shows what came before and after the answer.
        let prepared = self.agent.prepare_request(request);
        prepared.on_receiving_result(async move |result| {
            let result = result.and_then(|answer| answer.into_json(&name));
            let answer = match result {
                Ok(answer) => Ok(answer),
                Err(error) => Err(serde_json::to_value(error)?),
            };
            shared.log.push(Event::Answered {
                method: name,
                answer: answer.clone(),
            });
            // Nobody waits any more when the deadline has passed.
            drop(answered.send(answer));
            Ok(())
        })?;
        let answer = within(&method, answer).await?.map_err(|_| Error::Closed)?;
        answer.map_err(|error| Error::Refused { method, error })
    }
}

/// Finds the idle state after the message, on version 2.
fn end_of(record: &Record, session: &str, message: &str) -> Option<End> {
    let mut updates = record.updates(session).into_iter();
    updates.find(|update| {
        word(update, "sessionUpdate").starts_with("user_message")
            && word(update, "messageId") == message
    })?;
    let idle = updates.find(|update| {
        word(update, "sessionUpdate") == "state_update" && word(update, "state") == "idle"
    })?;
    Some(match word(idle, "stopReason") {
        "error" => End::Failed(idle.get("error").cloned().unwrap_or_default()),
        reason => End::Stopped(reason.to_owned()),
    })
}
