//! Bringing a session back after its agent was started again.

use std::sync::Arc;

use super::Session;
use super::cell::History;
use super::options::Setting;
use crate::Error;
use crate::agent::{Reopen, reopen};
use crate::connection::Connection;

impl Session {
    /// Returns the living connection, with this session open on it.
    pub(super) async fn attached(&self) -> Result<Arc<Connection>, Error> {
        self.attached_with(None).await
    }

    /// The same for whoever sets an option, so that one that cannot be set back can still be set to something else.
    pub(super) async fn attached_with(
        &self,
        instead: Option<Setting<'_>>,
    ) -> Result<Arc<Connection>, Error> {
        if self.cell.is_closed() {
            return Err(Error::SessionClosed);
        }
        let connection = self.agent.inner.connection().await?;
        if self.is_on(&connection) {
            return Ok(connection);
        }
        // One at a time: whoever comes second finds the session open.
        let _attaching = self.cell.attaching.lock().await;
        if self.cell.is_closed() {
            return Err(Error::SessionClosed);
        }
        // The agent may have died and come back while we waited.
        let connection = self.agent.inner.connection().await?;
        if self.is_on(&connection) {
            return Ok(connection);
        }
        let hello = &connection.hello;
        // Resuming is preferred, because nothing needs to be told again. Either way the transcript already holds what was.
        let how = if hello.can_resume() {
            Reopen::Resume
        } else if hello.can_load() {
            Reopen::Load
        } else {
            return Err(Error::NotOffered {
                what: "opening old sessions, and its process died",
                hint: "make a new session",
            });
        };
        self.cell.setup.check(hello)?;
        let unfinished = reopen(&connection, &self.cell, how, History::Known).await?;
        // Before anything is prompted: an agent that starts in its default mode may do what the user has ruled out.
        self.restore_options(&connection, instead).await?;
        self.cell.restored(unfinished.attached);
        unfinished.finished();
        Ok(connection)
    }

    pub(super) fn is_on(&self, connection: &Connection) -> bool {
        self.cell.epoch() == Some(connection.parts.epoch)
    }
}
