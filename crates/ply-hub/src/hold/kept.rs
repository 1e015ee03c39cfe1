//! The agent's lines that no hub has acknowledged, and how far they were sent.
//!
//! Lines are kept as the frames in which hubs get them, many in one piece of memory: a line is copied once when it is read, and
//! sent from where it lies.

use std::collections::VecDeque;

use ply_rpc::limits::{HEAD_BYTES_MAX, LINE_BYTES_MAX};

use super::frame::{HEADER_BYTES, Kind, header, measure};

/// Bytes that are kept before the agent is no longer read, so that it waits as it would on a full pipe.
pub(super) const KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Short lines are joined up to this size.
const SEGMENT_BYTES: usize = 64 * 1024;

/// Lines from the agent.
#[derive(Debug)]
pub(super) struct Kept {
    segments: VecDeque<Segment>,
    /// Bytes in all segments.
    bytes: usize,
    /// The frame of a line whose end has not come, with room for its header; empty between lines.
    unfinished: Vec<u8>,
    /// The unfinished line is over the limit; only its head is kept.
    skipping: bool,
    last: u64,
    acknowledged: u64,
    cursor: Cursor,
    bytes_max: usize,
}

/// Frames of lines that follow each other.
#[derive(Debug)]
struct Segment {
    last: u64,
    frames: Vec<u8>,
}

/// What the hub that is here gets next.
#[derive(Debug, Default)]
struct Cursor {
    segment: usize,
    offset: usize,
    /// Bytes of the frame at `offset` that are missing after a part of it was sent.
    left: usize,
}

