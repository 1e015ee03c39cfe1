//! The rules of Landlock: which files a command may write to.

use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, LandlockStatus, PathBeneath, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::order::Order;
use crate::shell::Error;

/// The version of Landlock that the rules are written for. What later ones add has to be tried first.
const RULES: ABI = ABI::V6;
/// Devices that programs expect to be able to write, or to ask about.
pub(super) const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
];
/// What else lies in `/dev` if it belongs to the command alone.
const OWN_DEVICES: [&str; 2] = ["/dev/pts", "/dev/shm"];

/// Confines this thread and returns the version of Landlock; none where the kernel has none.
pub(super) fn confine(order: &Order) -> Result<Option<u32>, Error> {
    let failed = |error| Error::Ruleset(Box::new(error));
    let all = AccessFs::from_all(RULES);
    let read = AccessFs::from_read(RULES);
    // Nobody needs to make devices, and those there are lie outside of the roots.
    let write = all & !(AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::IoctlDev);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let own_devices: &[&str] = if order.apart { &OWN_DEVICES } else { &[] };
    let mut writable = Vec::new();
    let private = order.private.iter().map(|(place, _)| place);
    for path in order.writable.iter().chain(private) {
        writable.extend(open_directory(path).map_err(|error| Error::Writable {
            path: path.clone(),
            source: error.into(),
        })?);
    }
    let writable = writable.into_iter().map(|directory| {
        let rule = PathBeneath::new(directory, write);
        Ok::<_, RulesetError>(rule)
    });
    let mut ruleset = Ruleset::default().handle_access(all).map_err(failed)?;
    ruleset = ruleset.scope(Scope::from_all(RULES)).map_err(failed)?;
    // A network of its own needs no rules.
    if order.no_network && !order.apart {
        let network = AccessNet::from_all(RULES);
        ruleset = ruleset.handle_access(network).map_err(failed)?;
    }
    let status = ruleset
        .create()
        .and_then(|rules| rules.add_rules(path_beneath_rules(["/"], read)))
        .and_then(|rules| rules.add_rules(writable))
        .and_then(|rules| rules.add_rules(path_beneath_rules(DEVICES, device)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(own_devices, write | device)))
        .and_then(|rules| rules.restrict_self())
        .map_err(failed)?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. }
            if status.ruleset != RulesetStatus::NotEnforced && status.no_new_privs =>
        {
            Ok(Some(effective_abi as u32))
        }
        _ => Ok(None),
    }
}

/// Opens a directory that may be written to. The agent looked it up when the session began; a link on the
/// way, or something else in its place, was put there since.
///
/// One that is gone is left out: nothing can be written there anyway, and what comes to be there later
/// stays unwritable.
pub(super) fn open_directory(path: &Path) -> Result<Option<OwnedFd>, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve) {
        Ok(directory) => Ok(Some(directory)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_still_a_directory_is_opened() {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path().canonicalize().unwrap();
        std::fs::create_dir_all(at.join("real/below")).unwrap();
        std::fs::write(at.join("file"), "").unwrap();
        std::os::unix::fs::symlink("real", at.join("link")).unwrap();
        assert!(open_directory(&at.join("real/below")).unwrap().is_some());
        assert!(open_directory(&at.join("gone")).unwrap().is_none());
        for replaced in ["link", "link/below", "file"] {
            assert!(open_directory(&at.join(replaced)).is_err(), "{replaced}");
        }
    }
}
