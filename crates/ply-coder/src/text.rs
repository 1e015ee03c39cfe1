//! Cutting text where it may be cut.

/// Returns as much of the beginning as fits, in whole characters.
pub(crate) fn head(text: &str, bytes_max: usize) -> &str {
    let end = text.floor_char_boundary(bytes_max);
    text.get(..end).unwrap_or(text)
}

/// Returns as much of the end as fits, in whole characters.
pub(crate) fn tail(text: &str, bytes_max: usize) -> &str {
    let begin = text.ceil_char_boundary(text.len().saturating_sub(bytes_max));
    text.get(begin..).unwrap_or(text)
}

/// Returns a text with its middle cut out and marked, if that makes it shorter.
pub(crate) fn middle_cut(text: &str, bytes_max: usize) -> String {
    let (head, tail) = (head(text, bytes_max / 2), tail(text, bytes_max / 2));
    let left_out = text.len().saturating_sub(head.len() + tail.len());
    let cut = format!("{head}\n[… {left_out} bytes left out …]\n{tail}");
    match text.len() > bytes_max && cut.len() < text.len() {
        true => cut,
        false => text.to_owned(),
    }
}

/// Returns the first line with something in it, cut to so many characters.
pub(crate) fn first_line(text: &str, chars_max: usize) -> String {
    let mut lines = text.lines().map(str::trim);
    short(lines.find(|line| !line.is_empty()).unwrap_or(""), chars_max)
}

/// Returns a text cut to so many characters; the last one says so.
pub(crate) fn short(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let cut: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(head("aé", 2), "a");
        assert_eq!(head("ab", 9), "ab");
        assert_eq!(tail("éa", 2), "a");
        assert_eq!(tail("ab", 9), "ab");
        assert_eq!(middle_cut(&"x".repeat(101), 100), "x".repeat(101));
        let cut = middle_cut(&"x".repeat(1_000), 100);
        assert!(
            cut.len() < 140 && cut.contains("900 bytes left out"),
            "{cut}"
        );
        assert_eq!(first_line("\n  one two three\nfour", 8), "one two…");
    }
}
