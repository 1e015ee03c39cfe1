//! Which files and connections commands may use, enforced by the kernel.

mod bounds;
mod enter;
mod gate;
mod guarded;
mod hosts;
pub(super) mod planted;
mod private;
mod sandboxed;
mod support;
mod writable;

use std::path::PathBuf;

pub use self::bounds::Bounds;
pub use self::enter::enter_and_exec;
pub(super) use self::gate::Gate;
pub use self::hosts::Host;
pub(super) use self::sandboxed::Sandboxed;
pub use self::support::Support;
pub(super) use self::writable::Writable;

/// The first argument of a program that is to run [`enter_and_exec`] with the rest and nothing else.
pub const HELPER_WORD: &str = "__sandboxed";

/// How commands are confined.
///
/// A command gets namespaces of its own for users, mounts, processes and System V objects, needs no
/// privileges for that, and gives up those it has that reach further. In there
///
/// - every file is read-only but those below the roots of the workspace, in `writable` and in `cache`, as
///   these were when the session ran its first command; that holds for modes, owners, times and attributes
///   too. Directories for temporary files are replaced by others that belong to the session;
/// - what is `hidden` is empty, and so are `/run` and `/dev`, where sockets and devices of the system lie;
///   sockets that other programs listen on elsewhere cannot be connected to;
/// - there are no other processes to be signalled or traced, and when the command ends, all that it started
///   end, whatever they did to get away;
/// - without `network` there is a network of the command's own with nothing in it, and a proxy that leads
///   to `hosts`;
/// - the number of processes, memory, and the length of files are bounded.
///
/// Landlock says once more what may be written, and seccomp keeps system calls away that lead around all of
/// this. All of it is inherited and cannot be undone.
///
/// Where there are no user namespaces, Landlock and seccomp remain. They do not confine changes of mode,
/// owner, times and attributes; hide nothing; and cannot take a part out of a writable directory. Landlock
/// needs Linux 6.2 to keep files from being truncated, 6.7 for TCP and 6.12 for signals.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sandbox {
    /// Whether commands are confined at all.
    pub enabled: bool,
    /// Whether no command runs where the sandbox is not complete. Unless it is said, that is so for
    /// [`Confinement::Unattended`].
    pub required: Option<bool>,
    /// Whether they have the network of the system. Unless it is said, those have it that
    /// a person was asked about.
    pub network: Option<bool>,
    /// The hosts that they reach without it, through a proxy.
    pub hosts: Vec<Host>,
    /// The directories where they may write besides the roots of the workspace.
    pub writable: Vec<PathBuf>,
    /// Files and directories that they see empty.
    pub hidden: Vec<PathBuf>,
    /// Files that commands see although they look like secrets of the workspace.
    pub readable: Vec<PathBuf>,
    /// The user's home directory. Keys that lie there are hidden too.
    pub home: Option<PathBuf>,
    /// How much of the machine they may use.
    pub bounds: Bounds,
    /// A directory for the caches of compilers and package managers, made when it is needed. Commands
    /// are pointed to it, as far as the environment does not point elsewhere.
    ///
    /// The user's own caches are not for them: code lies there that the user runs without a sandbox
    /// later, such as build scripts of packages.
    pub cache: Option<PathBuf>,
    /// The directories for temporary files. The program adds its `TMPDIR`.
    pub temporary: Vec<PathBuf>,
    /// A program that calls [`enter_and_exec`] when its first argument is [`HELPER_WORD`]. Without one
    /// there is no sandbox.
    ///
    /// A command that may write where this path leads could replace it. A program that is its own helper
    /// says `/proc/self/exe`: the child that opens it is a copy of the program and gets the file that the
    /// program was started from, whatever has its name now.
    pub helper: Option<PathBuf>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self {
            enabled: true,
            required: None,
            network: None,
            hosts: Vec::new(),
            writable: Vec::new(),
            hidden: Vec::new(),
            readable: Vec::new(),
            home: None,
            bounds: Bounds::default(),
            cache: None,
            temporary: ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from).into(),
            helper: None,
        }
    }
}

/// What commands may do, the least confined first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Confinement {
    /// Write to the workspace and temporary files. A person, or a rule of theirs, let each command run.
    #[default]
    Workspace,
    /// The same, but for repositories and files of passwords such as `.env`; and nobody looks at them before
    /// they run.
    Unattended,
    /// Write to temporary files only. Without a working sandbox no command runs then.
    ReadOnly,
}

/// Whether a command sees passwords in the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secrets {
    /// It does.
    Shown,
    /// It does, but git does not show the content of files that look like them, whenever they were tracked.
    Passed,
    /// The files of passwords are empty, too, and settings of repositories have none.
    Hidden,
}

/// Which network a command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// That of the system.
    Shared,
    /// Its own, with a proxy to some hosts.
    Hosts,
    /// Its own, with nothing in it.
    Off,
}

impl Sandbox {
    /// Returns whether the sandbox must be complete for commands that are confined so.
    #[must_use]
    pub fn is_required(&self, confinement: Confinement) -> bool {
        let by_default = self.enabled && confinement == Confinement::Unattended;
        self.required.unwrap_or(by_default)
    }

    /// Returns which network commands have that are confined so.
    #[must_use]
    pub fn network_for(&self, confinement: Confinement) -> Network {
        let is_attended = confinement == Confinement::Workspace && self.hosts.is_empty();
        match self.network.unwrap_or(is_attended) {
            true => Network::Shared,
            false if self.hosts.is_empty() => Network::Off,
            false => Network::Hosts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_word_about_it_commands_that_nobody_looks_at_have_no_network_and_need_the_sandbox()
    {
        use Confinement::{ReadOnly, Unattended, Workspace};
        let mut sandbox = Sandbox::default();
        let network = |sandbox: &Sandbox| {
            [Workspace, Unattended, ReadOnly].map(|confinement| sandbox.network_for(confinement))
        };
        let (on, off, hosts) = (Network::Shared, Network::Off, Network::Hosts);
        assert_eq!(network(&sandbox), [on, off, off]);
        assert!(sandbox.is_required(Unattended) && !sandbox.is_required(Workspace));
        sandbox.hosts = vec!["crates.io".parse().unwrap()];
        assert_eq!(network(&sandbox), [hosts; 3]);
        sandbox.network = Some(true);
        assert_eq!(network(&sandbox), [on; 3]);
        sandbox.required = Some(false);
        assert!(!sandbox.is_required(Unattended));
        (sandbox.required, sandbox.enabled) = (None, false);
        assert!(!sandbox.is_required(Unattended), "the user turned it off");
    }
}
