//! What a client is sent.

use ply_session::{AskId, Message, RequestId, Response};
use ply_wire::v2;

/// How far a client is.
#[derive(Debug, Clone)]
pub(crate) struct Cursor {
    pub(crate) text: String,
    /// Whether the journal had nothing of the session then. The next owner cannot know such a place, and refuses it.
    pub(crate) is_in_memory: bool,
    /// In which session of the name.
    pub(crate) generation: u64,
}

#[derive(Debug)]
pub(crate) enum Down {
    /// What the core has for the client, and how far the client is with it.
    Message(Box<Message>, Option<Cursor>),
    /// An answer for which there is no view.
    Respond {
        request: RequestId,
        response: Box<Result<Response, v2::Error>>,
    },
    /// A question is over.
    Retract { ask: AskId },
    /// Not sent in the real world: nothing more comes of the session.
    Over,
}
