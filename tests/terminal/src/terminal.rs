//! A program on a real pty.

mod pump;
pub(crate) mod tree;

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::emulator::Emulator;
use crate::{Ended, Heard, Key, Launch, NotSeen, Screen, Shot, WAIT_MAX, key};

use pump::{Pump, State};

/// A program on a terminal of its own.
///
/// Dropping it kills the program with everything it started.
pub struct Terminal {
    child: Child,
    master: Arc<OwnedFd>,
    pump: Arc<Pump>,
    thread: Option<JoinHandle<()>>,
}

impl Terminal {
    /// Starts a program on a new terminal, in a session of its own.
    ///
    /// # Errors
    ///
    /// There is no pty left, or the program cannot be started.
    pub fn spawn(launch: &Launch) -> io::Result<Self> {
        // Other threads start programs too, and none of them may inherit this end.
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(&name, flags, Mode::empty())?;
        tcsetwinsize(&slave, window(launch.columns, launch.rows))?;
        if !launch.echo {
            let mut settings = tcgetattr(&slave)?;
            settings.local_modes.remove(LocalModes::ECHO);
            tcsetattr(&slave, OptionalActions::Now, &settings)?;
        }
        // A program that does not read must not hold up whoever sends it keys.
        rustix::fs::fcntl_setfl(&master, OFlags::RDWR | OFlags::NONBLOCK)?;
        let mut command = launch.command();
        command
            .stdin(Stdio::from(slave.try_clone()?))
            .stdout(Stdio::from(slave.try_clone()?))
            .stderr(Stdio::from(slave));
        ply_sys::take_terminal(&mut command);
        let child = command.spawn()?;
        // Closes our copies of the program's end: its output ends when the program and its children have closed theirs.
        drop(command);
        let master = Arc::new(master);
        let pump = Arc::new(Pump::new(Emulator::new(launch), pid(&child))?);
        let mut terminal = Terminal {
            child,
            master,
            pump,
            thread: None,
        };
        let (pump, master) = (Arc::clone(&terminal.pump), Arc::clone(&terminal.master));
        let thread = std::thread::Builder::new().name("terminal".to_owned());
        terminal.thread = Some(thread.spawn(move || pump.run(&master))?);
        Ok(terminal)
    }

    /// Returns the id of the program's process, which leads its session and its process group.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends the program a signal, as `kill` does.
    ///
    /// # Panics
    ///
    /// The system refuses, which it does not as long as this exists: the process is not waited for before.
    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(pid(&self.child), signal)
            .expect("our child can be signalled");
    }

    /// Returns the bytes the program has written so far: the last of them, if they are more than a few megabytes.
    #[must_use]
    pub fn output(&self) -> Vec<u8> {
        self.pump.state().output.clone()
    }

    /// Returns what the program told the terminal beside what it drew.
    #[must_use]
    pub fn heard(&self) -> Heard {
        self.pump.state().emulator.heard()
    }

    /// Returns what the program has switched on and not off again, by name; nothing if the terminal is as it was found.
    ///
    /// # Panics
    ///
    /// The settings of the terminal cannot be read.
    #[must_use]
    pub fn left_on(&self) -> Vec<&'static str> {
        let mut left: Vec<_> = self
            .pump
            .state()
            .emulator
            .switched_on()
            .into_iter()
            .collect();
        // On Linux the settings seen from this end are those of the program's.
        let settings = tcgetattr(&*self.master).expect("a terminal has settings");
        if !settings.local_modes.contains(LocalModes::ICANON) {
            left.push("raw mode");
        }
        left
    }

    /// Waits for the end of the program, or gives up.
    pub(crate) fn end(&self) -> Option<Ended> {
        let state = self.pump.wait_while(WAIT_MAX, |state| !state.is_over());
        state.ended.filter(|_| state.is_over())
    }

    /// Waits until what the terminal heard is as wanted.
    ///
    /// # Panics
    ///
    /// It was not within [`WAIT_MAX`]; the message has the whole screen.
    #[track_caller]
    pub fn wait_until_heard(&self, wanted: &dyn Fn(&Heard) -> bool, what: &str) -> Heard {
        let state = self.pump.wait_while(WAIT_MAX, |state| {
            !state.is_over() && !wanted(&state.emulator.heard())
        });
        let heard = state.emulator.heard();
        assert!(wanted(&heard), "{}{heard:#?}", state.not_seen(what));
        heard
    }
}

impl Screen for Terminal {
    fn send(&self, bytes: &[u8]) {
        self.pump.send(bytes);
    }

    fn press(&self, key: Key) {
        let modes = self.pump.state().emulator.key_modes();
        self.pump.send(&key.bytes(modes));
    }

    fn paste(&self, text: &str) {
        let bracketed = self.pump.state().emulator.is_paste_bracketed();
        self.pump.send(&key::paste(text, bracketed));
    }

    fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.max(1), rows.max(1));
        // Under the lock, so that nothing written for the new size is drawn at the old one.
        let mut state = self.pump.state();
        state.emulator.resize(columns, rows);
        tcsetwinsize(&*self.master, window(columns, rows)).expect("a terminal can change its size");
        drop(state);
        self.pump.wake_waiters();
    }

    fn shot(&self) -> Shot {
        let is_half = |state: &State| !state.is_over() && state.emulator.is_drawing();
        self.pump.wait_while(WAIT_MAX, is_half).emulator.shot()
    }

    fn try_wait_for(&self, seen: &dyn Fn(&Shot) -> bool, what: &str) -> Result<Shot, NotSeen> {
        let state = self.pump.wait_while(WAIT_MAX, |state| {
            // Half a frame is not on the screen of a terminal that knows how to wait for the rest.
            !state.is_over() && (state.emulator.is_drawing() || !seen(&state.emulator.shot()))
        });
        let shot = state.emulator.shot();
        match seen(&shot) {
            true => Ok(shot),
            false => Err(state.not_seen(what)),
        }
    }

    #[track_caller]
    fn ended(&self) -> Ended {
        match self.end() {
            Some(ended) => ended,
            None => panic!("{}", self.pump.state().not_seen("the end of the program")),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The child is not waited for before, so its id and its session's are still its own.
        tree::kill(pid(&self.child));
        self.child.wait().expect("our child can be waited for");
        self.pump.stop();
        if let Some(thread) = self.thread.take() {
            let joined = thread.join();
            // A second panic would end the test program without a word about the first.
            assert!(
                joined.is_ok() || std::thread::panicking(),
                "the terminal's thread panicked"
            );
        }
    }
}

fn window(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

fn pid(child: &Child) -> Pid {
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .expect("a child has an id")
}
