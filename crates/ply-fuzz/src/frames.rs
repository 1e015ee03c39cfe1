//! Bytes to frames to messages.

use ply_rpc::codec::{Decoder, Frame};
use ply_rpc::envelope::{self, Head};

/// Small, so that the fuzzer reaches it.
const LINE_BYTES_MAX: usize = 64;

/// Any chunking of the bytes gives the same frames.
///
/// The first byte seeds the sizes of the pieces, the rest is the stream.
///
/// # Panics
///
/// When two chunkings differ.
pub fn frames(data: &[u8]) {
    let Some((seed, stream)) = data.split_first() else {
        return;
    };
    let whole = decode(stream, std::iter::repeat(usize::MAX));
    let mut state = u32::from(*seed).wrapping_mul(2_654_435_761) | 1;
    let pieces = std::iter::from_fn(|| {
        // Xorshift: any sizes will do, as long as the same input gives the same sizes.
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        Some((state % 31 + 1) as usize)
    });
    assert_eq!(whole, decode(stream, pieces));
}

#[derive(Debug, PartialEq)]
enum Seen {
    Line(Vec<u8>),
    TooLong(u64),
    Endless,
}

fn decode(mut stream: &[u8], pieces: impl Iterator<Item = usize>) -> Vec<Seen> {
    let mut decoder = Decoder::new(LINE_BYTES_MAX);
    let mut seen = Vec::new();
    for piece in pieces {
        let (now, later) = stream.split_at(piece.min(stream.len()));
        decoder.push(now);
        stream = later;
        while let Some(frame) = decoder.next_frame() {
            seen.push(note(&frame));
            if seen.last() == Some(&Seen::Endless) {
                return seen;
            }
        }
        if stream.is_empty() {
            break;
        }
    }
    seen.extend(decoder.finish().map(|frame| note(&frame)));
    seen
}

fn note(frame: &Frame<'_>) -> Seen {
    match frame {
        Frame::Line(line) => Seen::Line(line.to_vec()),
        // A line just as long may be given up or skipped, depending on where the pieces end.
        Frame::TooLong { bytes, .. } if *bytes > 10 * LINE_BYTES_MAX as u64 => Seen::Endless,
        Frame::TooLong { bytes, .. } => Seen::TooLong(*bytes),
        Frame::Endless { .. } => Seen::Endless,
    }
}

/// Any line is read or refused without a panic, and reading it twice gives the same.
///
/// # Panics
///
/// When the envelope reader does, or when its two readings differ.
pub fn envelope(line: &[u8]) {
    let line = ply_rpc::clean::strip(line);
    let first = format!("{:?}", envelope::parse(line));
    assert_eq!(first, format!("{:?}", envelope::parse(line)));
    let head = Head::scan(line);
    if let Ok(envelope::Message::Request { id, .. }) = envelope::parse(line) {
        // What is found without reading the whole must not contradict it.
        assert!(
            head.id.is_none_or(|found| found == id),
            "the head names another id"
        );
    }
    let shown = ply_rpc::clean::for_display(line, 200);
    assert!(
        !shown.chars().any(char::is_control),
        "what is shown holds a control character"
    );
}
