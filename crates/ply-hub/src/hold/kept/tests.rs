use proptest::prelude::*;

use super::*;
use crate::hold::frame::Decoder;

/// A hub that reads what a holder sends.
#[derive(Default)]
struct Reader {
    decoder: Decoder,
    lines: Vec<(u64, Vec<u8>)>,
}

impl Reader {
    /// Reads at most so many bytes.
    fn read(&mut self, kept: &mut Kept, bytes_max: usize) -> usize {
        let unsent = kept.unsent();
        let bytes = unsent.get(..bytes_max).unwrap_or(unsent).to_vec();
        kept.sent(bytes.len());
        self.decoder.push(&bytes);
        while let Some(frame) = self.decoder.next().unwrap() {
            assert_eq!(frame.kind, Kind::Out);
            self.lines.push((frame.number, frame.body.to_vec()));
        }
        bytes.len()
    }

    fn read_all(&mut self, kept: &mut Kept) {
        while self.read(kept, usize::MAX) > 0 {}
    }
}

fn line(number: u64) -> Vec<u8> {
    format!("line {number} {}", "x".repeat(number as usize % 300)).into_bytes()
}

/// What can happen to kept lines.
#[derive(Debug, Clone)]
enum Event {
    /// The agent writes bytes of its endless list of lines.
    Write(usize),
    Read(usize),
    Acknowledge(usize),
    Rewind,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        (1_usize..5000).prop_map(Event::Write),
        (1_usize..5000).prop_map(Event::Read),
        (0_usize..40).prop_map(Event::Acknowledge),
        Just(Event::Rewind),
    ];
    prop::collection::vec(event, 1..120)
}

proptest! {
    #[test]
    fn every_hub_gets_every_line_that_was_not_acknowledged_once_and_in_order(events in events()) {
        let mut text = Vec::new();
        (1..2000).for_each(|number| {
            text.extend(line(number));
            text.push(b'\n');
        });
        let mut text = text.as_slice();
        let mut kept = Kept::new(KEPT_BYTES_MAX);
        let mut hub = Reader::default();
        let mut first = 1;
        for event in events {
            match event {
                Event::Write(bytes) => {
                    let (now, later) = text.split_at(bytes.min(text.len()));
                    kept.push(now);
                    text = later;
                }
                Event::Read(bytes) => {
                    hub.read(&mut kept, bytes);
                }
                // Also lines that only the hub before was sent: it may have been killed after it wrote them down.
                Event::Acknowledge(count) => {
                    let number = (kept.first() + count as u64).min(kept.last());
                    kept.acknowledge(number);
                }
                Event::Rewind => {
                    hub = Reader::default();
                    kept.rewind();
                    first = kept.first();
                }
            }
            let mut next = first;
            for (number, body) in &hub.lines {
                prop_assert!(*number >= next, "{number} after {next}");
                // What is left out was acknowledged before it was sent.
                prop_assert!(*number == next || *number <= kept.first(), "{number} instead of {next}");
                prop_assert_eq!(body, &line(*number));
                next = number + 1;
            }
        }
        hub.read_all(&mut kept);
        prop_assert!(kept.unsent().is_empty());
        let last = hub.lines.last().map_or(0, |(number, _)| *number);
        prop_assert!(last == kept.last() || kept.first() > kept.last());
        kept.acknowledge(u64::MAX);
        prop_assert_eq!((kept.bytes, kept.segments.len()), (0, 0));
    }
}

#[test]
fn a_line_without_an_end_is_a_line_once_the_output_ends() {
    let mut kept = Kept::new(KEPT_BYTES_MAX);
    kept.push(b"whole\n\nha");
    kept.push(b"lf");
    assert_eq!(kept.last(), 2);
    kept.finish();
    kept.finish();
    let mut hub = Reader::default();
    hub.read_all(&mut kept);
    let expected: [(u64, &[u8]); 3] = [(1, b"whole"), (2, b""), (3, b"half")];
    assert_eq!(
        hub.lines,
        expected.map(|(number, line)| (number, line.to_vec()))
    );
}

#[test]
fn a_line_over_the_limit_is_passed_on_cut_and_the_next_one_whole() {
    let mut kept = Kept::new(KEPT_BYTES_MAX);
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..=(LINE_BYTES_MAX >> 20) * 2 {
        kept.push(&piece);
        assert!(kept.unfinished.capacity() <= 2 * (LINE_BYTES_MAX + piece.len()));
    }
    assert!(
        kept.unfinished.capacity() <= 2 * HEAD_BYTES_MAX,
        "in constant memory"
    );
    kept.push(b"\nnext\n");
    let mut hub = Reader::default();
    hub.read_all(&mut kept);
    let bytes: Vec<_> = hub.lines.iter().map(|(_, line)| line.len()).collect();
    assert_eq!(bytes, [HEAD_BYTES_MAX, 4]);
}

#[test]
fn there_is_no_room_for_more_until_lines_are_acknowledged() {
    let mut kept = Kept::new(1000);
    while kept.has_room() {
        kept.push(b"a line of some length\n");
    }
    assert!(kept.bytes >= 1000);
    kept.acknowledge(kept.last() - 1);
    assert!(!kept.has_room(), "memory is given back in pieces");
    kept.acknowledge(kept.last());
    assert!(kept.has_room());
    kept.push(&[b'x'; 2000]);
    assert!(kept.has_room(), "a line alone must be able to end");
    kept.push(b"\n");
    assert!(!kept.has_room());
}

#[test]
fn a_line_that_is_being_sent_is_sent_to_its_end_though_it_was_acknowledged() {
    let mut kept = Kept::new(KEPT_BYTES_MAX);
    kept.push(b"first\nsecond\nthird\n");
    let mut hub = Reader::default();
    hub.read(&mut kept, HEADER_BYTES + 2);
    kept.acknowledge(2);
    hub.read_all(&mut kept);
    let numbers: Vec<_> = hub.lines.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [1, 3]);
    kept.acknowledge(3);
    assert!(kept.segments.is_empty());
}
