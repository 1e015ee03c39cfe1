//! Which files and connections commands may use, enforced by the kernel.

mod enter;
mod writable;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use ply_rpc::transport::child::{Command, Grace};
use tokio::io::AsyncReadExt as _;

pub use self::enter::enter_and_exec;
pub(super) use self::writable::Writable;

/// The first argument of a program that is to run [`enter_and_exec`] with the rest and nothing else.
pub const HELPER_WORD: &str = "__sandboxed";

/// How long the helper may take to say whether it works.
const PROBE_TIME_MAX: Duration = Duration::from_secs(5);
/// How much of what a helper says is read.
const PROBE_BYTES_MAX: u64 = 1024;
/// The first version of Landlock that confines TCP.
const ABI_NETWORK: u32 = 4;
/// The first version of Landlock that confines signals.
const ABI_SIGNALS: u32 = 6;

/// How commands are confined.
///
/// With Landlock, which needs no privileges: a command may read and run every file that its user may,
/// and write only below the roots of the workspace, in `writable`, `cache` and `temporary`, as these
/// were when the session ran its first command. It can neither
/// signal nor trace the agent or read its memory and environment, and gains no privileges by running
/// programs such as `sudo`; of root's own privileges it loses those that reach into the kernel and into
/// other processes. All of this is inherited and cannot be undone.
///
/// What it cannot do: Landlock does not confine changes of mode, owner, times and extended attributes,
/// UDP, or connecting to sockets in the file system (a container engine behind one of them can do
/// anything). It cannot take a part out of a writable directory, so the hooks and the configuration of
/// a repository in a root can be changed. New pseudo terminals cannot be opened, because a terminal of
/// the user is reached the same way. On kernels before 6.2 files can be truncated everywhere, before
/// 6.7 TCP is not confined, before 6.12 signals are not.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sandbox {
    /// Whether commands are confined at all.
    pub enabled: bool,
    /// Whether they may bind and connect TCP sockets.
    pub network: bool,
    /// The directories where they may write besides the roots of the workspace.
    pub writable: Vec<PathBuf>,
    /// A directory for the caches of compilers and package managers, made when it is needed. Commands
    /// are pointed to it, as far as the environment does not point elsewhere.
    ///
    /// The user's own caches are not for them: code lies there that the user runs without a sandbox
    /// later, such as build scripts of packages.
    pub cache: Option<PathBuf>,
    /// The directories where they may always write. The program adds its `TMPDIR`.
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
            network: true,
            writable: Vec::new(),
            cache: None,
            temporary: ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from).into(),
            helper: None,
        }
    }
}

/// What commands may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Confinement {
    /// The workspace and temporary files.
    #[default]
    Workspace,
    /// Temporary files only. Without a working sandbox no command runs then.
    ReadOnly,
}

/// Whether the sandbox works here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// It works, with this version of Landlock.
    Landlock {
        /// The version, from 1.
        abi: u32,
    },
    /// It is turned off.
    Off,
    /// It does not work.
    Absent {
        /// Why.
        reason: String,
    },
    /// It could not be found out. No command runs then, and the next one tries again.
    Unknown {
        /// Why.
        reason: String,
    },
}

impl Support {
    /// Returns whether commands are confined.
    #[must_use]
    pub fn works(&self) -> bool {
        matches!(self, Self::Landlock { .. })
    }

    /// Returns what the user should know about a sandbox that was wanted and is not, or not fully, there.
    #[must_use]
    pub fn notice(&self, sandbox: &Sandbox) -> Option<String> {
        match self {
            // Nothing ran, and whoever wanted to run it is told why.
            Self::Off | Self::Unknown { .. } => None,
            Self::Absent { reason } => Some(format!(
                "Commands run without a sandbox: {reason}. They can change every file that you can."
            )),
            Self::Landlock { abi } if *abi < ABI_NETWORK && !sandbox.network => Some(format!(
                "The sandbox cannot keep commands off the network: Landlock has version {abi} here, \
                 and {ABI_NETWORK} (Linux 6.7) is needed."
            )),
            Self::Landlock { abi } if *abi < ABI_SIGNALS => Some(format!(
                "The sandbox cannot keep commands from signalling other processes: Landlock has \
                 version {abi} here, and {ABI_SIGNALS} (Linux 6.12) is needed."
            )),
            Self::Landlock { .. } => None,
        }
    }
}

