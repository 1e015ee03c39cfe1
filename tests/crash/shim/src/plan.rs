//! What is to happen, and to which calls.
//!
//! The environment says it: `CRASH_STORE` is the directory whose files count, `CRASH_BOARD` the file of the [`Board`], and
//! `CRASH_FAULT` what to do at which call, such as `write:17:kill-torn`. Without the first two nothing happens at all.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use crate::board::{Board, Kind};

/// The plan, none if this library has nothing to do.
static PLAN: OnceLock<Plan> = OnceLock::new();

/// Read before the program's own code runs, since the first call may come from a signal handler, which must not allocate.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = read;

extern "C" fn read() {
    let variable = |name| std::env::var(name).ok();
    let (Some(store), Some(board)) = (variable("CRASH_STORE"), variable("CRASH_BOARD")) else {
        return;
    };
    let Some(board) = Board::map(&board) else {
        give_up(b"crash-shim: CRASH_BOARD is no file that can be mapped\n");
    };
    let fault = match variable("CRASH_FAULT") {
        None => None,
        Some(words) => match Fault::parse(&words) {
            Some(fault) => Some(fault),
            None => give_up(b"crash-shim: CRASH_FAULT is not understood\n"),
        },
    };
    let store = store.into_bytes();
    let plan = Plan {
        store,
        board,
        fault,
    };
    // Nobody else sets it.
    PLAN.get_or_init(|| plan);
}

/// Ends the program: a fault that is not played would be taken for one that was survived.
fn give_up(words: &[u8]) -> ! {
    // SAFETY: the bytes are valid for the length that is given.
    unsafe { libc::syscall(libc::SYS_write, 2, words.as_ptr(), words.len()) };
    std::process::abort()
}

/// What is to happen, and to which calls.
#[derive(Debug)]
pub(crate) struct Plan {
    store: Vec<u8>,
    board: &'static Board,
    fault: Option<Fault>,
}

#[derive(Debug)]
struct Fault {
    kind: Kind,
    at: u64,
    effect: Effect,
}

#[derive(Debug, Clone, Copy)]
enum Effect {
    KillBefore,
    KillAfter,
    KillTorn,
    Fail(Error, Until),
}

/// An error of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Error {
    Full,
    Broken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    Next,
    Healed,
}

/// What becomes of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate {
    Pass,
    KillBefore,
    KillAfter,
    /// Half of it is done, then the program is killed.
    KillTorn,
    /// Half of it is done, as on a disk that becomes full.
    Half,
    Fail(Error),
}

impl Fault {
    fn parse(words: &str) -> Option<Self> {
        let mut words = words.split(':');
        let (kind, at, effect) = (words.next()?, words.next()?, words.next()?);
        Some(Self {
            kind: Kind::named(kind)?,
            at: at.parse().ok()?,
            effect: match effect {
                "kill-before" => Effect::KillBefore,
                "kill-after" => Effect::KillAfter,
                "kill-torn" => Effect::KillTorn,
                "enospc" => Effect::Fail(Error::Full, Until::Next),
                "enospc-on" => Effect::Fail(Error::Full, Until::Healed),
                "eio" => Effect::Fail(Error::Broken, Until::Next),
                "eio-on" => Effect::Fail(Error::Broken, Until::Healed),
                _ => return None,
            },
        })
    }
}

impl Plan {
    /// Returns the plan, none if this library has nothing to do.
    pub(crate) fn get() -> Option<&'static Self> {
        PLAN.get()
    }

    /// Returns whether a path is in the directory whose files count.
    pub(crate) fn is_of_store(&self, path: &[u8]) -> bool {
        match path.strip_prefix(&*self.store) {
            Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
            None => false,
        }
    }

    /// Counts a call and returns what becomes of it.
    pub(crate) fn fate(&self, kind: Kind) -> Fate {
        let number = self.board.count(kind).fetch_add(1, Ordering::SeqCst) + 1;
        let Some(fault) = self.fault.as_ref().filter(|fault| fault.kind == kind) else {
            return Fate::Pass;
        };
        let is_first = number == fault.at;
        let fate = match fault.effect {
            Effect::Fail(error, Until::Healed) if number >= fault.at && !self.is_healed() => {
                match error {
                    Error::Full if is_first && kind == Kind::Write => Fate::Half,
                    error => Fate::Fail(error),
                }
            }
            Effect::Fail(_, Until::Healed) => Fate::Pass,
            _ if !is_first => Fate::Pass,
            Effect::Fail(error, Until::Next) => Fate::Fail(error),
            Effect::KillBefore => Fate::KillBefore,
            Effect::KillAfter => Fate::KillAfter,
            Effect::KillTorn => Fate::KillTorn,
        };
        if !matches!(fate, Fate::Pass) {
            self.board.fired.fetch_add(1, Ordering::SeqCst);
        }
        fate
    }

    fn is_healed(&self) -> bool {
        self.board.healed.load(Ordering::SeqCst) != 0
    }
}
