//! What goes over the socket between a hub and a holder, as bytes: any split of them gives the same frames.
//!
//! A frame is `u32` length of what follows, `u8` kind, `u64` number, body; integers are little-endian. Frames of unknown kinds
//! are skipped, so that a newer side may say more than an older one understands.

use bytes::{Buf as _, Bytes, BytesMut};
use ply_rpc::limits::LINE_BYTES_MAX;

/// Bytes of a frame before its body.
pub(super) const HEADER_BYTES: usize = LENGTH_BYTES + FIXED_BYTES;
/// Longest body, which is the longest line.
pub(super) const BODY_BYTES_MAX: usize = LINE_BYTES_MAX;
/// Bytes asked of a socket or a pipe in one read.
pub(super) const READ_BYTES: usize = 64 * 1024;
/// A buffer with more room than this is given back once it is empty.
const IDLE_BYTES_MAX: usize = 256 * 1024;
const LENGTH_BYTES: usize = 4;
/// Bytes that the length counts besides the body: kind and number.
const FIXED_BYTES: usize = 9;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// Both ways, first: who speaks.
    Hello = 0,
    /// To the hub: line `number` of the agent's output.
    Out = 1,
    /// To the holder: lines up to `number` need not be kept.
    Acknowledge = 2,
    /// To the holder: line `number` for the agent's input.
    In = 3,
    /// To the hub: lines up to `number` were written to the agent.
    Wrote = 4,
    /// To the holder: a request for the last of standard error. To the hub: that, on request and before [`Kind::Exit`].
    Stderr = 5,
    /// To the hub: how the agent ended. Nothing of the agent follows.
    Exit = 6,
    /// To the holder: end the agent and all that it started.
    Stop = 7,
    /// To the holder: end what is left, remove the files and leave.
    Bury = 8,
    /// To the holder: with `number` 1, work goes on that is worth waiting for longer should the hub go.
    Busy = 9,
    /// To the hub, instead of [`Kind::Hello`]: a hub with the later epoch `number` was here.
    Refused = 10,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Self> {
        let known = [
            Self::Hello,
            Self::Out,
            Self::Acknowledge,
            Self::In,
            Self::Wrote,
            Self::Stderr,
            Self::Exit,
            Self::Stop,
            Self::Bury,
            Self::Busy,
            Self::Refused,
        ];
        known.get(usize::from(byte)).copied()
    }
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    pub(super) number: u64,
    pub(super) body: Bytes,
}

/// Bytes that are no frame; the connection cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {bytes} bytes, where {FIXED_BYTES} to {} are possible", FIXED_BYTES + BODY_BYTES_MAX)]
pub(super) struct Malformed {
    pub(super) bytes: usize,
}

/// Returns the first bytes of a frame whose body is `body_bytes` long.
///
/// # Panics
///
/// If no body may be that long.
pub(super) fn header(kind: Kind, number: u64, body_bytes: usize) -> [u8; HEADER_BYTES] {
    assert!(body_bytes <= BODY_BYTES_MAX, "a body over the limit");
    let length = u32::try_from(FIXED_BYTES + body_bytes).expect("the limit fits");
    let mut header = [0; HEADER_BYTES];
    let fields = length
        .to_le_bytes()
        .into_iter()
        .chain([kind as u8])
        .chain(number.to_le_bytes());
    for (to, from) in header.iter_mut().zip(fields) {
        *to = from;
    }
    header
}

/// Appends a frame.
///
/// # Panics
///
/// If no body may be as long as this one.
pub(super) fn encode(kind: Kind, number: u64, body: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&header(kind, number, body.len()));
    out.extend_from_slice(body);
}

/// Returns the length and the number of the frame that `bytes` begin with. They must be ours.
pub(super) fn measure(bytes: &[u8]) -> Option<(usize, u64)> {
    let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
    let (_kind, rest) = rest.split_first()?;
    let (number, _body) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    Some((LENGTH_BYTES + length, u64::from_le_bytes(*number)))
}

/// Makes frames of bytes.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    buf: BytesMut,
}

impl Decoder {
    /// Appends what was read.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.give_back();
        self.buf.extend_from_slice(bytes);
    }

    /// Returns the buffer to read into, with room for one read.
    pub(super) fn buffer(&mut self) -> &mut BytesMut {
        self.give_back();
        self.buf.reserve(READ_BYTES);
        &mut self.buf
    }

    /// Returns how many bytes wait for the rest of their frame.
    pub(super) fn buffered(&self) -> usize {
        self.buf.len()
    }

    fn give_back(&mut self) {
        if self.buf.is_empty() && self.buf.capacity() > IDLE_BYTES_MAX {
            self.buf = BytesMut::new();
        }
    }

    /// Returns the next frame, or `None` when more bytes are needed.
    pub(super) fn next(&mut self) -> Result<Option<Frame>, Malformed> {
        loop {
            let Some(length) = self.buf.first_chunk::<LENGTH_BYTES>() else {
                return Ok(None);
            };
            let length = u32::from_le_bytes(*length);
            let bytes = usize::try_from(length).unwrap_or(usize::MAX);
            if !(FIXED_BYTES..=FIXED_BYTES + BODY_BYTES_MAX).contains(&bytes) {
                return Err(Malformed { bytes });
            }
            let missing = (LENGTH_BYTES + bytes).saturating_sub(self.buf.len());
            if missing == 0 {
                let frame = self.buf.split_to(LENGTH_BYTES + bytes).freeze();
                if let Some(frame) = read(frame) {
                    return Ok(Some(frame));
                }
                continue;
            }
            // Growing step by step would copy a long line again and again. Memory that is not written costs nothing.
            self.buf.reserve(missing);
            return Ok(None);
        }
    }
}

/// Reads a whole frame, unless its kind is unknown.
fn read(mut frame: Bytes) -> Option<Frame> {
    frame.advance(LENGTH_BYTES);
    let kind = Kind::from_byte(frame.get_u8())?;
    let number = frame.get_u64_le();
    Some(Frame {
        kind,
        number,
        body: frame,
    })
}

#[cfg(test)]
mod tests;
