mod number;

/// Reads `name = value`.
pub fn parse_line(line: &str) -> Option<i64> {
    let (_, value) = line.split_once('=')?;
    number::parse_number(value)
}
