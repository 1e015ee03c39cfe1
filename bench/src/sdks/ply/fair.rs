//! A hundred sessions of one agent, of which one is not read and one is read slowly: what do the others notice?

use std::time::{Duration, Instant};

use ply_client::limits::QUEUED_EVENTS_MAX;
use ply_client::{Agent, Event, Session, Turn};
use tokio::task::JoinSet;

use super::super::task::Task;
use crate::Result;
use crate::measure::{Outcome, to_f64};
use crate::payload::CHUNK_TEXT;

/// Sessions whose turns are read as fast as they come.
const BUSY: u64 = 98;
/// How often each side is measured; the median counts.
const ROUNDS: usize = 5;
/// How long the slow reader looks at an event.
const SLOW: Duration = Duration::from_millis(10);

/// What a reader made of a turn.
#[derive(Default)]
struct Read {
    text_bytes: u64,
    lagged: u64,
}

/// Measures the busy sessions by turns alone and beside the two, with so many updates over all of them.
pub(super) async fn run(agent: Agent, count: u64) -> Result<Outcome> {
    let each = (count / BUSY).max(1);
    let mut busy = Vec::new();
    for _ in 0..BUSY {
        busy.push(agent.new_session("/").await?);
    }
    let unread = agent.new_session("/").await?;
    let slow = agent.new_session("/").await?;
    turns(&mut busy, each).await?;
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    let mut lagged = 0;
    // More than fits into a queue, and nothing of it can be joined.
    let much = each.max(2 * QUEUED_EVENTS_MAX as u64);
    for _ in 0..ROUNDS {
        alone.push(turns(&mut busy, each).await?);
        let prompt = || Task::Alternate(much).prompt();
        let unread_turn = unread.prompt(prompt()).await?;
        let (done, is_done) = tokio::sync::watch::channel(false);
        let slow_turn = slow.prompt(prompt()).await?;
        let slow_read = tokio::spawn(read_slowly(slow_turn, is_done));
        beside.push(turns(&mut busy, each).await?);
        done.send_replace(true);
        let half = much.div_ceil(2) * CHUNK_TEXT.len() as u64;
        for read in [read(unread_turn).await?, slow_read.await??] {
            lagged += read.lagged;
            if read.text_bytes != half {
                let bytes = read.text_bytes;
                return Err(format!("a slow reader had {bytes} of {half} bytes of text").into());
            }
        }
    }
    if lagged == 0 {
        return Err("the session that was not read did not lag, so this shows nothing".into());
    }
    let (alone, beside) = (median(alone), median(beside));
    Ok(Outcome::default()
        .with("sessions", to_f64(BUSY + 2))
        .with("messages", to_f64(BUSY * each))
        .with("alone_per_second", to_f64(BUSY * each) / alone)
        .with("per_second", to_f64(BUSY * each) / beside)
        .with("kept", alone / beside)
        .with("lagged", to_f64(lagged)))
}

/// Prompts every session at once, reads all turns, and returns the seconds until the last had ended.
async fn turns(sessions: &mut Vec<Session>, each: u64) -> Result<f64> {
    let start = Instant::now();
    let mut turns = JoinSet::new();
    for session in sessions.drain(..) {
        turns.spawn(async move {
            let turn = session.prompt(Task::Stream(each).prompt()).await?;
            let read = read(turn).await?;
            if read.text_bytes != each * CHUNK_TEXT.len() as u64 {
                return Err(format!("{} bytes of text arrived", read.text_bytes).into());
            }
            Result::Ok(session)
        });
    }
    while let Some(turn) = turns.join_next().await {
        sessions.push(turn??);
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Reads a turn to its end.
async fn read(mut turn: Turn) -> Result<Read> {
    let mut read = Read::default();
    while let Some(event) = turn.next().await {
        read.take(&event?);
    }
    Ok(read)
}

/// Reads a turn slowly until the others are done.
async fn read_slowly(
    mut turn: Turn,
    mut is_done: tokio::sync::watch::Receiver<bool>,
) -> Result<Read> {
    let mut read = Read::default();
    while let Some(event) = turn.next().await {
        read.take(&event?);
        // Whoever measures may be gone after a failure; then nothing is waited for.
        drop(tokio::time::timeout(SLOW, is_done.wait_for(|is_done| *is_done)).await);
    }
    Ok(read)
}

impl Read {
    fn take(&mut self, event: &Event) {
        match event {
            Event::Message(message) => self.text_bytes += message.text().len() as u64,
            Event::Lagged { .. } => self.lagged += 1,
            _ => {}
        }
    }
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    let middle = seconds.len() / 2;
    seconds.get(middle).copied().unwrap_or_default()
}
