//! A session as lines of JSON: what is known of it, then its events as they are stored.

use std::io::{self, Write};

use ply_journal::{Error as JournalError, Head, Records};
use serde::Serialize;
use serde::de::IgnoredAny;

use super::super::About;
use crate::program::Error;

/// The version of the lines.
const VERSION: u32 = 1;
/// Bytes read from the store at a time: no more of a session is held at once.
const READ_BYTES: usize = 256 * 1024;

/// A line that is not an event. The names are promised to scripts.
#[derive(Debug, Serialize)]
#[serde(tag = "ply", rename_all = "lowercase")]
enum Line<'a> {
    /// The first one.
    Session {
        version: u32,
        #[serde(flatten)]
        about: About<'a>,
    },
    /// Stands where records cannot be read: from this one to the one before `next`.
    Damaged { from: u64, next: u64 },
}

impl Line<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        out.write_all(&line)
    }
}

pub(super) async fn write(
    out: &mut impl Write,
    head: &Head,
    records: &dyn Records,
) -> Result<u64, Error> {
    let about = About::new(head);
    let first = Line::Session {
        version: VERSION,
        about,
    };
    first.write(out).map_err(Error::Output)?;
    let (mut from, mut damaged) = (0, 0);
    loop {
        let page = match records.read(from, READ_BYTES).await {
            Ok(page) if page.is_empty() => return Ok(damaged),
            Ok(page) => page,
            // A store that does not go on would keep us here for ever.
            Err(JournalError::Damaged { next, .. }) if next > from => {
                let line = Line::Damaged { from, next };
                line.write(out).map_err(Error::Output)?;
                damaged += next - from;
                from = next;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        for record in page.records {
            let next = from + 1;
            let written = match as_line(record) {
                Some(line) => out.write_all(&line),
                None => {
                    damaged += 1;
                    Line::Damaged { from, next }.write(out)
                }
            };
            written.map_err(Error::Output)?;
            from = next;
        }
    }
}

/// Returns a record as one line, none if it is not JSON: it would spoil the lines after it (F4).
fn as_line(mut record: Vec<u8>) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(&record).ok()?;
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    for byte in &mut record {
        // In JSON these stand between values only, where a space says the same.
        if matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    record.push(b'\n');
    Some(record)
}

#[cfg(test)]
mod tests {
    use ply_journal::{Answer, Batch};

    use super::*;

    /// Five records, of which those with the numbers 1 and 2 are lost.
    #[derive(Debug)]
    struct Holed;

    impl Records for Holed {
        fn read(&self, from: u64, _: usize) -> Answer<'static, Batch> {
            let records = match from {
                0 => Ok(vec![b"{\"n\":0}".to_vec()]),
                1 | 2 => Err(JournalError::Damaged { from, next: 3 }),
                3 => Ok(vec![b"torn".to_vec(), b"{\"n\":4}".to_vec()]),
                _ => Ok(Vec::new()),
            };
            let batch = records.map(|records| Batch::new(from, records));
            Box::pin(std::future::ready(batch))
        }

        fn wait(&self, _: u64) -> Answer<'static, ()> {
            Box::pin(std::future::pending())
        }
    }

    #[tokio::test]
    async fn f4_what_is_lost_has_a_line_in_its_place_and_costs_nothing_else() {
        let head = Head::new("sess-1", "/w", 0);
        let mut out = Vec::new();
        let damaged = write(&mut out, &head, &Holed).await.unwrap();
        assert_eq!(damaged, 3);
        let text = String::from_utf8(out).unwrap();
        let events: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(
            events,
            [
                r#"{"n":0}"#,
                r#"{"ply":"damaged","from":1,"next":3}"#,
                r#"{"ply":"damaged","from":3,"next":4}"#,
                r#"{"n":4}"#,
            ]
        );
    }

    #[track_caller]
    fn check(record: &[u8], line: Option<&str>) {
        let found = as_line(record.to_vec());
        assert_eq!(found.as_deref(), line.map(str::as_bytes));
    }

    #[test]
    fn f4_a_record_is_one_line_or_none() {
        check(b"{\"a\":\"\\n\"}", Some("{\"a\":\"\\n\"}\n"));
        check(b"{\n\"a\": 1\r\n}", Some("{ \"a\": 1  }\n"));
        check(b"{\"a\":", None);
        check(b"", None);
        check(b"\0\0\0", None);
        check(b"{} {}", None);
        check(b"\"\xff\"", None);
    }
}
