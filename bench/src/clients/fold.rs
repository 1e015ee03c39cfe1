//! What a client was shown of a session, folded as it comes: a minute of updates is too much to keep for each client.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Result;
use crate::sdks::LAST_WORDS;

/// An update of either version, as far as it is folded.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Update<'a> {
    session_update: &'a str,
    #[serde(borrow)]
    message_id: Option<Text<'a>>,
    #[serde(borrow)]
    tool_call_id: Option<Text<'a>>,
    #[serde(borrow)]
    title: Option<Text<'a>>,
    #[serde(borrow)]
    status: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
}

/// Serde borrows a `Cow` only where it is the whole of a field.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Which kind of words a message has. What the user said is left out: version 1 does not show it to whoever said it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Said,
    Thought,
}

/// Whether an update adds to its message or is all of it.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Chunk,
    Whole,
}

/// The message whose chunks come at the moment.
struct Open {
    kind: Kind,
    id: Option<String>,
    bytes: u64,
    text: DefaultHasher,
}

/// What a transcript comes to, however its chunks were cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Transcript {
    pub(super) messages: u64,
    pub(super) text_bytes: u64,
    /// Of the kind and the text of each message, in order.
    digest: u64,
    /// The last title and status of each tool call.
    calls: BTreeMap<String, (String, String)>,
}

/// A transcript that grows.
#[derive(Default)]
pub(super) struct Fold {
    done: Transcript,
    open: Option<Open>,
    /// Updates of messages and tool calls.
    pub(super) updates: u64,
    /// Whether the agent has said its last words.
    pub(super) is_complete: bool,
}

impl Fold {
    /// Takes one update.
    pub(super) fn apply(&mut self, update: &Update<'_>) -> Result<()> {
        let (kind, part) = match update.session_update {
            "agent_message_chunk" => (Kind::Said, Part::Chunk),
            "agent_thought_chunk" => (Kind::Thought, Part::Chunk),
            "agent_message" => (Kind::Said, Part::Whole),
            "agent_thought" => (Kind::Thought, Part::Whole),
            "tool_call" | "tool_call_update" => {
                self.updates += 1;
                self.call(update);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.updates += 1;
        let Some(content) = update.content else {
            return Ok(());
        };
        let continues = self.open.as_ref().is_some_and(|open| {
            let id = update.message_id.as_ref().map(|id| &*id.0);
            open.kind == kind && open.id.as_deref() == id
        });
        if !continues || part == Part::Whole {
            if !continues {
                self.close();
            }
            self.open = Some(Open {
                kind,
                id: update.message_id.as_ref().map(|id| id.0.to_string()),
                bytes: 0,
                text: DefaultHasher::new(),
            });
        }
        match part {
            Part::Chunk => self.text(&serde_json::from_str(content.get())?),
            Part::Whole => {
                let blocks: Vec<Block<'_>> = serde_json::from_str(content.get())?;
                blocks.iter().for_each(|block| self.text(block));
            }
        }
        Ok(())
    }

    fn text(&mut self, block: &Block<'_>) {
        if let (Some(open), Some(Text(text))) = (&mut self.open, &block.text) {
            open.bytes += text.len() as u64;
            open.text.write(text.as_bytes());
            self.is_complete |= text.ends_with(LAST_WORDS);
        }
    }

    fn call(&mut self, update: &Update<'_>) {
        self.close();
        let Some(Text(id)) = &update.tool_call_id else {
            return;
        };
        if !self.done.calls.contains_key(&**id) {
            let unset = (String::new(), String::new());
            self.done.calls.insert(id.to_string(), unset);
        }
        if let Some((title, status)) = self.done.calls.get_mut(&**id) {
            if let Some(Text(now)) = &update.title {
                title.replace_range(.., now);
            }
            if let Some(Text(now)) = &update.status {
                status.replace_range(.., now);
            }
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        let mut all = DefaultHasher::new();
        (self.done.digest, open.kind, open.bytes, open.text.finish()).hash(&mut all);
        self.done.digest = all.finish();
        self.done.messages += 1;
        self.done.text_bytes += open.bytes;
    }

    /// Returns what it came to.
    pub(super) fn finish(mut self) -> Transcript {
        self.close();
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fold(updates: &[&str]) -> Transcript {
        let mut fold = Fold::default();
        for update in updates {
            let update = serde_json::from_str(update).expect("an update");
            fold.apply(&update).expect("it can be folded");
        }
        fold.finish()
    }

    #[test]
    fn a_transcript_does_not_depend_on_how_it_was_cut() {
        let cut = fold(&[
            r#"{"sessionUpdate":"agent_message_chunk","messageId":"a","content":{"type":"text","text":"one "}}"#,
            r#"{"sessionUpdate":"agent_message_chunk","messageId":"a","content":{"type":"text","text":"two"}}"#,
        ]);
        let joined = fold(&[
            r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"one two"}}"#,
        ]);
        assert_eq!(cut, joined);
        assert_eq!((cut.messages, cut.text_bytes), (1, 7));
    }

    #[test]
    fn a_message_that_is_missing_or_twice_is_noticed() {
        let said = r#"{"sessionUpdate":"agent_message_chunk","messageId":"a","content":{"type":"text","text":"x"}}"#;
        let thought = r#"{"sessionUpdate":"agent_thought_chunk","messageId":"b","content":{"type":"text","text":"x"}}"#;
        let right = fold(&[said, thought]);
        for wrong in [
            vec![said],
            vec![thought, said],
            vec![said, said, thought],
            vec![said, thought, thought],
        ] {
            assert_ne!(fold(&wrong), right);
        }
    }

    #[test]
    fn a_tool_call_is_what_was_said_of_it_last() {
        let call = fold(&[
            r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"1","status":"pending"}"#,
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"2"}"#,
        ]);
        let same = fold(&[
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"2","status":"pending"}"#,
        ]);
        assert_eq!(call, same);
    }
}
