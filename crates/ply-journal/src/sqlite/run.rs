//! Runs: how adjacent records lie in one row, so that a flipped bit costs one record.
//!
//! A record is framed as its length and a check, four bytes each, little-endian, and its bytes. The
//! check is the CRC-32 of the bytes mixed with the session and the record's number, so that a
//! record in the wrong place is no record. Where a length is damaged, the next frame is found by
//! trying.

use std::io;

use super::trouble::Trouble;

/// Bytes of a run after which another begins; only a record larger than this makes a larger run.
const RUN_BYTES_MAX: usize = 64 * 1024;
/// Bytes of one record.
const RECORD_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Bytes looked at to find where a damaged run goes on.
const SEARCH_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Records in a row whose loss is bridged within a run.
const SEARCH_RECORDS_MAX: u64 = 64;

const HEADER_BYTES: usize = 8;

/// What tells the records of one session from those of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(u64);

impl Key {
    /// Returns the key of a session. Ids can be used again, numbers cannot.
    pub(super) fn new(id: &str, number: i64) -> Self {
        let mut key = mix(number.unsigned_abs());
        for byte in id.bytes() {
            key = mix(key ^ u64::from(byte));
        }
        Self(key)
    }

    /// Returns what a record's check is mixed with. Not a CRC itself: those of two numbers would
    /// differ as those of two records do that differ in one byte.
    fn tag(self, record: u64) -> u32 {
        let [.., a, b, c, d] = mix(self.0 ^ mix(record)).to_be_bytes();
        u32::from_be_bytes([a, b, c, d])
    }
}

/// Spreads every bit over all bits.
fn mix(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Records on their way, framed but not yet numbered.
#[derive(Debug, Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
    count: u32,
}

impl Frames {
    pub(super) fn new(records: &[impl AsRef<[u8]>]) -> Result<Self, Trouble> {
        let total: usize = records
            .iter()
            .map(|record| record.as_ref().len() + HEADER_BYTES)
            .sum();
        let mut bytes = Vec::with_capacity(total);
        for record in records {
            let record = record.as_ref();
            let length = u32::try_from(record.len())
                .ok()
                .filter(|_| record.len() <= RECORD_BYTES_MAX)
                .ok_or_else(|| {
                    let words = format!(
                        "a record has {} bytes, over the limit of {RECORD_BYTES_MAX}",
                        record.len()
                    );
                    Trouble::io(io::ErrorKind::InvalidInput, words)
                })?;
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(&crc32fast::hash(record).to_le_bytes());
            bytes.extend_from_slice(record);
        }
        let count = u32::try_from(records.len());
        let count = count
            .map_err(|_| Trouble::io(io::ErrorKind::InvalidInput, "too many records at once"))?;
        Ok(Self { bytes, count })
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn count(&self) -> u64 {
        self.count.into()
    }
}

/// Numbers records from `first` on and gives them out as runs: the number of a run's first record,
/// how many it holds, and its bytes.
pub(super) fn pack<'a, E>(
    key: Key,
    first: u64,
    all: impl Iterator<Item = &'a Frames>,
    mut put: impl FnMut(u64, u32, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut run = Vec::new();
    let (mut begin, mut count) = (first, 0);
    for frames in all {
        let mut rest = frames.bytes.as_slice();
        while let Some((check, record, after)) = split(rest) {
            if count > 0 && run.len() + HEADER_BYTES + record.len() > RUN_BYTES_MAX {
                put(begin, count, &run)?;
                begin += u64::from(count);
                count = 0;
                run.clear();
            }
            let check = check ^ key.tag(begin + u64::from(count));
            // What was framed had a length of four bytes.
            let length = u32::try_from(record.len()).unwrap_or(u32::MAX);
            run.extend_from_slice(&length.to_le_bytes());
            run.extend_from_slice(&check.to_le_bytes());
            run.extend_from_slice(record);
            count += 1;
            rest = after;
        }
    }
    match count {
        0 => Ok(()),
        _ => put(begin, count, &run),
    }
}

/// Cuts the first frame off: its check, its record, and what follows.
fn split(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (check, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (record, rest) = rest.split_at_checked(length)?;
    Some((u32::from_le_bytes(*check), record, rest))
}

/// The records of a run that are whole, each with its number.
#[derive(Debug)]
pub(super) struct Whole<'a> {
    key: Key,
    rest: &'a [u8],
    next: u64,
    /// The number after the run's last record, as far as is known.
    end: u64,
    search_bytes: usize,
}

/// Returns the records of a run that are whole.
pub(super) fn whole(key: Key, first: u64, count: u32, bytes: &[u8]) -> Whole<'_> {
    Whole {
        key,
        rest: bytes,
        next: first,
        end: first.saturating_add(count.into()),
        search_bytes: SEARCH_BYTES_MAX,
    }
}

impl<'a> Whole<'a> {
    /// Finds the next whole record behind a damaged one.
    fn search(&mut self) -> Option<(u64, &'a [u8], &'a [u8])> {
        let last = self.end.min(self.next.saturating_add(SEARCH_RECORDS_MAX));
        let tags: Vec<(u64, u32)> = (self.next + 1..last)
            .map(|number| (number, self.key.tag(number)))
            .collect();
        if tags.is_empty() {
            return None;
        }
        let mut at = self.rest;
        while let Some((_, after)) = at.split_first() {
            at = after;
            let cost = HEADER_BYTES + split(at).map_or(0, |(_, record, _)| record.len());
            self.search_bytes = self.search_bytes.checked_sub(cost)?;
            let Some((check, record, rest)) = split(at) else {
                continue;
            };
            let tag = check ^ crc32fast::hash(record);
            if let Some((number, _)) = tags.iter().find(|(_, expected)| *expected == tag) {
                return Some((*number, record, rest));
            }
        }
        None
    }
}

