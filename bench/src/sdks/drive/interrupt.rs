//! A request and a cancel while a turn streams as fast as it can.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{Either, select};
use tokio::sync::oneshot;

use super::super::client::{Client, End, Session as _, Stopper as _};
use super::super::tally::Tally;
use super::super::task::Task;
use super::super::work::Plan;
use crate::Result;
use crate::measure::{Outcome, median_ms, to_f64, worst_ms};
use crate::payload::CHUNK_TEXT;

/// Updates that are read before the request is sent; by then a fast agent has filled all queues on the way.
const CHUNKS_BEFORE: u64 = 2_000;
/// More updates than anybody waits for.
const ENDLESS: u64 = 1_000_000_000;
/// No further try is begun after this time.
const TIME_MAX: Duration = Duration::from_secs(20);
/// A wait that is longer counts as this long, and is the last: behind a queue without a bound it can take minutes.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Each try is a turn of its own, in a new session, so that no try finds the rest of the one before.
pub(super) async fn run<C: Client>(client: C, plan: Plan, tally: Arc<Tally>) -> Result<Outcome> {
    let (mut pings, mut cancels) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    for _ in 0..plan.count {
        let mut session = client.open().await?;
        let stopper = session.stopper();
        tally.expect(CHUNKS_BEFORE * CHUNK_TEXT.len() as u64);
        let turn = tokio::spawn(async move { session.turn(Task::Stream(ENDLESS).prompt()).await });
        tally.reached().await;

        let start = Instant::now();
        let ping = client.ping();
        let answered = in_time(pin!(ping)).await.transpose()?.is_some();
        pings.push(start.elapsed());

        let start = Instant::now();
        stopper.cancel().await?;
        let ended = match in_time(turn).await {
            Some(end) => end??.expect(End::Cancelled).map(|()| true)?,
            None => false,
        };
        cancels.push(start.elapsed());
        if !answered || !ended || begun.elapsed() > TIME_MAX {
            break;
        }
    }
    Ok(Outcome::default()
        .with("tries", to_f64(pings.len() as u64))
        .with("ping_worst_ms", worst_ms(&pings))
        .with("ping_p50_ms", median_ms(&mut pings))
        .with("cancel_worst_ms", worst_ms(&cancels))
        .with("cancel_p50_ms", median_ms(&mut cancels)))
}

/// Waits for something, but not longer than [`WAIT_MAX`]. The clock is a thread: not every runtime here has timers.
async fn in_time<F: Future + Unpin>(work: F) -> Option<F::Output> {
    let (ring, rung) = oneshot::channel();
    std::thread::spawn(move || {
        std::thread::sleep(WAIT_MAX);
        // Whoever waited may be done long since.
        ring.send(()).ok();
    });
    match select(work, rung).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}
