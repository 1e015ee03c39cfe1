//! What the schema calls unstable: forks, statuses, titles and archives of sessions.

use ply_wire::convert::unstable as convert;
use ply_wire::negotiate::Version;
use ply_wire::v2;

use super::Agent;
#[cfg(any(
    feature = "unstable_session_status",
    feature = "unstable_session_set_title"
))]
use super::read;
use crate::Error;
use crate::hello::offered;

impl Agent {
    /// Makes a session with the past of another one. From then on they have nothing to do with each other. Its history is not
    /// told, as with [`resume_session`](Agent::resume_session).
    ///
    /// # Errors
    ///
    /// [`Error::NotOffered`] if the agent cannot; [`Error::Refused`] if there is no such session; otherwise as for
    /// [`Agent::new_session`].
    ///
    /// # Cancel safety
    ///
    /// The agent may make the session all the same; its updates are then ignored.
    #[cfg(feature = "unstable_session_fork")]
    pub async fn fork_session(
        &self,
        id: impl Into<v2::SessionId>,
        setup: impl Into<crate::SessionSetup>,
    ) -> Result<crate::Session, Error> {
        use super::introduction::introduce;
        use super::opening::{has_sessions, unsupported};

        let (id, setup) = (id.into(), setup.into());
        let connection = self.inner.connection().await?;
        has_sessions(&connection)?;
        let can = connection.hello.can_fork();
        offered(can, "forking sessions", "make a new session")?;
        setup.check(&connection.hello)?;
        let request = setup.to_fork(&id);
        let cell = match connection.hello.version {
            Version::V1 => {
                let request = convert::fork_down(&request).map_err(|_| unsupported())?;
                introduce(&connection, &request, setup).await?
            }
            Version::V2 => introduce(&connection, &request, setup).await?,
        };
        Ok(crate::Session::new(self.clone(), cell.claim()))
    }

    /// Returns whether the agent has a session in memory, and what it does. The session is not opened for that, and an `idle`
    /// here is no end of a turn. Agents of version 1 do not tell the state.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffered`] if the agent cannot tell; [`Error::Refused`] if there is no such session.
    ///
    /// # Cancel safety
    ///
    /// Nothing is changed by it.
    #[cfg(feature = "unstable_session_status")]
    pub async fn session_status(
        &self,
        id: impl Into<v2::SessionId>,
    ) -> Result<v2::SessionStatusResponse, Error> {
        let connection = self.inner.connection().await?;
        let can = connection.hello.can_tell_status();
        offered(can, "the status of sessions", "list the sessions instead")?;
        let request = v2::SessionStatusRequest::new(id.into());
        match connection.hello.version {
            Version::V1 => {
                let then = |answer: &_| {
                    let answer = read("session/status", answer)?;
                    Ok(convert::status_response_up(&answer))
                };
                connection.ask(&convert::status_down(&request), then).await
            }
            Version::V2 => {
                let then = |answer: &_| read("session/status", answer);
                connection.ask(&request, then).await
            }
        }
    }

    /// Names a session, which need not be open. Returns the title as the agent stored it.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffered`] if the agent cannot; [`Error::Refused`] if there is no such session, or the title is none.
    ///
    /// # Cancel safety
    ///
    /// The agent may name the session all the same.
    #[cfg(feature = "unstable_session_set_title")]
    pub async fn set_session_title(
        &self,
        id: impl Into<v2::SessionId>,
        title: impl Into<String>,
    ) -> Result<String, Error> {
        self.set_title_then(id.into(), title.into(), |_| {}).await
    }

    /// Names a session; `then` hears the title that the agent stored, in its place among the agent's updates.
    #[cfg(feature = "unstable_session_set_title")]
    pub(crate) async fn set_title_then(
        &self,
        id: v2::SessionId,
        title: String,
        then: impl FnOnce(&str) + Send + 'static,
    ) -> Result<String, Error> {
        let connection = self.inner.connection().await?;
        let can = connection.hello.can_set_titles();
        offered(can, "titles of the user's own", "keep them yourself")?;
        let request = v2::SetSessionTitleRequest::new(id, title);
        match connection.hello.version {
            Version::V1 => {
                let then = move |answer: &_| {
                    let answer = read("session/set_title", answer)?;
                    let title = convert::set_title_response_up(&answer).title;
                    then(&title);
                    Ok(title)
                };
                connection
                    .ask(&convert::set_title_down(&request), then)
                    .await
            }
            Version::V2 => {
                let then = move |answer: &_| {
                    let answer: v2::SetSessionTitleResponse = read("session/set_title", answer)?;
                    then(&answer.title);
                    Ok(answer.title)
                };
                connection.ask(&request, then).await
            }
        }
    }

    /// Archives a session: it is closed, and kept, and listings leave it out unless they are asked for it.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffered`] if the agent cannot; [`Error::Refused`] if there is no such session.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the request is cancelled. If the agent archives the session all the same, it is closed here
    /// too.
    #[cfg(feature = "unstable_session_archive")]
    pub async fn archive_session(&self, id: impl Into<v2::SessionId>) -> Result<(), Error> {
        let id = id.into();
        let connection = self.inner.connection().await?;
        offers_archives(&connection)?;
        let request = v2::ArchiveSessionRequest::new(id.clone());
        let ending = crate::connection::Ending::new(&connection, &id);
        let then = |_: &_| Ok(ending.ended());
        let commands = match connection.hello.version {
            Version::V1 => {
                let request = convert::archive_down(&request);
                connection.ask(&request, then).await?
            }
            Version::V2 => connection.ask(&request, then).await?,
        };
        commands.ended().await;
        Ok(())
    }

    /// Returns a session to default listings. It is not opened by that.
    ///
    /// # Errors
    ///
    /// As for [`archive_session`](Agent::archive_session).
    ///
    /// # Cancel safety
    ///
    /// The agent may take the session out of the archive all the same.
    #[cfg(feature = "unstable_session_archive")]
    pub async fn unarchive_session(&self, id: impl Into<v2::SessionId>) -> Result<(), Error> {
        let connection = self.inner.connection().await?;
        offers_archives(&connection)?;
        let request = v2::UnarchiveSessionRequest::new(id.into());
        match connection.hello.version {
            Version::V1 => {
                let request = convert::unarchive_down(&request);
                connection.ask(&request, |_| Ok(())).await
            }
            Version::V2 => connection.ask(&request, |_| Ok(())).await,
        }
    }
}

/// Fails if the agent has no archive.
#[cfg(feature = "unstable_session_archive")]
pub(super) fn offers_archives(connection: &crate::connection::Connection) -> Result<(), Error> {
    let can = connection.hello.can_archive();
    offered(can, "an archive of sessions", "list all sessions instead")
}
