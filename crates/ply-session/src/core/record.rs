//! An event as JSON, encoded once for the journal and for every view.

use std::ops::Range;
use std::sync::Arc;

use ply_wire::encode;
use ply_wire::v2;
use serde::Serialize;

use crate::Event;

/// What the journal's records begin with, before and after the update in them.
const UPDATE: (&str, &str) = ("{\"update\":", "}");

/// The JSON of an update, shared by whoever shows it.
#[derive(Debug, Clone)]
pub struct Json {
    record: Arc<str>,
    update: Range<usize>,
}

impl Json {
    /// Returns the JSON of the update alone.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.record.get(self.update.clone()).unwrap_or_default()
    }

    /// Encodes an update that is in no record.
    pub(crate) fn of(update: &v2::SessionUpdate) -> Self {
        let json = encoded(update);
        Self {
            update: 0..json.len(),
            record: json.into(),
        }
    }

    /// Finds the update in a record of the journal, if the record is nothing else.
    pub(crate) fn in_record(record: &[u8]) -> Option<Self> {
        let record = std::str::from_utf8(record).ok()?;
        let update = record.strip_prefix(UPDATE.0)?.strip_suffix(UPDATE.1)?;
        let start = UPDATE.0.len();
        Some(Self {
            update: start..start + update.len(),
            record: record.into(),
        })
    }
}

/// A record: its JSON, and where in it the update and the text of a chunk are.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) json: Arc<str>,
    update: Option<Range<usize>>,
    /// Where the escaped text of a plain chunk is. Escaped texts can be joined as they are.
    pub(crate) text: Option<Range<usize>>,
}

impl Record {
    pub(crate) fn new(event: &Event) -> Self {
        let mut json = String::new();
        let (mut at, mut text) = (None, None);
        match event {
            Event::Update(update) => {
                json.push_str(UPDATE.0);
                let start = json.len();
                if let Some(chunk) = encode::PlainChunk::of(update) {
                    text = Some(chunk.write(&mut json));
                } else {
                    json.push_str(&encoded(update));
                }
                at = Some(start..json.len());
                json.push_str(UPDATE.1);
            }
            Event::Edited { update, edits } => {
                json.push_str("{\"edited\":{\"update\":");
                let start = json.len();
                json.push_str(&encoded(update));
                at = Some(start..json.len());
                json.push_str(",\"edits\":");
                json.push_str(&encoded(edits));
                json.push_str("}}");
            }
            event => json = encoded(event),
        }
        Self {
            json: json.into(),
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
    pub(crate) fn joined(&self, more: &[&Self]) -> Vec<u8> {
        let Some(text) = self.text.clone().filter(|_| !more.is_empty()) else {
            return self.json.as_bytes().to_vec();
        };
        let added: usize = more.iter().map(|record| record.text_bytes()).sum();
        let mut out = Vec::with_capacity(self.json.len() + added);
        let (head, tail) = self.json.as_bytes().split_at(text.end);
        out.extend_from_slice(head);
        for record in more {
            out.extend_from_slice(record.text().as_bytes());
        }
        out.extend_from_slice(tail);
        out
    }

    pub(crate) fn text_bytes(&self) -> usize {
        self.text.as_ref().map_or(0, ExactSizeIterator::len)
    }

    fn text(&self) -> &str {
        let text = self.text.clone().unwrap_or_default();
        self.json.get(text).unwrap_or_default()
    }
}

fn encoded(value: &(impl Serialize + ?Sized)) -> String {
    // Only a path that is not UTF-8 has no JSON form, and such a path cannot have come in.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
