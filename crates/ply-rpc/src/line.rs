//! Message to line, for drivers that move the lines themselves. [`envelope`](crate::envelope) is the way back.
//!
//! Lines come without their line feed.

use serde::Serialize;

use crate::frame::Encoded;
use crate::{RequestId, RpcError};

/// Encodes a request of ours.
///
/// # Errors
///
/// The params cannot be written as JSON.
pub fn request(
    id: i64,
    method: &str,
    params: &(impl Serialize + ?Sized),
) -> Result<Vec<u8>, serde_json::Error> {
    Encoded::request(id, method, params).map(without_end)
}

/// Encodes a notification.
///
/// # Errors
///
/// The params cannot be written as JSON.
pub fn notification(
    method: &str,
    params: &(impl Serialize + ?Sized),
) -> Result<Vec<u8>, serde_json::Error> {
    Encoded::notification(method, params).map(without_end)
}

/// Encodes the answer to a request of the peer.
///
/// # Errors
///
/// The result cannot be written as JSON.
pub fn result(
    id: &RequestId,
    result: &(impl Serialize + ?Sized),
) -> Result<Vec<u8>, serde_json::Error> {
    Encoded::result(id, result).map(without_end)
}

/// Encodes the refusal of a request of the peer.
#[must_use]
pub fn error(id: &RequestId, error: &RpcError) -> Vec<u8> {
    without_end(Encoded::error(id, error))
}

fn without_end(encoded: Encoded) -> Vec<u8> {
    let mut line = encoded.into_vec();
    line.pop();
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::{self, Message};

    #[test]
    fn a_line_is_read_back_as_the_message_it_was_made_of() {
        let line = request(7, "session/new", &serde_json::json!({"cwd": "/"})).unwrap();
        assert!(!line.contains(&b'\n'));
        let Ok(Message::Request { id, method, params }) = envelope::parse(&line) else {
            panic!("not a request");
        };
        assert_eq!((id.as_i64(), &*method), (Some(7), "session/new"));
        assert_eq!(params.map(|it| it.get()), Some(r#"{"cwd":"/"}"#));
        let line = error(&id, &RpcError::method_not_found());
        assert!(matches!(
            envelope::parse(&line),
            Ok(Message::Response { id, .. }) if id.as_i64() == Some(7)
        ));
    }
}
