//! The tree of a process that its orphaned descendants come back to (`PR_SET_CHILD_SUBREAPER`).
//!
//! Such a process finds all of them through their parents: also those that left their session, lost their parent and wiped their
//! environment. And when it has no child left to wait for, there is no descendant either.

use std::collections::HashSet;
use std::io;
use std::process::Command;

use rustix::process::{Pid, Signal};

use super::{MARK, Mark, Process, list, positive};

/// Rounds of stopping processes that were started while others were being stopped.
const STOP_ROUNDS_MAX: usize = 16;
/// Ancestors that are looked at; a longer line than this is taken for one that cannot be read.
const ANCESTORS_MAX: usize = 256;

/// How to end processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// SIGTERM, which they may handle.
    Ask,
    /// SIGKILL, after all of them were stopped, so that none starts another one meanwhile.
    Kill,
}

/// Makes a command the root of a tree that belongs to this process alone.
///
/// The child is [isolated](ply_sys::isolate) and carries a mark of this process, by which
/// [`end_leftovers`](crate::transport::child::end_leftovers) finds what is left should this process be killed. Marks of others
/// that the command would pass on are taken away.
pub fn plant(command: &mut Command) {
    command.env(MARK, Mark::fresh().0);
    ply_sys::isolate(command);
}

/// Signals every descendant of this process, and returns how many there were.
///
/// # Errors
///
/// The process table cannot be read.
pub fn end_descendants(how: End) -> io::Result<usize> {
    let own = rustix::process::getpid();
    if how == End::Kill {
        let mut stopped = HashSet::new();
        for _ in 0..STOP_ROUNDS_MAX {
            let fresh = |process: &Process| stopped.insert((process.pid, process.started));
            let found: Vec<Process> = of(own)?.into_iter().filter(fresh).collect();
            if found.is_empty() {
                break;
            }
            signal_all(&found, Signal::STOP);
        }
    }
    let found = of(own)?;
    signal_all(
        &found,
        match how {
            End::Ask => Signal::TERM,
            End::Kill => Signal::KILL,
        },
    );
    Ok(found.len())
}

fn signal_all(processes: &[Process], signal: Signal) {
    // One handle at a time: a tree may have more members than this process may have descriptors.
    for member in processes.iter().filter_map(Process::hold) {
        member.signal(signal);
    }
}

/// Returns the living descendants of a process.
fn of(root: Pid) -> io::Result<Vec<Process>> {
    let mut rest: Vec<Process> = list()?;
    let mut found: Vec<Process> = Vec::new();
    let mut known = HashSet::from([root]);
    loop {
        let is_child = |process: &Process| process.parent.is_some_and(|it| known.contains(&it));
        let (children, others) = rest.into_iter().partition::<Vec<_>, _>(is_child);
        if children.is_empty() {
            break;
        }
        known.extend(children.iter().map(|process| process.pid));
        found.extend(children);
        rest = others;
    }
    found.retain(Process::is_alive);
    Ok(found)
}

/// Returns when a process was started, in ticks after boot. Together with its id that names one process until the next boot.
///
/// A process that ended and was not waited for yet counts as gone.
#[must_use]
pub fn started(pid: u32) -> Option<u64> {
    let process = Process::read(i32::try_from(pid).ok()?)?;
    process.is_alive().then_some(process.started)
}

/// Returns a process and all its ancestors, each with the time it was started, the nearest first.
///
/// `None` if that cannot be told to the end, as when one of them has just ended.
#[must_use]
pub fn ancestors(pid: u32) -> Option<Vec<(u32, u64)>> {
    let mut line = Vec::new();
    let mut next = positive(i32::try_from(pid).ok()?);
    while let Some(pid) = next {
        if line.len() == ANCESTORS_MAX {
            return None;
        }
        let raw = pid.as_raw_nonzero().get();
        let process = Process::read(raw)?;
        line.push((raw.unsigned_abs(), process.started));
        next = process.parent;
    }
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found_from_both_ends() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let own = std::process::id();
        let line = ancestors(child.id()).unwrap();
        assert_eq!(line[0], (child.id(), started(child.id()).unwrap()));
        assert_eq!(line[1], (own, started(own).unwrap()));
        let found = of(rustix::process::getpid()).unwrap();
        let is_child =
            |process: &Process| process.pid.as_raw_nonzero().get().unsigned_abs() == child.id();
        assert!(found.iter().any(is_child));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((started(child.id()), ancestors(child.id())), (None, None));
    }

    #[test]
    fn nobody_is_no_process() {
        assert_eq!((started(0), ancestors(0)), (None, None));
        assert_eq!(started(u32::MAX), None);
    }
}
