//! Changes of files as lines on the screen, with what differs inside of a line marked.

mod code;
mod compare;
mod draw;
mod patch;
mod words;

use ratatui::text::{Line, Span};

use ply_client::v2;

use crate::paths::Paths;
use crate::theme::Theme;
use crate::wrap;

/// Columns from which two sides fit beside each other.
const SIDES_COLUMNS_MIN: u16 = 120;

/// Bytes of a line of a diff that are shown where nobody decides by it.
pub(crate) const LINE_BYTES_BRIEF: usize = 2_000;

/// How a diff is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DiffStyle {
    /// What is removed stands above what is added.
    #[default]
    Unified,
    /// What is removed stands beside what is added, where the screen is wide enough.
    SideBySide,
}

/// How diffs are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sheet<'a> {
    /// Columns of a line.
    pub(crate) width: u16,
    pub(crate) style: DiffStyle,
    pub(crate) theme: &'a Theme,
    pub(crate) paths: &'a Paths,
    /// Rows of a file below its name.
    pub(crate) rows_max: usize,
    /// Bytes of a line that are shown.
    pub(crate) line_bytes_max: usize,
}

/// One line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Row<'a> {
    /// Lines between two changes that are left out.
    Skip,
    /// The same on both sides.
    Same {
        old: usize,
        new: usize,
        text: &'a str,
    },
    /// On the old side only, with the parts that differ.
    Removed {
        old: usize,
        text: &'a str,
        words: Words,
    },
    /// On the new side only, with the parts that differ.
    Added {
        new: usize,
        text: &'a str,
        words: Words,
    },
}

type Words = Vec<std::ops::Range<usize>>;

/// The changes of one file, of which only the first rows are kept.
#[derive(Debug, Default, PartialEq, Eq)]
struct FileDiff<'a> {
    path: String,
    rows: Vec<Row<'a>>,
    /// Rows that are not kept.
    left_out: usize,
    added: usize,
    removed: usize,
}

impl<'a> FileDiff<'a> {
    fn push(&mut self, row: Row<'a>, rows_max: usize) {
        match row {
            Row::Added { .. } => self.added += 1,
            Row::Removed { .. } => self.removed += 1,
            Row::Same { .. } | Row::Skip => {}
        }
        if self.rows.len() < rows_max {
            self.rows.push(row);
        } else {
            self.left_out += 1;
        }
    }
}

/// Returns the lines for one changed file. No old text means a new file.
pub(crate) fn diff_lines(
    path: &str,
    old: Option<&str>,
    new: &str,
    sheet: &Sheet<'_>,
) -> Vec<Line<'static>> {
    let mut file = compare::compare(old, new, sheet.rows_max);
    path.clone_into(&mut file.path);
    let mut lines = Vec::new();
    file_lines(file, sheet, &mut lines);
    lines
}

/// Returns the lines for what a tool call reports to have changed.
pub(crate) fn change_lines(diff: &v2::Diff, sheet: &Sheet<'_>) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let text = match &diff.patch {
        Some(patch) if patch.format == v2::DiffPatchFormat::GitPatch => patch.text.as_str(),
        _ => "",
    };
    let mut files = patch::read(text, sheet.rows_max);
    for change in &diff.changes {
        let (verb, path, from) = named(&change.operation);
        let place = files
            .iter()
            .position(|file| is_same_path(&file.path, &path));
        match place {
            Some(place) => {
                let mut file = files.swap_remove(place);
                file.path = path;
                file_lines(file, sheet, &mut lines);
            }
            None => {
                let shown = |path: &String| sheet.paths.shown(path.as_ref());
                let from = from.map(|from| format!("{} → ", shown(&from)));
                let path = shown(&path);
                let text = wrap::clean(&format!("{verb} {}{path}", from.unwrap_or_default()));
                let line = [Span::styled(text, sheet.theme.dim)];
                lines.push(wrap::cut(&line, usize::from(sheet.width)));
            }
        }
    }
    // What the patch has and the list of changes has not is shown all the same.
    for file in files {
        file_lines(file, sheet, &mut lines);
    }
    lines
}

/// Moves how much of a file changes from the head of a diff to the title above it, if that ends with the file's name already.
pub(crate) fn join_head(title: &mut Line<'static>, diff: &mut Vec<Line<'static>>, width: usize) {
    let Some((path, counts)) = diff.first().and_then(|head| head.spans.split_first()) else {
        return;
    };
    let words = title.to_string();
    let is_named = words.split(' ').next_back() == Some(path.content.as_ref());
    let columns = title.width() + wrap::columns_of(counts);
    if is_named && !counts.is_empty() && columns <= width {
        title.spans.extend(counts.iter().cloned());
        diff.remove(0);
    }
}

fn file_lines(mut file: FileDiff<'_>, sheet: &Sheet<'_>, lines: &mut Vec<Line<'static>>) {
    words::mark(&mut file.rows);
    let (theme, rows_max) = (sheet.theme, sheet.rows_max);
    let columns = usize::from(sheet.width);
    let counts = [
        Span::styled(format!(" +{}", file.added), theme.added),
        Span::styled(format!(" -{}", file.removed), theme.removed),
    ];
    let free = columns.saturating_sub(wrap::columns_of(&counts));
    let path = wrap::clean(&sheet.paths.shown(file.path.as_ref()));
    let path = ply_client::text::end(&path, free.max(1)).into_owned();
    let mut head = vec![Span::styled(path, theme.accent)];
    head.extend(counts);
    lines.push(wrap::cut(&head, columns));
    let begin = lines.len();
    let ink = draw::Ink {
        width: columns,
        theme,
        lines_max: rows_max,
        line_bytes_max: sheet.line_bytes_max,
        code: code::read(&file),
    };
    let shown = if sheet.style == DiffStyle::SideBySide && sheet.width >= SIDES_COLUMNS_MIN {
        draw::side_by_side(&file.rows, &ink, lines)
    } else {
        draw::unified(&file.rows, &ink, lines)
    };
    lines.truncate(begin + rows_max);
    let left_out = file.left_out + file.rows.len().saturating_sub(shown);
    if left_out > 0 {
        let text = format!("  … {left_out} more lines");
        lines.push(wrap::cut(&[Span::styled(text, theme.dim)], columns));
    }
}

/// Returns what happens to a path, done or not, and which path it had before.
fn named(operation: &v2::DiffChangeOperation) -> (&str, String, Option<String>) {
    let shown = |path: &v2::AbsolutePath| path.0.to_string_lossy().into_owned();
    match operation {
        v2::DiffChangeOperation::Add(add) => ("Add", shown(&add.path), None),
        v2::DiffChangeOperation::Delete(delete) => ("Delete", shown(&delete.path), None),
        v2::DiffChangeOperation::Modify(modify) => ("Change", shown(&modify.path), None),
        v2::DiffChangeOperation::Move(pair) => {
            ("Move", shown(&pair.path), Some(shown(&pair.old_path)))
        }
        v2::DiffChangeOperation::Copy(pair) => {
            ("Copy", shown(&pair.path), Some(shown(&pair.old_path)))
        }
        v2::DiffChangeOperation::Other(other) => (&other.operation, String::new(), None),
        _ => ("Change", String::new(), None),
    }
}

/// A patch may name files from the root of the file system or of the project.
fn is_same_path(in_patch: &str, path: &str) -> bool {
    let in_patch = in_patch.trim_start_matches('/');
    let path = path.trim_start_matches('/');
    path == in_patch
        || !in_patch.is_empty()
            && path
                .strip_suffix(in_patch)
                .is_some_and(|rest| rest.ends_with('/'))
}

#[cfg(test)]
mod tests;
