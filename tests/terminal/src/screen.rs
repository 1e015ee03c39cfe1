//! What a test does to a screen, whoever draws it.

use std::fmt;
use std::time::Duration;

use crate::{Key, Shot};

/// How long anything that is waited for may take. Far more than it needs on a busy machine.
pub const WAIT_MAX: Duration = Duration::from_secs(20);

/// A screen with a program on it.
pub trait Screen {
    /// Sends bytes as they are.
    fn send(&self, bytes: &[u8]);

    /// Presses a key.
    fn press(&self, key: Key);

    /// Pastes text, in brackets if they were asked for.
    ///
    /// tmux passes such a wish on after what it draws, so wait for [`Shot::is_paste_bracketed`] first.
    fn paste(&self, text: &str);

    /// Changes the size of the screen, in cells.
    fn resize(&self, columns: u16, rows: u16);

    /// Returns what is on the screen now.
    fn shot(&self) -> Shot;

    /// Waits until the screen is as wanted, and returns it.
    ///
    /// # Errors
    ///
    /// It was not within [`WAIT_MAX`], or the program ended and it can no longer be.
    fn try_wait_for(&self, seen: &dyn Fn(&Shot) -> bool, what: &str) -> Result<Shot, NotSeen>;

    /// Waits until the program has ended and all of its output is on the screen.
    ///
    /// # Panics
    ///
    /// It did not end within [`WAIT_MAX`]; the message has the whole screen.
    fn ended(&self) -> Ended;

    /// Types text, as it is.
    fn type_text(&self, text: &str) {
        self.send(text.as_bytes());
    }

    /// Waits until the screen is as wanted, and returns it.
    ///
    /// # Panics
    ///
    /// It was not within [`WAIT_MAX`]; the message says what was wanted and has the whole screen.
    #[track_caller]
    fn wait_for(&self, seen: &dyn Fn(&Shot) -> bool, what: &str) -> Shot {
        match self.try_wait_for(seen, what) {
            Ok(shot) => shot,
            Err(error) => panic!("{error}"),
        }
    }

    /// Waits until a row of the screen has this text, and returns the screen.
    ///
    /// # Panics
    ///
    /// It did not come within [`WAIT_MAX`]; the message has the whole screen.
    #[track_caller]
    fn wait_for_text(&self, text: &str) -> Shot {
        self.wait_for(&|shot| shot.contains(text), &format!("{text:?}"))
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Code(code) => write!(f, "ended with code {code}"),
            Ended::Signal(signal) => write!(f, "was ended by signal {signal}"),
        }
    }
}

/// What was waited for did not come.
#[derive(Debug)]
pub struct NotSeen {
    pub(crate) what: String,
    pub(crate) ended: Option<Ended>,
    pub(crate) shot: Box<Shot>,
}

impl fmt::Display for NotSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotSeen { what, ended, shot } = self;
        match ended {
            Some(ended) => writeln!(f, "{what} never came: the program {ended}")?,
            None => writeln!(
                f,
                "{what} did not come within {WAIT_MAX:?}; the program is still running"
            )?,
        }
        let (columns, rows) = (shot.columns(), shot.rows());
        let cursor = match shot.cursor() {
            Some((column, row)) => format!("the cursor at column {column}, row {row}"),
            None => "the cursor hidden".to_owned(),
        };
        let which = match shot.is_alternate() {
            true => "alternate",
            false => "main",
        };
        writeln!(f, "the {which} screen, {columns}x{rows}, {cursor}:")?;
        for row in shot.text().lines() {
            writeln!(f, "| {row}")?;
        }
        Ok(())
    }
}

impl std::error::Error for NotSeen {}
