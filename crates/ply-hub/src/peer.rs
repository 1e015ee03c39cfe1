//! The process at the other end of a socket.

use std::io;
use std::path::Path;

use tokio::net::UnixStream;

use crate::hold;

/// How many ancestors of a process are looked at: trees are not that deep.
const ANCESTORS_MAX: usize = 64;

/// A process that connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) uid: u32,
    /// None if the system does not tell.
    pub(crate) pid: Option<u32>,
}

/// Returns who connected.
pub(crate) fn of(stream: &UnixStream) -> io::Result<Peer> {
    let credentials = stream.peer_cred()?;
    Ok(Peer {
        uid: credentials.uid(),
        pid: credentials.pid().and_then(|pid| u32::try_from(pid).ok()),
    })
}

/// Returns whether a process must not use the hub though its user is right: it is an agent of the hub, or a command that the hub or
/// an agent runs.
pub(crate) fn is_stranger(pid: u32, holders: &Path) -> bool {
    // The hub's own tests connect to themselves.
    pid != std::process::id() && (descends_from_hub(pid) || hold::is_held(holders, pid))
}

fn descends_from_hub(pid: u32) -> bool {
    let hub = std::process::id();
    let mut next = parent(pid);
    for _ in 0..ANCESTORS_MAX {
        match next {
            Some(ancestor) if ancestor == hub => return true,
            Some(ancestor) if ancestor > 1 => next = parent(ancestor),
            _ => break,
        }
    }
    false
}

/// Returns the parent of a process.
fn parent(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let (_, rest) = status.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_hub_runs_is_known_also_at_second_hand() {
        let mut shell = std::process::Command::new("sh");
        // The shell stays, as it has something to do after.
        shell.args(["-c", "sleep 600 & echo $!; wait"]);
        shell.stdout(std::process::Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut line = String::new();
        let out = shell.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
        let sleeper: u32 = line.trim().parse().unwrap();
        let temp = tempfile::tempdir().unwrap();
        // Made here, so that nobody else may enter it.
        let holders = &temp.path().join("holders");
        assert!(is_stranger(shell.id(), holders));
        assert!(is_stranger(sleeper, holders));
        assert!(!is_stranger(std::process::id(), holders));
        assert!(!is_stranger(1, holders));
        let sleeper = rustix::process::Pid::from_raw(sleeper.cast_signed()).unwrap();
        rustix::process::kill_process(sleeper, rustix::process::Signal::KILL).unwrap();
        shell.kill().unwrap();
        shell.wait().unwrap();
    }
}
