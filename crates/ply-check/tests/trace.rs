//! The format of traces: what is written is read again, also after damage.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::io::{self, Write};

use ply_check::trace::{Direction, Entry, Event, Exit, Header, Lost, Reader, Writer};

fn header() -> Header {
    Header::new("2026-07-14T10:00:00Z", ["agent", "--acp"], false)
}

fn written(entries: &[Entry]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header(), None);
    for entry in entries {
        writer.write(entry).unwrap();
    }
    writer.finish().unwrap()
}

fn read(bytes: &[u8]) -> (Vec<String>, u64, bool) {
    let mut reader = Reader::new(bytes).unwrap();
    let entries = reader
        .by_ref()
        .map(|entry| format!("{:?}", entry.unwrap().event));
    let entries = entries.collect();
    (entries, reader.foreign(), reader.is_torn())
}

#[test]
fn a_trace_is_lines_that_anyone_can_read() {
    let entries = [
        Entry::line(
            0.000_001,
            Direction::ToAgent,
            br#" {"z":1.50,"a":1e400,"z":2} "#,
        ),
        Entry::line(1.5, Direction::ToClient, b"[1]"),
        Entry::line(1.5, Direction::ToClient, b"\xff"),
        Entry::new(2.0, Event::Stderr("oh\n".to_owned())),
        Entry::new(2.0, Event::Closed(Direction::ToAgent)),
        Entry::new(2.5, Event::Lost(Lost::new(1, 2, "full"))),
        Entry::new(3.0, Event::Exit(Exit::new(None, Some(9)))),
    ];
    let bytes = written(&entries);
    insta::assert_snapshot!(String::from_utf8(bytes.clone()).unwrap(), @r#"
    {"ply":"trace","version":1,"started":"2026-07-14T10:00:00Z","command":["agent","--acp"],"redacted":false}
    {"t":0.000001,"dir":"to_agent","frame":{"z":1.50,"a":1e400,"z":2}}
    {"t":1.500000,"dir":"to_client","text":"[1]"}
    {"t":1.500000,"dir":"to_client","base64":"/w=="}
    {"t":2.000000,"err":"oh\n"}
    {"t":2.000000,"dir":"to_agent","eof":true}
    {"t":2.500000,"lost":{"entries":1,"bytes":2,"why":"full"}}
    {"t":3.000000,"exit":{"signal":9}}
    "#);
    let expected: Vec<String> = entries
        .iter()
        .map(|entry| format!("{:?}", entry.event))
        .collect();
    assert_eq!(read(&bytes), (expected, 0, false));
}

#[test]
fn damage_costs_itself() {
    let entry = Entry::line(0.0, Direction::ToAgent, b"{}");
    let whole = written(&[entry.clone(), entry]);
    for cut in 0..whole.len() {
        let (entries, foreign, _) = read(&whole[..cut]);
        assert!(entries.len() <= 2 && foreign == 0, "{cut}");
    }
    let text = String::from_utf8(whole).unwrap();
    let strange = text.replacen("\n{\"t\"", "\nwarning: hello\n{\"other\":1}\n\n{\"t\"", 1);
    let (entries, foreign, is_torn) = read(strange.as_bytes());
    assert_eq!((entries.len(), foreign, is_torn), (2, 2, false));
    let torn = text.trim_end().trim_end_matches('}');
    let (entries, foreign, is_torn) = read(torn.as_bytes());
    assert_eq!((entries.len(), foreign, is_torn), (1, 0, true));
}

/// An output that has room for so many bytes, then none, then room again.
struct Narrow {
    bytes: Vec<u8>,
    room: usize,
}

impl Write for &mut Narrow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.room);
        self.room -= count;
        self.bytes.extend_from_slice(&bytes[..count]);
        match count {
            0 => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(count),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_a_full_disk_lost_is_told_when_there_is_room_again() {
    let entry = |number: u32| {
        Entry::line(
            f64::from(number),
            Direction::ToAgent,
            format!("{{\"n\":{number}}}").as_bytes(),
        )
    };
    for room in 0..400 {
        let mut narrow = Narrow {
            bytes: Vec::new(),
            room,
        };
        let mut writer = Writer::new(&mut narrow, &header(), None);
        let mut failed = 0;
        for number in 0..4 {
            writer.write(&entry(number)).unwrap();
            failed += u32::from(writer.flush().is_err());
        }
        let lost = writer.lost().entries;
        drop(writer);
        narrow.room = usize::MAX;
        assert_eq!(failed > 0, lost > 0);
    }
    // Room comes back while the writer lives.
    let mut narrow = Narrow {
        bytes: Vec::new(),
        room: 170,
    };
    let shared = std::cell::RefCell::new(&mut narrow);
    struct Shared<'a, 'b>(&'a std::cell::RefCell<&'b mut Narrow>);
    impl Write for Shared<'_, '_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            (&mut **self.0.borrow_mut()).write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut writer = Writer::new(Shared(&shared), &header(), None);
    for number in 0..4 {
        writer.write(&entry(number)).unwrap();
        let flushed = writer.flush();
        assert_eq!(flushed.is_err(), number >= 1, "{number}");
    }
    shared.borrow_mut().room = usize::MAX;
    writer.write(&entry(4)).unwrap();
    writer.finish().unwrap();
    let (entries, foreign, _) = read(&narrow.bytes);
    assert_eq!(entries.len(), 3, "{entries:?}");
    assert!(entries[1].contains("Lost { entries: 3"), "{entries:?}");
    assert!(foreign <= 1);
}
