//! Trees whose owner died without ending them.
//!
//! A mark carries its owner's name: the process id, when that process was started, and the namespace in which the id counts.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use tokio::time::Instant;

use super::{MARK, Member, Process, list, marks_in, positive};
use crate::transport::child::Grace;

/// Rounds of looking for processes that were started while others were being ended.
const ROUNDS_MAX: usize = 8;

/// Ends what is left of the trees of processes that are no longer alive, and returns how many processes were ended.
///
/// A process that is killed has no time to end its children, and those that ignore the loss of their parent go on for ever. A
/// program that starts children calls this when it starts itself. Each process gets SIGTERM, then SIGKILL after
/// [`Grace::after_term`].
///
/// Left alone are processes of other users, those that belong to any tree whose owner lives, those in a container of their own,
/// and the trees that the calling process is itself in.
///
/// # Cancel safety
///
/// What has been signalled stays so; called again, it goes on with the rest.
pub async fn end_leftovers(grace: Grace) -> usize {
    let mut ended = 0;
    for round in 0..ROUNDS_MAX {
        let found = tokio::task::spawn_blocking(find).await.unwrap_or_default();
        if found.is_empty() {
            break;
        }
        let signal = if round == 0 {
            Signal::TERM
        } else {
            Signal::KILL
        };
        let deadline = Instant::now() + grace.after_term;
        let (names, members): (Vec<Name>, Vec<_>) = found.into_iter().unzip();
        for member in &members {
            member.signal(signal);
        }
        for Member { handle } in members {
            tokio::select! {
                result = ply_sys::exited(handle) => if let Err(error) = result {
                    tracing::debug!(%error, "cannot wait for a process that was left over");
                },
                () = tokio::time::sleep_until(deadline) => break,
            }
        }
        let gone = move || names.iter().filter(|name| !name.is_running()).count();
        ended += tokio::task::spawn_blocking(gone).await.unwrap_or_default();
    }
    if ended > 0 {
        tracing::info!(ended, "ended processes whose owner is gone");
    }
    ended
}

/// Returns the name of this process, which begins every mark it makes.
pub(super) fn own_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let pid = rustix::process::getpid();
        let own = Process::read(pid.as_raw_nonzero().get());
        match (own, namespace()) {
            (Some(own), Some(namespace)) => {
                let named = Name {
                    pid,
                    started: own.started,
                };
                named.write(namespace)
            }
            // Unique enough to tell trees apart; nobody can tell whether its owner lives, so nobody takes it for a leftover.
            _ => format!("{}-{}", pid.as_raw_nonzero(), super::ticks_after_boot()),
        }
    })
}

/// Returns the number of the namespace that process ids count in.
fn namespace() -> Option<u64> {
    let namespace = std::fs::metadata("/proc/self/ns/pid").ok()?;
    Some(namespace.ino())
}

/// What names one process for ever, within its namespace and until the next boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Name {
    pid: Pid,
    started: u64,
}

impl Name {
    fn write(self, namespace: u64) -> String {
        format!("{namespace}-{}-{}", self.pid.as_raw_nonzero(), self.started)
    }

    /// Reads the owner's name from a mark, if its process id counts in `namespace`.
    fn read(mark: &[u8], namespace: u64) -> Option<Self> {
        let mut parts = std::str::from_utf8(mark).ok()?.split('-');
        if parts.next()?.parse::<u64>().ok()? != namespace {
            return None;
        }
        let pid = positive(parts.next()?.parse().ok()?)?;
        let started = parts.next()?.parse().ok()?;
        // The count of the tree follows, and nothing after it.
        parts.next()?.parse::<u64>().ok()?;
        parts.next().is_none().then_some(Self { pid, started })
    }

    /// Returns whether this process runs. In doubt it does.
    fn is_running(self) -> bool {
        match Process::read(self.pid.as_raw_nonzero().get()) {
            Some(process) => process.started == self.started && process.is_alive(),
            // The table may hide processes of other users; the kernel does not.
            None => rustix::process::test_kill_process(self.pid) != Err(Errno::SRCH),
        }
    }
}

/// Finds the processes that are alive and whose owners are all gone.
fn find() -> Vec<(Name, Member)> {
    let Some(namespace) = namespace() else {
        return Vec::new();
    };
    let processes = match list() {
        Ok(processes) => processes,
        Err(error) => {
            tracing::warn!(%error, "the process table cannot be read; leftovers stay");
            return Vec::new();
        }
    };
    let own = std::env::var_os(MARK).unwrap_or_default();
    let own: Vec<&[u8]> = own.as_encoded_bytes().split(|byte| *byte == b':').collect();
    let mut owners = HashMap::new();
    let mut orphaned = |mark: &[u8]| {
        let Some(owner) = Name::read(mark, namespace) else {
            return false;
        };
        !own.contains(&mark) && !*owners.entry(owner).or_insert_with(|| owner.is_running())
    };
    let mut leftover = Vec::new();
    let mut unmarked = Vec::new();
    for process in processes.iter().filter(|process| may_end(process)) {
        let Some(environment) = process.environment() else {
            continue;
        };
        let mut marks = marks_in(&environment).peekable();
        if marks.peek().is_none() {
            unmarked.push(process);
        } else if marks.all(&mut orphaned) {
            leftover.push(process);
        }
    }
    // Children that wiped their environment are found through their parents, as long as those live.
    loop {
        let before = leftover.len();
        unmarked.retain(|process| {
            let child = leftover
                .iter()
                .any(|parent| Some(parent.pid) == process.parent);
            if child {
                leftover.push(process);
            }
            !child
        });
        if leftover.len() == before {
            break;
        }
    }
    let hold = |process: &Process| {
        let name = Name {
            pid: process.pid,
            started: process.started,
        };
        Some((name, process.hold()?))
    };
    leftover.into_iter().filter_map(hold).collect()
}

/// Returns whether a process is another one of the same user, and alive.
fn may_end(process: &Process) -> bool {
    process.is_alive() && process.pid != rustix::process::getpid() && is_same_user(process)
}

fn is_same_user(process: &Process) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid.as_raw_nonzero()));
    let status = status.unwrap_or_default();
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let (own, real) = (rustix::process::geteuid(), rustix::process::getuid());
    let mut ids = ids.unwrap_or_default().split_whitespace();
    ids.next() == Some(&real.as_raw().to_string()) && ids.next() == Some(&own.as_raw().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_names_its_owner() {
        let mark = super::super::Mark::fresh();
        let namespace = namespace().unwrap();
        let owner = Name::read(mark.0.as_bytes(), namespace).unwrap();
        assert_eq!(owner.pid, rustix::process::getpid());
        assert!(owner.is_running());
        let before_us = Name {
            started: owner.started - 1,
            ..owner
        };
        assert!(!before_us.is_running(), "the id passed on to us");
    }

    #[test]
    fn a_mark_that_cannot_be_judged_names_nobody() {
        for mark in [
            "",
            "1",
            "7-8",
            "7-8-9",
            "7-8-9-x",
            "7-8-9-0-0",
            "6-8-9-0",
            "7-0-9-0",
            "7--8-9-0",
            "x-8-9-0",
            "\u{fc}",
        ] {
            assert_eq!(Name::read(mark.as_bytes(), 7), None, "{mark}");
        }
        let name = Name::read(b"7-8-9-0", 7).unwrap();
        assert_eq!((name.pid.as_raw_nonzero().get(), name.started), (8, 9));
        assert_eq!(name.write(7), "7-8-9");
    }
}
