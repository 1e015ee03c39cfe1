//! Requests that reach a session when it is over.

use std::sync::Arc;

use ply_session::{Input, Keep, no_such_session};
use ply_wire::v2;

use super::Host;
use crate::SessionSetup;
use crate::session::control::{Control, Waiter};
use crate::session::{Origin, Session, refuse};

impl Host {
    /// Serves what came too late for a session that is over: a client that wants to attach opens it again.
    pub(crate) fn come_late(self: &Arc<Self>, session: &Session, late: Vec<Control>) {
        let error = no_such_session(session.id());
        let mut again: Option<Session> = None;
        for control in late {
            let next = match (&control, &again) {
                (_, Some(next)) => next.clone(),
                (Control::Attach(attaching), None) => {
                    let mut setup = SessionSetup::from_core(&attaching.attach.setup);
                    setup.caller.clone_from(&attaching.client.caller);
                    let next = self.open(session.id(), setup, Origin::Journal);
                    again.insert(next).clone()
                }
                (_, None) => {
                    self.refuse_late(session.id(), control, &error);
                    continue;
                }
            };
            if let Control::Attach(attaching) = &control {
                attaching.views.rebind(&next, attaching.attach.view);
            }
            if let Err(control) = next.control(control) {
                refuse(control, &error);
            }
        }
    }

    /// Answers what a session that is over cannot serve. What needs no open session is served all the same.
    pub(crate) fn refuse_late(
        self: &Arc<Self>,
        id: &v2::SessionId,
        control: Control,
        error: &v2::Error,
    ) {
        let keep = match &control {
            Control::Request(input, Waiter::Client(_)) => match &**input {
                Input::Close(close) => Some(close.journal),
                _ => None,
            },
            _ => None,
        };
        match control {
            Control::Request(_, Waiter::Client(responder)) if keep == Some(Keep::Nothing) => {
                self.delete(id, responder);
            }
            #[cfg(feature = "unstable_session_archive")]
            Control::Request(_, Waiter::Client(responder)) if keep == Some(Keep::Archived) => {
                self.archive(id, responder);
            }
            #[cfg(feature = "unstable_session_archive")]
            Control::Unarchive(responder) => self.unarchive(id, responder),
            #[cfg(feature = "unstable_session_status")]
            Control::Status(asked) => self.status(id, asked),
            #[cfg(feature = "unstable_session_set_title")]
            Control::Request(input, Waiter::Client(responder)) => match *input {
                Input::SetTitle { request, title } => {
                    self.pass_title_on(id, request, title, responder);
                }
                input => {
                    let waiter = Waiter::Client(responder);
                    refuse(Control::Request(Box::new(input), waiter), error);
                }
            },
            control => refuse(control, error),
        }
    }
}
