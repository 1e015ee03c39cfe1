/// Reads a number; `do_it("0x10")` is 16.
pub fn do_it(word: &str) -> Option<i64> {
    let word = word.trim();
    match word.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}
