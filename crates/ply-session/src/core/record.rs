//! An event as JSON, encoded once for the journal and for every view.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use ply_wire::encode::{PlainChunk, write_user_message};
use ply_wire::{MaybeUndefined, v2};
use serde::Serialize;

use crate::Event;
use crate::size::{block_bytes, content_bytes};

/// What the journal's records begin with, before and after the update in them.
const UPDATE: (&str, &str) = ("{\"update\":", "}");

/// Room for what the JSON of an update has besides its text.
const HEAD_BYTES: usize = 192;

/// From which length on the journal shares a record instead of copying it.
const SHARED_BYTES: usize = 4 * 1024;

/// A record that the journal shares.
struct Shared(Arc<String>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Room for the JSON of a question, which repeats its call and has several options.
const QUESTION_BYTES: usize = 1024;

/// The JSON of an update, shared by whoever shows it.
#[derive(Debug, Clone)]
pub struct Json {
    // Not `Arc<str>`, which would copy a long text once more.
    record: Arc<String>,
    update: Range<usize>,
}

impl Json {
    /// Returns the JSON of the update alone.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.record.get(self.update.clone()).unwrap_or_default()
    }

    /// Returns the same without a copy.
    #[must_use]
    pub fn shared(&self) -> Bytes {
        let record = Bytes::from_owner(Shared(Arc::clone(&self.record)));
        record.slice(self.update.clone())
    }

    /// Encodes an update that is in no record.
    pub(crate) fn of(update: &v2::SessionUpdate) -> Self {
        let mut json = String::with_capacity(capacity(update));
        encode(update, &mut json);
        Self {
            update: 0..json.len(),
            record: Arc::new(json),
        }
    }

    /// Finds the update in a record of the journal, if the record is nothing else.
    pub(crate) fn in_record(record: &[u8]) -> Option<Self> {
        let record = std::str::from_utf8(record).ok()?;
        let update = record.strip_prefix(UPDATE.0)?.strip_suffix(UPDATE.1)?;
        let start = UPDATE.0.len();
        Some(Self {
            update: start..start + update.len(),
            record: Arc::new(record.to_owned()),
        })
    }
}

/// A record: its JSON, and where in it the update and the text of a chunk are.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) json: Arc<String>,
    update: Option<Range<usize>>,
    /// Where the escaped text of a plain chunk is. Escaped texts can be joined as they are.
    pub(crate) text: Option<Range<usize>>,
}

impl Record {
    /// Returns the record as it is stored. A long one is shared, a short one is cheaper to copy.
    pub(crate) fn bytes(&self) -> Bytes {
        if self.json.len() < SHARED_BYTES {
            Bytes::copy_from_slice(self.json.as_bytes())
        } else {
            Bytes::from_owner(Shared(Arc::clone(&self.json)))
        }
    }

    pub(crate) fn new(event: &Event) -> Self {
        let mut json = String::with_capacity(match event {
            Event::Asked { .. } => QUESTION_BYTES,
            event => event.update().map_or(0, capacity),
        });
        let (mut at, mut text) = (None, None);
        match event {
            Event::Update(update) => {
                json.push_str(UPDATE.0);
                let start = json.len();
                match PlainChunk::of(update) {
                    Some(chunk) => text = Some(chunk.write(&mut json)),
                    None if write_user_message(update, &mut json) => {}
                    None => encode(update, &mut json),
                }
                at = Some(start..json.len());
                json.push_str(UPDATE.1);
            }
            Event::Edited { update, edits } => {
                json.push_str("{\"edited\":{\"update\":");
                let start = json.len();
                encode(update, &mut json);
                at = Some(start..json.len());
                json.push_str(",\"edits\":");
                encode(edits, &mut json);
                json.push_str("}}");
            }
            event => encode(event, &mut json),
        }
        Self {
            json: Arc::new(json),
            update: at,
            text,
        }
    }

    /// Returns the JSON of the update in it.
    pub(crate) fn update(&self) -> Option<Json> {
        self.update.clone().map(|update| Json {
            record: Arc::clone(&self.json),
            update,
        })
    }

    /// Returns the record for a journal: what comes before the text, the texts, and what comes after.
    pub(crate) fn joined(&self, more: &[&Self]) -> Bytes {
        let Some(text) = self.text.clone().filter(|_| !more.is_empty()) else {
            return self.bytes();
        };
        let added: usize = more.iter().map(|record| record.text_bytes()).sum();
        let mut out = Vec::with_capacity(self.json.len() + added);
        let (head, tail) = self.json.as_bytes().split_at(text.end);
        out.extend_from_slice(head);
        for record in more {
            out.extend_from_slice(record.text().as_bytes());
        }
        out.extend_from_slice(tail);
        out.into()
    }

    pub(crate) fn text_bytes(&self) -> usize {
        self.text.as_ref().map_or(0, ExactSizeIterator::len)
    }

    fn text(&self) -> &str {
        let text = self.text.clone().unwrap_or_default();
        self.json.get(text).unwrap_or_default()
    }
}

/// Returns room for the JSON of an update, so that a long text does not make it grow step by step. Without one it is short, and
/// kept for as long as the record.
fn capacity(update: &v2::SessionUpdate) -> usize {
    let text = match update {
        v2::SessionUpdate::AgentMessageChunk(chunk)
        | v2::SessionUpdate::AgentThoughtChunk(chunk) => block_bytes(&chunk.content),
        v2::SessionUpdate::UserMessage(message) => match &message.content {
            MaybeUndefined::Value(content) => content_bytes(content),
            _ => 0,
        },
        _ => 0,
    };
    HEAD_BYTES + text + text / 16
}

fn encode(value: &(impl Serialize + ?Sized), json: &mut String) {
    let start = json.len();
    if ply_json::write(value, json).is_err() {
        // Only a path that is not UTF-8 has no JSON form, and such a path cannot have come in.
        json.truncate(start);
        json.push_str("null");
    }
}
