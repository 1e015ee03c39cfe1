//! Making sessions and opening old ones.

use std::sync::Arc;

use ply_wire::convert;
use ply_wire::negotiate::Version;
use ply_wire::{v1, v2};
use serde_json::value::RawValue;

use super::introduction::introduce;
use super::{Agent, read};
use crate::connection::Connection;
use crate::hello::offered;
use crate::session::cell::{History, SessionCell, State};
use crate::{Error, Session, SessionSetup};

/// How an old session is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reopen {
    /// With its history told again.
    Load,
    /// As it is.
    Resume,
}

impl Agent {
    /// Makes a session.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] or [`Error::NotOffered`] for a setup that this agent must not be sent, [`Error::AuthRequired`] if it
    /// wants a login first.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the request is cancelled. A session that the agent makes all the same is closed, if the agent
    /// can close sessions; its updates are ignored.
    #[doc(alias = "build_session")]
    pub async fn new_session(&self, setup: impl Into<SessionSetup>) -> Result<Session, Error> {
        let setup = setup.into();
        let connection = self.inner.connection().await?;
        has_sessions(&connection)?;
        setup.check(&connection.hello)?;
        let request = setup.to_new();
        let cell = match connection.hello.version {
            Version::V1 => {
                let request = convert::session::new_down(&request).map_err(|_| unsupported())?;
                introduce(&connection, &request, setup).await?
            }
            Version::V2 => introduce(&connection, &request, setup).await?,
        };
        Ok(Session::new(self.clone(), cell.claim()))
    }

    /// Opens an old session and takes in its history.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffered`] if the agent cannot; [`Error::SessionOpen`] if it is open already; [`Error::SessionOpening`] if
    /// an earlier request to open it was given up, and the agent did not answer that within [`OPENING_WAIT_MAX`]; otherwise as
    /// for [`Agent::new_session`].
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the request is cancelled. The agent may open the session all the same; its updates are then
    /// ignored. It is not closed, because other clients may be using it. Whoever opens it again waits until the agent has
    /// answered, so that no history is told twice.
    ///
    /// [`OPENING_WAIT_MAX`]: crate::limits::OPENING_WAIT_MAX
    pub async fn load_session(
        &self,
        id: impl Into<v2::SessionId>,
        setup: impl Into<SessionSetup>,
    ) -> Result<Session, Error> {
        let connection = self.inner.connection().await?;
        let can = connection.hello.can_load();
        offered(
            can,
            "loading sessions",
            "try `resume_session`, or make a new one",
        )?;
        self.reopen(&connection, id.into(), setup.into(), Reopen::Load)
            .await
    }

    /// Opens an old session without its history.
    ///
    /// # Errors
    ///
    /// As for [`Agent::load_session`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Agent::load_session`].
    pub async fn resume_session(
        &self,
        id: impl Into<v2::SessionId>,
        setup: impl Into<SessionSetup>,
    ) -> Result<Session, Error> {
        let connection = self.inner.connection().await?;
        let can = connection.hello.can_resume();
        offered(
            can,
            "resuming sessions",
            "try `load_session`, or make a new one",
        )?;
        self.reopen(&connection, id.into(), setup.into(), Reopen::Resume)
            .await
    }

    /// Opens an old session by whatever the agent offers: as it is, or else with its history, which is then taken in.
    ///
    /// # Errors
    ///
    /// As for [`Agent::load_session`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Agent::load_session`].
    pub async fn continue_session(
        &self,
        id: impl Into<v2::SessionId>,
        setup: impl Into<SessionSetup>,
    ) -> Result<Session, Error> {
        let (id, setup) = (id.into(), setup.into());
        let connection = self.inner.connection().await?;
        let can_load = connection.hello.can_load();
        if !connection.hello.can_resume() {
            return self.load_session(id, setup).await;
        }
        match self.resume_session(id.clone(), setup.clone()).await {
            // Some agents resume only what they have in memory.
            Err(Error::Refused(_)) if can_load => self.load_session(id, setup).await,
            resumed => resumed,
        }
    }

    /// Returns whether the agent can open old sessions.
    #[must_use]
    pub fn can_continue(&self) -> bool {
        let connection = self.inner.current();
        connection.hello.can_resume() || connection.hello.can_load()
    }

