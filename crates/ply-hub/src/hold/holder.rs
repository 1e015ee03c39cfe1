//! The holder's loop: one thread that waits for whatever comes first.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use ply_rpc::transport::child::STDERR_BYTES_KEPT;
use ply_rpc::transport::tail::Tail;
use ply_rpc::transport::tree::End;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::agent::Agent;
use super::ending::Ending;
use super::files::Directory;
use super::frame::READ_BYTES;
use super::given::Given;
use super::kept::{KEPT_BYTES_MAX, Kept};
use super::order::Order;
use super::visit::{Caller, Hub};

mod hubs;
mod streams;

/// Connections that may be about to say who they are. More wait in the socket's queue.
const CALLERS_MAX: usize = 4;
/// Once everything has ended: how long to wait for the end of streams that somebody outside holds open.
const LAST_WORDS_TIME_MAX: Duration = Duration::from_secs(1);
/// Memory that was in use at once and is given back to the system when none of it is any more.
const GIVE_BACK_BYTES_MIN: usize = 1024 * 1024;
/// Writes to the hub before everything else has its turn.
const BURST_WRITES_MAX: usize = 16;

/// An agent and the hubs that come and go.
#[derive(Debug)]
pub(super) struct Holder {
    id: String,
    directory: Directory,
    listener: UnixListener,
    signals: OwnedFd,
    begun: Instant,
    agent: Agent,
    kept: Kept,
    given: Given,
    stderr: Tail,
    hub: Option<Hub>,
    callers: Vec<Caller>,
    /// The latest epoch of a hub that was here.
    epoch: u64,
    ending: Ending,
    /// The agent's input is to be closed once everything is written.
    closing: bool,
    /// Nothing that the agent started is left, and until when the end of its streams is waited for.
    tree_gone: Option<Duration>,
    /// There will be no more hubs to wait for.
    leaving: bool,
    /// And the one that is here wants to hear nothing more.
    buried: bool,
    scratch: Vec<u8>,
    /// The most that lines have taken since they took nothing.
    bytes_high: usize,
}

/// What has something to be done about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Signals,
    Output,
    Errors,
    Input,
    Hub,
    Caller(usize),
    Listener,
}

impl Holder {
    /// Takes over an agent that has just been started.
    pub(super) fn new(
        order: &Order,
        directory: Directory,
        listener: UnixListener,
        signals: OwnedFd,
        agent: Agent,
    ) -> Self {
        Self {
            id: order.id.clone(),
            directory,
            listener,
            signals,
            begun: clock(),
            agent,
            kept: Kept::new(KEPT_BYTES_MAX),
            given: Given::default(),
            stderr: Tail::new(STDERR_BYTES_KEPT),
            hub: None,
            callers: Vec::new(),
            epoch: 0,
            ending: Ending::new(order.grace, order.linger, Duration::ZERO),
            closing: false,
            tree_gone: None,
            leaving: false,
            buried: false,
            scratch: vec![0; READ_BYTES],
            bytes_high: 0,
        }
    }

    /// Ends the agent and leaves.
    pub(super) fn leave(&mut self) {
        self.leaving = true;
        self.ending.stop();
    }

    /// Holds the agent until it has ended and nobody is to hear of it any more.
    pub(super) fn run(mut self) -> io::Result<()> {
        let held = self.hold();
        if held.is_err() {
            // Without the loop nobody would ever end them.
            self.agent.end_tree(End::Kill);
        }
        self.directory.remove(&self.id);
        held
    }

    fn hold(&mut self) -> io::Result<()> {
        while !self.is_done() {
            for source in self.wait()? {
                self.attend(source);
            }
            self.keep_time();
            self.write_to_agent();
            self.write_to_hub();
            self.give_back();
        }
        Ok(())
    }

    /// Gives back what a flood has left behind: a holder may then have nothing to do for days.
    fn give_back(&mut self) {
        let bytes = self.kept.bytes() + self.given.bytes();
        self.bytes_high = self.bytes_high.max(bytes);
        if bytes == 0 && self.bytes_high >= GIVE_BACK_BYTES_MIN {
            ply_sys::give_back_memory();
            self.bytes_high = 0;
        }
    }

    fn is_done(&self) -> bool {
        let Some(until) = self.tree_gone.filter(|_| self.leaving) else {
            return false;
        };
        let knows = |hub: &Hub| hub.exit_told && hub.unsaid().is_empty();
        self.buried || self.hub.as_ref().is_none_or(knows) || until <= self.now()
    }

    fn now(&self) -> Duration {
        clock().saturating_duration_since(self.begun)
    }

    /// Waits until something can be done, and returns what.
    fn wait(&self) -> io::Result<Vec<Source>> {
        let mut sources = Vec::with_capacity(8);
        let mut fds = Vec::with_capacity(8);
        let mut add = |source, fd, flags| {
            sources.push(source);
            fds.push(PollFd::from_borrowed_fd(fd, flags));
        };
        add(Source::Signals, self.signals.as_fd(), PollFlags::IN);
        if let Some(output) = self.agent.output.as_ref().filter(|_| self.kept.has_room()) {
            add(Source::Output, output.as_fd(), PollFlags::IN);
        }
        if let Some(errors) = &self.agent.errors {
            add(Source::Errors, errors.as_fd(), PollFlags::IN);
        }
        if let Some(input) = self.agent.input.as_ref().filter(|_| !self.given.is_empty()) {
            add(Source::Input, input.as_fd(), PollFlags::OUT);
        }
        if let Some(hub) = &self.hub {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, !self.given.is_full());
            flags.set(PollFlags::OUT, self.has_news(hub));
            add(Source::Hub, hub.stream.as_fd(), flags);
        }
        for (index, caller) in self.callers.iter().enumerate().rev() {
            add(Source::Caller(index), caller.stream.as_fd(), PollFlags::IN);
        }
        if self.callers.len() < CALLERS_MAX {
            add(Source::Listener, self.listener.as_fd(), PollFlags::IN);
        }
        let timeout = self.due().map(|due| due.saturating_sub(self.now()));
        match rustix::event::poll(&mut fds, timeout.map(timespec).as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready =
            |(source, fd): (Source, PollFd<'_>)| (!fd.revents().is_empty()).then_some(source);
        Ok(sources.into_iter().zip(fds).filter_map(ready).collect())
    }

    fn due(&self) -> Option<Duration> {
        let callers = self.callers.iter().map(|caller| caller.until);
        let is_open = self.agent.output.is_some() || self.agent.errors.is_some();
        let last_words = self.tree_gone.filter(|_| is_open || self.leaving);
        callers.chain(last_words).chain(self.ending.due()).min()
    }

    fn attend(&mut self, source: Source) {
        match source {
            Source::Signals => self.hear_signals(),
            Source::Output => self.read_output(),
            Source::Errors => self.read_errors(),
            // Written whenever there is something to write.
            Source::Input => {}
            Source::Hub => self.hear_hub(),
            Source::Caller(index) => self.hear_caller(index),
            Source::Listener => self.accept(),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this process has no runtime whose clock could be asked; what depends on time is tested without one"
)]
fn clock() -> Instant {
    Instant::now()
}

fn timespec(time: Duration) -> Timespec {
    // The kernel rounds up, so nothing is looked at too early.
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}
