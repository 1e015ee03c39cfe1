//! Who may speak to a holder.
//!
//! A hub decides what an agent may do, so an agent must not speak as one. Both are of the same user; what tells them apart is that
//! an agent, with everything it starts, descends from a holder, and cannot get away from it: orphans come back to it.

use std::os::fd::AsFd;
use std::path::Path;

use ply_rpc::transport::tree;

use super::files::{About, Directory};

/// Returns whether a process is an agent behind a holder of this directory, or was started by one.
///
/// In doubt it is: also if the process has ended, or the directory cannot be read.
#[must_use]
pub fn is_held(directory: &Path, pid: u32) -> bool {
    Directory::open(directory).map_or(true, |directory| is_behind(&directory, None, pid))
}

/// Returns whether this holder may listen to the process at the other end of a socket: it is of the same user, and not behind any
/// holder.
pub(super) fn may_speak(directory: &Directory, socket: impl AsFd) -> bool {
    let Ok(peer) = rustix::net::sockopt::socket_peercred(socket) else {
        return false;
    };
    let pid = peer.pid.as_raw_nonzero().get().unsigned_abs();
    let own = std::process::id();
    peer.uid == rustix::process::geteuid() && !is_behind(directory, Some(own), pid)
}

/// Returns whether a process descends from `own`, which is a holder even if its description is gone, or from another holder.
fn is_behind(directory: &Directory, own: Option<u32>, pid: u32) -> bool {
    let (Some(line), Ok(holders)) = (tree::ancestors(pid), directory.described()) else {
        return true;
    };
    let is_holder = |process: &(u32, u64)| {
        let described = |holder: &About| (holder.pid, holder.started) == *process;
        own == Some(process.0) || holders.iter().any(described)
    };
    line.iter().any(is_holder)
}
