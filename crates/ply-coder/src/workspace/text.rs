//! Bytes of files as text, and back without a difference.

use super::Error;

const BOM: &str = "\u{feff}";

/// The text of a file. What it was decoded from comes out again byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Text {
    /// Whether a byte order mark stands before it.
    pub(crate) bom: bool,
    /// The text after it, with the line ends it has.
    pub(crate) text: String,
}

impl Text {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        match text.strip_prefix(BOM) {
            Some(rest) => Self {
                bom: true,
                text: rest.to_owned(),
            },
            None => Self { bom: false, text },
        }
    }

    pub(crate) fn decode(bytes: Vec<u8>) -> Result<Self, Error> {
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            return Err(Error::Utf16);
        }
        if bytes.contains(&0) {
            return Err(Error::Binary);
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self::new(text)),
            Err(_) => Err(Error::NotUtf8),
        }
    }

    /// Returns the whole of it, byte order mark included.
    pub(crate) fn whole(&self) -> String {
        match self.bom {
            true => format!("{BOM}{}", self.text),
            false => self.text.clone(),
        }
    }

    /// Returns the text as editors keep it in memory: many drop the mark and end lines with `\n` only,
    /// so a buffer that differs in no more than that holds no edit.
    pub(crate) fn folded(&self) -> String {
        fold(&self.text)
    }

    pub(crate) fn line_ends(&self) -> LineEnds {
        LineEnds::of(&self.text)
    }
}

/// Which line ends a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnds {
    None,
    Lf,
    Crlf,
    Mixed,
}

impl LineEnds {
    pub(crate) fn of(text: &str) -> Self {
        let all = text.matches('\n').count();
        let crlf = text.matches("\r\n").count();
        match (all, crlf) {
            (0, _) => Self::None,
            (_, 0) => Self::Lf,
            (all, crlf) if all == crlf => Self::Crlf,
            _ => Self::Mixed,
        }
    }

    /// Returns `text` with these line ends, or as it is where they are no single kind.
    pub(crate) fn apply(self, text: &str) -> String {
        match self {
            Self::Crlf => fold(text).replace('\n', "\r\n"),
            Self::Lf => fold(text),
            Self::None | Self::Mixed => text.to_owned(),
        }
    }
}

/// Returns `text` with `\n` for every `\r\n`.
pub(crate) fn fold(text: &str) -> String {
    text.replace("\r\n", "\n")
}
