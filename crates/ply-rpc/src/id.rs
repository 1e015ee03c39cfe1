//! Request ids, echoed exactly as the peer wrote them.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::limits::ID_BYTES_MAX;

/// The id of a request.
///
/// Numbers and strings are kept apart: `1` is not `"1"`. Two ids are equal when they are the same JSON value, and an id is
/// written back with the very characters it came with.
#[derive(Debug, Clone)]
pub struct RequestId(Repr);

#[derive(Debug, Clone)]
enum Repr {
    Null,
    /// An integer whose text is what `i64` prints.
    Int(i64),
    /// Any other integer, such as one of 20 digits or `-0`.
    Digits(Box<str>),
    Text {
        value: Box<str>,
        /// The string as written, quotes included, where it holds escapes.
        written: Option<Box<str>>,
    },
}

/// Why a JSON value cannot be a request id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadId {
    /// A scalar short enough to be echoed in the refusal: a fraction or a boolean.
    Scalar,
    /// Anything else.
    Other,
}

impl RequestId {
    /// The null id, which only a version 1 request may carry.
    pub const NULL: Self = Self(Repr::Null);

    /// Returns whether this is the null id.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.0, Repr::Null)
    }

    /// Returns the id as a 64-bit integer, if it is one.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Int(id) => Some(id),
            _ => None,
        }
    }

    /// Reads an id from its JSON text.
    pub(crate) fn from_json(text: &str) -> Result<Self, BadId> {
        if text.len() > ID_BYTES_MAX {
            return Err(BadId::Other);
        }
        match text.as_bytes() {
            [b'"', inner @ .., b'"'] if memchr::memchr(b'\\', inner).is_none() => {
                let value = text.trim_matches('"').into();
                Ok(Self(Repr::Text {
                    value,
                    written: None,
                }))
            }
            [b'"', ..] => {
                let value = serde_json::from_str(text).map_err(|_| BadId::Other)?;
                Ok(Self(Repr::Text {
                    value,
                    written: Some(text.into()),
                }))
            }
            [b'-' | b'0'..=b'9', ..] => Self::from_number(text),
            b"null" => Ok(Self::NULL),
            b"true" | b"false" => Err(BadId::Scalar),
            _ => Err(BadId::Other),
        }
    }

    fn from_number(text: &str) -> Result<Self, BadId> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(BadId::Scalar);
        }
        // "-0" parses as 0 and must still be written back as "-0".
        match text.parse() {
            Ok(id) if text != "-0" => Ok(Self(Repr::Int(id))),
            _ => Ok(Self(Repr::Digits(text.into()))),
        }
    }

    /// Appends the id's JSON text, as it was written.
    pub(crate) fn write_to(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Repr::Null => out.extend_from_slice(b"null"),
            Repr::Int(id) => out.extend_from_slice(itoa::Buffer::new().format(*id).as_bytes()),
            Repr::Digits(digits) => out.extend_from_slice(digits.as_bytes()),
            Repr::Text {
                written: Some(written),
                ..
            } => out.extend_from_slice(written.as_bytes()),
            Repr::Text {
                value,
                written: None,
            } => {
                // No escapes were in it, so none are needed.
                out.push(b'"');
                out.extend_from_slice(value.as_bytes());
                out.push(b'"');
            }
        }
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Null, Repr::Null) => true,
            (Repr::Int(a), Repr::Int(b)) => a == b,
            (Repr::Digits(a), Repr::Digits(b)) => a == b,
            (Repr::Text { value: a, .. }, Repr::Text { value: b, .. }) => a == b,
            _ => false,
        }
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Repr::Null => state.write_u8(0),
            Repr::Int(id) => state.write_i64(*id),
            Repr::Digits(text) | Repr::Text { value: text, .. } => text.hash(state),
        }
    }
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        Self(Repr::Int(id))
    }
}

/// As the JSON value that it is.
impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = serde_json::from_str::<Box<RawValue>>(&self.to_string());
        text.map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_json(text.get())
            .map_err(|_| serde::de::Error::custom("expected a string or an integer"))
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.write_to(&mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b6_ids_are_written_back_as_they_came() {
        let ids = [
            "0",
            "-1",
            "7",
            "-0",
            "9223372036854775807",
            "-9223372036854775808",
            "12345678901234567890",
            r#""7""#,
            r#""""#,
            r#""a\/b\u0041""#,
            r#""\"""#,
            "\"é🦀\"",
            "null",
        ];
        for written in ids {
            let id = RequestId::from_json(written).expect(written);
            assert_eq!(id.to_string(), written);
            assert_eq!(serde_json::to_string(&id).unwrap(), written);
            assert_eq!(serde_json::from_str::<RequestId>(written).unwrap(), id);
        }
    }

    #[test]
    fn b6_a_number_is_not_the_string_of_its_digits() {
        let id = |text| RequestId::from_json(text).unwrap();
        assert_ne!(id("1"), id("\"1\""));
        assert_ne!(id("12345678901234567890"), id("\"12345678901234567890\""));
        assert_eq!(id(r#""A""#), id(r#""\u0041""#));
    }

    #[test]
    fn b6_fractions_booleans_and_structures_are_no_ids() {
        for (text, bad) in [
            ("1.0", BadId::Scalar),
            ("1e3", BadId::Scalar),
            ("true", BadId::Scalar),
            ("{}", BadId::Other),
            ("[1]", BadId::Other),
            (r#""\ud800""#, BadId::Other),
        ] {
            assert_eq!(RequestId::from_json(text), Err(bad), "{text}");
        }
    }
}
