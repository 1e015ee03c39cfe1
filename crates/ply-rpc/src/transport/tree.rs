//! A child process and everything it started, also what has left its process group.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal};

/// The environment variable that marks the members of a tree: children inherit it, whatever group or session they move to.
pub(crate) const MARK: &str = "PLY_PROCESS_TREE";

/// Who belongs to one child.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    /// The child, which leads its own session.
    pub(crate) leader: Pid,
    leader_started: Option<u64>,
    /// The value of [`MARK`] in its environment.
    mark: String,
}

/// A process that was found to belong to a tree, held so that its id cannot pass to another one.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) handle: OwnedFd,
}

impl Member {
    pub(crate) fn signal(&self, signal: Signal) {
        match rustix::process::pidfd_send_signal(&self.handle, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => tracing::warn!(%error, "a child process could not be signalled"),
        }
    }
}

impl Tree {
    pub(crate) fn new(leader: Pid, mark: String) -> Self {
        let leader_started =
            Process::read(leader.as_raw_nonzero().get()).map(|process| process.started);
        Self {
            leader,
            leader_started,
            mark,
        }
    }

    /// Finds the members that are alive now.
    pub(crate) fn members(&self) -> Vec<Member> {
        let processes = match list() {
            Ok(processes) => processes,
            Err(error) => {
                tracing::warn!(%error, "the process table cannot be read; only the child's group is ended");
                Vec::new()
            }
        };
        // The id of a session outlives its leader, but once the leader's id is another process it is another session.
        let leader = processes.iter().find(|process| process.pid == self.leader);
        let own_session = leader.is_none_or(|leader| Some(leader.started) == self.leader_started);
        let holds = |process: &&Process| self.holds(process, own_session);
        let mut found: Vec<&Process> = processes.iter().filter(holds).collect();
        // Descendants whose environment was wiped are still found through their parents.
        loop {
            let before = found.len();
            for process in &processes {
                let known = found.iter().any(|member| member.pid == process.pid);
                let child = found
                    .iter()
                    .any(|member| Some(member.pid) == process.parent);
                if child && !known && process.is_alive() {
                    found.push(process);
                }
            }
            if found.len() == before {
                break;
            }
        }
        found.into_iter().filter_map(Process::hold).collect()
    }

    fn holds(&self, process: &Process, own_session: bool) -> bool {
        let marked = || {
            process
                .environment()
                .is_some_and(|environment| has_mark(&environment, &self.mark))
        };
        process.is_alive() && (own_session && process.session == Some(self.leader) || marked())
    }

    /// Signals the child's process group, for systems without a process table in files.
    pub(crate) fn signal_group(&self, signal: Signal) {
        match rustix::process::kill_process_group(self.leader, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH | rustix::io::Errno::PERM) => {}
            Err(error) => {
                tracing::warn!(%error, "the child's process group could not be signalled")
            }
        }
    }
}

fn has_mark(environment: &[u8], mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    environment
        .split(|byte| *byte == 0)
        .any(|entry| entry == wanted.as_bytes())
}

/// One line of the process table.
#[derive(Debug)]
struct Process {
    pid: Pid,
    parent: Option<Pid>,
    session: Option<Pid>,
    state: char,
    /// Ticks after boot; together with the id it names one process for ever.
    started: u64,
}

fn list() -> io::Result<Vec<Process>> {
    let entries = std::fs::read_dir("/proc")?;
    let pid = |entry: io::Result<std::fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    Ok(entries.filter_map(pid).filter_map(Process::read).collect())
}

impl Process {
    fn read(pid: i32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in parentheses and may hold any character, closing ones too.
        let (_, fields) = stat.rsplit_once(") ")?;
        let mut fields = fields.split(' ');
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let session = fields.nth(1)?.parse().ok()?;
        let started = fields.nth(15)?.parse().ok()?;
        Some(Self {
            pid: Pid::from_raw(pid)?,
            parent: Pid::from_raw(parent),
            session: Pid::from_raw(session),
            state,
            started,
        })
    }

    fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }

    fn environment(&self) -> Option<Vec<u8>> {
        std::fs::read(format!("/proc/{}/environ", self.pid.as_raw_nonzero())).ok()
    }

    fn hold(&self) -> Option<Member> {
        let handle = rustix::process::pidfd_open(self.pid, PidfdFlags::NONBLOCK).ok()?;
        // Between listing and opening the id may have passed to another process; after opening it cannot.
        let same = Self::read(self.pid.as_raw_nonzero().get())
            .is_some_and(|now| now.started == self.started);
        same.then_some(Member { handle })
    }
}
