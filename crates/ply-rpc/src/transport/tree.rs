//! A child process and everything it started, also what has left its process group.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, PidfdFlags, Signal};

pub use self::descent::{End, ancestors, end_descendants, plant, started};

mod descent;
pub(crate) mod leftovers;

/// The environment variable that marks the members of a tree: children inherit it, whatever group or session they move to.
///
/// Its value is a list with one mark per level, so that a tree inside another one belongs to both.
pub(crate) const MARK: &str = "PLY_PROCESS_TREE";

/// What the members of one tree carry in their environment.
#[derive(Debug, Clone)]
pub(crate) struct Mark(String);

impl Mark {
    /// Returns a mark that no other tree of this boot has, and that tells whose tree it is.
    pub(crate) fn fresh() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{count}", leftovers::own_name()))
    }

    /// Returns the value of [`MARK`] for the child: the marks this process has itself, and the new one.
    pub(crate) fn value(&self) -> OsString {
        let mut value = std::env::var_os(MARK).unwrap_or_default();
        if !value.is_empty() {
            value.push(":");
        }
        value.push(&self.0);
        value
    }

    fn is_in(&self, environment: &[u8]) -> bool {
        marks_in(environment).any(|mark| mark == self.0.as_bytes())
    }
}

/// Returns the marks in an environment as the process table shows it.
fn marks_in(environment: &[u8]) -> impl Iterator<Item = &[u8]> {
    let entries = environment.split(|byte| *byte == 0);
    let values = entries.filter_map(|entry| {
        let value = entry.strip_prefix(MARK.as_bytes())?;
        value.strip_prefix(b"=")
    });
    let marks = values.flat_map(|value| value.split(|byte| *byte == b':'));
    marks.filter(|mark| !mark.is_empty())
}

/// Who belongs to one child.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    /// The child, which leads its own session.
    pub(crate) leader: Pid,
    /// When the leader was waited for, in ticks after boot. From then on its id may name another session.
    leader_gone: Option<u64>,
    mark: Mark,
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
    pub(crate) fn new(leader: Pid, mark: Mark) -> Self {
        Self {
            leader,
            leader_gone: None,
            mark,
        }
    }

    /// Notes that the leader was waited for.
    pub(crate) fn leader_is_gone(&mut self) {
        self.leader_gone.get_or_insert_with(ticks_after_boot);
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
        let mut found: Vec<&Process> = processes.iter().filter(|p| self.holds(p)).collect();
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

    fn holds(&self, process: &Process) -> bool {
        let in_session = process.session == Some(self.leader)
            && self.leader_gone.is_none_or(|gone| process.started <= gone);
        let marked = || {
            let environment = process.environment();
            environment.is_some_and(|environment| self.mark.is_in(&environment))
        };
        process.is_alive() && (in_session || marked())
    }

    /// Signals the child's process group, in case the process table cannot be read.
    pub(crate) fn signal_group(&self, signal: Signal) {
        match rustix::process::kill_process_group(self.leader, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH | rustix::io::Errno::PERM) => {}
            Err(error) => {
                tracing::warn!(%error, "the child's process group could not be signalled")
            }
        }
    }
}

/// Returns the time in the unit that the process table uses, which is a hundredth of a second.
fn ticks_after_boot() -> u64 {
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let digits = uptime
        .chars()
        .take_while(|char| *char != ' ')
        .filter(char::is_ascii_digit);
    digits.collect::<String>().parse().unwrap_or_default()
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
        Self::parse(pid, &stat)
    }

    fn parse(pid: i32, stat: &str) -> Option<Self> {
        // The name stands in parentheses and may hold any character, closing ones too.
        let (_, fields) = stat.rsplit_once(") ")?;
        let mut fields = fields.split(' ');
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let session = fields.nth(1)?.parse().ok()?;
        let started = fields.nth(15)?.parse().ok()?;
        Some(Self {
            pid: positive(pid)?,
            parent: positive(parent),
            session: positive(session),
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

/// Returns a process id; a process that is just ending has none of its session left, which the table shows as -1.
fn positive(id: i32) -> Option<Pid> {
    if id > 0 { Pid::from_raw(id) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_process_table_is_read_by_its_fields() {
        let rest = "0 -1 4194560 4912 0 0 0 46 62 0 0 20 0 3 0 4508 5689344 246";
        let process = Process::parse(7, &format!("7 (odd) name) S 5 6 7 {rest}")).unwrap();
        assert_eq!((process.state, process.started), ('S', 4508));
        assert_eq!(
            (process.parent, process.session),
            (positive(5), positive(7))
        );
    }

    #[test]
    fn a_process_that_is_just_ending_has_no_session() {
        let rest = "0 -1 4194560 4912 0 0 0 46 62 0 0 20 0 3 0 4508 0 0";
        let process = Process::parse(7, &format!("7 (sh) X 0 -1 -1 {rest}")).unwrap();
        assert_eq!((process.parent, process.session), (None, None));
        assert!(!process.is_alive());
        assert!(Process::parse(7, "garbage").is_none());
    }
}
