//! What Ply's own clients say under `_meta`, which nobody else has to know.

use ply_rpc::RpcError;
use ply_session::{After, OPERATION_KEY_BYTES_MAX};
use ply_wire::v2;
use serde_json::{Value, json};

use crate::client::Client;

/// The name under which a client gives a request a key, so that it can send the request again.
pub(super) const OPERATION: &str = "ply/operation";
/// The name under which a client that comes back says what it has seen, where there is no `replayFrom`.
const AFTER: &str = "ply/after";
/// The type of `replayFrom` that says the same.
const REPLAY_AFTER: &str = "_ply/after";
/// The name under which a client that comes back lists the keys of its newest prompts.
const OPERATIONS: &str = "ply/operations";
/// How many of them are read.
const OPERATIONS_READ_MAX: usize = 1024;

/// Tells a client that wants cursors what else there is for it. Others are told nothing.
pub(super) fn advertise(client: &Client, meta: &mut Option<v2::Meta>) {
    if client.cursors {
        let offers = json!({"cursors": {}, "operations": {}});
        meta.get_or_insert_default().insert("ply".into(), offers);
    }
}

/// Returns the key of a request.
///
/// # Errors
///
/// The key is too long, or no text.
pub(super) fn operation(meta: Option<&v2::Meta>) -> Result<Option<&str>, RpcError> {
    let Some(key) = meta.and_then(|meta| meta.get(OPERATION)) else {
        return Ok(None);
    };
    match key.as_str() {
        Some(key) if key.len() <= OPERATION_KEY_BYTES_MAX && !key.is_empty() => Ok(Some(key)),
        _ => Err(RpcError::invalid_params(format!(
            "`{OPERATION}` must be a string of 1 to {OPERATION_KEY_BYTES_MAX} bytes"
        ))),
    }
}

/// Returns what a client has seen of the session that it resumes.
///
/// # Errors
///
/// It names no cursor, or replays from a place that there is not.
pub(super) fn after(request: &v2::ResumeSessionRequest) -> Result<Option<After>, RpcError> {
    let meta = request.meta.as_ref();
    let cursor = match (&request.replay_from, meta.and_then(|meta| meta.get(AFTER))) {
        (_, Some(cursor)) => cursor.as_str(),
        (Some(v2::ReplayFrom::Other(other)), None) if other.type_ == REPLAY_AFTER => {
            other.fields.get("cursor").and_then(Value::as_str)
        }
        (None | Some(v2::ReplayFrom::Start(_)), None) => return Ok(None),
        // Never replaced or ignored (V2-RESUME-05).
        (Some(_), None) => {
            return Err(RpcError::invalid_params(
                "there is no such place to replay from",
            ));
        }
    };
    let Some(cursor) = cursor else {
        return Err(RpcError::invalid_params("the cursor must be a string"));
    };
    let keys = meta.and_then(|meta| meta.get(OPERATIONS)?.as_array());
    let keys = keys.into_iter().flatten().filter_map(Value::as_str);
    Ok(Some(After {
        cursor: cursor.to_owned(),
        operations: keys.take(OPERATIONS_READ_MAX).map(str::to_owned).collect(),
    }))
}

/// Returns the id of the session that a client makes under a key: the same each time.
pub(super) fn session_of(key: &str) -> v2::SessionId {
    // FNV-1a with 128 bits: the same in every process and version.
    let print = key.bytes().fold(
        0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128,
        |print, byte| (print ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b),
    );
    v2::SessionId::new(format!("sess-{print:032x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_always_names_the_same_session() {
        // As stored sessions have it: it must never change.
        let id = session_of("key");
        assert_eq!(&*id.0, "sess-a68d48cc748b5822836dbc796da9ad2c");
        assert_eq!(id, session_of("key"));
        assert_ne!(id, session_of("key "));
    }
}
