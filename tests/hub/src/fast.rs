//! The agent of the benchmark: it does as little as possible, so that what is measured is what is around it.
//!
//! A prompt of `updates:COUNT` gets so many updates, passages of text with a tool call behind each; `_bench/echo` is answered at once.

use std::io::{self, BufWriter, Write};

use serde_json::{Value, json};

/// Bytes of output that go out together.
const OUTPUT_BYTES: usize = 64 * 1024;

/// What a chunk says.
pub const TEXT: &str = "a few words of an answer ";

/// Updates of a passage, and how many of them are about a tool call. The others could be one message.
const PASSAGE: u64 = 50;
const CALLS: u64 = 2;

/// Returns how many bytes of text so many updates hold.
#[must_use]
pub fn text_bytes(updates: u64) -> u64 {
    let rest = (updates % PASSAGE).min(PASSAGE - CALLS);
    (updates / PASSAGE * (PASSAGE - CALLS) + rest) * TEXT.len() as u64
}

/// Serves version 1 until its input ends.
///
/// # Errors
///
/// A line cannot be read or written.
pub fn run() -> io::Result<()> {
    let mut out = BufWriter::with_capacity(OUTPUT_BYTES, io::stdout().lock());
    for line in io::stdin().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let (id, params) = (&message["id"], &message["params"]);
        let result = match message["method"].as_str() {
            Some("initialize") => {
                json!({"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"resume": {}}}})
            }
            Some("session/new") => json!({"sessionId": "down"}),
            Some("session/prompt") => {
                let text = params["prompt"][0]["text"].as_str().unwrap_or_default();
                let count = text.strip_prefix("updates:").unwrap_or_default();
                talk(&mut out, count.parse().unwrap_or(1))?;
                json!({"stopReason": "end_turn"})
            }
            Some(_) if !id.is_null() => json!({}),
            _ => continue,
        };
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn talk(out: &mut impl Write, count: u64) -> io::Result<()> {
    let line = |update: Value| {
        let params = json!({"sessionId": "down", "update": update});
        let line = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
        format!("{line}\n")
    };
    let content = json!({"type": "text", "text": TEXT});
    let chunk = line(json!({"sessionUpdate": "agent_message_chunk", "content": content}));
    for number in 0..count {
        let (passage, at) = (number / PASSAGE, number % PASSAGE);
        if at < PASSAGE - CALLS {
            out.write_all(chunk.as_bytes())?;
            continue;
        }
        let (kind, status) = match at == PASSAGE - 1 {
            true => ("tool_call_update", "completed"),
            false => ("tool_call", "pending"),
        };
        let id = format!("call-{passage}");
        let call = line(
            json!({"sessionUpdate": kind, "toolCallId": id, "title": "Reads a file", "status": status}),
        );
        out.write_all(call.as_bytes())?;
    }
    Ok(())
}
