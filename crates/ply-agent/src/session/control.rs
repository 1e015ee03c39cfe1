//! What clients want of a session.

use std::sync::Arc;

use ply_rpc::{Responder, RpcError};
use ply_session::{AskId, PromptId, Reply, ViewId};
use ply_wire::{v1, v2};
use tokio::sync::oneshot;

use crate::client::Client;

/// A wish of a client, or what came of a question to it.
#[derive(Debug)]
pub(crate) enum Control {
    Attach(Box<Attach>),
    Detach(ViewId),
    /// The client will send nothing more, though it may still read.
    HungUp(ViewId),
    Prompt {
        view: ViewId,
        content: Vec<v2::ContentBlock>,
        responder: Responder,
    },
    Withdraw {
        view: ViewId,
        prompt: PromptId,
    },
    Cancel,
    Close {
        view: Option<ViewId>,
        done: Done,
    },
    SetOption {
        view: ViewId,
        change: Box<OptionChange>,
        responder: Responder,
    },
    /// The agent has taken a change of an option, or refused it.
    OptionSet {
        view: ViewId,
        request: Box<v2::SetSessionConfigOptionRequest>,
        answer: OptionAnswer,
        outcome: Result<(), RpcError>,
        responder: Responder,
    },
    Answered {
        ask: AskId,
        view: ViewId,
        reply: Reply,
    },
}

/// A client that wants to see the session.
#[derive(Debug)]
pub(crate) struct Attach {
    pub(crate) view: ViewId,
    pub(crate) client: Arc<Client>,
    pub(crate) how: How,
    /// The request for it; none if the client does not know that it attaches anew.
    pub(crate) responder: Option<Responder>,
    /// Takes the request back if the session closes instead: it may be opened again.
    pub(crate) refused: oneshot::Sender<Option<Responder>>,
}

impl Attach {
    /// Gives the request back.
    pub(crate) fn refuse(self) {
        // Nobody waits for it only if the program ends.
        drop(self.refused.send(self.responder));
    }
}

/// What a client that attaches wants to see first, and how it asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// `session/new`.
    New,
    /// `session/load` of version 1, or `session/resume` of version 2 with a replay.
    Replay,
    /// `session/resume` without a replay.
    Resume,
}

/// Whom to tell that the session is closed.
#[derive(Debug)]
pub(crate) enum Done {
    Answer(Responder),
    Tell(oneshot::Sender<()>),
}

/// A change of an option, as the client asked for it. What it means depends on the options.
#[derive(Debug)]
pub(crate) enum OptionChange {
    V1(v1::SetSessionConfigOptionRequest),
    V1Mode(v1::SetSessionModeRequest),
    V2(v2::SetSessionConfigOptionRequest),
}

/// The answer that a change of an option gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionAnswer {
    V1,
    V1Mode,
    V2,
}
