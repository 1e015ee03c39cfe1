//! Many sessions on one link, all at work at the same time.

use std::sync::Arc;
use std::time::Instant;

use tokio::task::JoinSet;

use super::super::client::{Client, End, Session as _};
use super::super::tally::Tally;
use super::super::task::Task;
use super::super::work::Plan;
use crate::Result;
use crate::measure::{Outcome, to_f64};
use crate::payload::CHUNK_TEXT;

/// Opens all sessions first, which is not timed, then prompts all of them; each turn is read by a task of its own.
pub(super) async fn run<C: Client>(
    client: C,
    plan: Plan,
    tally: Arc<Tally>,
    count: u64,
) -> Result<Outcome> {
    let each = (plan.count / count).max(1);
    let opening = Instant::now();
    let mut sessions = Vec::new();
    for _ in 0..count {
        sessions.push(client.open().await?);
    }
    let opened = opening.elapsed();
    tally.expect(count * each * CHUNK_TEXT.len() as u64);
    let start = Instant::now();
    let mut turns = JoinSet::new();
    for mut session in sessions {
        turns.spawn(async move {
            let end = session.turn(Task::Stream(each).prompt()).await?;
            end.expect(End::Regular)?;
            Result::Ok(session)
        });
    }
    // Kept to the end, so that no session is closed while others work.
    let mut done = Vec::new();
    while let Some(turn) = turns.join_next().await {
        done.push(turn??);
    }
    let outcome = Outcome::rate(count * each, tally.finish(start)?);
    Ok(outcome
        .with("sessions", to_f64(count))
        .with("opening_ms", opened.as_secs_f64() * 1e3))
}
