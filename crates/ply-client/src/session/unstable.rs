//! What the schema calls unstable, for a session that is open here.

use super::Session;
use crate::Error;

impl Session {
    /// Makes a session with the past of this one up to its last finished turn, and the same setup. As for
    /// [`Agent::fork_session`](crate::Agent::fork_session).
    ///
    /// # Errors
    ///
    /// As for [`Agent::fork_session`](crate::Agent::fork_session).
    ///
    /// # Cancel safety
    ///
    /// The agent may make the session all the same; its updates are then ignored.
    #[cfg(feature = "unstable_session_fork")]
    pub async fn fork(&self) -> Result<Self, Error> {
        let setup = self.cell.setup.clone();
        self.agent.fork_session(self.id().clone(), setup).await
    }

    /// Returns the status of the session at the agent. As for [`Agent::session_status`](crate::Agent::session_status).
    ///
    /// # Errors
    ///
    /// As for [`Agent::session_status`](crate::Agent::session_status).
    ///
    /// # Cancel safety
    ///
    /// Nothing is changed by it.
    #[cfg(feature = "unstable_session_status")]
    pub async fn status(&self) -> Result<ply_wire::v2::SessionStatusResponse, Error> {
        self.agent.session_status(self.id().clone()).await
    }

    /// Names the session. Returns the title as the agent stored it, which the transcript then has too.
    ///
    /// # Errors
    ///
    /// As for [`Agent::set_session_title`](crate::Agent::set_session_title).
    ///
    /// # Cancel safety
    ///
    /// The agent may name the session all the same.
    #[cfg(feature = "unstable_session_set_title")]
    pub async fn set_title(&self, title: impl Into<String>) -> Result<String, Error> {
        let (id, cell) = (self.id().clone(), std::sync::Arc::clone(&self.cell));
        // In its place among the updates, so that it replaces no title that came later.
        let then = move |title: &str| cell.titled(title);
        self.agent.set_title_then(id, title.into(), then).await
    }

    /// Archives the session, which closes it. As for [`Agent::archive_session`](crate::Agent::archive_session).
    ///
    /// # Errors
    ///
    /// As for [`Agent::archive_session`](crate::Agent::archive_session).
    ///
    /// # Cancel safety
    ///
    /// As for [`Agent::archive_session`](crate::Agent::archive_session).
    #[cfg(feature = "unstable_session_archive")]
    pub async fn archive(&self) -> Result<(), Error> {
        self.agent.archive_session(self.id().clone()).await?;
        self.cell.close();
        Ok(())
    }

    /// Returns the session to default listings. As for [`Agent::unarchive_session`](crate::Agent::unarchive_session).
    ///
    /// # Errors
    ///
    /// As for [`Agent::unarchive_session`](crate::Agent::unarchive_session).
    ///
    /// # Cancel safety
    ///
    /// The agent may take the session out of the archive all the same.
    #[cfg(feature = "unstable_session_archive")]
    pub async fn unarchive(&self) -> Result<(), Error> {
        self.agent.unarchive_session(self.id().clone()).await
    }
}

#[cfg(feature = "unstable_session_set_title")]
impl super::SessionCell {
    /// Takes in a title that the agent stored, also if the agent does not tell it as an update.
    fn titled(&self, title: &str) {
        let mut state = self.lock();
        if state.transcript.info().title.as_deref() != Some(title) {
            let update = ply_wire::v2::SessionInfoUpdate::new().title(title.to_owned());
            state.fold(ply_wire::v2::SessionUpdate::SessionInfoUpdate(update), 0);
        }
    }
}
