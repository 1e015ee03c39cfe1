//! How far a client has been shown a session, as a text that it can give back, also to another process.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use ply_wire::v2;

use crate::AskId;

/// What the text begins with; another form of it gets another number.
const FORM: &str = "1";
/// Calls with content that was held back, and open questions, that a text names. Of more calls than that, what is held back is
/// sent with the next change.
const NAMED_MAX: usize = 64;
/// Longest text that is read.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// An owner that no session ever has: nobody can tell what such a text means.
pub(crate) const NOBODY: u64 = 0;

/// A place in the records of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct At {
    /// The number of the next record.
    pub(crate) record: u64,
    /// Bytes of its escaped text that come before.
    pub(crate) skip: usize,
}

/// How a view began, which decides how its version shows what comes later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Began {
    New,
    Replay,
    Resume,
}

/// How far a client has been shown a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) began: Began,
    /// Where it began.
    pub(crate) base: At,
    /// What it has been shown since.
    pub(crate) at: At,
    /// Messages that came of the next step already.
    pub(crate) shown: usize,
    /// How many updates of the past it has been shown; none if all.
    pub(crate) past: Option<usize>,
    /// How many updates it has not been shown that belong to the answer with which it began.
    pub(crate) after: usize,
    /// Permission requests that it shows, in version 1.
    pub(crate) asked: BTreeSet<AskId>,
    /// Calls whose content was held back.
    pub(crate) unsent: Vec<v2::ToolCallId>,
}

impl Mark {
    /// Returns where a view begins.
    pub(crate) fn new(began: Began, base: At) -> Self {
        Self {
            began,
            base,
            at: base,
            shown: 0,
            past: None,
            after: 0,
            asked: BTreeSet::new(),
            unsent: Vec::new(),
        }
    }

    /// Notes that the next step was shown whole.
    pub(crate) fn moved(&mut self, at: At) {
        self.at = at;
        self.shown = 0;
    }

    /// Returns the text for the client of a session that has this owner.
    pub(crate) fn text(&self, session: &v2::SessionId, owner: u64) -> String {
        let began = match self.began {
            Began::New => 'n',
            Began::Replay => 'l',
            Began::Resume => 'r',
        };
        let (base, at) = (self.base, self.at);
        let mut text = format!(
            "{FORM}-{:016x}-{owner}-{began}{}.{}-{}.{}.{}",
            print(session.0.as_bytes()),
            base.record,
            base.skip,
            at.record,
            at.skip,
            self.shown
        );
        if let Some(past) = self.past {
            text.push_str(&format!("-p{past}"));
        }
        if self.after > 0 {
            text.push_str(&format!("-f{}", self.after));
        }
        for ask in self.asked.iter().take(NAMED_MAX) {
            text.push_str(&format!("-a{}", ask.0));
        }
        for call in self.unsent.iter().take(NAMED_MAX) {
            text.push_str("-u");
            for byte in call.0.bytes() {
                text.push_str(&format!("{byte:02x}"));
            }
        }
        text
    }

    /// Reads a text that a client gave; none if it is not of this session, or of none of these owners.
    pub(crate) fn read(
        text: &str,
        session: &v2::SessionId,
        owners: RangeInclusive<u64>,
    ) -> Option<Self> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let mut parts = text.split('-');
        let is_ours = parts.next()? == FORM
            && parts.next()? == format!("{:016x}", print(session.0.as_bytes()))
            && owners.contains(&parts.next()?.parse().ok()?);
        if !is_ours {
            return None;
        }
        let base = parts.next()?;
        let began = match base.chars().next()? {
            'n' => Began::New,
            'l' => Began::Replay,
            'r' => Began::Resume,
            _ => return None,
        };
        let (record, skip) = base.get(1..)?.split_once('.')?;
        let base = At {
            record: record.parse().ok()?,
            skip: skip.parse().ok()?,
        };
        let mut mark = Self::new(began, base);
        let mut at = parts.next()?.split('.');
        mark.at.record = at.next()?.parse().ok()?;
        mark.at.skip = at.next()?.parse().ok()?;
        mark.shown = at.next()?.parse().ok()?;
        if at.next().is_some() || mark.at < mark.base {
            return None;
        }
        for part in parts {
            mark.read_part(part)?;
        }
        Some(mark)
    }

    fn read_part(&mut self, part: &str) -> Option<()> {
        let value = part.get(1..)?;
        match part.chars().next()? {
            'p' => self.past = Some(value.parse().ok()?),
            'f' => self.after = value.parse().ok()?,
            'a' => {
                self.asked.insert(AskId(value.parse().ok()?));
            }
            'u' => {
                let digits = value.as_bytes().chunks(2);
                let bytes = digits.map(|pair| {
                    let pair = std::str::from_utf8(pair).ok()?;
                    u8::from_str_radix(pair, 16).ok()
                });
                let bytes: Option<Vec<u8>> = bytes.collect();
                let id = String::from_utf8(bytes?).ok()?;
                self.unsent.push(v2::ToolCallId::new(id));
            }
            _ => return None,
        }
        Some(())
    }
}

/// Returns a short print of some bytes, the same in every process and version (FNV-1a).
pub(crate) fn print(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |print, byte| {
        (print ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> Mark {
        let mut mark = Mark::new(Began::Replay, At { record: 3, skip: 7 });
        mark.moved(At {
            record: 12,
            skip: 40,
        });
        (mark.shown, mark.past, mark.after) = (2, Some(5), 1);
        mark.asked.insert(AskId(9));
        mark.unsent.push(v2::ToolCallId::new("call \"1\"-é"));
        mark
    }

    #[test]
    fn a_mark_is_read_back_as_it_was_told() {
        let session = v2::SessionId::new("s");
        let text = mark().text(&session, 4);
        assert!(text.bytes().all(|byte| byte.is_ascii_graphic()));
        assert!(!text.contains(['"', '\\']), "it stands in JSON as it is");
        assert_eq!(Mark::read(&text, &session, 1..=4), Some(mark()));
        assert_eq!(Mark::read(&text, &session, 1..=9), Some(mark()));
    }

    #[test]
    fn a_mark_of_another_session_or_of_a_later_owner_or_of_nobody_is_none() {
        let session = v2::SessionId::new("s");
        let text = mark().text(&session, 4);
        assert_eq!(Mark::read(&text, &v2::SessionId::new("t"), 1..=4), None);
        assert_eq!(Mark::read(&text, &session, 1..=3), None);
        assert_eq!(Mark::read(&text, &session, 5..=9), None);
        for cut in 0..text.len() {
            let cut = text.get(..cut).unwrap_or_default();
            // Where the rest of it is only left out, the beginning may be a mark.
            if let Some(read) = Mark::read(cut, &session, 1..=4) {
                assert_ne!(read, mark());
            }
        }
        for wrong in ["", "1", "latest", "2-0-1-n0.0-0.0.0", "1-é-1-n0.0-0.0.0"] {
            assert_eq!(Mark::read(wrong, &session, 1..=4), None, "{wrong}");
        }
    }
}
