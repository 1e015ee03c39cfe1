//! What a command may do as its user: few of root's powers, and none that reach around the sandbox.

use std::io;

use rustix::thread::{self, CapabilitySet};

/// Powers of root over files and ids, which installing and testing software needs.
///
/// All others go. Some reach into the kernel or the memory of others; one opens files past the mounts of
/// the sandbox by their handles, and one can build a bridge to another network.
const KEPT: [CapabilitySet; 8] = [
    CapabilitySet::CHOWN,
    CapabilitySet::DAC_OVERRIDE,
    CapabilitySet::FOWNER,
    CapabilitySet::FSETID,
    CapabilitySet::KILL,
    CapabilitySet::NET_BIND_SERVICE,
    CapabilitySet::SETGID,
    CapabilitySet::SETUID,
];

/// Gives up all powers, or all but [`KEPT`] if the user is root, for good. Those in `own` stay with this process
/// and are not for programs that it becomes.
pub(super) fn give_up(own: CapabilitySet) -> io::Result<()> {
    let mut sets = thread::capabilities(None)?;
    let mut kept = CapabilitySet::empty();
    if rustix::process::geteuid().is_root() {
        kept.extend(KEPT);
    }
    let goes = CapabilitySet::all().difference(kept);
    for power in goes.iter() {
        // A program that root runs gets all that is in this set. Powers that the kernel does not know
        // cannot be removed, and nobody without the power to do it gains from those that stay.
        if sets.effective.contains(CapabilitySet::SETPCAP)
            && thread::capability_is_in_bounding_set(power).unwrap_or(false)
        {
            thread::remove_capability_from_bounding_set(power)?;
        }
    }
    // Kernels without ambient capabilities have none to clear.
    thread::clear_ambient_capability_set().ok();
    sets.effective &= kept | own;
    sets.permitted &= kept | own;
    sets.inheritable = CapabilitySet::empty();
    thread::set_capabilities(None, sets)?;
    Ok(())
}
