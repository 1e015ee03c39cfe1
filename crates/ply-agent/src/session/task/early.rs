//! What reaches a session while it is opened.

use std::future::Future;

use ply_session::{CLOSE_TIME_MAX, Close, Input, Keep, RequestId, request_cancelled};
use ply_wire::link::rpc_error_v2;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::client::Client;
use crate::session::Session;
use crate::session::alarm::Alarm;
use crate::session::control::{Control, Waiter};
use crate::session::inbox::Ops;

/// Requests that came before the session was open, in order.
#[derive(Debug, Default)]
pub(super) struct Early(pub(super) Vec<Control>);

impl Early {
    /// Takes what comes for a session until it is open. A journal may take its time, and nobody has to wait for it who does not
    /// want to any more; returns nothing if it takes longer than a close may wait.
    pub(super) async fn come_until<T>(
        &mut self,
        session: &Session,
        opened: impl Future<Output = T>,
    ) -> Option<T> {
        let mut opened = std::pin::pin!(opened);
        let (mut close_until, mut alarm) = (None, Alarm::default());
        loop {
            tokio::select! {
                biased;
                opened = &mut opened => return Some(opened),
                () = alarm.rings(close_until) => return None,
                batch = session.0.inbox.next(Ops::Leave) => {
                    for control in batch.controls {
                        if let Control::Withdraw(request, client) = &control {
                            self.withdraw(*request, client);
                        }
                        if is_close(&control) {
                            close_until.get_or_insert_with(|| Instant::now() + CLOSE_TIME_MAX);
                        }
                        self.0.push(control);
                    }
                }
            }
        }
    }

    /// Returns whether the session is to be deleted.
    pub(super) fn deletes(&self) -> bool {
        self.0.iter().any(|control| {
            matches!(control, Control::Request(input, _)
                if matches!(**input, Input::Close(Close { journal: Keep::Nothing, .. })))
        })
    }

    /// Answers a request that is taken back. The session still hears of both, since it may have been opened for it.
    fn withdraw(&mut self, request: RequestId, client: &Client) {
        if client.peer.closed_reason().is_some() {
            return;
        }
        let is_it = |control: &Control| match control {
            Control::Attach(attaching) => attaching.attach.request == request,
            Control::Request(input, _) => {
                input.request() == Some(request) && !matches!(**input, Input::Close(_))
            }
            _ => false,
        };
        let Some(at) = self.0.iter().position(is_it) else {
            return;
        };
        let (nobody, _) = oneshot::channel();
        let waiter = match self.0.get_mut(at) {
            // The session would not wait with it for the one that takes it back.
            Some(Control::Request(input, _)) if matches!(**input, Input::SetTitle { .. }) => {
                match self.0.remove(at) {
                    Control::Request(_, waiter) => waiter,
                    _ => return,
                }
            }
            Some(Control::Attach(attaching)) => {
                std::mem::replace(&mut attaching.waiter, Waiter::Host(nobody))
            }
            Some(Control::Request(_, waiter)) => std::mem::replace(waiter, Waiter::Host(nobody)),
            _ => return,
        };
        if let Waiter::Client(responder) | Waiter::Prompter(responder, _) = waiter {
            let error = request_cancelled();
            responder.respond::<()>(Err(rpc_error_v2(&error)));
        }
    }
}

fn is_close(control: &Control) -> bool {
    matches!(control, Control::Request(input, _) if matches!(**input, Input::Close(_)))
}
