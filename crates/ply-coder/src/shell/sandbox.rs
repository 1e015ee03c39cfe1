//! Which files and connections commands may use, enforced by the kernel.

mod bounds;
mod enter;
mod gate;
mod guarded;
mod hosts;
mod private;
mod sandboxed;
mod writable;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use ply_rpc::transport::child::{Command, Grace};
use tokio::io::AsyncReadExt as _;

use self::enter::order::Order;

pub use self::bounds::Bounds;
pub use self::enter::enter_and_exec;
pub(super) use self::gate::Gate;
pub use self::hosts::Host;
pub(super) use self::sandboxed::Sandboxed;
pub(super) use self::writable::Writable;

/// The first argument of a program that is to run [`enter_and_exec`] with the rest and nothing else.
pub const HELPER_WORD: &str = "__sandboxed";

/// How long the helper may take to say whether it works.
const PROBE_TIME_MAX: Duration = Duration::from_secs(5);
/// How much of what a helper says is read.
const PROBE_BYTES_MAX: u64 = 1024;
/// The first version of Landlock that confines TCP.
const ABI_NETWORK: u32 = 4;
/// The first version of Landlock that confines signals and abstract sockets.
const ABI_SIGNALS: u32 = 6;

/// How commands are confined.
///
/// A command gets namespaces of its own for users, mounts, processes and System V objects, needs no
/// privileges for that, and gives up those it has that reach further. In there
///
/// - every file is read-only but those below the roots of the workspace, in `writable` and in `cache`, as
///   these were when the session ran its first command; that holds for modes, owners, times and attributes
///   too. Directories for temporary files are replaced by others that belong to the session;
/// - what is `hidden` is empty, and so are `/run` and `/dev`, where sockets and devices of the system lie;
///   sockets that other programs listen on elsewhere cannot be opened, if they were there when the command
///   was started;
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
            home: None,
            bounds: Bounds::default(),
            cache: None,
            temporary: ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from).into(),
            helper: None,
        }
    }
}

/// What commands may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Confinement {
    /// Write to the workspace and temporary files. A person, or a rule of theirs, let each command run.
    #[default]
    Workspace,
    /// The same, but for repositories; and nobody looks at them before they run.
    Unattended,
    /// Write to temporary files only. Without a working sandbox no command runs then.
    ReadOnly,
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

/// Whether the sandbox works here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// It works.
    Works {
        /// The version of Landlock; 0 where there is none.
        abi: u32,
        /// Whether commands have namespaces of their own.
        apart: bool,
        /// What it cannot do here, as sentences.
        missing: Vec<String>,
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
        matches!(self, Self::Works { .. })
    }

    /// Returns whether commands are confined in every way that [`Sandbox`] promises.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Works { missing, .. } if missing.is_empty())
    }

    /// Returns what the user should know about a sandbox that was wanted and is not, or not fully, there.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        match self {
            // Nothing ran, and whoever wanted to run it is told why.
            Self::Off | Self::Unknown { .. } => None,
            Self::Absent { reason } => Some(format!(
                "Commands run without a sandbox: {reason}. They can change every file that you can."
            )),
            Self::Works { missing, .. } if missing.is_empty() => None,
            Self::Works { missing, .. } => {
                Some(format!("The sandbox is incomplete. {}", missing.join(" ")))
            }
        }
    }
}

