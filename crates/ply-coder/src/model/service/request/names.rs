//! What calls and tools are called on the wire.
//!
//! The conversation keeps what was said: ids of the turn loop or of another service, and names that a
//! model made up. A service that does not take one of them would refuse the conversation for ever.

use std::collections::{HashMap, HashSet};

use super::super::Api;
use crate::model::{Message, Part};

/// How long an id or a name may be.
const CHARS_MAX: usize = 64;
/// How long an id is for services that speak like OpenAI: Mistral takes no other length, and it may be
/// behind any of them.
const HASHED_CHARS: usize = 9;
/// The letters of such ids, for the same reason.
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The ids of the calls of a request.
#[derive(Debug)]
pub(super) struct Ids<'r>(HashMap<&'r str, String>);

impl<'r> Ids<'r> {
    /// Gives every call of a conversation its id. An id depends on those before it alone, so that the
    /// beginning of a conversation stays as it is and caches know it again.
    pub(super) fn new(api: Api, messages: &'r [Message]) -> Self {
        let mut ids = HashMap::new();
        let mut taken = HashSet::new();
        for id in messages.iter().flat_map(said) {
            ids.entry(id).or_insert_with(|| {
                let mut wire = match api {
                    Api::OpenAi | Api::OpenAiResponses => hashed(id, 0),
                    Api::Anthropic if id.is_empty() => hashed(id, 0),
                    Api::Anthropic => plain(id),
                    // Neither looks at the letters.
                    Api::Gemini | Api::Ollama => id.to_owned(),
                };
                let mut salt = 1;
                while !taken.insert(wire.clone()) {
                    wire = hashed(id, salt);
                    salt += 1;
                }
                wire
            });
        }
        Self(ids)
    }

    /// Returns the id of a call.
    pub(super) fn of(&self, id: &str) -> String {
        self.0.get(id).cloned().unwrap_or_else(|| hashed(id, 0))
    }
}

/// Returns the ids in a message.
fn said(message: &Message) -> Vec<&str> {
    match message {
        Message::User(_) => Vec::new(),
        Message::Assistant(parts) => parts
            .iter()
            .filter_map(|part| match part {
                Part::Call(call) => Some(call.id.as_str()),
                _ => None,
            })
            .collect(),
        Message::Results(results) => results.iter().map(|result| result.call.as_str()).collect(),
    }
}

/// Returns the name of a tool in letters that every service takes.
pub(super) fn tool(name: &str) -> String {
    let mut plain = plain(name);
    if plain.is_empty() {
        return "unknown".to_owned();
    }
    // Gemini wants no digit in front.
    if !plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        plain.insert(0, '_');
        plain.truncate(CHARS_MAX);
    }
    plain
}

/// Returns a text with nothing but ASCII letters, digits, `_` and `-`.
fn plain(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let chars = text.chars().take(CHARS_MAX);
    chars.map(|c| if plain(c) { c } else { '_' }).collect()
}

/// Returns letters that stand for a text: FNV-1a, which stays the same from run to run.
fn hashed(text: &str, salt: u64) -> String {
    let start = 0xcbf2_9ce4_8422_2325_u64 ^ salt;
    let mut hash = text.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // Texts that differ at their end alone would otherwise begin alike.
    hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut letters = String::with_capacity(HASHED_CHARS);
    for _ in 0..HASHED_CHARS {
        let place = usize::try_from(hash % LETTERS.len() as u64).unwrap_or_default();
        letters.push(LETTERS.get(place).copied().map_or('0', char::from));
        hash /= LETTERS.len() as u64;
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CallResult;

    fn results(ids: &[String]) -> Vec<Message> {
        let results = ids.iter().map(|id| CallResult {
            call: id.clone(),
            name: "read".to_owned(),
            text: String::new(),
            images: Vec::new(),
            failed: false,
        });
        vec![Message::Results(results.collect())]
    }

    #[test]
    fn ids_suit_every_service_and_stay_apart() {
        let mut given: Vec<String> = ["", "a.b", "a_b", "a:b", "é", "__"]
            .map(str::to_owned)
            .into();
        given.extend((0..5_000).map(|number| format!("call-{}-{number}-0", number % 7)));
        given.push("x".repeat(300));
        given.push("x".repeat(301));
        let messages = results(&given);
        for api in [Api::OpenAi, Api::OpenAiResponses, Api::Anthropic] {
            let ids = Ids::new(api, &messages);
            let sent: HashSet<String> = given.iter().map(|id| ids.of(id)).collect();
            assert_eq!(sent.len(), given.len(), "{api:?}");
            for id in sent {
                let plain = id
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
                assert!(plain && (1..=64).contains(&id.len()), "{api:?} {id}");
                if api != Api::Anthropic {
                    assert!(id.len() == 9 && !id.contains(['_', '-']), "{api:?} {id}");
                }
            }
        }
    }

    #[test]
    fn the_beginning_of_a_conversation_keeps_its_ids() {
        let given = ["call-1-1-0", "call-1-1-1"].map(str::to_owned);
        let (one, both) = (results(&given[..1]), results(&given));
        let first = Ids::new(Api::OpenAi, &one).of(&given[0]);
        assert_eq!(first, Ids::new(Api::OpenAi, &both).of(&given[0]));
    }

    #[test]
    fn names_that_models_make_up_become_names() {
        for (name, expected) in [
            ("read", "read"),
            ("multi_tool_use.parallel", "multi_tool_use_parallel"),
            ("", "unknown"),
            ("größe", "gr__e"),
            ("9", "_9"),
            ("-", "_-"),
        ] {
            assert_eq!(tool(name), expected);
        }
        assert_eq!(tool(&"x".repeat(300)).len(), 64);
        assert_eq!(tool(&"9".repeat(300)).len(), 64);
    }
}
