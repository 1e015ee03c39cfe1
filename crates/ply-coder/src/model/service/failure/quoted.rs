//! What a service said, as it can be shown: on one line, without the key or what looks like one.

use crate::model::service::Service;
use crate::permission::text::shown;

/// Characters of a service's words that are shown.
const CHARS_MAX: usize = 240;
/// How many characters of the key in a row give it away. Services mask the middle and show both ends.
const KEY_CHARS_MAX: usize = 4;
/// Bytes at the beginning of a key that may say whose it is.
const PREFIX_BYTES_MAX: usize = 16;
/// What stands where something was taken out.
const REMOVED: &str = "[removed]";

/// Returns the words of a service in quotes, to be put into a sentence; nothing if it said nothing.
pub(super) fn quoted(service: &Service, said: &str) -> Option<String> {
    let key = service.key.as_ref().map(|key| key.reveal().to_owned());
    let words = said.split_whitespace().map(|word| match key.as_deref() {
        Some(key) if gives_away(word, key) => REMOVED,
        _ if is_masked(word) => REMOVED,
        _ => word,
    });
    let words = shown(&words.collect::<Vec<_>>().join(" "));
    let mut kept: String = words.chars().take(CHARS_MAX).collect();
    if kept.len() < words.len() {
        kept.push('…');
    }
    (!kept.is_empty()).then(|| format!("\"{}\"", kept.replace('"', "'")))
}

/// Says whether a word has a part of the key in it. What keys of a service begin with is no secret, and may
/// well stand in a sentence: `x-api-key`.
fn gives_away(word: &str, key: &str) -> bool {
    let beginning = crate::text::head(key, PREFIX_BYTES_MAX);
    let secret = beginning.rfind(['-', '_']).map_or(0, |at| at + 1);
    let secret: Vec<char> = key.get(secret..).unwrap_or(key).chars().collect();
    let mut parts = secret.windows(KEY_CHARS_MAX);
    let has_part = parts.any(|part| word.contains(&part.iter().collect::<String>()));
    word.contains(key) || has_part && !word.starts_with("http")
}

/// Says whether a word is a key with its middle hidden, or looks like a whole one.
fn is_masked(word: &str) -> bool {
    let is_long = word.chars().count() >= 30 && !word.starts_with("http");
    word.contains("***") || word.starts_with("sk-") || is_long
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Facts;
    use crate::model::service::{Api, Secret};

    #[track_caller]
    fn check(said: &str, expected: Option<&str>) {
        let mut service = Service::new(Api::OpenAi, "m", Facts::new("p/m"));
        service.key = Some(Secret::new("sk-proj-abcdEFGH1234wxyz"));
        assert_eq!(quoted(&service, said).as_deref(), expected);
    }

    #[test]
    fn words_are_shown_without_the_key_or_parts_of_it() {
        check("invalid x-api-key", Some("\"invalid x-api-key\""));
        check(
            "Incorrect API key provided: sk-proj-********wxyz. See https://keys.example/a.",
            Some("\"Incorrect API key provided: [removed] See https://keys.example/a.\""),
        );
        check(
            "bad key 1234wxyz\nsecond line",
            Some("\"bad key [removed] second line\""),
        );
        check("EFGH1 is unknown", Some("\"[removed] is unknown\""));
        check("  ", None);
        let long = "x ".repeat(400);
        let shown = quoted(&Service::new(Api::OpenAi, "m", Facts::new("p/m")), &long).unwrap();
        assert!(
            shown.ends_with("…\"") && shown.chars().count() < 250,
            "{shown}"
        );
    }
}
