//! Decoding of params and results, and what can be wrong with them.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::missing::missing;
use crate::{v1, v2};

/// How the decoder begins to say that a field is missing.
const MISSING: &str = "missing field `";

/// Why a message could not be decoded. Says nothing that the peer sent, so it is safe to log and
/// to answer with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// This side does not take the method in this version.
    #[error("the method does not exist here")]
    MethodNotFound,
    /// The params do not fit the method.
    #[error("the params do not fit the method: {0}")]
    InvalidParams(Box<str>),
    /// The result does not fit the method.
    #[error("the result does not fit the method: {0}")]
    InvalidResult(Box<str>),
}

impl DecodeError {
    /// Returns the JSON-RPC error code to answer with.
    ///
    /// Results are never answered; a bad one counts as an internal error of the call it ended.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            Self::MethodNotFound => v2::ErrorCode::MethodNotFound.into(),
            Self::InvalidParams(_) => v2::ErrorCode::InvalidParams.into(),
            Self::InvalidResult(_) => v2::ErrorCode::InternalError.into(),
        }
    }
}

impl From<DecodeError> for v1::Error {
    fn from(error: DecodeError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<DecodeError> for v2::Error {
    fn from(error: DecodeError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

/// Decodes params straight from their raw text. Absent and `null` params count as `{}`.
///
/// # Errors
///
/// [`DecodeError::InvalidParams`] if they do not fit. Params by position are refused: ACP names
/// all params, and the derived decoders would otherwise take an array in field order.
pub fn decode_params<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, DecodeError> {
    let text = match params.map(RawValue::get) {
        None | Some("null") => "{}",
        Some(text) => text,
    };
    if !text.starts_with('{') {
        return Err(DecodeError::InvalidParams("expected an object".into()));
    }
    serde_json::from_str(text).map_err(|error| match decode_reason(&error) {
        reason if reason.starts_with(MISSING) => DecodeError::InvalidParams(reason.into()),
        reason => DecodeError::InvalidParams(missing(text).unwrap_or(reason).into()),
    })
}

/// Decodes a result straight from its raw text.
///
/// # Errors
///
/// [`DecodeError::InvalidResult`] if it does not fit. Empty results may be `null`; the official
/// types of such results accept it.
pub fn decode_result<T: DeserializeOwned>(result: &RawValue) -> Result<T, DecodeError> {
    let text = result.get();
    if !text.starts_with('{') && text != "null" {
        return Err(DecodeError::InvalidResult("expected an object".into()));
    }
    serde_json::from_str(text)
        .map_err(|error| DecodeError::InvalidResult(decode_reason(&error).into()))
}

/// Says why decoding failed in words of the expected type only, because serde's own text quotes the
/// input. `ply-rpc` has the same function for messages that it decodes itself.
fn decode_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(text, _)| text);
    // Field names are the type's own words.
    if [MISSING, "duplicate field `", "recursion limit"]
        .iter()
        .any(|own| text.starts_with(own))
    {
        return text.to_owned();
    }
    let place = format!("at column {}", error.column());
    match text.rsplit_once(", expected ") {
        Some((_, expected)) if error.is_data() => format!("expected {expected} {place}"),
        _ => format!("does not fit {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(params: &str, expected: &str) {
        let params = serde_json::from_str::<Box<RawValue>>(params).unwrap();
        let error = decode_params::<v1::CancelNotification>(Some(&params)).unwrap_err();
        assert_eq!(error, DecodeError::InvalidParams(expected.into()));
    }

    #[test]
    fn reasons_do_not_repeat_the_input() {
        check("{}", "missing field `sessionId`");
        check(
            r#"{"sessionId":["secret"]}"#,
            "expected a string at column 13",
        );
        check(
            r#"{"sessionId":{"a, expected b":1}}"#,
            "expected a string at column 13",
        );
        check(r#"["secret"]"#, "expected an object");
    }
}
