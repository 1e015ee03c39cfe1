use proptest::prelude::*;

use super::*;

/// Decodes `input` cut into `pieces` and lists what comes out, the line limit being 16.
fn decode(input: &[u8], pieces: &[usize]) -> Vec<String> {
    let mut decoder = Decoder::new(16);
    let mut seen = Vec::new();
    let mut rest = input;
    let mut pieces = pieces.iter().copied().cycle();
    while !rest.is_empty() {
        let cut = pieces.next().unwrap_or(1).clamp(1, rest.len());
        let (now, later) = rest.split_at(cut);
        decoder.push(now);
        rest = later;
        while let Some(frame) = decoder.next_frame() {
            let endless = matches!(frame, Frame::Endless { .. });
            seen.push(show(&frame));
            if endless {
                return seen;
            }
        }
    }
    seen.extend(
        decoder
            .finish()
            .map(|frame| format!("last {}", show(&frame))),
    );
    seen
}

fn show(frame: &Frame<'_>) -> String {
    match frame {
        Frame::Line(line) => format!("{:?}", String::from_utf8_lossy(line)),
        Frame::TooLong { bytes, head } => {
            format!("{bytes} too long {:?}", String::from_utf8_lossy(head))
        }
        // The count depends on how the bytes were cut, the verdict does not.
        Frame::Endless { .. } => "endless".to_owned(),
    }
}

#[track_caller]
fn check(input: &[u8], expected: &[&str]) {
    for piece in [1, 2, 3, 7, 1000] {
        assert_eq!(decode(input, &[piece]), expected, "in pieces of {piece}");
    }
}

#[test]
fn a5_many_frames_in_one_read_come_out_in_order() {
    check(b"a\nb\n\nc\n", &["\"a\"", "\"b\"", "\"\"", "\"c\""]);
}

#[test]
fn a13_the_last_line_may_lack_its_newline() {
    check(b"a\nb", &["\"a\"", "last \"b\""]);
}

#[test]
fn a6_a_line_over_the_limit_is_skipped_and_the_next_one_is_not() {
    check(b"0123456789abcdef\nx\n", &["\"0123456789abcdef\"", "\"x\""]);
    check(
        b"0123456789abcdefg\nx\n",
        &["17 too long \"0123456789abcdefg\"", "\"x\""],
    );
}

#[test]
fn a7_a_line_that_never_ends_is_given_up() {
    let input = vec![b'x'; 16 * 10 + 2000];
    for piece in [1, 5, 300, usize::MAX] {
        assert_eq!(decode(&input, &[piece]), ["endless"]);
        let ended = [&input[..], b"\nmore\n"].concat();
        assert_eq!(
            decode(&ended, &[piece]),
            ["endless"],
            "nothing is decoded after it"
        );
    }
}

#[test]
fn a6_skipping_takes_constant_memory() {
    let mut decoder = Decoder::new(1024);
    for _ in 0..100 {
        decoder.push(&[b'x'; 100]);
        assert_eq!(decoder.next_frame(), None);
    }
    assert!(
        decoder.input.capacity() <= READ_BYTES * 2,
        "{}",
        decoder.input.capacity()
    );
    decoder.push(b"\n");
    let Some(Frame::TooLong {
        bytes: 10_000,
        head,
    }) = decoder.next_frame()
    else {
        panic!("the line was not reported");
    };
    assert_eq!(head.len(), 1100.min(HEAD_BYTES_MAX));
}

#[test]
fn a_buffer_grown_for_a_large_line_is_given_back() {
    let mut decoder = Decoder::default();
    let mut line = vec![b'x'; 4 << 20];
    line.push(b'\n');
    decoder.push(&line);
    assert!(matches!(decoder.next_frame(), Some(Frame::Line(line)) if line.len() == 4 << 20));
    decoder.push(b"x\n");
    assert!(
        decoder.input.capacity() <= IDLE_BYTES_MAX,
        "{}",
        decoder.input.capacity()
    );
}

impl Input {
    fn capacity(&self) -> usize {
        self.short.capacity() + self.long.as_ref().map_or(0, |long| long.len())
    }
}

#[test]
fn long_lines_among_short_ones_come_out_whole_however_they_are_read() {
    let line = |bytes: usize| -> Vec<u8> {
        let letters = (b'a'..=b'z').cycle();
        letters
            .skip(bytes % 26)
            .take(bytes)
            .chain([b'\n'])
            .collect()
    };
    let lengths = [
        3, 70_000, 1_000_000, 5, 1_048_576, 3_000_000, 2_500_000, 1, 0, 9,
    ];
    let lines: Vec<Vec<u8>> = lengths.into_iter().map(line).collect();
    let input = lines.concat();
    for read in [4096, 65_536, 1_000_003, usize::MAX] {
        let mut decoder = Decoder::new(2_600_000);
        let (mut rest, mut seen) = (&input[..], Vec::new());
        while !rest.is_empty() {
            let room = decoder.room();
            assert!(!room.is_empty());
            let bytes = room.len().min(read).min(rest.len());
            room[..bytes].copy_from_slice(&rest[..bytes]);
            decoder.filled(bytes);
            rest = &rest[bytes..];
            while let Some(frame) = decoder.next_frame() {
                seen.push(match frame {
                    Frame::Line(line) => [line, b"\n"].concat(),
                    Frame::TooLong {
                        bytes: 3_000_000, ..
                    } => line(3_000_000),
                    frame => panic!("{frame:?}"),
                });
            }
        }
        assert!(seen == lines, "{read}");
        assert!(!decoder.room().is_empty());
        assert!(decoder.input.long.is_none(), "it is given back");
    }
}

proptest! {
    /// A4: a frame split at any byte, inside a character too, is the same frame.
    #[test]
    fn a4_any_split_of_the_bytes_gives_the_same_frames(
        input in proptest::collection::vec(prop_oneof![30 => any::<u8>(), 1 => Just(b'\n')], 0..600),
        pieces in proptest::collection::vec(1_usize..40, 1..20),
    ) {
        let whole = decode(&input, &[usize::MAX]);
        let cut = decode(&input, &pieces);
        // A head kept while skipping depends on when the limit was noticed only past the limit itself.
        prop_assert_eq!(trim_heads(whole), trim_heads(cut));
    }
}

fn trim_heads(frames: Vec<String>) -> Vec<String> {
    let trim = |frame: String| match frame.split_once(" too long ") {
        Some((bytes, _)) => bytes.to_owned(),
        None => frame,
    };
    frames.into_iter().map(trim).collect()
}
