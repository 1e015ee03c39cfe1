//! A command without namespaces: what it leaves behind is found by its parents.
//!
//! The helper stays as the parent of all that lost their own, whatever session they moved to and whatever
//! they did to their environment. When the command ends it ends them.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use ply_sys::apart::{Side, fork, ignore_signals};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, kill_process, set_child_subreaper, set_parent_process_death_signal,
    wait,
};
use rustix::thread::{NanosleepRelativeResult, Timespec, nanosleep};

use super::keeper::end_as;

/// How often what is left is looked for, at most.
const ROUNDS_MAX: usize = 500;
/// How long killed processes have to go away before they are looked for again.
const ROUND_TIME: Duration = Duration::from_millis(2);

/// Goes on as the process that becomes the command. The one that takes in orphans stays in here.
pub(super) fn keep() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    set_child_subreaper(Some(rustix::process::getpid()))?;
    match fork()? {
        Side::Child => {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            Ok(())
        }
        Side::Parent(command) => {
            // They are for the command, which may handle them.
            ignore_signals();
            let status = loop {
                match wait(WaitOptions::empty()) {
                    Ok(Some((pid, status))) if pid == command => break Some(status.as_raw()),
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(_) => break None,
                }
            };
            end_all();
            end_as(status)
        }
    }
}

/// Kills everything that came of the command.
fn end_all() {
    for _ in 0..ROUNDS_MAX {
        for pid in descendants() {
            // One that is gone already needs nothing more.
            kill_process(pid, Signal::KILL).ok();
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        if matches!(wait(WaitOptions::NOHANG), Err(Errno::CHILD)) {
            return;
        }
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: ROUND_TIME.subsec_nanos().into(),
        };
        if let NanosleepRelativeResult::Err(_) = nanosleep(&pause) {
            return;
        }
    }
}

/// Returns the processes that have this one among their ancestors.
fn descendants() -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let parents: HashMap<i32, i32> = entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name stands in parentheses and may hold any character, closing ones too.
            let (_, fields) = stat.rsplit_once(") ")?;
            Some((pid, fields.split(' ').nth(1)?.parse().ok()?))
        })
        .collect();
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let is_below = |pid: &i32| {
        let next = |pid: &i32| parents.get(pid).copied();
        // A list that changed while it was read could have a circle.
        let mut above = std::iter::successors(next(pid), next).take(parents.len());
        above.any(|parent| parent == own)
    };
    let below = parents.keys().filter(|pid| is_below(pid));
    below.copied().filter_map(Pid::from_raw).collect()
}
