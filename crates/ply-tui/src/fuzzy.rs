//! Finding by a few letters.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Returns the places of the items that fit, the best first, and at most `max` of them. Without words all fit, in their order.
pub(crate) fn find<'a>(
    words: &str,
    items: impl IntoIterator<Item = &'a str>,
    config: Config,
    max: usize,
) -> Vec<usize> {
    let items = items.into_iter().enumerate();
    if words.trim().is_empty() {
        return items.take(max).map(|(place, _)| place).collect();
    }
    let pattern = Pattern::parse(words, CaseMatching::Smart, Normalization::Smart);
    let mut matcher = Matcher::new(config);
    let mut buffer = Vec::new();
    let mut found: Vec<(u32, usize)> = items
        .filter_map(|(place, item)| {
            let score = pattern.score(Utf32Str::new(item, &mut buffer), &mut matcher)?;
            Some((score, place))
        })
        .collect();
    found.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    found.truncate(max);
    found.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str, items: &[&str], expected: &[&str]) {
        let found = find(words, items.iter().copied(), Config::DEFAULT, 3);
        let found: Vec<_> = found.into_iter().map(|place| items[place]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_best_comes_first_and_no_words_keep_the_order() {
        check("", &["b", "a", "c", "d"], &["b", "a", "c"]);
        check("mrs", &["lib.rs", "main.rs"], &["main.rs"]);
        check("zz", &["a"], &[]);
        check("lib", &["a/l/i/b", "lib.rs"], &["lib.rs", "a/l/i/b"]);
    }
}
