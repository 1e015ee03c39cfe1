use proptest::prelude::*;

use super::*;

fn kinds() -> impl Strategy<Value = Kind> {
    (0..=Kind::Refused as u8).prop_map(|byte| Kind::from_byte(byte).unwrap())
}

fn frames() -> impl Strategy<Value = Vec<(Kind, u64, Vec<u8>)>> {
    let body = prop::collection::vec(any::<u8>(), 0..200);
    prop::collection::vec((kinds(), any::<u64>(), body), 0..20)
}

fn decode(decoder: &mut Decoder) -> Result<Vec<(Kind, u64, Vec<u8>)>, Malformed> {
    let mut found = Vec::new();
    while let Some(frame) = decoder.next()? {
        found.push((frame.kind, frame.number, frame.body.to_vec()));
    }
    Ok(found)
}

proptest! {
    #[test]
    fn any_split_of_the_bytes_gives_the_same_frames(frames in frames(), pieces in prop::collection::vec(1_usize..50, 1..20)) {
        let mut bytes = Vec::new();
        for (kind, number, body) in &frames {
            encode(*kind, *number, body, &mut bytes);
        }
        let mut decoder = Decoder::default();
        let mut found = Vec::new();
        let mut rest = bytes.as_slice();
        for piece in pieces.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*piece).min(rest.len()));
            decoder.push(piece);
            found.extend(decode(&mut decoder).unwrap());
            rest = after;
        }
        prop_assert_eq!(found, frames);
    }

    #[test]
    fn no_bytes_panic_or_give_a_frame_over_the_limit(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut decoder = Decoder::default();
        decoder.push(&bytes);
        for (_, _, body) in decode(&mut decoder).unwrap_or_default() {
            prop_assert!(body.len() <= bytes.len());
        }
    }

    #[test]
    fn a_frame_of_an_unknown_kind_is_skipped(unknown in Kind::Refused as u8 + 1.., body in prop::collection::vec(any::<u8>(), 0..50)) {
        let mut bytes = Vec::new();
        encode(Kind::Hello, 1, &body, &mut bytes);
        bytes[4] = unknown;
        encode(Kind::Out, 2, b"next", &mut bytes);
        let mut decoder = Decoder::default();
        decoder.push(&bytes);
        prop_assert_eq!(decode(&mut decoder).unwrap(), [(Kind::Out, 2, b"next".to_vec())]);
    }

    #[test]
    fn a_frame_is_measured_as_it_was_encoded(kind in kinds(), number: u64, body in prop::collection::vec(any::<u8>(), 0..50)) {
        let mut bytes = Vec::new();
        encode(kind, number, &body, &mut bytes);
        prop_assert_eq!(measure(&bytes), Some((bytes.len(), number)));
    }
}

#[test]
fn a_length_that_cannot_be_is_malformed_at_once() {
    let over = u32::try_from(FIXED_BYTES + BODY_BYTES_MAX + 1).unwrap();
    for length in [0, 8, over, u32::MAX] {
        let mut decoder = Decoder::default();
        decoder.push(&length.to_le_bytes());
        let bytes = usize::try_from(length).unwrap();
        assert_eq!(decoder.next(), Err(Malformed { bytes }), "{length}");
    }
}

#[test]
fn the_longest_line_passes() {
    let mut bytes = Vec::new();
    encode(Kind::In, 7, &vec![b'x'; BODY_BYTES_MAX], &mut bytes);
    let mut decoder = Decoder::default();
    for piece in bytes.chunks(READ_BYTES) {
        decoder.push(piece);
    }
    let frame = decoder.next().unwrap().unwrap();
    assert_eq!((frame.number, frame.body.len()), (7, BODY_BYTES_MAX));
    drop(frame);
    assert!(decoder.buffer().capacity() <= IDLE_BYTES_MAX);
}
