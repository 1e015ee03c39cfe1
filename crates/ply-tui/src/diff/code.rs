//! Which parts of a diff's lines are keywords, strings and the like.

use std::ops::Range;
use std::path::Path;

use super::{FileDiff, Row};
use crate::highlight::{self, CodeRole, Found, Highlighter};

/// Rows of a file that are highlighted; those behind them are plain.
const ROWS_MAX: usize = 300;

/// What the parts of one line are.
pub(super) type Parts = Vec<(CodeRole, Range<usize>)>;

/// Returns the parts of each row, as far as its language is known.
pub(super) fn read(file: &FileDiff<'_>) -> Vec<Parts> {
    let path = Path::new(&file.path);
    let name = path.extension().or_else(|| path.file_name());
    let name = name.and_then(|name| name.to_str()).unwrap_or_default();
    let Found::Ready(start) = highlight::find(name) else {
        return Vec::new();
    };
    // Each side is read as the file it is.
    let mut sides = Sides {
        old: start.clone(),
        new: start.clone(),
    };
    let rows = file.rows.iter().take(ROWS_MAX);
    let parts = rows.map(|row| match row {
        Row::Skip => {
            sides.old.clone_from(&start);
            sides.new.clone_from(&start);
            Parts::new()
        }
        Row::Same { text, .. } => {
            parts(&mut sides.old, text);
            parts(&mut sides.new, text)
        }
        Row::Removed { text, .. } => parts(&mut sides.old, text),
        Row::Added { text, .. } => parts(&mut sides.new, text),
    });
    parts.collect()
}

struct Sides {
    old: Box<Highlighter>,
    new: Box<Highlighter>,
}

fn parts(highlighter: &mut Highlighter, text: &str) -> Parts {
    let mut parts = highlighter.line(&format!("{text}\n"));
    for (_, range) in &mut parts {
        range.end = range.end.min(text.len());
        range.start = range.start.min(range.end);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_is_read_as_its_own_file() {
        highlight::load();
        let row = |new, text| Row::Added {
            new,
            text,
            words: Vec::new(),
        };
        let opened = Row::Removed {
            old: 1,
            text: "/* a comment",
            words: Vec::new(),
        };
        let file = FileDiff {
            path: "a.rs".to_owned(),
            rows: vec![opened, row(1, "let x = 1;")],
            ..FileDiff::default()
        };
        let read = read(&file);
        assert_eq!(read[0], [(CodeRole::Comment, 0..12)]);
        assert_eq!(read[1][0], (CodeRole::Keyword, 0..3));
    }

    #[test]
    fn a_file_of_no_known_language_has_no_parts() {
        highlight::load();
        let file = FileDiff {
            path: "notes.unknown".to_owned(),
            rows: vec![Row::Skip],
            ..FileDiff::default()
        };
        assert!(read(&file).is_empty());
    }
}
