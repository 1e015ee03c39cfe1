/// Reads a number; `parse_number("0x10")` is 16.
pub fn parse_number(word: &str) -> Option<i64> {
    let word = word.trim();
    match word.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}
