//! Whether the sandbox works here, found out by running a command in it.

use std::io::ErrorKind;
use std::time::Duration;

use ply_rpc::transport::child::{Command, Grace};
use tokio::io::AsyncReadExt as _;

use super::enter::{self, order::Order};
use super::{Bounds, HELPER_WORD, Sandbox};
use crate::shell::{TERM_TIME, error};

/// How long the helper may take to say whether it works.
const PROBE_TIME_MAX: Duration = Duration::from_secs(5);
/// How much of what a helper says is read.
const PROBE_BYTES_MAX: u64 = 1024;
/// The first version of Landlock that confines TCP.
const ABI_NETWORK: u32 = 4;
/// The first version of Landlock that confines signals and abstract sockets.
const ABI_SIGNALS: u32 = 6;

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

/// What the sandbox of a helper can do.
struct Can {
    /// The version of Landlock; 0 where there is none.
    abi: u32,
    /// Whether it keeps system calls from commands.
    calls: bool,
    /// Whether it bounds the number of processes.
    bounded: bool,
    /// Whether it keeps commands from sockets that are made while they run.
    connects: bool,
}

impl Can {
    /// Returns what that is to a user, with the reason why there are no namespaces if there are none.
    fn support(&self, not_apart: Option<&str>) -> Support {
        Support::Works {
            abi: self.abi,
            apart: not_apart.is_none(),
            missing: self.missing(not_apart),
        }
    }

    /// Says what it cannot do.
    fn missing(&self, not_apart: Option<&str>) -> Vec<String> {
        let abi = self.abi;
        let mut missing = Vec::new();
        if let Some(reason) = not_apart {
            missing.push(format!(
                "There are no namespaces for commands: {reason}. They can read every file that you can, change \
                 `.git` in the project, and change modes and owners of your files everywhere."
            ));
        }
        if !self.calls {
            missing.push("System calls cannot be filtered on this processor.".to_owned());
        }
        if !self.bounded && not_apart.is_none() {
            missing.push(
                "The number of processes is not bounded for root before Linux 6.14.".to_owned(),
            );
        }
        if !self.connects {
            missing.push(
                "Connections cannot be held up, because a container does that already: commands reach \
                 sockets that are made while they run."
                    .to_owned(),
            );
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
}

/// What a helper says about itself.
enum Answer {
    Works(Can),
    NotApart(String),
    Else(Support),
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
        let mut order = Order {
            apart: true,
            no_network: true,
            processes: Bounds::default().or_by_machine().processes,
            report: true,
            ..Order::default()
        };
        match self.ask_helper(&order, time).await {
            Answer::Works(can) => can.support(None),
            Answer::Else(support) => support,
            Answer::NotApart(reason) => {
                order.apart = false;
                match self.ask_helper(&order, time).await {
                    Answer::Works(can) => can.support(Some(&reason)),
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
            .args(["/bin/sh", "-c", r#"echo "abi $*""#, "sh"]);
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
        grace.after_term = TERM_TIME;
        let ended = child.end(grace).await;
        match (answer(&said), ended) {
            _ if read.is_err() => unknown("its helper did not answer in time"),
            (Some(answer), Ok(status)) if status.success() => answer,
            (_, Ok(status)) => match status.code() {
                Some(enter::NOT_APART_CODE) => {
                    let reason = said.split_once(error::NOT_APART);
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
    Some(Answer::Works(Can {
        abi,
        calls: is_yes()?,
        bounded: is_yes()?,
        connects: is_yes()?,
    }))
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
        let all = Can {
            abi: 6,
            calls: true,
            bounded: true,
            connects: true,
        };
        assert!(all.support(None).is_complete());
        assert_eq!(all.support(None).notice(), None);
        let but = |abi, calls, bounded, connects| Can {
            abi,
            calls,
            bounded,
            connects,
        };
        for (can, not_apart, word) in [
            (but(6, true, false, true), Some("why"), "commands: why."),
            (but(3, true, true, true), Some("why"), "off the network"),
            (but(5, true, true, true), Some("why"), "signalling"),
            (but(5, true, true, true), None, "abstract"),
            (but(6, false, true, true), None, "System calls"),
            (but(6, true, false, true), None, "for root"),
            (but(6, true, true, false), None, "while they run"),
        ] {
            let support = can.support(not_apart);
            assert!(!support.is_complete());
            let notice = support.notice().unwrap();
            assert!(notice.contains(word), "{notice}");
        }
        let reason = "why".to_owned();
        let absent = Support::Absent { reason }.notice().unwrap();
        assert!(absent.contains("without a sandbox: why."));
    }
}
