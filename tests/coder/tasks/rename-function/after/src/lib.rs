//! Reads settings.

mod parse;

/// Returns the values of a text, one a line.
pub fn values(text: &str) -> Vec<i64> {
    text.lines().filter_map(parse::parse_line).collect()
}
