//! Recordings of a connection: what both sides wrote, line by line, with the time of each.
//!
//! A trace is text, one JSON object per line. The first is a [`Header`], each other one an [`Entry`].
//! Frames are kept as they were sent: the order of members and the digits of numbers stay.
//!
//! ```
//! use ply_check::trace::{Direction, Entry, Event, Header, Reader, Writer};
//!
//! let header = Header::new("2026-07-14T10:00:00Z", ["agent"], false);
//! let mut writer = Writer::new(Vec::new(), &header, None);
//! let hello = br#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;
//! writer.write(&Entry::line(0.25, Direction::ToAgent, hello))?;
//! let bytes = writer.finish()?;
//!
//! let mut reader = Reader::new(bytes.as_slice())?;
//! assert_eq!(reader.header(), Some(&header));
//! let entry = reader.next().unwrap()?;
//! assert!(matches!(entry.event, Event::Frame { dir: Direction::ToAgent, .. }));
//! # Ok::<(), std::io::Error>(())
//! ```

mod entry;
mod reader;
mod redact;
mod writer;

pub use self::entry::{Direction, Entry, Event, Exit, Header, Lost};
pub use self::reader::Reader;
pub use self::redact::Redactor;
pub use self::writer::Writer;

/// The version of the format that this crate writes.
pub const VERSION: u32 = 1;

/// The longest line of a peer that is recorded; of a longer one only the size is.
pub const FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The longest line of a trace that is read. What is around a frame, and base64, make it longer.
pub const LINE_BYTES_MAX: usize = 2 * FRAME_BYTES_MAX;
