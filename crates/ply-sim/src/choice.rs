//! Where a simulation takes its choices from: a seed, or the bytes of a fuzzer.

/// A source of choices. The same source gives the same world.
#[derive(Debug, Clone)]
pub struct Choices<'a>(Source<'a>);

#[derive(Debug, Clone)]
enum Source<'a> {
    /// SplitMix64: short, and good enough to spread over all choices.
    Seed(u64),
    Bytes(&'a [u8]),
}

impl<'a> Choices<'a> {
    /// Returns choices without end.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Self(Source::Seed(seed))
    }

    /// Returns the choices that the bytes spell; after their end every choice is the first.
    #[must_use]
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self(Source::Bytes(bytes))
    }

    /// Returns whether nothing is left to choose from.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        matches!(self.0, Source::Bytes([]))
    }

    /// Returns a number below `limit`, or 0 if that is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next(limit).checked_rem(limit).unwrap_or(0)
    }

    /// Returns whether something happens that happens in so many of 100 cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        // The end of the bytes chooses 0, which must be the quiet choice.
        self.below(100) >= 100 - percent.min(100)
    }

    /// Returns the place of one of the weights, each as likely as it is heavy.
    pub fn weighted(&mut self, weights: &[u64]) -> usize {
        let mut at = self.below(weights.iter().sum());
        for (place, weight) in weights.iter().enumerate() {
            if at < *weight {
                return place;
            }
            at -= weight;
        }
        0
    }

    /// Returns one of the values, or none if there is none.
    pub fn pick<'b, T>(&mut self, values: &'b [T]) -> Option<&'b T> {
        let at = self.below(values.len() as u64);
        values.get(usize::try_from(at).ok()?)
    }

    fn next(&mut self, limit: u64) -> u64 {
        match &mut self.0 {
            Source::Seed(state) => {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut mixed = *state;
                mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                mixed ^ (mixed >> 31)
            }
            Source::Bytes(bytes) => {
                // One byte for small choices keeps inputs short, so that they shrink well.
                let wanted = if limit <= 256 { 1 } else { 2 };
                let (now, later) = bytes.split_at(wanted.min(bytes.len()));
                *bytes = later;
                now.iter()
                    .fold(0, |value, byte| value << 8 | u64::from(*byte))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_choices_and_all_of_them() {
        let mut seen = [false; 7];
        let (mut one, mut two) = (Choices::from_seed(3), Choices::from_seed(3));
        for _ in 0..200 {
            let chosen = one.below(7);
            assert_eq!(chosen, two.below(7));
            seen[usize::try_from(chosen).unwrap()] = true;
        }
        assert_eq!(seen, [true; 7]);
    }

    #[test]
    fn bytes_are_spent_and_then_every_choice_is_the_first() {
        let mut choices = Choices::from_bytes(&[5, 1, 2]);
        assert_eq!(choices.below(4), 1);
        assert!(!choices.is_exhausted());
        assert_eq!(choices.below(1000), 258);
        assert!(choices.is_exhausted());
        assert_eq!(choices.below(1000), 0);
        assert!(!choices.percent(99));
    }
}
