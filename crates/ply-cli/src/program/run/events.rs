//! One JSON object per line for everything that happens.

use std::io::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use crate::program::json::Harmless;
use crate::program::time;

/// The version of the lines.
const VERSION: u32 = 1;

/// Writes lines, numbered from 1.
#[derive(Debug, Default)]
pub(super) struct Events {
    seq: u64,
}

/// What every line has. The names are promised to scripts.
#[derive(Serialize)]
struct Envelope<'a> {
    v: u32,
    seq: u64,
    t: String,
    kind: &'a str,
    #[serde(flatten)]
    more: Value,
}

impl Events {
    /// Returns a line. `more` is an object whose members stand beside those that every line has.
    pub(super) fn line(&mut self, kind: &str, more: Value) -> Vec<u8> {
        self.seq += 1;
        let envelope = Envelope {
            v: VERSION,
            seq: self.seq,
            t: time::rfc3339(time::now_ms()),
            kind,
            more,
        };
        let mut line = Vec::new();
        let mut out = Harmless(&mut line);
        let written = serde_json::to_writer(&mut out, &envelope);
        if written.is_err() {
            // A path that is not UTF-8 cannot be written as JSON; the place of the line is kept.
            line.clear();
            let seq = self.seq;
            let instead = json!({ "v": VERSION, "seq": seq, "kind": "unwritable" });
            line.extend_from_slice(instead.to_string().as_bytes());
        }
        drop(line.write_all(b"\n"));
        line
    }
}
