//! What a line of Markdown begins, as far as it matters for cutting a text into segments.

use std::ops::Range;

/// Bytes after which a line is cut as if it ended there.
pub(super) const LINE_BYTES_MAX: usize = 4 * 1024;

/// Where a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// After its line end, before this place.
    Whole(usize),
    /// At this place, since it is too long to be read at once.
    Cut(usize),
    /// Nowhere yet.
    Open,
}

/// Returns where the line that begins at a place ends. More text never changes an end.
pub(super) fn end_of(text: &str, start: usize) -> End {
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let near = rest.get(..LINE_BYTES_MAX).unwrap_or(rest);
    if let Some(end) = near.iter().position(|byte| *byte == b'\n') {
        return End::Whole(start + end + 1);
    }
    if rest.len() < LINE_BYTES_MAX {
        return End::Open;
    }
    let limit = start + LINE_BYTES_MAX;
    let space = near.iter().rposition(|byte| *byte == b' ');
    let space = space
        .filter(|space| *space > LINE_BYTES_MAX / 2)
        .map(|space| start + space + 1);
    let end = space.or_else(|| {
        (start + 1..=limit)
            .rev()
            .find(|end| text.is_char_boundary(*end))
    });
    End::Cut(end.unwrap_or(text.len()))
}

/// A line without its end.
pub(super) struct Source<'a> {
    /// Columns of white space before it.
    pub(super) indent: usize,
    line: &'a str,
    rest: &'a str,
}

/// What opened a block of code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fence {
    mark: char,
    count: usize,
}

/// What begins an item of a list.
pub(super) struct Marker {
    pub(super) number: Option<u64>,
    /// Columns up to the text.
    pub(super) columns: usize,
    /// Whether it can follow a paragraph without a blank line between.
    pub(super) interrupts: bool,
}

impl<'a> Source<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        let line = line.trim_end_matches(['\n', '\r']);
        let rest = line.trim_start_matches([' ', '\t']);
        let white = line.len() - rest.len();
        let indent = line
            .chars()
            .take(white)
            .fold(0, |columns, char| match char {
                '\t' => columns + 4 - columns % 4,
                _ => columns + 1,
            });
        Self { indent, line, rest }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.rest.trim_end().is_empty()
    }

    /// Returns the fence that the line opens, and where in the line its language stands.
    pub(super) fn fence(&self) -> Option<(Fence, Range<usize>)> {
        let (fence, info) = self.fence_mark()?;
        if fence.mark == '`' && info.contains('`') {
            return None;
        }
        let language = info.trim();
        let end = self.line.trim_end().len();
        Some((fence, end - language.len()..end))
    }

    pub(super) fn closes(&self, fence: &Fence) -> bool {
        self.fence_mark().is_some_and(|(found, info)| {
            found.mark == fence.mark && found.count >= fence.count && info.trim().is_empty()
        })
    }

    fn fence_mark(&self) -> Option<(Fence, &'a str)> {
        let mark = self
            .rest
            .chars()
            .next()
            .filter(|mark| "`~".contains(*mark))?;
        let info = self.rest.trim_start_matches(mark);
        let count = self.rest.len() - info.len();
        (count >= 3).then_some((Fence { mark, count }, info))
    }

    pub(super) fn is_heading(&self) -> bool {
        let after = self.rest.trim_start_matches('#');
        let level = self.rest.len() - after.len();
        self.indent <= 3
            && (1..=6).contains(&level)
            && (after.is_empty() || after.starts_with([' ', '\t']))
    }

    pub(super) fn is_rule(&self) -> bool {
        let Some(mark) = self
            .rest
            .chars()
            .next()
            .filter(|mark| "*-_".contains(*mark))
        else {
            return false;
        };
        let marks = self.rest.chars().filter(|char| *char == mark).count();
        let only = self
            .rest
            .chars()
            .all(|char| char == mark || char.is_whitespace());
        self.indent <= 3 && marks >= 3 && only
    }

    /// Returns whether it makes a heading of the paragraph before it.
    pub(super) fn is_underline(&self) -> bool {
        let marks = self.rest.trim_end();
        !marks.is_empty()
            && (marks.chars().all(|char| char == '-') || marks.chars().all(|char| char == '='))
    }

    pub(super) fn is_quote(&self) -> bool {
        self.indent <= 3 && self.rest.starts_with('>')
    }

    /// Returns whether it stands between the head and the rows of a table.
    pub(super) fn is_table_rule(&self) -> bool {
        let line = self.rest.trim_end();
        line.contains('-') && line.contains('|') && line.chars().all(|char| " \t|:-".contains(char))
    }

    pub(super) fn marker(&self) -> Option<Marker> {
        let digits = self.rest.len()
            - self
                .rest
                .trim_start_matches(|char: char| char.is_ascii_digit())
                .len();
        let (number, mark) = match digits {
            0 => (None, self.rest.starts_with(['-', '*', '+']).then_some(1)?),
            1..=9 => {
                let after = self.rest.get(digits..)?;
                let mark = after.starts_with(['.', ')']).then_some(digits + 1)?;
                (Some(self.rest.get(..digits)?.parse().ok()?), mark)
            }
            _ => return None,
        };
        let after = self.rest.get(mark..)?;
        let text = after.trim_start_matches([' ', '\t']);
        if text.len() == after.len() && !after.is_empty() {
            return None;
        }
        // More than four spaces belong to the text, as code.
        let spaces = match after.len() - text.len() {
            spaces @ 1..=4 if !text.is_empty() => spaces,
            _ => 1,
        };
        Some(Marker {
            number,
            columns: mark + spaces,
            interrupts: !text.is_empty() && number.is_none_or(|number| number == 1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker(line: &str) -> Option<(Option<u64>, usize)> {
        let marker = Source::new(line).marker()?;
        Some((marker.number, marker.columns))
    }

    #[test]
    fn items_are_told_from_text_that_looks_alike() {
        assert_eq!(marker("- a"), Some((None, 2)));
        assert_eq!(marker("*   a"), Some((None, 4)));
        assert_eq!(marker("12. a"), Some((Some(12), 4)));
        assert_eq!(marker("3) a"), Some((Some(3), 3)));
        assert_eq!(marker("-"), Some((None, 2)));
        for line in ["-a", "1.a", "1234567890. a", "**bold**", "a - b", ""] {
            assert_eq!(marker(line), None, "{line}");
        }
    }

    #[test]
    fn a_fence_is_closed_by_one_that_is_as_long_and_says_nothing() {
        let (fence, info) = Source::new("  ````rust  ").fence().unwrap();
        assert_eq!(info, 6..10);
        assert!(Source::new("`````\n").closes(&fence));
        for line in ["```", "````rust", "~~~~", "x````"] {
            assert!(!Source::new(line).closes(&fence), "{line}");
        }
        assert!(Source::new("```a`b").fence().is_none());
    }

    #[test]
    fn rules_headings_and_tables_are_known() {
        assert!(Source::new("* * *").is_rule());
        assert!(!Source::new("--").is_rule());
        assert!(Source::new("## Two").is_heading());
        assert!(!Source::new("#!shell").is_heading());
        assert!(Source::new("|---|:-:|").is_table_rule());
        assert!(!Source::new("| a | b |").is_table_rule());
        assert_eq!(Source::new("\t x").indent, 5);
    }
}
