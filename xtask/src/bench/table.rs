//! Tables in Markdown, with aligned columns.

use std::fmt::Write as _;

/// Rows of cells: words to the left, numbers to the right.
pub(super) struct Table {
    left: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table whose first `left` columns are words.
    pub(super) fn new<'a>(left: usize, head: impl IntoIterator<Item = &'a str>) -> Self {
        Table {
            left,
            rows: vec![head.into_iter().map(str::to_owned).collect()],
        }
    }

    pub(super) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Returns it as a table in Markdown, which can be read as it is too.
    pub(super) fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        // Characters, not bytes: a column holds µ.
        let width_of = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width_of).collect();
        let mut text = String::new();
        for (place, row) in self.rows.iter().enumerate() {
            for (column, &width) in widths.iter().enumerate() {
                let cell = row.get(column).map_or("", String::as_str);
                // Writing into a string cannot fail.
                if column < self.left {
                    write!(text, "| {cell:<width$} ").ok();
                } else {
                    write!(text, "| {cell:>width$} ").ok();
                }
            }
            text.push_str("|\n");
            if place == 0 {
                self.rule(&widths, &mut text);
            }
        }
        text
    }

    /// Writes the line under the head, which says where numbers are aligned.
    fn rule(&self, widths: &[usize], text: &mut String) {
        for (column, &width) in widths.iter().enumerate() {
            let colon = if column < self.left { '-' } else { ':' };
            write!(text, "|{:-<wide$}{colon}", "", wide = width + 1).ok();
        }
        text.push_str("|\n");
    }
}

/// A number with as many digits as it deserves: `1,234,567`, `27.4`, `0.125`.
pub(super) fn number(value: f64) -> String {
    if value.abs() < 1.0 {
        return format!("{value:.3}");
    }
    if value.abs() < 1_000.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// How many times, with two digits behind the point where they count: `0.92`, `2.61`, `35.0`, `1,234`.
pub(super) fn times(ratio: f64) -> String {
    match ratio.abs() < 10.0 {
        true => format!("{ratio:.2}"),
        false => number(ratio),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_cut() {
        let cases = [
            (1_234_567.4, "1,234,567"),
            (999_999.6, "1,000,000"),
            (1_000.0, "1,000"),
            (27.44, "27.4"),
            (0.1254, "0.125"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn small_ratios_have_two_digits() {
        let cases = [
            (0.917, "0.92"),
            (1.0, "1.00"),
            (35.04, "35.0"),
            (1_234.0, "1,234"),
        ];
        for (ratio, expected) in cases {
            assert_eq!(times(ratio), expected);
        }
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(1, ["work", "p50 µs"]);
        table.push(vec!["updates".to_owned(), "1".to_owned()]);
        let expected = "| work    | p50 µs |\n|---------|-------:|\n| updates |      1 |\n";
        assert_eq!(table.text(), expected);
    }
}
