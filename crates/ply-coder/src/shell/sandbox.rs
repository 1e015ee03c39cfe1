//! Which files and connections commands may use, enforced by the kernel.

mod enter;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ply_rpc::transport::child::{Command, Grace};
use tokio::io::AsyncReadExt as _;

pub use self::enter::enter_and_exec;

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
/// and write only below the roots of the workspace, in `writable` and in `temporary`. It can neither
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
    /// Where they may write besides the roots of the workspace, for example the caches of compilers.
    pub writable: Vec<PathBuf>,
    /// Where they may always write. The program adds its `TMPDIR`.
    pub temporary: Vec<PathBuf>,
    /// A program that calls [`enter_and_exec`] when its first argument is [`HELPER_WORD`]: usually the
    /// program itself. Without one there is no sandbox.
    pub helper: Option<PathBuf>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self {
            enabled: true,
            network: true,
            writable: Vec::new(),
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
            Self::Off => None,
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
        let (mut child, output) = match command.spawn_merged().await {
            Ok(spawned) => spawned,
            Err(error) => return absent(format!("its helper does not start ({error})")),
        };
        let mut said = String::new();
        let mut output = output.take(PROBE_BYTES_MAX);
        let read = tokio::time::timeout(PROBE_TIME_MAX, output.read_to_string(&mut said)).await;
        let mut grace = Grace::default();
        grace.after_close = if read.is_ok() {
            PROBE_TIME_MAX
        } else {
            Duration::ZERO
        };
        grace.after_term = super::TERM_TIME;
        let ended = child.end(grace).await;
        let abi = said.trim().strip_prefix("abi ").map(str::parse);
        match (abi, ended) {
            (Some(Ok(abi)), Ok(status)) if status.success() => Support::Landlock { abi },
            (_, Ok(status)) if status.code() == Some(enter::NOT_ENFORCED_CODE) => {
                absent("the kernel has no Landlock, or a container hides it".to_owned())
            }
            _ => absent("its helper does not do what it should".to_owned()),
        }
    }

    /// Returns where a command may write.
    pub(super) fn writable(&self, confinement: Confinement, roots: &[PathBuf]) -> Vec<PathBuf> {
        let roots = match confinement {
            Confinement::Workspace => [roots, &self.writable].concat(),
            Confinement::ReadOnly => Vec::new(),
        };
        let all = roots.into_iter().chain(self.temporary.iter().cloned());
        // The whole file system as one of them would be no sandbox, and is a slip.
        all.filter(|path| path.is_absolute() && path != Path::new("/"))
            .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_file_system_is_never_writable() {
        let sandbox = Sandbox {
            writable: vec!["/".into(), "relative".into(), "/cache".into()],
            temporary: vec!["/t".into()],
            ..Sandbox::default()
        };
        let roots = ["/root".into()];
        let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(
            sandbox.writable(Confinement::Workspace, &roots),
            paths(&["/root", "/cache", "/t"])
        );
        assert_eq!(
            sandbox.writable(Confinement::ReadOnly, &roots),
            paths(&["/t"])
        );
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
