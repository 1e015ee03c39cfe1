//! The thread between a pty and the emulator, and the state it shares with the test.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};

use crate::emulator::Emulator;
use crate::{Ended, NotSeen};

/// How much of a program's output is kept as it came.
const OUTPUT_BYTES_MAX: usize = 4 << 20;

/// How long nothing must come from a terminal whose program has ended and which somebody else still has open, until what the
/// program wrote counts as seen. The system hands it over within microseconds.
const QUIET: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// How much may be on its way to a program that does not read.
const TYPED_BYTES_MAX: usize = 64 << 20;

pub(super) struct State {
    pub(super) emulator: Emulator,
    pub(super) output: Vec<u8>,
    /// How the program ended; its output may still be on its way.
    pub(super) ended: Option<Ended>,
    /// What was typed and not yet taken.
    typed: Vec<u8>,
    is_output_over: bool,
    /// The program has ended, and nothing came for a while from whoever still has the terminal open.
    is_quiet: bool,
    is_stopping: bool,
}

impl State {
    /// Tells whether the program has ended and everything it wrote was seen.
    pub(super) fn is_over(&self) -> bool {
        self.ended.is_some() && (self.is_output_over || self.is_quiet)
    }

    pub(super) fn not_seen(&self, what: &str) -> NotSeen {
        NotSeen {
            what: what.to_owned(),
            ended: self.ended,
            shot: Box::new(self.emulator.shot()),
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let answers = self.emulator.process(bytes);
        self.typed.extend(answers);
        self.output.extend(bytes);
        // Cut rarely, so that a flood is not moved for each of its pieces.
        if self.output.len() > 2 * OUTPUT_BYTES_MAX {
            self.output.drain(..self.output.len() - OUTPUT_BYTES_MAX);
        }
    }
}

pub(super) struct Pump {
    state: Mutex<State>,
    changed: Condvar,
    /// Wakes the thread: there is something to write, or it has to stop.
    wake: OwnedFd,
    program: Pid,
    exit: OwnedFd,
}

impl Pump {
    pub(super) fn new(emulator: Emulator, program: Pid) -> io::Result<Self> {
        Ok(Pump {
            state: Mutex::new(State {
                emulator,
                output: Vec::new(),
                ended: None,
                typed: Vec::new(),
                is_output_over: false,
                is_quiet: false,
                is_stopping: false,
            }),
            changed: Condvar::new(),
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            program,
            exit: pidfd_open(program, PidfdFlags::empty())?,
        })
    }

    /// The state, also after a wait inside it has panicked: it is only looked at there.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait_while(
        &self,
        limit: Duration,
        mut waiting: impl FnMut(&State) -> bool,
    ) -> MutexGuard<'_, State> {
        let waited = self
            .changed
            .wait_timeout_while(self.state(), limit, |state| waiting(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    pub(super) fn wake_waiters(&self) {
        self.changed.notify_all();
    }

    pub(super) fn send(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.typed.extend(bytes);
        assert!(
            state.typed.len() <= TYPED_BYTES_MAX,
            "the program does not read what is typed"
        );
        drop(state);
        self.wake();
    }

    pub(super) fn stop(&self) {
        self.state().is_stopping = true;
        self.wake();
    }

    fn wake(&self) {
        match rustix::io::write(&self.wake, &1_u64.to_ne_bytes()) {
            // Full means that it is awake.
            Ok(_) | Err(Errno::AGAIN) => {}
            Err(error) => panic!("the terminal's thread cannot be woken: {error}"),
        }
    }

    /// Moves bytes until the program has ended and its output too, or until it is told to stop.
    pub(super) fn run(&self, master: &OwnedFd) {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let (is_writing, is_reading, is_running) = {
                let state = self.state();
                let is_reading = !state.is_output_over;
                let is_running = state.ended.is_none();
                if state.is_stopping || !(is_reading || is_running) {
                    return;
                }
                (!state.typed.is_empty(), is_reading, is_running)
            };
            let mut of_master = PollFlags::IN;
            of_master.set(PollFlags::OUT, is_writing);
            let mut watched = vec![PollFd::new(&self.wake, PollFlags::IN)];
            if is_running {
                watched.push(PollFd::new(&self.exit, PollFlags::IN));
            }
            if is_reading {
                watched.push(PollFd::new(master, of_master));
            }
            let limit = (!is_running && !self.state().is_quiet).then_some(&QUIET);
            match poll(&mut watched, limit) {
                Ok(0) => self.state().is_quiet = true,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => panic!("the terminal cannot be watched: {error}"),
            }
            // Who was ready does not matter: nothing below blocks.
            let mut count = [0; 8];
            match rustix::io::read(&self.wake, &mut count) {
                Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => panic!("the terminal's thread cannot be woken: {error}"),
            }
            if is_reading {
                self.read(master, &mut buffer);
                self.write(master);
            }
            if is_running {
                self.look_for_the_end();
            }
            self.changed.notify_all();
        }
    }

    fn read(&self, master: &OwnedFd, buffer: &mut [u8]) {
        match rustix::io::read(master, &mut *buffer) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(bytes @ 1..) => self.state().take(buffer.get(..bytes).unwrap_or_default()),
            // Linux says with an error that nobody has the other end open any more.
            Ok(0) | Err(Errno::IO) => self.state().is_output_over = true,
            Err(error) => panic!("the terminal cannot be read: {error}"),
        }
    }

    fn write(&self, master: &OwnedFd) {
        let mut state = self.state();
        if state.typed.is_empty() {
            return;
        }
        match rustix::io::write(master, &state.typed) {
            Ok(taken) => drop(state.typed.drain(..taken)),
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Nobody reads any more.
            Err(Errno::IO) => state.typed.clear(),
            Err(error) => panic!("the terminal cannot be written to: {error}"),
        }
    }

    fn look_for_the_end(&self) {
        // Left unreaped, so that its id stays its own until the terminal is dropped.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let Ok(Some(status)) = waitid(WaitId::Pid(self.program), options) else {
            return;
        };
        let ended = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Ended::Code(code),
            (None, Some(signal)) => Ended::Signal(signal),
            (None, None) => return,
        };
        self.state().ended = Some(ended);
    }
}
