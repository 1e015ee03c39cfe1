//! Reading version 1 messages whose closed enums a newer or careless agent does not respect.
//!
//! Version 2 keeps unknown values in the official types; version 1 refuses the whole message. An
//! unknown stop reason must not cost the turn, nor an unknown update the session, nor one unknown
//! option the whole question.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::decode::{DecodeError, decode_params};
use crate::{v1, v2};

/// A version 1 stop reason that may be one the schema does not list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum LenientStopReason {
    /// A stop reason of the schema.
    Known(v1::StopReason),
    /// Any other string, as the agent sent it.
    Other(String),
}

/// A `session/prompt` result that keeps an unknown stop reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LenientPromptResponse {
    /// Why the turn ended; none if the agent broke the rules and did not say.
    pub stop_reason: Option<LenientStopReason>,
    /// The answer's `_meta`.
    pub meta: Option<v1::Meta>,
}

impl From<v1::PromptResponse> for LenientPromptResponse {
    fn from(response: v1::PromptResponse) -> Self {
        Self {
            stop_reason: Some(LenientStopReason::Known(response.stop_reason)),
            meta: response.meta,
        }
    }
}

/// Reads a `session/prompt` result, keeping a stop reason that is not in the schema.
///
/// # Errors
///
/// [`DecodeError::InvalidResult`] if there is no stop reason, or it is no string. The turn is over all the same;
/// [`LenientPromptResponse::default`] ends it without a reason.
pub fn lenient_prompt_response(result: &RawValue) -> Result<LenientPromptResponse, DecodeError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wire<'a> {
        stop_reason: LenientStopReason,
        #[serde(borrow, default, rename = "_meta")]
        meta: Option<&'a RawValue>,
    }

    // An agent answering in version 1 may omit nothing here, so null and arrays are refused.
    if !result.get().starts_with('{') {
        return Err(DecodeError::InvalidResult("expected an object".into()));
    }
    let wire: Wire<'_> = serde_json::from_str(result.get())
        .map_err(|_| DecodeError::InvalidResult("no stop reason".into()))?;
    Ok(LenientPromptResponse {
        stop_reason: Some(wire.stop_reason),
        // As in the official type, a `_meta` that is no object counts as absent.
        meta: wire
            .meta
            .and_then(|meta| serde_json::from_str(meta.get()).ok()),
    })
}

/// A `session/update` notification that may be of a kind the schema does not list.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "the large variant is the common one, and the value is moved once"
)]
pub enum LenientSessionUpdate {
    /// An update of the schema.
    Known(v1::SessionNotification),
    /// An update of another kind, as the agent sent it.
    Unknown {
        /// The session it names.
        session_id: v1::SessionId,
        /// Its `sessionUpdate` value.
        kind: Box<str>,
        /// The whole `update` object.
        update: Box<RawValue>,
    },
}

/// Reads `session/update` params, keeping an update whose kind is not in the schema.
///
/// # Errors
///
/// [`DecodeError::InvalidParams`] if the envelope is wrong, or a known kind has a bad payload.
pub fn lenient_session_update(
    params: Option<&RawValue>,
) -> Result<LenientSessionUpdate, DecodeError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Envelope {
        session_id: v1::SessionId,
        update: Box<RawValue>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Tag {
        session_update: Box<str>,
    }

    // The known kinds are the hot path, so the second look happens only after a failure.
    let error = match decode_params(params) {
        Ok(known) => return Ok(LenientSessionUpdate::Known(known)),
        Err(error) => error,
    };
    let Ok(Envelope { session_id, update }) = decode_params(params) else {
        return Err(error);
    };
    match decode_params(Some(&update)) {
        Ok(Tag { session_update }) if !KNOWN_UPDATES.contains(&&*session_update) => {
            Ok(LenientSessionUpdate::Unknown {
                session_id,
                kind: session_update,
                update,
            })
        }
        _ => Err(error),
    }
}

/// A `session/request_permission` request that may offer options of unknown kinds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LenientPermissionRequest {
    /// The request with the options whose kinds are in the schema.
    pub request: v1::RequestPermissionRequest,
    /// The other options. Version 2 has words for them; what they allow is unknown, so only a
    /// person may choose one.
    pub other_options: Vec<v2::PermissionOption>,
}

impl From<v1::RequestPermissionRequest> for LenientPermissionRequest {
    fn from(request: v1::RequestPermissionRequest) -> Self {
        Self {
            request,
            other_options: Vec::new(),
        }
    }
}

/// Reads `session/request_permission` params, keeping options whose kind is not in the schema.
///
/// # Errors
///
/// [`DecodeError::InvalidParams`] if anything else is wrong.
pub fn lenient_permission_request(
    params: Option<&RawValue>,
) -> Result<LenientPermissionRequest, DecodeError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wire {
        session_id: v1::SessionId,
        tool_call: v1::ToolCallUpdate,
        options: Vec<v2::PermissionOption>,
        #[serde(default, rename = "_meta")]
        meta: Option<Box<RawValue>>,
    }

    let error = match decode_params(params) {
        Ok(request) => return Ok(v1::RequestPermissionRequest::into(request)),
        Err(error) => error,
    };
    let wire: Wire = decode_params(params).map_err(|_| error)?;
    let mut known = Vec::new();
    let mut other_options = Vec::new();
    for option in wire.options {
        match permission_kind(&option.kind) {
            Some(kind) => known.push(
                v1::PermissionOption::new(option.option_id.0, option.name, kind).meta(option.meta),
            ),
            None => other_options.push(option),
        }
    }
    let meta = wire
        .meta
        .and_then(|meta| serde_json::from_str::<v1::Meta>(meta.get()).ok());
    let request = v1::RequestPermissionRequest::new(wire.session_id, wire.tool_call, known);
    Ok(LenientPermissionRequest {
        request: request.meta(meta),
        other_options,
    })
}

fn permission_kind(kind: &v2::PermissionOptionKind) -> Option<v1::PermissionOptionKind> {
    Some(match kind {
        v2::PermissionOptionKind::AllowOnce => v1::PermissionOptionKind::AllowOnce,
        v2::PermissionOptionKind::AllowAlways => v1::PermissionOptionKind::AllowAlways,
        v2::PermissionOptionKind::RejectOnce => v1::PermissionOptionKind::RejectOnce,
        v2::PermissionOptionKind::RejectAlways => v1::PermissionOptionKind::RejectAlways,
        _ => return None,
    })
}

/// The kinds of update in the version 1 schema; `tests/wire/samples.rs` compares them with it.
const KNOWN_UPDATES: [&str; 14] = [
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "notice",
    "compaction_update",
    "compaction_summary_chunk",
];
