//! Signals that ask the run to end.

use std::io;

use tokio::signal::unix::{Signal as Listener, SignalKind, signal};

/// A signal that asks the run to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    Terminate,
    /// The terminal is gone.
    HangUp,
}

impl Signal {
    /// Returns the exit code of a program that ended by it.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::HangUp => 129,
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::HangUp => "SIGHUP",
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }
}

/// Listens for them, from the moment it is made.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Option<Listener>,
    terminate: Option<Listener>,
    hang_up: Option<Listener>,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        // Whoever started us may want to outlive them, as `nohup` does and shells do for jobs in the background.
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = ignored(&status);
        let listen = |kind: SignalKind| match is_in(ignored, kind) {
            true => Ok(None),
            false => signal(kind).map(Some),
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate()).map(Some)?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    ///
    /// # Cancel safety
    ///
    /// None is lost when it is dropped.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            () = next_of(&mut self.interrupt) => Signal::Interrupt,
            () = next_of(&mut self.terminate) => Signal::Terminate,
            () = next_of(&mut self.hang_up) => Signal::HangUp,
        }
    }
}

async fn next_of(listener: &mut Option<Listener>) {
    let heard = match listener {
        Some(listener) => listener.recv().await,
        None => None,
    };
    if heard.is_none() {
        std::future::pending().await
    }
}

/// Returns the set of ignored signals in what the kernel says of a process; none if it does not say.
fn ignored(status: &str) -> u64 {
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0)
}

fn is_in(set: u64, kind: SignalKind) -> bool {
    let place = u32::try_from(kind.as_raw_value() - 1).ok();
    let bit = place.and_then(|place| 1_u64.checked_shl(place));
    bit.is_some_and(|bit| set & bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_are_ignored_are_read_from_what_the_kernel_says() {
        for (status, interrupt, hang_up) in [
            (
                "Name:\tply\nSigIgn:\t0000000000001003\nSigCgt:\t0\n",
                true,
                true,
            ),
            ("SigIgn:\t0000000000000001\n", false, true),
            ("SigIgn:\t0000000000001000\n", false, false),
            ("SigIgn:\tnonsense\n", false, false),
            ("", false, false),
        ] {
            let set = ignored(status);
            let found = (
                is_in(set, SignalKind::interrupt()),
                is_in(set, SignalKind::hangup()),
            );
            assert_eq!(found, (interrupt, hang_up), "{status:?}");
        }
    }
}
