//! Every order of events in a small world, to a depth.
//!
//! Two clients, one of each version, two prompts of which the second waits for its turn, one question, which each client may
//! approve, dismiss or leave to the other, a cancel, and a journal that answers late, fails in passing, fails for good, or
//! fails after it has written. In each state every event that is possible is tried. After each event the invariants of the
//! core are checked; from each state the world is also brought to rest, and then nobody may wait.

mod check;
mod effects;
mod questions;
mod small;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};

use crate::Broken;
use small::{Event, Small};

/// What an exploration went through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explored {
    /// Different states.
    pub states: u64,
    /// Events that were tried: paths between states, those to known states included.
    pub paths: u64,
}

/// Tries every order of events up to `depth` of them.
///
/// States that differ in nothing but how they came about are gone on from once.
///
/// # Errors
///
/// When a promise is broken; the error names the events that lead there, and replays them.
pub fn explore(depth: usize) -> Result<Explored, Broken> {
    let mut explored = Explored::default();
    let mut known = HashSet::new();
    // Breadth first, so that a state is met first on its shortest path and nothing behind it is cut off by the depth.
    let mut level: Vec<Vec<Event>> = vec![Vec::new()];
    for _ in 0..depth {
        let mut next = Vec::new();
        for path in &level {
            let choices = replay(path)?.0.choices();
            for event in choices {
                let mut path = path.clone();
                path.push(event);
                explored.paths += 1;
                let (world, hash) = replay(&path)?;
                if known.insert(hash) {
                    explored.states += 1;
                    world
                        .rest()
                        .map_err(|broken| describe(&path, &broken, "on the way to rest"))?;
                    next.push(path);
                }
            }
        }
        level = next;
    }
    Ok(explored)
}

/// Returns the world that a path leads to, and the hash of its state.
fn replay(path: &[Event]) -> Result<(Small, u64), Broken> {
    let mut world = Small::new();
    for event in path {
        world
            .take(*event)
            .map_err(|broken| describe(path, &broken, "at the last event"))?;
    }
    let mut hasher = Hash(DefaultHasher::new());
    // What the state is, is what it says of itself; the order of maps may only make two of one state.
    let written = std::fmt::Write::write_fmt(&mut hasher, format_args!("{world:?}"));
    written.map_err(|error| error.to_string())?;
    Ok((world, hasher.0.finish()))
}

fn describe(path: &[Event], broken: &str, when: &str) -> Broken {
    format!("{broken}, {when} of {path:?}")
}

struct Hash(DefaultHasher);

impl std::fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