    async fn reopen(
        &self,
        connection: &Connection,
        id: v2::SessionId,
        setup: SessionSetup,
        how: Reopen,
    ) -> Result<Session, Error> {
        setup.check(&connection.hello)?;
        let cell = SessionCell::new(id, setup);
        reopen(connection, &cell, how, History::Taken)
            .await?
            .finished();
        Ok(Session::new(self.clone(), cell))
    }
}

pub(super) fn has_sessions(connection: &Connection) -> Result<(), Error> {
    let hint = "it can only be logged in to";
    offered(connection.hello.has_sessions(), "sessions", hint)
}

pub(super) fn unsupported() -> Error {
    Error::NotOffered {
        what: "MCP servers of this type",
        hint: "open the session without this server",
    }
}

/// What a session begins with.
pub(super) enum Settled {
    V1(
        Option<v1::SessionModeState>,
        Option<Vec<v1::SessionConfigOption>>,
        Option<v1::Meta>,
    ),
    V2(
        Vec<v2::SessionConfigOption>,
        Vec<v2::AvailableCommand>,
        Option<v2::Meta>,
    ),
}

impl Settled {
    pub(super) fn apply(self, session: &mut State) {
        let meta = match self {
            Self::V1(modes, options, meta) => {
                session.opened_v1(modes.as_ref(), options.as_deref());
                meta
            }
            Self::V2(options, commands, meta) => {
                session.opened_v2(options, commands);
                meta
            }
        };
        session.opened_meta(meta);
    }
}

/// Opens an old session on a connection. Its updates find it before the answer comes.
pub(crate) async fn reopen<'a>(
    connection: &Connection,
    cell: &'a Arc<SessionCell>,
    how: Reopen,
    history: History,
) -> Result<Unfinished<'a>, Error> {
    let request = cell.setup.to_resume(&cell.id);
    let wire = connection.wire();
    let opening = wire.routes.may_open(cell).await?;
    let attached = cell.attach(wire, history).ok_or(Error::SessionOpen)?;
    let guard = Unfinished {
        cell,
        attached,
        is_finished: false,
    };
    let opened = Arc::clone(cell);
    let settle = move |settled: Settled| {
        opened.opened(attached, |session| settled.apply(session));
        // After an answer that is none this is not called, but dropped, which does the same.
        drop(opening);
        Ok(())
    };
    match (connection.hello.version, how) {
        (Version::V1, Reopen::Load) => {
            let request = convert::session::load_down(&request).map_err(|_| unsupported())?;
            let then = move |answer: &RawValue| {
                let answer: v1::LoadSessionResponse = read("session/load", answer)?;
                settle(Settled::V1(
                    answer.modes,
                    answer.config_options,
                    answer.meta,
                ))
            };
            connection.ask(&request, then).await?;
        }
        (Version::V1, Reopen::Resume) => {
            let request = convert::session::resume_down(&request).map_err(|_| unsupported())?;
            let then = move |answer: &RawValue| {
                let answer: v1::ResumeSessionResponse = read("session/resume", answer)?;
                settle(Settled::V1(
                    answer.modes,
                    answer.config_options,
                    answer.meta,
                ))
            };
            connection.ask(&request, then).await?;
        }
        (Version::V2, how) => {
            let replay =
                (how == Reopen::Load).then(|| v2::ReplayFrom::Start(v2::ReplayFromStart::new()));
            let request = request.replay_from(replay);
            let then = move |answer: &RawValue| {
                let answer: v2::ResumeSessionResponse = read("session/resume", answer)?;
                settle(Settled::V2(
                    answer.config_options,
                    answer.available_commands,
                    answer.meta,
                ))
            };
            connection.ask(&request, then).await?;
        }
    }
    Ok(guard)
}

/// Takes a session off a connection on which it could not be opened.
#[must_use = "dropped, it takes the session off its connection"]
pub(crate) struct Unfinished<'a> {
    cell: &'a Arc<SessionCell>,
    /// The try to open it.
    pub(crate) attached: u64,
    is_finished: bool,
}

impl Unfinished<'_> {
    pub(crate) fn finished(mut self) {
        self.is_finished = true;
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            self.cell.detach(self.attached);
        }
    }
}
