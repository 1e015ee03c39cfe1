//! What the core wants done.

use bytes::Bytes;
use ply_wire::{v1, v2};

use super::record::Json;
use super::response::Response;
use crate::engine::Start;
use crate::{Answer, AskId, Entity, Level, RequestId, TurnId, ViewId};

/// Something for the driver to do. Effects are done in order, and none waits for another.
#[derive(Debug)]
#[non_exhaustive]
pub enum Effect {
    /// Create the session in the journal; answer with [`Input::Opened`](super::Input::Opened).
    Create,
    /// Open the session's journal again and read its records from a number on.
    Open {
        /// The number.
        from: u64,
    },
    /// Answer a request for which there is no view.
    Respond {
        /// The request.
        request: RequestId,
        /// The answer.
        response: Result<Response, v2::Error>,
    },
    /// Take a question back from a client that has not answered it.
    Retract {
        /// The question.
        ask: AskId,
        /// The client's view.
        view: ViewId,
    },
    /// Run the code of a turn.
    Start(Start),
    /// Pass a prompt to the turn that runs.
    Steer {
        /// The request that brought the prompt.
        request: RequestId,
        /// The turn.
        turn: TurnId,
        /// The prompt's message.
        message: v2::MessageId,
        /// What it says.
        content: Vec<v2::ContentBlock>,
    },
    /// Ask the code of a turn to stop.
    Cancel {
        /// The turn.
        turn: TurnId,
    },
    /// Ask the agent's code to stop one call or terminal.
    CancelEntity {
        /// What is to stop.
        entity: Entity,
    },
    /// Drop the code of a turn where it stands: the turn is over.
    Abandon {
        /// The turn.
        turn: TurnId,
    },
    /// Tell the agent's code what came of its question.
    Resolve {
        /// The question.
        ask: AskId,
        /// The answer.
        answer: Answer,
    },
    /// Tell the agent's code that a turn of its own has ended, or will not begin.
    Settled {
        /// The number under which it asked for the turn.
        request: RequestId,
        /// Why it ended; none if it did not begin.
        stop: Option<v2::StopReason>,
    },
    /// Tell the agent's code that the user changes an option.
    SetOption {
        /// The request.
        request: RequestId,
        /// The option.
        option: v2::SessionConfigId,
        /// Its new value.
        value: v2::SessionConfigOptionValue,
    },
    /// Everything that was reported before a [barrier](super::Input::Barrier) is safe, or never will be.
    Passed {
        /// The runner's number for it.
        barrier: u64,
        /// Whether it is safe.
        is_safe: bool,
    },
    /// Copy the session from its journal, which has everything that was said before the request. It is not answered here: what
    /// comes of it is another session.
    Fork {
        /// The request.
        request: RequestId,
        /// How many records there are.
        records: u64,
    },
    /// Nobody sees the session any more, and nothing was ever said in it; it is kept in memory alone.
    Unattended,
    /// Close what belongs to the session, its journal last; answer with [`Input::Released`](super::Input::Released).
    Release {
        /// Whether the journal is deleted.
        delete: bool,
        /// Whether the session is archived before it is given back.
        archive: bool,
    },
    /// The session is over. What views still have to be sent can be pulled; nothing else comes.
    Over,
}

/// Something to write to a client, in its version.
#[derive(Debug)]
#[non_exhaustive]
pub enum Message {
    /// An update in the form that version 2 has, and version 1 takes as well.
    Update(Json),
    /// An update in the form that only version 1 has.
    UpdateV1(Box<v1::SessionUpdate>),
    /// The answer to a request.
    Respond {
        /// The request.
        request: RequestId,
        /// The answer.
        response: Result<Response, v2::Error>,
    },
    /// A question for the client's user.
    Ask {
        /// Its number.
        ask: AskId,
        /// What is asked.
        form: Form,
    },
    /// Not for the client: everything before a barrier was written.
    Passed {
        /// The runner's number for it.
        barrier: u64,
    },
}

/// A question in the form in which the client takes it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Form {
    /// `session/request_permission`.
    Permission(Box<v2::RequestPermissionRequest>),
    /// The same in version 1.
    PermissionV1(Box<v1::RequestPermissionRequest>),
    /// `elicitation/create`.
    Elicitation(Box<v2::CreateElicitationRequest>),
    /// The same in version 1.
    ElicitationV1(Box<v1::CreateElicitationRequest>),
}

/// What a view has next.
#[derive(Debug)]
#[non_exhaustive]
pub enum Pull {
    /// This, for its client.
    Message(Message),
    /// Nothing before records of the journal are read from this number on, and answered with
    /// [`Input::Page`](super::Input::Page).
    Read {
        /// The number.
        from: u64,
    },
    /// Nothing now.
    Nothing,
}

/// Records to append to the journal. It is answered with [`Input::Persisted`](super::Input::Persisted) or
/// [`Input::NotPersisted`](super::Input::NotPersisted), and nothing else is appended before.
#[derive(Debug)]
pub struct Persist {
    /// The records.
    pub records: Vec<Bytes>,
    /// How far they must have come before it is answered.
    pub level: Level,
    /// What listings say of the session, if that changes.
    pub description: Option<Description>,
}

/// A change of what listings say of a session. Each also says that something happened just now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description {
    /// A new title; `Some(None)` clears it.
    pub title: Option<Option<String>>,
    /// Whether a turn is unfinished.
    pub unfinished: Option<bool>,
    /// Who runs the turns of the session now, as JSON.
    pub host: Option<String>,
}

impl Description {
    /// Puts a change back that was not written, before what changed since.
    pub(super) fn restore(now: &mut Option<Self>, unwritten: Option<Self>) {
        let Some(unwritten) = unwritten else {
            return;
        };
        let now = now.get_or_insert_default();
        now.title = now.title.take().or(unwritten.title);
        now.unfinished = now.unfinished.or(unwritten.unfinished);
        now.host = now.host.take().or(unwritten.host);
    }
}
