//! The end of a program with everything it started.

use std::collections::BTreeSet;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// How often the processes are looked through. A round finds what was started during the one before; a tree that outgrows
/// this many is not ours to stop.
const ROUNDS_MAX: usize = 100;

/// Kills the leader of a session, everything in its session, and everything that descends from either.
///
/// The leader must not have been waited for, so that its id is nobody else's.
pub(crate) fn kill(leader: Pid) {
    let mut killed = BTreeSet::new();
    for _ in 0..ROUNDS_MAX {
        let found = tree(leader.as_raw_nonzero().get());
        if found.iter().all(|pid| killed.contains(pid)) {
            return;
        }
        for pid in found {
            // It may have ended meanwhile, which is as good.
            if let Some(pid) = Pid::from_raw(pid) {
                kill_process(pid, Signal::KILL).ok();
            }
            killed.insert(pid);
        }
    }
}

/// One process, as far as it matters here.
struct Process {
    pid: i32,
    parent: i32,
    session: i32,
}

fn tree(leader: i32) -> BTreeSet<i32> {
    let processes: Vec<_> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| read(&entry.ok()?.path()))
        .collect();
    let mut members = BTreeSet::from([leader]);
    loop {
        let before = members.len();
        for process in &processes {
            if process.session == leader || members.contains(&process.parent) {
                members.insert(process.pid);
            }
        }
        if members.len() == before {
            return members;
        }
    }
}

/// Reads `/proc/PID/stat`. Zombies count as ended.
fn read(directory: &Path) -> Option<Process> {
    let pid = directory.file_name()?.to_str()?.parse().ok()?;
    let stat = std::fs::read_to_string(directory.join("stat")).ok()?;
    // The name of the program, in parentheses, may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    if fields.next()? == "Z" {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    let _group = fields.next()?;
    let session = fields.next()?.parse().ok()?;
    Some(Process {
        pid,
        parent,
        session,
    })
}
