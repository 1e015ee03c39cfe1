//! Tags and tokens: how turns and what they leave are found in any text.

use std::fmt;

/// A turn, shown as `[s1t4]`: of the session with this number, the one with this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// The session's number, from 1.
    pub session: u32,
    /// The turn's number in it, from 1.
    pub turn: u32,
}

/// An atom of a turn, shown as `<s1t4.12>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    /// The turn.
    pub tag: Tag,
    /// The atom's place in it, from 0.
    pub atom: usize,
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[s{}t{}]", self.session, self.turn)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<s{}t{}.{}>", self.tag.session, self.tag.turn, self.atom)
    }
}

/// Returns the tags in a text, in order.
pub fn tags_in(text: &str) -> impl Iterator<Item = Tag> {
    inside(text, '[', ']').filter_map(tag)
}

/// Returns the tokens in a text, in order.
pub fn tokens_in(text: &str) -> impl Iterator<Item = Token> {
    inside(text, '<', '>').filter_map(|inside| {
        let (turn, atom) = inside.split_once('.')?;
        let (tag, atom) = (tag(turn)?, atom.parse().ok()?);
        Some(Token { tag, atom })
    })
}

/// Reads "s1t4".
fn tag(text: &str) -> Option<Tag> {
    let (session, turn) = text.strip_prefix('s')?.split_once('t')?;
    Some(Tag {
        session: session.parse().ok()?,
        turn: turn.parse().ok()?,
    })
}

/// Returns what stands between brackets, short as tags and tokens are.
fn inside(text: &str, open: char, close: char) -> impl Iterator<Item = &str> {
    text.split(open)
        .skip(1)
        .filter_map(move |after| Some(after.split_once(close)?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_tokens_are_found_in_any_text() {
        let tag = Tag {
            session: 1,
            turn: 4,
        };
        let token = Token { tag, atom: 12 };
        let text = format!("x{tag}<s1><<{token} [s] {token}, <s1t1.x> [s1t4.1]");
        assert_eq!(tags_in(&text).collect::<Vec<_>>(), [tag]);
        assert_eq!(tokens_in(&text).collect::<Vec<_>>(), [token, token]);
    }
}