impl Sandbox {
    /// Finds out whether the sandbox works, by running a command in it.
    ///
    /// # Cancel safety
    ///
    /// The helper is ended when this is dropped.
    pub async fn probe(&self) -> Support {
        self.probe_within(PROBE_TIME_MAX).await
    }

    async fn probe_within(&self, time: Duration) -> Support {
        if !self.enabled {
            return Support::Off;
        }
        let absent = |reason: String| Support::Absent { reason };
        let Some(helper) = &self.helper else {
            return absent("the program has no helper for it".to_owned());
        };
        let command = Command::new(helper)
            .args([HELPER_WORD, enter::REPORT_ABI, "--"])
            .args(["/bin/sh", "-c", r#"echo "abi $1""#, "sh"]);
        let unknown = |reason: &str| Support::Unknown {
            reason: reason.to_owned(),
        };
        let (mut child, output) = match command.spawn_merged().await {
            Ok(spawned) => spawned,
            Err(error) if is_lasting(error.source.kind()) => {
                return absent(format!("its helper does not start ({error})"));
            }
            Err(_) => return unknown("its helper could not be started"),
        };
        let mut said = String::new();
        let mut output = output.take(PROBE_BYTES_MAX);
        let read = tokio::time::timeout(time, output.read_to_string(&mut said)).await;
        let mut grace = Grace::default();
        grace.after_close = if read.is_ok() { time } else { Duration::ZERO };
        grace.after_term = super::TERM_TIME;
        let ended = child.end(grace).await;
        let abi = said.trim().strip_prefix("abi ").map(str::parse);
        match (abi, ended) {
            _ if read.is_err() => unknown("its helper did not answer in time"),
            (Some(Ok(abi)), Ok(status)) if status.success() => Support::Landlock { abi },
            (_, Ok(status)) if status.code() == Some(enter::NOT_ENFORCED_CODE) => {
                absent("the kernel has no Landlock, or a container hides it".to_owned())
            }
            (_, Ok(status)) if status.code().is_some() => {
                absent("its helper does not do what it should".to_owned())
            }
            _ => unknown("its helper was ended"),
        }
    }

    /// Returns the arguments with which the helper confines a program, the program itself excepted.
    pub(super) fn helper_arguments(&self, writable: &[PathBuf]) -> Vec<OsString> {
        let mut arguments = vec![HELPER_WORD.into()];
        for path in writable {
            arguments.extend([enter::WRITE.into(), path.into()]);
        }
        if !self.network {
            arguments.push(enter::NO_NETWORK.into());
        }
        arguments.push("--".into());
        arguments
    }
}

/// Returns whether a helper that cannot be started for this reason never can.
fn is_lasting(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_helper_without_an_answer_tells_nothing_for_good() {
        let scratch = tempfile::tempdir().unwrap();
        let helper = |script: &str| {
            use std::os::unix::fs::PermissionsExt as _;
            let path = scratch.path().join("helper");
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
            Sandbox {
                helper: Some(path),
                ..Sandbox::default()
            }
        };
        let slow = helper("exec sleep 1000");
        let slow = slow.probe_within(Duration::from_millis(1)).await;
        let Support::Unknown { reason } = slow else {
            panic!("it was slow, no more");
        };
        assert_eq!(reason, "its helper did not answer in time");
        let killed = helper("kill -9 $$").probe().await;
        assert!(matches!(killed, Support::Unknown { .. }), "{killed:?}");
        assert_eq!(killed.notice(&Sandbox::default()), None);
        let wrong = helper("echo hello").probe().await;
        assert!(matches!(wrong, Support::Absent { .. }), "{wrong:?}");
        let incapable = helper("exit 125").probe().await;
        assert!(matches!(incapable, Support::Absent { .. }), "{incapable:?}");
    }

    #[test]
    fn notices_say_what_is_missing() {
        let mut sandbox = Sandbox::default();
        assert_eq!(Support::Off.notice(&sandbox), None);
        assert_eq!(Support::Landlock { abi: 6 }.notice(&sandbox), None);
        let signals = Support::Landlock { abi: 4 }.notice(&sandbox).unwrap();
        assert!(signals.contains("signalling"));
        sandbox.network = false;
        let network = Support::Landlock { abi: 3 }.notice(&sandbox).unwrap();
        assert!(network.contains("network"));
        let reason = "why".to_owned();
        let absent = Support::Absent { reason }.notice(&sandbox).unwrap();
        assert!(absent.contains("without a sandbox: why."));
    }
}
