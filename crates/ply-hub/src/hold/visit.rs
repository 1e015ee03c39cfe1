//! A hub as the holder sees it: a socket, what was read from it, and what is to be written between the agent's lines.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};

use super::frame::{Decoder, Frame, Kind, Malformed, READ_BYTES, encode};
use super::message::{FromHub, PROTOCOL, body};

/// How long a hub may take to say who it is.
pub(super) const HELLO_TIME_MAX: Duration = Duration::from_secs(5);
/// Longest first frame of a hub.
const HELLO_BYTES_MAX: usize = 4 * 1024;

/// A connection that has not said who it is.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) stream: UnixStream,
    decoder: Decoder,
    pub(super) until: Duration,
}

/// What a caller turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// More must come.
    Nothing,
    /// A hub of this epoch.
    Hub(u64),
    /// Nobody to speak to.
    Stranger,
}

impl Caller {
    pub(super) fn new(stream: UnixStream, now: Duration) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            decoder: Decoder::default(),
            until: now + HELLO_TIME_MAX,
        })
    }

    /// Reads what has come.
    pub(super) fn hear(&mut self, scratch: &mut [u8]) -> Heard {
        match read(&self.stream, scratch) {
            Read::Bytes(bytes) => self.decoder.push(bytes),
            Read::Nothing => return Heard::Nothing,
            Read::End => return Heard::Stranger,
        }
        match self.decoder.next() {
            Ok(Some(frame)) => greeted(&frame).map_or(Heard::Stranger, Heard::Hub),
            Ok(None) if self.decoder.buffered() <= HELLO_BYTES_MAX => Heard::Nothing,
            Ok(None) | Err(_) => Heard::Stranger,
        }
    }

    /// Makes it the hub that is spoken to.
    pub(super) fn into_hub(self) -> Hub {
        Hub {
            stream: self.stream,
            decoder: self.decoder,
            between: Vec::new(),
            sent: 0,
            wrote_told: 0,
            exit_told: false,
            stderr_due: false,
        }
    }
}

fn greeted(frame: &Frame) -> Option<u64> {
    let hello: FromHub = serde_json::from_slice(&frame.body).ok()?;
    (frame.kind == Kind::Hello && hello.protocol >= PROTOCOL).then_some(hello.epoch)
}

/// Tells a caller that a later hub was here. One that cannot even take these few bytes is told nothing.
pub(super) fn refuse(caller: &Caller, epoch: u64) {
    let mut frame = Vec::new();
    encode(Kind::Refused, epoch, &[], &mut frame);
    if let Err(error) = rustix::io::write(&caller.stream, &frame) {
        tracing::debug!(%error, "a hub was refused and has not heard it");
    }
}

/// The hub that is spoken to.
#[derive(Debug)]
pub(super) struct Hub {
    pub(super) stream: UnixStream,
    decoder: Decoder,
    /// Frames to send before any more lines. Filled only when it is empty, so it is bounded.
    between: Vec<u8>,
    /// Bytes of them that were sent.
    sent: usize,
    pub(super) wrote_told: u64,
    pub(super) exit_told: bool,
    pub(super) stderr_due: bool,
}

impl Hub {
    /// Reads what has come, and returns whether the hub is still there.
    pub(super) fn read(&mut self, scratch: &mut [u8]) -> bool {
        match read(&self.stream, scratch) {
            Read::Bytes(bytes) => self.decoder.push(bytes),
            Read::Nothing => {}
            Read::End => return false,
        }
        true
    }

    /// Returns whether the hub has gone, though there may be something left to read.
    pub(super) fn hung_up(&self) -> bool {
        let mut fds = [PollFd::new(&self.stream, PollFlags::empty())];
        let looked = rustix::event::poll(&mut fds, Some(&Timespec::default()));
        looked.is_ok() && fds.iter().any(|fd| !fd.revents().is_empty())
    }

    /// Returns the next whole frame that was read.
    pub(super) fn next(&mut self) -> Result<Option<Frame>, Malformed> {
        self.decoder.next()
    }

    /// Adds a frame to those that are sent before any more lines.
    pub(super) fn say(&mut self, kind: Kind, number: u64, body: &[u8]) {
        encode(kind, number, body, &mut self.between);
    }

    /// Adds a frame with a message.
    pub(super) fn say_message(&mut self, kind: Kind, message: &impl serde::Serialize) {
        self.say(kind, 0, &body(message));
    }

    /// Returns what is left of the frames that go before any more lines.
    pub(super) fn unsaid(&self) -> &[u8] {
        self.between.get(self.sent..).unwrap_or_default()
    }

    /// Notes that so many bytes of what was [unsaid](Self::unsaid) were sent.
    pub(super) fn said(&mut self, bytes: usize) {
        self.sent += bytes;
        if self.sent >= self.between.len() {
            // Mostly small, but the last of standard error is not.
            self.between = Vec::new();
            self.sent = 0;
        }
    }
}

enum Read<'a> {
    Bytes(&'a [u8]),
    Nothing,
    End,
}

fn read<'a>(stream: &UnixStream, scratch: &'a mut [u8]) -> Read<'a> {
    debug_assert!(scratch.len() >= READ_BYTES, "one buffer for everything");
    match rustix::io::read(stream, &mut *scratch) {
        Ok(0) => Read::End,
        Ok(bytes) => Read::Bytes(scratch.get(..bytes).unwrap_or_default()),
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Read::Nothing,
        Err(_) => Read::End,
    }
}
