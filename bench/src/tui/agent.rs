//! The agent for the terminal client: it replays a long session, or talks without end. Lines on blocking pipes.

use std::fs::File;
use std::io::{BufRead as _, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::updates;
use crate::Result;

/// Updates a second of an agent that talks.
pub(super) const TALK_PER_SECOND: u64 = 2_000;

/// Writes what the agent sends when the session is loaded. Made beforehand, so that making it is no part of what is measured.
pub(super) fn write_history(path: &Path, updates: u64) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for place in 0..updates {
        send(&mut out, &updates::update(place, updates))?;
    }
    Ok(out.flush()?)
}

/// Serves standard input and output until the input ends.
pub(crate) fn serve(history: &Path) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let id = message.get("id").cloned().unwrap_or_default();
        match message
            .get("method")
            .and_then(Value::as_str)
            .unwrap_or_default()
        {
            "initialize" => answer(
                &mut out,
                &id,
                &json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}),
            )?,
            "session/new" => answer(&mut out, &id, &json!({"sessionId": updates::SESSION}))?,
            "session/load" => {
                std::io::copy(&mut File::open(history)?, &mut out)?;
                answer(&mut out, &id, &json!({}))?;
            }
            "session/prompt" => talk(&mut out)?,
            _ => {}
        }
        out.flush()?;
    }
    Ok(())
}

/// Talks until nobody listens.
fn talk(out: &mut impl Write) -> Result<()> {
    let begun = Instant::now();
    let mut said = 0;
    loop {
        let wanted = begun.elapsed().as_millis() * u128::from(TALK_PER_SECOND) / 1_000;
        while said < wanted {
            said += 1;
            let text = if said % 40 == 0 { "word.\n\n" } else { "word " };
            let content = json!({"type": "text", "text": text});
            send(
                out,
                &json!({"sessionUpdate": "agent_message_chunk", "content": content}),
            )?;
        }
        out.flush()?;
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn send(out: &mut impl Write, update: &Value) -> Result<()> {
    let params = json!({"sessionId": updates::SESSION, "update": update});
    let message = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    Ok(writeln!(out, "{message}")?)
}

fn answer(out: &mut impl Write, id: &Value, result: &Value) -> Result<()> {
    let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
    Ok(writeln!(out, "{message}")?)
}
