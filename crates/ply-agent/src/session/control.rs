//! What reaches a session from outside its agent's code.

use std::sync::Arc;

use ply_rpc::Responder;
use ply_session::{Attach, Input, RequestId};
use ply_wire::v2;
use tokio::sync::oneshot;

use crate::client::Client;
use crate::connection::{Leaving, Views};

/// Something for the session's task.
#[derive(Debug)]
pub(crate) enum Control {
    /// A client wants to see the session.
    Attach(Box<Attaching>),
    /// A request of a client or of the host, and whom to answer.
    Request(Box<Input>, Waiter),
    /// A client took a request back, or its link ended.
    Withdraw(RequestId, Arc<Client>),
    /// A client wants to know what the session does.
    #[cfg(feature = "unstable_session_status")]
    Status(crate::host::StatusAsked),
    /// A client takes the session out of the archive.
    #[cfg(feature = "unstable_session_archive")]
    Unarchive(Responder),
    /// The host wants to know how the session is.
    Look(oneshot::Sender<crate::Overview>),
    /// Anything else.
    Input(Box<Input>),
}

/// A client on its way to a session.
#[derive(Debug)]
pub(crate) struct Attaching {
    pub(crate) attach: Attach,
    pub(crate) client: Arc<Client>,
    pub(crate) waiter: Waiter,
    /// The sessions that its connection sees, in case this one closes and is opened again for it.
    pub(crate) views: Views,
}

/// Whoever waits for an answer.
#[derive(Debug)]
pub(crate) enum Waiter {
    Client(Responder),
    /// A client that sent metadata with its prompt.
    Prompter(Responder, Box<v2::Meta>),
    /// A client that closes the session.
    Leaver(Responder, Leaving),
    Host(oneshot::Sender<()>),
    /// A client that has something to say to the turn that runs. Dropped, it was not heard.
    Steering(oneshot::Sender<Result<Heard, v2::Error>>),
    /// A program that hosts the session and wants to know what came of it.
    Told(oneshot::Sender<Result<(), v2::Error>>),
    /// Whoever copies the session. Dropped, it looks for the session anew.
    #[cfg(feature = "unstable_session_fork")]
    Fork(oneshot::Sender<ForkAnswer>),
}

/// What became of words for the turn that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// They are part of it.
    Injected,
    /// They began one of their own.
    StartedNewTurn,
}

/// How many records of a session are in its journal, or why it cannot be copied.
#[cfg(feature = "unstable_session_fork")]
pub(crate) type ForkAnswer = Result<u64, v2::Error>;

impl Control {
    /// Returns whether it says nothing that the one before it did not say.
    pub(super) fn repeats(&self, last: Option<&Self>) -> bool {
        let cancel = |control: &Self| match control {
            Self::Input(input) => match **input {
                Input::Cancel { view } => Some(view),
                _ => None,
            },
            _ => None,
        };
        cancel(self).is_some() && cancel(self) == last.and_then(cancel)
    }
}
