//! Requests that the schema calls unstable, in either version.

use std::path::Path;

use agent_client_protocol::v1::schema as v1;
use agent_client_protocol::v2::schema as v2;
use serde_json::Value;

use super::{Error, SdkClient, Version};
use crate::record::word;

/// Requests, which fail as all others do.
impl SdkClient {
    /// Forks a session and returns the id of the copy.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn fork(&self, session: &str, cwd: impl AsRef<Path>) -> Result<String, Error> {
        let (session, cwd) = (session.to_owned(), cwd.as_ref());
        let answer = match self.version {
            Version::V1 => self.call(v1::ForkSessionRequest::new(session, cwd)).await,
            Version::V2 => self.call(v2::ForkSessionRequest::new(session, cwd)).await,
        }?;
        Ok(word(&answer, "sessionId").to_owned())
    }

    /// Asks for the status of a session.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn status(&self, session: &str) -> Result<Value, Error> {
        let session = session.to_owned();
        match self.version {
            Version::V1 => self.call(v1::SessionStatusRequest::new(session)).await,
            Version::V2 => self.call(v2::SessionStatusRequest::new(session)).await,
        }
    }

    /// Names a session, and returns the answer.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn set_title(&self, session: &str, title: &str) -> Result<Value, Error> {
        let (session, title) = (session.to_owned(), title.to_owned());
        match self.version {
            Version::V1 => {
                let request = v1::SetSessionTitleRequest::new(session, title);
                self.call(request).await
            }
            Version::V2 => {
                let request = v2::SetSessionTitleRequest::new(session, title);
                self.call(request).await
            }
        }
    }

    /// Archives a session, or takes it out of the archive.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn set_archived(&self, session: &str, archived: bool) -> Result<Value, Error> {
        let session = session.to_owned();
        match (self.version, archived) {
            (Version::V1, true) => self.call(v1::ArchiveSessionRequest::new(session)).await,
            (Version::V1, false) => self.call(v1::UnarchiveSessionRequest::new(session)).await,
            (Version::V2, true) => self.call(v2::ArchiveSessionRequest::new(session)).await,
            (Version::V2, false) => self.call(v2::UnarchiveSessionRequest::new(session)).await,
        }
    }

    /// Lists the archived sessions and returns the answer.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses.
    ///
    /// # Cancel safety
    ///
    /// The request stays sent.
    pub async fn list_archived(&self) -> Result<Value, Error> {
        match self.version {
            Version::V1 => {
                let only = v1::SessionArchiveFilter::Only;
                self.call(v1::ListSessionsRequest::new().archived(only))
                    .await
            }
            Version::V2 => {
                let only = v2::SessionArchiveFilter::Only;
                self.call(v2::ListSessionsRequest::new().archived(only))
                    .await
            }
        }
    }
}
