//! What a client is sent.

use ply_session::{AskId, Message, RequestId, Response};
use ply_wire::v2;

#[derive(Debug)]
pub(crate) enum Down {
    /// What the core has for the client, and how far the client is with it.
    Message(Box<Message>, Option<String>),
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