impl<'a> Iterator for Whole<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let direct = split(self.rest)
            .filter(|(check, record, _)| check ^ crc32fast::hash(record) == self.key.tag(self.next))
            .map(|(_, record, rest)| (self.next, record, rest));
        let found = direct.or_else(|| self.search());
        let (number, record, rest) = found.unwrap_or((self.next, &[], &[]));
        self.rest = rest;
        self.next = number + 1;
        found.map(|_| (number, record))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key() -> Key {
        Key::new("a", 7)
    }

    fn runs(first: u64, batches: &[Vec<Vec<u8>>]) -> Vec<(u64, u32, Vec<u8>)> {
        let frames: Vec<Frames> = batches
            .iter()
            .map(|batch| Frames::new(batch).unwrap())
            .collect();
        let mut runs = Vec::new();
        pack(key(), first, frames.iter(), |first, count, bytes| {
            runs.push((first, count, bytes.to_vec()));
            Ok::<_, ()>(())
        })
        .unwrap();
        runs
    }

    fn read(runs: &[(u64, u32, Vec<u8>)]) -> Vec<(u64, Vec<u8>)> {
        runs.iter()
            .flat_map(|(first, count, bytes)| whole(key(), *first, *count, bytes))
            .map(|(number, record)| (number, record.to_vec()))
            .collect()
    }

    #[test]
    fn runs_are_cut_at_their_size_and_a_large_record_has_one_of_its_own() {
        let small = vec![vec![b's'; 1000]; 100];
        let packed = runs(5, &[small, vec![vec![b'l'; 200_000]], vec![vec![1]]]);
        let sizes: Vec<(u64, u32)> = packed
            .iter()
            .map(|(first, count, _)| (*first, *count))
            .collect();
        assert_eq!(sizes, [(5, 65), (70, 35), (105, 1), (106, 1)]);
        assert_eq!(read(&packed).len(), 102);
    }

    #[test]
    fn a_record_in_the_wrong_place_is_none() {
        let packed = runs(0, &[vec![b"one".to_vec(), b"two".to_vec()]]);
        let (_, count, bytes) = &packed[0];
        assert_eq!(whole(key(), 0, *count, bytes).count(), 2);
        assert_eq!(whole(key(), 1, *count, bytes).count(), 0);
        assert_eq!(whole(Key::new("a", 8), 0, *count, bytes).count(), 0);
        assert_eq!(whole(Key::new("b", 7), 0, *count, bytes).count(), 0);
    }

    #[test]
    fn a_record_that_is_too_large_is_refused_before_it_is_copied() {
        let zeros = vec![0; RECORD_BYTES_MAX + 1];
        assert!(matches!(Frames::new(&[zeros]), Err(Trouble::Io(..))));
    }

    #[test]
    fn a_damaged_record_is_not_taken_for_the_one_that_it_looks_like() {
        // Seven bytes from the end, a difference that is also the one between two numbers.
        let records: Vec<Vec<u8>> = (0..32).map(|_| b"0123456789abcdef".to_vec()).collect();
        let (first, count, bytes) = runs(0, &[records]).remove(0);
        for difference in 1..32 {
            let mut damaged = bytes.clone();
            damaged[8 + 8] ^= difference;
            let found = read(&[(first, count, damaged)]);
            assert_eq!(found.len(), 31);
            assert!(
                found
                    .iter()
                    .all(|(_, record)| record == b"0123456789abcdef")
            );
        }
    }

    #[test]
    fn f8_one_flipped_bit_costs_one_record() {
        let records: Vec<Vec<u8>> = (0..40u32)
            .map(|number| format!("{{\"text\":\"record {number}\"}}").into_bytes())
            .collect();
        let (first, count, bytes) = runs(100, std::slice::from_ref(&records)).remove(0);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let found = read(&[(first, count, damaged)]);
            assert_eq!(found.len(), 39, "bit {bit}");
            for (number, record) in found {
                let index = usize::try_from(number - 100).unwrap();
                assert_eq!(record, records[index], "bit {bit}");
            }
        }
    }

    proptest! {
        #[test]
        fn records_come_back_with_their_numbers(
            batches in prop::collection::vec(
                prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..40), 0..20),
            first in 0u64..1 << 36,
        ) {
            let expected: Vec<(u64, Vec<u8>)> = (first..).zip(batches.concat()).collect();
            prop_assert_eq!(read(&runs(first, &batches)), expected);
        }

        #[test]
        fn f8_damage_never_makes_a_record(
            records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 1..40),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
            cut in any::<Option<prop::sample::Index>>(),
            count in any::<Option<u32>>(),
        ) {
            let (first, real, mut bytes) = runs(9, std::slice::from_ref(&records)).remove(0);
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            for (number, record) in whole(key(), first, count.unwrap_or(real), &bytes) {
                let index = usize::try_from(number - 9).unwrap();
                prop_assert_eq!(record, &records[index][..]);
            }
        }
    }
}
