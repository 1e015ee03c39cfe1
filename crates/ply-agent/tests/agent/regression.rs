//! Symptoms that were seen once and must not come back.

mod clients;
mod leaving;
mod options;
mod turns;

use serde_json::{Value, json};

fn of(session: &str) -> Value {
    json!({"sessionId": session, "cwd": "/work", "mcpServers": []})
}
