//! Listing and deleting sessions.

use std::path::PathBuf;

use ply_wire::convert;
use ply_wire::negotiate::Version;
use ply_wire::{v1, v2};

use super::opening::has_sessions;
use super::{Agent, read};
use crate::Error;
use crate::hello::offered;
use crate::limits::{LIST_PAGES_MAX, LISTED_SESSIONS_MAX};

/// Which sessions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct SessionFilter {
    cwd: Option<PathBuf>,
    #[cfg(feature = "unstable_session_archive")]
    archived: Option<v2::SessionArchiveFilter>,
}

impl SessionFilter {
    /// Returns a filter that takes every session.
    pub fn all() -> Self {
        Self::default()
    }

    /// Takes only sessions that work in `cwd`, an absolute path.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Takes archived sessions too, or only those. Without it the agent lists what is not archived; with it the listing fails
    /// for an agent that has no archive.
    #[cfg(feature = "unstable_session_archive")]
    pub fn archived(mut self, archived: v2::SessionArchiveFilter) -> Self {
        self.archived = Some(archived);
        self
    }
}

impl Agent {
    /// Lists the agent's sessions, all pages together.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffered`] if the agent has no list.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the request is cancelled. Nothing is changed by it.
    pub async fn list_sessions(
        &self,
        filter: SessionFilter,
    ) -> Result<Vec<v2::SessionInfo>, Error> {
        let mut sessions = Vec::new();
        let mut cursor = None;
        for _ in 0..LIST_PAGES_MAX {
            let page = self.list_page(&filter, cursor.clone()).await?;
            sessions.extend(page.sessions);
            // An agent that gives the same place again would never come to an end.
            let is_stuck = page.next_cursor == cursor;
            cursor = page.next_cursor;
            if cursor.is_none() || is_stuck || sessions.len() >= LISTED_SESSIONS_MAX {
                break;
            }
        }
        sessions.truncate(LISTED_SESSIONS_MAX);
        Ok(sessions)
    }

    /// Lists one page of the agent's sessions, from the start or from the `next_cursor` of the page before.
    ///
    /// # Errors
    ///
    /// As for [`Agent::list_sessions`].
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the request is cancelled. Nothing is changed by it.
    pub async fn list_page(
        &self,
        filter: &SessionFilter,
        cursor: Option<v2::SessionListCursor>,
    ) -> Result<v2::ListSessionsResponse, Error> {
        let connection = self.inner.connection().await?;
        let can = connection.hello.can_list();
        offered(can, "a list of sessions", "remember session ids yourself")?;
        if filter.cwd.as_ref().is_some_and(|cwd| !cwd.is_absolute()) {
            let what = "the directory to list must be an absolute path";
            return Err(Error::Invalid { what });
        }
        let request = v2::ListSessionsRequest::new()
            .cwd(filter.cwd.clone().map(v2::AbsolutePath::new))
            .cursor(cursor);
        #[cfg(feature = "unstable_session_archive")]
        let request = {
            if filter.archived.is_some() {
                super::unstable::offers_archives(&connection)?;
            }
            request.archived(filter.archived.clone())
        };
        match connection.hello.version {
            Version::V1 => {
                let request = convert::session::list_down(&request);
                let then = |answer: &_| {
                    let answer: v1::ListSessionsResponse = read("session/list", answer)?;
                    Ok(convert::session::list_response_up(&answer))
                };
                connection.ask(&request, then).await
            }
            Version::V2 => {
                connection
                    .ask(&request, |answer| read("session/list", answer))
                    .await
            }
        }
    }

    /// Deletes a session for good.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffered`] if the agent cannot.
    ///
    /// # Cancel safety
    ///
    /// The request is not taken back: the agent deletes the session all the same, and then it is closed here too.
    pub async fn delete_session(&self, id: impl Into<v2::SessionId>) -> Result<(), Error> {
        let id = id.into();
        let connection = self.inner.connection().await?;
        has_sessions(&connection)?;
        let can = connection.hello.can_delete();
        offered(
            can,
            "deleting sessions",
            "delete its files by its own means",
        )?;
        let request = v2::DeleteSessionRequest::new(id.clone());
        match connection.hello.version {
            Version::V1 => {
                let request = convert::session::delete_down(&request);
                connection.ask_to_end_session(&request, &id).await
            }
            Version::V2 => connection.ask_to_end_session(&request, &id).await,
        }
    }
}
