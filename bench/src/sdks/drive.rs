//! The works, from the client's side.

mod allocated;
mod interrupt;
mod sessions;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::stream::{FuturesUnordered, StreamExt as _};

use super::client::{Client, End, Session};
use super::tally::Tally;
use super::task::Task;
use super::work::{Plan, Work};
use crate::Result;
use crate::measure::{IN_FLIGHT, Outcome, median_ms, to_f64};
use crate::payload::{CHUNK_TEXT, LARGE_TEXT_BYTES};

/// The values of the session's one option, which are its modes; set in turn.
pub(super) const MODES: [&str; 2] = ["ask", "code"];

/// Does the planned work on a connected and initialized client.
pub(super) async fn drive<C: Client>(client: C, plan: Plan, tally: Arc<Tally>) -> Result<Outcome> {
    match plan.work {
        Work::Updates => updates(client, plan, tally).await,
        Work::Roundtrip => roundtrip(client, plan).await,
        Work::Option => settings(client, plan, Setting::Option).await,
        Work::SetMode => settings(client, plan, Setting::Mode).await,
        Work::SetMode64 => modes_inflight(client, plan).await,
        Work::Inflight => inflight(client, plan).await,
        Work::Permission => permission(client, plan).await,
        Work::Sessions10 => sessions::run(client, plan, tally, 10).await,
        Work::Sessions1000 => sessions::run(client, plan, tally, 1000).await,
        Work::Large | Work::LargePrompt | Work::LargeUpdate => large(client, plan, tally).await,
        Work::Allocated => allocated::run(client, tally).await,
        Work::Interrupt => interrupt::run(client, plan, tally).await,
        Work::Start
        | Work::SlowReader
        | Work::Fair
        | Work::Idle
        | Work::SetModeRaw
        | Work::SetModeRaw64
        | Work::Resume => Err("this work has a client of its own".into()),
    }
}

async fn updates<C: Client>(client: C, plan: Plan, tally: Arc<Tally>) -> Result<Outcome> {
    let mut session = client.open().await?;
    tally.expect(plan.count * CHUNK_TEXT.len() as u64);
    let start = Instant::now();
    let end = session.turn(Task::Stream(plan.count).prompt()).await?;
    end.expect(End::Regular)?;
    let outcome = Outcome::rate(plan.count, tally.finish(start)?);
    Ok(outcome.with("pieces", to_f64(tally.pieces())))
}

async fn roundtrip<C: Client>(client: C, plan: Plan) -> Result<Outcome> {
    let _session = client.open().await?;
    for _ in 0..plan.warm_up {
        client.ping().await?;
    }
    let mut waits = Vec::with_capacity(usize::try_from(plan.count)?);
    for _ in 0..plan.count {
        let start = Instant::now();
        client.ping().await?;
        waits.push(start.elapsed());
    }
    Ok(Outcome::latency(waits))
}

/// What is set.
#[derive(Clone, Copy)]
enum Setting {
    Option,
    Mode,
}

impl Setting {
    async fn set(self, session: &impl Session, value: &'static str) -> Result<()> {
        match self {
            Setting::Option => session.set_option(value).await,
            Setting::Mode => session.set_mode(value).await,
        }
    }
}

async fn settings<C: Client>(client: C, plan: Plan, setting: Setting) -> Result<Outcome> {
    let session = client.open().await?;
    let mut values = MODES.into_iter().cycle();
    for value in values.by_ref().take(usize::try_from(plan.warm_up)?) {
        setting.set(&session, value).await?;
    }
    let mut waits = Vec::with_capacity(usize::try_from(plan.count)?);
    for value in values.take(usize::try_from(plan.count)?) {
        let start = Instant::now();
        setting.set(&session, value).await?;
        waits.push(start.elapsed());
    }
    Ok(Outcome::latency(waits))
}

/// All of the workers set the mode of one session.
async fn modes_inflight<C: Client>(client: C, plan: Plan) -> Result<Outcome> {
    let session = client.open().await?;
    let each = usize::try_from(plan.count.div_ceil(IN_FLIGHT))?;
    let worker = || async {
        for mode in MODES.into_iter().cycle().take(each) {
            session.set_mode(mode).await?;
        }
        Result::Ok(())
    };
    let start = Instant::now();
    let mut workers: FuturesUnordered<_> = (0..IN_FLIGHT).map(|_| worker()).collect();
    while let Some(done) = workers.next().await {
        done?;
    }
    Ok(Outcome::rate(each as u64 * IN_FLIGHT, start.elapsed()))
}

/// Each of the workers sends its next request when its last one is answered, so the number in flight never falls.
async fn inflight<C: Client>(client: C, plan: Plan) -> Result<Outcome> {
    let _session = client.open().await?;
    let each = plan.count.div_ceil(IN_FLIGHT);
    let worker = || async {
        for _ in 0..each {
            client.ping().await?;
        }
        Result::Ok(())
    };
    let start = Instant::now();
    let mut workers: FuturesUnordered<_> = (0..IN_FLIGHT).map(|_| worker()).collect();
    while let Some(done) = workers.next().await {
        done?;
    }
    Ok(Outcome::rate(each * IN_FLIGHT, start.elapsed()))
}

/// The agent fails the turn if a permission is not granted.
async fn permission<C: Client>(client: C, plan: Plan) -> Result<Outcome> {
    let mut session = client.open().await?;
    let start = Instant::now();
    let end = session.turn(Task::Ask(plan.count).prompt()).await?;
    end.expect(End::Regular)?;
    Ok(Outcome::rate(plan.count, start.elapsed()))
}

async fn large<C: Client>(client: C, plan: Plan, tally: Arc<Tally>) -> Result<Outcome> {
    let mut session = client.open().await?;
    let prompt = Task::Measure.prompt();
    let length = prompt.len().to_string();
    let (mut down, mut up) = (Vec::new(), Vec::new());
    for _ in 0..plan.count {
        if plan.work != Work::LargeUpdate {
            let prompt = prompt.clone();
            tally.expect(length.len() as u64);
            down.push(timed_turn(&mut session, prompt, &tally).await?);
        }
        if plan.work != Work::LargePrompt {
            tally.expect(LARGE_TEXT_BYTES as u64);
            up.push(timed_turn(&mut session, Task::Big.prompt(), &tally).await?);
        }
    }
    let mut outcome = Outcome::default().with("tries", to_f64(plan.count));
    for (name, waits) in [("prompt_ms", &mut down), ("update_ms", &mut up)] {
        if !waits.is_empty() {
            outcome = outcome.with(name, median_ms(waits));
        }
    }
    Ok(outcome)
}

async fn timed_turn(session: &mut impl Session, prompt: String, tally: &Tally) -> Result<Duration> {
    let start = Instant::now();
    session.turn(prompt).await?.expect(End::Regular)?;
    let took = start.elapsed();
    tally.finish(start)?;
    Ok(took)
}
