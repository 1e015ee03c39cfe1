//! Opening a store of many sessions and listing the first page.

use std::time::{Duration, Instant};

use ply_journal::{Description, Durability, Filter, Head, Journal, Sqlite};

use super::store::Store;
use crate::Result;
use crate::measure::{Outcome, to_f64};

/// Sessions in the store.
pub(super) const SESSIONS: u64 = 10_000;

/// Sessions on a page.
const PAGE: usize = 50;
/// Bytes of history of a session that has some: so much that reading it would show.
const HISTORY_BYTES: usize = 20 * 1024;
/// How often the store is opened; the median counts.
const TRIES: usize = 9;

/// Measures a store of sessions without history, and one of sessions with much of it.
#[tokio::main(flavor = "current_thread")]
pub(super) async fn run(sessions: u64) -> Result<Outcome> {
    let empty = filled(sessions, 0).await?;
    let long = filled(sessions, HISTORY_BYTES).await?;
    Ok(Outcome::default()
        .with("sessions", to_f64(sessions))
        .with("empty_ms", empty.as_secs_f64() * 1e3)
        .with("long_ms", long.as_secs_f64() * 1e3))
}

async fn filled(sessions: u64, history_bytes: usize) -> Result<Duration> {
    let store = Store::new()?;
    let journal = Sqlite::new(store.path());
    for session in 0..sessions {
        let created = i64::try_from(session)?;
        let id = format!("sess-{session:016x}");
        let head = Head::new(id.as_str(), "/work/project", created);
        let log = journal.create(head, &id).await?.log;
        let mut records = Vec::new();
        if history_bytes > 0 {
            records.push(vec![b'x'; history_bytes]);
        }
        let title = Some(format!("Session number {session}"));
        let change = Description::updated(created).title(title);
        log.append(records, Durability::Written, Some(change))
            .await?;
    }
    journal.close().await?;
    let mut waits = Vec::with_capacity(TRIES);
    for _ in 0..TRIES {
        let start = Instant::now();
        let journal = Sqlite::new(store.path());
        let page = journal.list(Filter::new(PAGE)).await?;
        waits.push(start.elapsed());
        let newest = page.sessions.first().map(|head| head.created_ms);
        let is_newest = newest == Some(i64::try_from(sessions)? - 1);
        if page.sessions.len() != PAGE || page.next.is_none() || !is_newest {
            return Err("the first page is not what it should be".into());
        }
        journal.close().await?;
    }
    waits.sort_unstable();
    Ok(waits.get(TRIES / 2).copied().unwrap_or_default())
}