/// What a helper says about itself.
enum Answer {
    Works {
        abi: u32,
        calls: bool,
        bounded: bool,
    },
    NotApart(String),
    Else(Support),
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
        let mut order = Order {
            apart: true,
            no_network: true,
            processes: Bounds::default().or_by_machine().processes,
            report: true,
            ..Order::default()
        };
        match self.ask_helper(&order, time).await {
            Answer::Works {
                abi,
                calls,
                bounded,
            } => Support::Works {
                abi,
                apart: true,
                missing: missing(None, abi, calls, bounded),
            },
            Answer::Else(support) => support,
            Answer::NotApart(reason) => {
                order.apart = false;
                match self.ask_helper(&order, time).await {
                    Answer::Works {
                        abi,
                        calls,
                        bounded,
                    } => Support::Works {
                        abi,
                        apart: false,
                        missing: missing(Some(&reason), abi, calls, bounded),
                    },
                    Answer::Else(support) => support,
                    Answer::NotApart(reason) => Support::Absent { reason },
                }
            }
        }
    }

    async fn ask_helper(&self, order: &Order, time: Duration) -> Answer {
        let absent = |reason: String| Answer::Else(Support::Absent { reason });
        let unknown = |reason: &str| {
            let reason = reason.to_owned();
            Answer::Else(Support::Unknown { reason })
        };
        let Some(helper) = &self.helper else {
            return absent("the program has no helper for it".to_owned());
        };
        let command = Command::new(helper)
            .arg(HELPER_WORD)
            .args(order.arguments())
            .args(["/bin/sh", "-c", r#"echo "abi $1 $2 $3""#, "sh"]);
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
        match (answer(&said), ended) {
            _ if read.is_err() => unknown("its helper did not answer in time"),
            (Some(answer), Ok(status)) if status.success() => answer,
            (_, Ok(status)) => match status.code() {
                Some(enter::NOT_APART_CODE) => {
                    let reason = said.split_once(super::error::NOT_APART);
                    let reason = reason.map_or(said.trim(), |(_, reason)| reason.trim());
                    Answer::NotApart(reason.trim_end_matches(':').to_owned())
                }
                Some(enter::NOT_ENFORCED_CODE) => {
                    absent("the kernel has no Landlock, or a container hides it".to_owned())
                }
                Some(_) => absent("its helper does not do what it should".to_owned()),
                None => unknown("its helper was ended"),
            },
            (_, Err(_)) => unknown("its helper was ended"),
        }
    }
}

/// Reads what a helper says about itself.
fn answer(said: &str) -> Option<Answer> {
    let mut words = said.trim().strip_prefix("abi ")?.split(' ');
    let abi = words.next()?.parse().ok()?;
    let mut is_yes = || Some(words.next()? == "yes");
    Some(Answer::Works {
        abi,
        calls: is_yes()?,
        bounded: is_yes()?,
    })
}

/// Says what a sandbox cannot do.
fn missing(not_apart: Option<&str>, abi: u32, calls: bool, bounded: bool) -> Vec<String> {
    let mut missing = Vec::new();
    if let Some(reason) = not_apart {
        missing.push(format!(
            "There are no namespaces for commands: {reason}. They can read every file that you can, change \
             `.git` in the project, and change modes and owners of your files everywhere."
        ));
    }
    if !calls {
        missing.push("System calls cannot be filtered on this processor.".to_owned());
    }
    if !bounded && not_apart.is_none() {
        missing
            .push("The number of processes is not bounded for root before Linux 6.14.".to_owned());
    }
    if not_apart.is_some() && abi < ABI_NETWORK {
        missing.push(format!(
            "Landlock has version {abi} here and cannot keep commands off the network; \
             {ABI_NETWORK} (Linux 6.7) is needed."
        ));
    }
    if abi < ABI_SIGNALS {
        let what = match not_apart {
            Some(_) => "from signalling other processes",
            None => "with a network from abstract sockets",
        };
        missing.push(format!(
            "Landlock has version {abi} here and cannot keep commands {what}; {ABI_SIGNALS} \
             (Linux 6.12) is needed."
        ));
    }
    missing
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
        assert_eq!(killed.notice(), None);
        let wrong = helper("echo hello").probe().await;
        assert!(matches!(wrong, Support::Absent { .. }), "{wrong:?}");
        let incapable = helper("exit 125").probe().await;
        assert!(matches!(incapable, Support::Absent { .. }), "{incapable:?}");
    }

    #[test]
    fn notices_say_what_is_missing() {
        assert_eq!(Support::Off.notice(), None);
        let works = |missing| Support::Works {
            abi: 6,
            apart: true,
            missing,
        };
        assert!(works(missing(None, 6, true, true)).is_complete());
        assert_eq!(works(missing(None, 6, true, true)).notice(), None);
        for (missing, word) in [
            (missing(Some("why"), 6, true, false), "commands: why."),
            (missing(Some("why"), 3, true, true), "off the network"),
            (missing(Some("why"), 5, true, true), "signalling"),
            (missing(None, 5, true, true), "abstract"),
            (missing(None, 6, false, true), "System calls"),
            (missing(None, 6, true, false), "for root"),
        ] {
            let support = works(missing);
            assert!(!support.is_complete());
            let notice = support.notice().unwrap();
            assert!(notice.contains(word), "{notice}");
        }
        let reason = "why".to_owned();
        let absent = Support::Absent { reason }.notice().unwrap();
        assert!(absent.contains("without a sandbox: why."));
    }

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
