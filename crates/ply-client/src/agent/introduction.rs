//! A new session, from the request to whoever asked for it.

use std::sync::Arc;

use ply_rpc::{CallOptions, RawAnswer};
use ply_wire::convert;
use ply_wire::method::Request;
use ply_wire::negotiate::Version;
use ply_wire::{v1, v2};
use serde_json::value::RawValue;
use tokio::runtime::Handle;

use super::opening::Settled;
use super::read;
use crate::connection::{Connection, Failure, runtime};
use crate::limits::CALL_TIME_MAX;
use crate::report::ReportKind;
use crate::session::cell::{History, SessionCell, Wire};
use crate::{Error, SessionSetup};

/// An answer that introduces a new session.
pub(super) trait Introduction {
    /// Returns the id of the session and what it begins with.
    fn settled(self) -> (v2::SessionId, Settled);
}

impl Introduction for v1::NewSessionResponse {
    fn settled(self) -> (v2::SessionId, Settled) {
        let settled = Settled::V1(self.modes, self.config_options, self.meta);
        (v2::SessionId::new(self.session_id.0), settled)
    }
}

impl Introduction for v2::NewSessionResponse {
    fn settled(self) -> (v2::SessionId, Settled) {
        let settled = Settled::V2(self.config_options, self.available_commands, self.meta);
        (self.session_id, settled)
    }
}

#[cfg(feature = "unstable_session_fork")]
impl Introduction for v1::ForkSessionResponse {
    fn settled(self) -> (v2::SessionId, Settled) {
        let settled = Settled::V1(self.modes, self.config_options, self.meta);
        (v2::SessionId::new(self.session_id.0), settled)
    }
}

#[cfg(feature = "unstable_session_fork")]
impl Introduction for v2::ForkSessionResponse {
    fn settled(self) -> (v2::SessionId, Settled) {
        let settled = Settled::V2(self.config_options, self.available_commands, self.meta);
        (self.session_id, settled)
    }
}

/// Asks for a new session. It exists from the very answer on, so that the next update finds it.
///
/// What holds for the id in the answer:
/// - One that is unknown here is that of the new session. Updates that came for it before the answer are its first ones.
/// - One that is open here is a fault of the agent: the open session stays as it is and keeps its updates, the request fails with
///   [`Error::SessionOpen`], and nothing is closed, since that would end the open one.
/// - One that was open here, and is not any more, is taken as that of a new session. Updates that came before the answer were
///   taken for those of the old one, and were ignored.
///
/// An answer that comes after the deadline ([`CALL_TIME_MAX`]) is no answer: the session is not known here, its updates are
/// reported as those of an unknown session, and nobody closes it at the agent. One that comes after the request was cancelled, but
/// before the deadline, leads to an [`Unclaimed`] that is dropped.
pub(super) async fn introduce<Q>(
    connection: &Connection,
    request: &Q,
    setup: SessionSetup,
) -> Result<Unclaimed, Error>
where
    Q: Request<Response: Introduction>,
{
    let wire = connection.wire();
    let can_close = connection.hello.can_close();
    // What goes wrong with a call is told on a task, and whoever drops the answer may be on none.
    let runtime = runtime()?;
    let routes = Arc::clone(&wire.routes);
    routes.introduction_begins();
    let options = CallOptions::default().deadline(CALL_TIME_MAX);
    let then = move |answer: Result<Box<RawValue>, _>| {
        let opened = match answer {
            Ok(answer) => read::<Q::Response>(Q::METHOD, &answer).map_err(Failure::Ours),
            Err(error) => Err(Failure::Call(error)),
        };
        match opened.map(Introduction::settled) {
            Ok((id, settled)) => {
                let cell = SessionCell::new(id, setup);
                let Some(attached) = cell.attach(wire.clone(), History::Taken) else {
                    routes.introduction_ends(None);
                    routes.report(ReportKind::SessionIdReused, "session/new");
                    return Err(Failure::Ours(Error::SessionOpen));
                };
                cell.opened(attached, |session| settled.apply(session));
                for update in routes.introduction_ends(Some(&cell)) {
                    cell.update(update, 0, &routes);
                }
                Ok(Unclaimed {
                    cell,
                    close_on: can_close.then_some(wire),
                    runtime,
                    is_claimed: false,
                })
            }
            Err(failure) => {
                routes.introduction_ends(None);
                Err(failure)
            }
        }
    };
    connection.ask_with(request, options, then).await
}

/// A new session on its way to whoever asked for it. Dropped before it is claimed, it is closed at the agent.
///
/// Until then it takes its updates like any other, but has no reader: they are in its transcript, and nobody hears of them. Whoever
/// claims it finds them there, and hears of the questions that are open. After it was dropped its updates are ignored, and its
/// questions are refused.
#[must_use = "dropped, it closes the session"]
pub(super) struct Unclaimed {
    cell: Arc<SessionCell>,
    /// Where it can be closed; none for an agent that closes no sessions.
    close_on: Option<Wire>,
    runtime: Handle,
    is_claimed: bool,
}

impl Unclaimed {
    pub(super) fn claim(mut self) -> Arc<SessionCell> {
        self.is_claimed = true;
        Arc::clone(&self.cell)
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if self.is_claimed {
            return;
        }
        self.cell.close();
        let Some(wire) = &self.close_on else {
            return;
        };
        let _entered = self.runtime.enter();
        let options = CallOptions::default().deadline(CALL_TIME_MAX);
        let request = v2::CloseSessionRequest::new(self.cell.id.clone());
        let done = |answer: RawAnswer| {
            if let Err(error) = answer {
                tracing::debug!(%error, "a session that nobody wants could not be closed");
            }
        };
        let peer = &wire.peer;
        match wire.version {
            Version::V1 => {
                let request = convert::session::close_down(&request);
                peer.call_then(v1::CloseSessionRequest::METHOD, &request, options, done)
            }
            Version::V2 => peer.call_then(v2::CloseSessionRequest::METHOD, &request, options, done),
        };
    }
}