impl Kept {
    /// Keeps about `bytes_max` bytes; a single line may be longer.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            segments: VecDeque::new(),
            bytes: 0,
            unfinished: Vec::new(),
            skipping: false,
            last: 0,
            acknowledged: 0,
            cursor: Cursor::default(),
            bytes_max,
        }
    }

    /// Returns the number of the first line that was not acknowledged.
    pub(super) fn first(&self) -> u64 {
        self.acknowledged + 1
    }

    /// Returns the number of the last whole line.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Returns how much is kept.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.unfinished.len()
    }

    /// Returns whether more may be read from the agent.
    ///
    /// An unfinished line counts only while there are others: it must be able to end once they are acknowledged.
    pub(super) fn has_room(&self) -> bool {
        self.segments.is_empty() || self.bytes() < self.bytes_max
    }

    /// Takes what was read from the agent.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            if self.unfinished.is_empty() {
                self.append(line);
            } else {
                self.extend_unfinished(line);
                self.finish();
            }
            bytes = rest.get(1..).unwrap_or_default();
        }
        if !bytes.is_empty() {
            self.extend_unfinished(bytes);
        }
    }

    /// Ends the line that has no end, because the agent's output has.
    pub(super) fn finish(&mut self) {
        if self.unfinished.is_empty() {
            return;
        }
        self.skipping = false;
        let mut frame = std::mem::take(&mut self.unfinished);
        self.last += 1;
        let header = header(Kind::Out, self.last, frame.len() - HEADER_BYTES);
        for (to, from) in frame.iter_mut().zip(header) {
            *to = from;
        }
        if frame.len() < SEGMENT_BYTES {
            return self.join(&[&frame]);
        }
        frame.shrink_to_fit();
        self.bytes += frame.len();
        self.segments.push_back(Segment {
            last: self.last,
            frames: frame,
        });
    }

    fn extend_unfinished(&mut self, bytes: &[u8]) {
        if self.unfinished.is_empty() {
            self.unfinished.resize(HEADER_BYTES, 0);
        }
        if self.skipping {
            return;
        }
        self.unfinished.extend_from_slice(bytes);
        if self.unfinished.len() > HEADER_BYTES + LINE_BYTES_MAX {
            // Cut, it is no JSON: the hub refuses it as it would refuse the whole.
            self.unfinished.truncate(HEADER_BYTES + HEAD_BYTES_MAX);
            self.unfinished.shrink_to_fit();
            self.skipping = true;
        }
    }

    fn append(&mut self, line: &[u8]) {
        self.last += 1;
        self.join(&[&header(Kind::Out, self.last, line.len()), line]);
    }

    /// Appends a frame, which is line `last`, to the last segment or to a new one.
    fn join(&mut self, parts: &[&[u8]]) {
        let bytes = parts.iter().map(|part| part.len()).sum();
        let fits = |segment: &Segment| segment.frames.len() + bytes <= SEGMENT_BYTES;
        if !self.segments.back().is_some_and(fits) {
            self.segments.push_back(Segment {
                last: self.last,
                frames: Vec::with_capacity(SEGMENT_BYTES.max(bytes)),
            });
        }
        if let Some(segment) = self.segments.back_mut() {
            segment.last = self.last;
            for part in parts {
                segment.frames.extend_from_slice(part);
            }
            self.bytes += bytes;
        }
    }

    /// Forgets lines up to `number`, as far as there are such.
    pub(super) fn acknowledge(&mut self, number: u64) {
        self.acknowledged = self.acknowledged.max(number.min(self.last));
        self.pass_acknowledged();
        while let Some(segment) = self.segments.front() {
            let is_being_sent = self.cursor.segment == 0 && self.cursor.left > 0;
            if segment.last > self.acknowledged || is_being_sent {
                break;
            }
            self.bytes -= segment.frames.len();
            self.segments.pop_front();
            if self.cursor.segment == 0 {
                self.cursor.offset = 0;
            }
            self.cursor.segment = self.cursor.segment.saturating_sub(1);
        }
    }

    /// Begins again with the first line that was not acknowledged: there is another hub.
    pub(super) fn rewind(&mut self) {
        self.cursor = Cursor::default();
        // What the last hub had begun to get may have been acknowledged meanwhile.
        self.acknowledge(self.acknowledged);
    }

    /// Returns whether something may come between what was sent and what is next.
    pub(super) fn is_between_frames(&self) -> bool {
        self.cursor.left == 0
    }

    /// Returns whether there is something to send.
    pub(super) fn has_unsent(&self) -> bool {
        let Cursor {
            segment, offset, ..
        } = self.cursor;
        let ends = |it: &Segment| offset >= it.frames.len();
        let is_last = segment + 1 >= self.segments.len();
        !(is_last && self.segments.get(segment).is_none_or(ends))
    }

    /// Returns what to send next: the rest of a frame, or as many whole ones as lie together. Empty if all was sent.
    pub(super) fn unsent(&mut self) -> &[u8] {
        self.pass_acknowledged();
        let Cursor {
            segment,
            offset,
            left,
        } = self.cursor;
        let frames = self.segments.get(segment).map(|it| it.frames.as_slice());
        let rest = frames.and_then(|it| it.get(offset..)).unwrap_or_default();
        match left {
            0 => rest,
            left => rest.get(..left).unwrap_or(rest),
        }
    }

    /// Notes that so many bytes of what is [unsent](Self::unsent) were sent.
    pub(super) fn sent(&mut self, mut bytes: usize) {
        while bytes > 0 {
            if self.cursor.left == 0 {
                let Some((frame_bytes, _)) = self.next_frame() else {
                    break;
                };
                self.cursor.left = frame_bytes;
            }
            let step = bytes.min(self.cursor.left);
            bytes -= step;
            self.cursor.left -= step;
            self.cursor.offset += step;
        }
        if self.is_between_frames() {
            // A segment that had to wait for its last frame.
            self.acknowledge(self.acknowledged);
        }
    }

    /// Skips what need not be sent, and goes on to the next segment at the end of one.
    fn pass_acknowledged(&mut self) {
        while self.cursor.left == 0 {
            let Some(segment) = self.segments.get(self.cursor.segment) else {
                return;
            };
            let has_next = self.cursor.segment + 1 < self.segments.len();
            let is_passed = segment.last <= self.acknowledged && self.cursor.offset == 0;
            if has_next && (is_passed || self.cursor.offset >= segment.frames.len()) {
                self.cursor.segment += 1;
                self.cursor.offset = 0;
                continue;
            }
            match self.next_frame() {
                Some((bytes, number)) if number <= self.acknowledged => {
                    self.cursor.offset += bytes;
                }
                _ => return,
            }
        }
    }

    fn next_frame(&self) -> Option<(usize, u64)> {
        let segment = self.segments.get(self.cursor.segment)?;
        measure(segment.frames.get(self.cursor.offset..)?)
    }
}

#[cfg(test)]
mod tests;
