//! Events appended to one session.

use std::time::Instant;

use ply_journal::{Durability, Head, Journal, Sqlite};

use super::store::Store;
use crate::Result;
use crate::measure::Outcome;
use crate::payload::CHUNK_TEXT;

/// Events with a commit for each.
pub(super) const EACH: u64 = 2_000;
/// Events in groups.
pub(super) const GROUPED: u64 = 500_000;

/// What an agent hands over at a time while it streams, in events.
const BATCH: u64 = 40;

/// Returns an event as the journal of an agent holds it.
fn event() -> Vec<u8> {
    let text = serde_json::json!({"update": {
        "sessionUpdate": "agent_message_chunk",
        "messageId": "msg-0-3",
        "content": {"type": "text", "text": CHUNK_TEXT},
    }});
    text.to_string().into_bytes()
}

/// Every event is safe before the next one is written.
#[tokio::main(flavor = "current_thread")]
pub(super) async fn each(count: u64) -> Result<Outcome> {
    let store = Store::new()?;
    let journal = Sqlite::new(store.path());
    let head = Head::new("bench", "/", 0);
    let log = journal.create(head, "bench").await?.log;
    let event = event();
    let start = Instant::now();
    for _ in 0..count {
        log.append(vec![event.clone()], Durability::Durable, None)
            .await?;
    }
    let outcome = Outcome::rate(count, start.elapsed());
    drop(log);
    journal.close().await?;
    Ok(outcome.noted("one commit for each event"))
}

/// Events come in the batches of a streaming agent, and all of them are safe in the end.
#[tokio::main(flavor = "current_thread")]
pub(super) async fn grouped(count: u64) -> Result<Outcome> {
    let store = Store::new()?;
    let journal = Sqlite::new(store.path());
    let head = Head::new("bench", "/", 0);
    let log = journal.create(head, "bench").await?.log;
    let event = event();
    let start = Instant::now();
    for batch in 0..count.div_ceil(BATCH) {
        let events = BATCH.min(count - batch * BATCH);
        let records = (0..events).map(|_| event.clone()).collect();
        log.append(records, Durability::Accepted, None).await?;
    }
    log.append(vec![event], Durability::Durable, None).await?;
    let outcome = Outcome::rate(count + 1, start.elapsed());
    drop(log);
    journal.close().await?;
    Ok(outcome.noted("batches of 40, the last one awaited"))
}
