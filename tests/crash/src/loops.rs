//! Agents that are killed at any instant, over and over on the same store (F1).

mod chaos;
mod kill;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use ply_sim::Choices;

use self::chaos::Chaos;
use self::kill::Kill;
use crate::Version;
use crate::check::{self, Ending};
use crate::failure::Result;
use crate::life::Life;
use crate::scratch::Scratch;
use crate::store;
use crate::tally::Tally;
use crate::told::Told;
use crate::tools::Tools;

/// Loops on one store before another is taken, so that what must be shown stays short.
const LOOPS_PER_STORE: u64 = 10;

/// What to run.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many agents are killed.
    pub loops: u64,
    /// Where all choices come from: each store has the seed after the one before.
    pub seed: u64,
    /// How many stores at a time.
    pub workers: usize,
}

/// Kills agents, and checks after each. `progress` is told how many were killed, now and then.
pub fn run(options: Options, progress: impl Fn(u64) + Sync) -> Tally {
    let stores = options.loops.div_ceil(LOOPS_PER_STORE);
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let total = Mutex::new(Tally::default());
    let work = || {
        loop {
            let store = next.fetch_add(1, Ordering::Relaxed);
            if store >= stores {
                return;
            }
            let loops = LOOPS_PER_STORE.min(options.loops - store * LOOPS_PER_STORE);
            let seed = options.seed.wrapping_add(store);
            let tally = on_one_store(seed, loops);
            let killed = done.fetch_add(loops, Ordering::Relaxed) + loops;
            total
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .merge(tally);
            progress(killed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..options.workers {
            scope.spawn(work);
        }
    });
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn on_one_store(seed: u64, loops: u64) -> Tally {
    let (mut tally, mut told) = (Tally::default(), Told::default());
    let again = format!("cargo xtask crash --loops {loops} --seed {seed}");
    let ran = Scratch::with(|scratch| {
        let tools = Tools::find()?;
        for number in 0..loops {
            one(&tools, scratch, mix(&[seed, number]), &mut told, &mut tally)?;
        }
        tally.records += store::audit(scratch, &mut told)? as u64;
        Ok(())
    });
    tally.add(&told, &again);
    tally
        .failures
        .extend(ran.err().map(|failure| (failure, again)));
    tally
}

fn one(
    tools: &Tools,
    scratch: &Scratch,
    seed: u64,
    told: &mut Told,
    tally: &mut Tally,
) -> Result<()> {
    let mut choices = Choices::from_seed(seed);
    let kill = Kill::random(&mut choices);
    live(tools, scratch, &mut choices, kill, told, tally)?;
    if choices.percent(25) {
        // While it closes what the first one left open.
        let kill = Kill::soon(&mut choices);
        live(tools, scratch, &mut choices, kill, told, tally)?;
    }
    let ending = match choices.percent(50) {
        true => Ending::Killed,
        false => Ending::HungUp,
    };
    check::check(tools, scratch, version(&mut choices), ending, told, tally)
}

/// One life and its end.
fn live(
    tools: &Tools,
    scratch: &Scratch,
    choices: &mut Choices<'_>,
    kill: Kill,
    told: &mut Told,
    tally: &mut Tally,
) -> Result<()> {
    let (version, seed) = (version(choices), choices.below(u64::MAX));
    let mut life = Life::start(tools, scratch, version, kill.fault(), told)?;
    let killed = Chaos::new(&mut life, seed, kill).run()?;
    if kill.fault().is_some() && !life.board().has_fired()? {
        tally.unplayed += 1;
    }
    tally.compared += life.compared as u64;
    tally.count(killed);
    Ok(())
}

/// Returns a seed made of these numbers.
fn mix(numbers: &[u64]) -> u64 {
    let next = |mixed, number| Choices::from_seed(mixed ^ number).below(u64::MAX);
    numbers.iter().fold(0, next)
}

fn version(choices: &mut Choices<'_>) -> Version {
    match choices.percent(50) {
        true => Version::V1,
        false => Version::V2,
    }
}
