//! The v1 answer to a prompt.

use super::mark;
use crate::{convert, v1, v2};

/// Returns the v1 answer to a prompt whose work stopped for the reason `stop`.
///
/// A stop reason that v1 has no name for becomes the end of the turn, with the reason in `_meta`.
/// If the client cancelled, pass [`v2::StopReason::Cancelled`] however the work stopped: whatever
/// aborting led to, the user's cancel is what happened (V1-STOP-07).
///
/// # Errors
///
/// Returns the error that the work failed with, or an internal error if it named none.
pub fn settle(stop: &v2::StopReason) -> Result<v1::PromptResponse, v1::Error> {
    let response = |reason| Ok(v1::PromptResponse::new(reason));
    match stop {
        v2::StopReason::MaxTokens => response(v1::StopReason::MaxTokens),
        v2::StopReason::MaxTurnRequests => response(v1::StopReason::MaxTurnRequests),
        v2::StopReason::Refusal => response(v1::StopReason::Refusal),
        v2::StopReason::Cancelled => response(v1::StopReason::Cancelled),
        v2::StopReason::Error(stop) => Err(stop
            .error
            .as_deref()
            .map_or_else(v1::Error::internal_error, convert::error::down)),
        v2::StopReason::Other(other) => {
            let mut meta = v1::Meta::new();
            meta.insert(
                mark::STOP_REASON.to_owned(),
                other.stop_reason.clone().into(),
            );
            Ok(v1::PromptResponse::new(v1::StopReason::EndTurn).meta(meta))
        }
        _ => response(v1::StopReason::EndTurn),
    }
}

/// Returns the v1 answer to a prompt that was refused with `error` before it became a message.
///
/// A prompt that the user took back, by cancel or close, is cancelled: v1 has no error for it.
///
/// # Errors
///
/// Returns the v1 form of any other error.
pub fn refuse(error: &v2::Error) -> Result<v1::PromptResponse, v1::Error> {
    if error.code == v2::ErrorCode::RequestCancelled {
        return Ok(v1::PromptResponse::new(v1::StopReason::Cancelled));
    }
    Err(convert::error::down(error))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn shown(answer: Result<v1::PromptResponse, v1::Error>) -> Value {
        match answer {
            Ok(response) => json!({ "ok": response }),
            Err(error) => json!({ "error": error }),
        }
    }

    #[test]
    fn stop_reasons_map_and_errors_become_errors() {
        let error = json!({"code": -32000, "message": "log in", "data": {"x": 1}});
        let unnamed = json!({"code": -32603, "message": "Internal error"});
        for (stop, expected) in [
            (
                json!({"stopReason": "end_turn"}),
                json!({"ok": {"stopReason": "end_turn"}}),
            ),
            (
                json!({"stopReason": "max_tokens"}),
                json!({"ok": {"stopReason": "max_tokens"}}),
            ),
            (
                json!({"stopReason": "max_turn_requests"}),
                json!({"ok": {"stopReason": "max_turn_requests"}}),
            ),
            (
                json!({"stopReason": "refusal"}),
                json!({"ok": {"stopReason": "refusal"}}),
            ),
            (
                json!({"stopReason": "cancelled"}),
                json!({"ok": {"stopReason": "cancelled"}}),
            ),
            (
                json!({"stopReason": "_mine"}),
                json!({"ok": {"stopReason": "end_turn", "_meta": {"ply/stopReason": "_mine"}}}),
            ),
            (
                json!({"stopReason": "error", "error": error}),
                json!({ "error": error }),
            ),
            (json!({"stopReason": "error"}), json!({ "error": unnamed })),
        ] {
            let stop: v2::StopReason = serde_json::from_value(stop).expect("a stop reason");
            assert_eq!(shown(settle(&stop)), expected, "{stop:?}");
        }
    }

    #[test]
    fn a_refused_prompt_is_answered_with_the_error_unless_it_was_taken_back() {
        for (code, expected) in [
            (-32800, json!({"ok": {"stopReason": "cancelled"}})),
            (-32602, json!({"error": {"code": -32602, "message": "no"}})),
        ] {
            assert_eq!(shown(refuse(&v2::Error::new(code, "no"))), expected);
        }
    }
}
