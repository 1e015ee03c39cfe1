mod number;

/// Reads `name = value`.
pub fn do_it(line: &str) -> Option<i64> {
    let (_, value) = line.split_once('=')?;
    number::do_it(value)
}
