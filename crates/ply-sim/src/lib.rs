//! A deterministic simulation of sessions: clients, core, agent code and journal under random faults.
//!
//! A world is made from choices, which come from a seed or from the bytes of a fuzzer; the same
//! choices give the same world. The core is the one that agents run; everything around it is
//! simulated. Clients of both versions attach, prompt, cancel, answer, read slowly and die; the
//! agent's code talks, runs tools, asks, ignores and fails; the journal is slow, stuck, broken or
//! taken by another process; the process crashes at any instant and opens what its journal kept;
//! time is virtual. In a world with a hub a program behind a holder runs the turns and outlives the process; whoever comes next adopts it. After every step and at the end the promises of a session are checked.
//!
//! ```
//! use ply_sim::{Kind, run};
//!
//! let trace = run(Kind::Agent, 7).expect("no promise is broken");
//! assert_eq!(trace.hash, run(Kind::Agent, 7).expect("nor the second time").hash);
//! ```

mod agent;
mod choice;
mod client;
mod compare;
mod explore;
mod journal;
mod message;
mod program;
mod queue;
mod trace;
mod world;

pub use choice::Choices;
pub use explore::{Explored, explore};
pub use trace::{Failure, Trace};

use world::World;

/// What a broken promise is said to be.
pub type Broken = String;

/// Seeds of which one is run twice, to see that it gives the same.
const SEEDS_PER_REPEAT: u64 = 100;

/// What runs the turns of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Code in the process that owns the session, which dies with it.
    Agent,
    /// A program that outlives that process: whoever opens the session next goes on with it.
    Hub,
}

/// Runs the world of a seed; one in a hundred twice.
///
/// # Errors
///
/// When a promise is broken; the failure holds the trace and the command that replays it.
pub fn run(kind: Kind, seed: u64) -> Result<Trace, Box<Failure>> {
    let fail = |broken| {
        let (trace, _) = World::run(Choices::from_seed(seed), kind, true);
        Box::new(Failure {
            seed: Some((kind, seed)),
            broken,
            trace,
        })
    };
    let (trace, done) = World::run(Choices::from_seed(seed), kind, false);
    done.map_err(fail)?;
    if seed.is_multiple_of(SEEDS_PER_REPEAT) {
        let (again, _) = World::run(Choices::from_seed(seed), kind, false);
        if again.hash != trace.hash {
            return Err(fail("the same seed gave another world".to_owned()));
        }
    }
    Ok(trace)
}

/// Runs the world of a seed and keeps what happened, line by line.
///
/// # Errors
///
/// When a promise is broken.
pub fn replay(kind: Kind, seed: u64) -> Result<Trace, Box<Failure>> {
    let (trace, done) = World::run(Choices::from_seed(seed), kind, true);
    match done {
        Ok(()) => Ok(trace),
        Err(broken) => Err(Box::new(Failure {
            seed: Some((kind, seed)),
            broken,
            trace,
        })),
    }
}

/// Runs the world that the bytes spell.
///
/// # Errors
///
/// When a promise is broken.
pub fn run_bytes(kind: Kind, bytes: &[u8]) -> Result<Trace, Box<Failure>> {
    let (trace, done) = World::run(Choices::from_bytes(bytes), kind, false);
    done.map_err(|broken| {
        Box::new(Failure {
            seed: None,
            broken,
            trace: World::run(Choices::from_bytes(bytes), kind, true).0,
        })
    })?;
    Ok(trace)
}
