//! How a process ended.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Nobody saw how: it was killed without waiting for it, or not even that reached it.
    Unknown,
}

impl Exit {
    pub(super) fn new(status: std::io::Result<ExitStatus>) -> Self {
        match status {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => Self::Code(code),
                (None, Some(signal)) => Self::Signal(signal),
                (None, None) => Self::Unknown,
            },
            Err(error) => {
                tracing::warn!(%error, "the end of a command could not be seen");
                Self::Unknown
            }
        }
    }

    /// Returns whether it ended by itself and says that all went well.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }

    /// Returns the exit code, if it ended by itself.
    #[must_use]
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) | Self::Unknown => None,
        }
    }

    /// Returns the name of the signal that ended it.
    #[must_use]
    pub fn signal_name(self) -> Option<String> {
        match self {
            Self::Signal(number) => Some(signal_name(number)),
            Self::Code(_) | Self::Unknown => None,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(number) => write!(f, "ended by signal {}", signal_name(*number)),
            Self::Unknown => f.write_str("killed"),
        }
    }
}

fn signal_name(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return format!("number {number}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn death_by_a_signal_is_no_success() {
        let exit = Exit::new(Ok(ExitStatus::from_raw(9)));
        assert_eq!(exit, Exit::Signal(9));
        assert!(!exit.is_success());
        assert_eq!(
            (exit.code(), exit.to_string()),
            (None, "ended by signal SIGKILL".to_owned())
        );
    }
}
