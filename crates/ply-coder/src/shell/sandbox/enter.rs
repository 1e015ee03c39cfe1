//! The helper's side: a process confines itself and becomes another program.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, LandlockStatus, PathBeneath, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::thread::{self, CapabilitySet};

use crate::shell::Error;

/// Adds a path below which may be written; the path follows.
pub(super) const WRITE: &str = "--write";
/// Denies TCP.
pub(super) const NO_NETWORK: &str = "--no-network";
/// Adds the version of Landlock to the program's arguments.
pub(super) const REPORT_ABI: &str = "--report-abi";
/// The exit code of a helper that gets [`Error::NotEnforced`].
pub(super) const NOT_ENFORCED_CODE: i32 = 125;

/// The version of Landlock that the rules are written for. What later ones add has to be tried first.
const RULES: ABI = ABI::V6;
/// Devices that programs expect to be able to write, or to ask about.
const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
];

/// Powers of root that reach around the rules: into the kernel, or into the memory of others.
const POWERS: [CapabilitySet; 8] = [
    CapabilitySet::BPF,
    CapabilitySet::MKNOD,
    CapabilitySet::PERFMON,
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::SYS_BOOT,
    CapabilitySet::SYS_MODULE,
    CapabilitySet::SYS_PTRACE,
    CapabilitySet::SYS_RAWIO,
];

/// What the helper is told.
#[derive(Debug, Default)]
struct Wish {
    writable: Vec<PathBuf>,
    no_network: bool,
    report_abi: bool,
    program: OsString,
    arguments: Vec<OsString>,
}

impl Error {
    /// Returns the code with which a helper exits after [`enter_and_exec`] returned this.
    #[must_use]
    pub fn helper_code(&self) -> i32 {
        match self {
            Self::NotEnforced => NOT_ENFORCED_CODE,
            Self::Exec { source, .. } if source.kind() == std::io::ErrorKind::NotFound => 127,
            _ => 126,
        }
    }
}

/// Confines this process and becomes the program named in the arguments, as told by the agent.
///
/// `arguments` are those after [`super::HELPER_WORD`]. Call it first thing in `main`: it must run
/// before the program starts threads or reads anything. It returns only if something failed; the
/// helper then prints the error and exits with [`Error::helper_code`]. It never runs the program
/// without the sandbox.
#[must_use = "it returns only if it failed"]
pub fn enter_and_exec(arguments: impl IntoIterator<Item = OsString>) -> Error {
    let Some(mut wish) = read(arguments) else {
        return Error::HelperArguments;
    };
    if let Err(error) = give_up_powers() {
        return Error::Ruleset(error.into());
    }
    adopt_orphans();
    let abi = match confine(&wish) {
        Ok(abi) => abi,
        Err(error) => return error,
    };
    if wish.report_abi {
        wish.arguments.push(abi.to_string().into());
    }
    let source = Command::new(&wish.program).args(wish.arguments).exec();
    Error::Exec {
        program: wish.program,
        source,
    }
}

fn read(arguments: impl IntoIterator<Item = OsString>) -> Option<Wish> {
    let mut wish = Wish::default();
    let mut arguments = arguments.into_iter();
    loop {
        let word = arguments.next()?;
        if word == WRITE {
            wish.writable.push(arguments.next()?.into());
        } else if word == NO_NETWORK {
            wish.no_network = true;
        } else if word == REPORT_ABI {
            wish.report_abi = true;
        } else if word == "--" {
            break;
        } else {
            return None;
        }
    }
    wish.program = arguments.next()?;
    wish.arguments = arguments.collect();
    Some(wish)
}

/// Makes the program the parent of all that it started and that lost its own parent, which outlasts the
/// change to that program.
///
/// A process that left the session of its command and wiped its environment is found by its parent alone,
/// when the command is ended. One whose command ended before it is not found.
fn adopt_orphans() {
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        tracing::debug!(%error, "orphans of the command go elsewhere");
    }
}

/// Gives up [`POWERS`] for good, where the user has them.
fn give_up_powers() -> std::io::Result<()> {
    let mut sets = thread::capabilities(None)?;
    for power in POWERS {
        if sets.permitted.contains(power) {
            // A program that root runs gets all that is in this set.
            thread::remove_capability_from_bounding_set(power)?;
        }
        for set in [
            &mut sets.effective,
            &mut sets.permitted,
            &mut sets.inheritable,
        ] {
            set.remove(power);
        }
    }
    thread::set_capabilities(None, sets)?;
    Ok(())
}

/// Confines this thread and returns the version of Landlock.
///
fn confine(wish: &Wish) -> Result<ABI, Error> {
    let failed = |error| Error::Ruleset(Box::new(error));
    let all = AccessFs::from_all(RULES);
    let read = AccessFs::from_read(RULES);
    // Nobody needs to make devices, and those there are lie outside of the roots.
    let write = all & !(AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::IoctlDev);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let mut writable = Vec::new();
    for path in &wish.writable {
        writable.extend(open(path).map_err(|error| Error::Writable {
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
    if wish.no_network {
        let network = AccessNet::from_all(RULES);
        ruleset = ruleset.handle_access(network).map_err(failed)?;
    }
    let status = ruleset
        .create()
        .and_then(|rules| rules.add_rules(path_beneath_rules(["/"], read)))
        .and_then(|rules| rules.add_rules(writable))
        .and_then(|rules| rules.add_rules(path_beneath_rules(DEVICES, device)))
        .and_then(|rules| rules.restrict_self())
        .map_err(failed)?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. }
            if status.ruleset != RulesetStatus::NotEnforced && status.no_new_privs =>
        {
            Ok(effective_abi)
        }
        _ => Err(Error::NotEnforced),
    }
}

/// Opens a directory that may be written to. The agent looked it up when the session began; a link on the
/// way, or something else in its place, was put there since.
///
/// One that is gone is left out: nothing can be written there anyway, and what comes to be there later
/// stays unwritable.
fn open(path: &Path) -> Result<Option<OwnedFd>, Errno> {
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
        assert!(open(&at.join("real/below")).unwrap().is_some());
        assert!(open(&at.join("gone")).unwrap().is_none());
        for replaced in ["link", "link/below", "file"] {
            assert!(open(&at.join(replaced)).is_err(), "{replaced}");
        }
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_arguments_of_the_helper_are_read() {
        let wish = read(words(
            "--write /a --no-network --write /b -- sh -c -- --write",
        ))
        .unwrap();
        assert_eq!(wish.writable, [PathBuf::from("/a"), PathBuf::from("/b")]);
        assert!(wish.no_network && !wish.report_abi);
        assert_eq!(wish.program, "sh");
        assert_eq!(wish.arguments, words("-c -- --write"));
    }

    #[test]
    fn arguments_that_make_no_sense_run_nothing() {
        for line in [
            "",
            "--",
            "--write",
            "--write /a",
            "--write /a --",
            "sh",
            "--what -- sh",
        ] {
            let error = enter_and_exec(words(line));
            assert!(matches!(error, Error::HelperArguments), "{line}");
        }
    }
}
