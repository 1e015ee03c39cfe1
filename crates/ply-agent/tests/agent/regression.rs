//! Symptoms that were seen once and must not come back.

mod clients;
mod failed_journal;
mod leaving;
mod options;
mod pace;
mod requests;
mod stuck_journal;
mod terminals;
mod turns;

use serde_json::{Value, json};

fn of(session: &str) -> Value {
    json!({"sessionId": session, "cwd": "/work", "mcpServers": []})
}
