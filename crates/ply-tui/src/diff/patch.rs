//! Reads the patches that tool calls report.

use super::{FileDiff, Row};

/// Bytes of a patch that are read; of a longer one only the beginning is shown.
const PATCH_BYTES_MAX: usize = 512 * 1024;

/// Returns the files of a git patch; what is not part of one is skipped, and what is too long is counted.
pub(super) fn read(patch: &str, rows_max: usize) -> Vec<FileDiff<'_>> {
    let end = patch.floor_char_boundary(PATCH_BYTES_MAX);
    let mut files: Vec<FileDiff<'_>> = Vec::new();
    let mut hunk = Hunk::default();
    let mut old_path = "";
    for line in patch.get(..end).unwrap_or_default().split_terminator('\n') {
        let text = line.strip_suffix('\r').unwrap_or(line);
        if hunk.is_open() || hunk.goes_on(text) {
            if let Some(file) = files.last_mut()
                && let Some(row) = hunk.row(text)
            {
                file.push(row, rows_max);
            }
        } else if let Some(begun) = Hunk::begin(text) {
            hunk = begun;
            if let Some(file) = files.last_mut().filter(|file| !file.rows.is_empty()) {
                file.push(Row::Skip, rows_max);
            }
        } else if let Some(path) = text.strip_prefix("--- ") {
            hunk = Hunk::default();
            old_path = path;
        } else if let Some(path) = text.strip_prefix("+++ ") {
            files.push(FileDiff {
                path: named(old_path, path),
                ..FileDiff::default()
            });
        }
    }
    // What is not read is not shown, and said to be there.
    let unread = patch.get(end..).unwrap_or_default();
    if let Some(file) = files.last_mut() {
        file.left_out += unread.lines().count();
    }
    files
}

/// Where in its file a hunk is, and how many lines of it are still to come.
#[derive(Default)]
struct Hunk {
    old: usize,
    new: usize,
    old_left: usize,
    new_left: usize,
}

impl Hunk {
    /// Reads a line such as `@@ -12,7 +12,9 @@`.
    fn begin(line: &str) -> Option<Self> {
        let ranges = line.strip_prefix("@@ -")?;
        let (ranges, _) = ranges.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let range = |text: &str| -> Option<(usize, usize)> {
            match text.split_once(',') {
                Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
                None => Some((text.parse().ok()?, 1)),
            }
        };
        let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
        Some(Self {
            old,
            new,
            old_left,
            new_left,
        })
    }

    fn is_open(&self) -> bool {
        self.old_left > 0 || self.new_left > 0
    }

    /// Returns whether a line behind the last one that was announced is part of the hunk all the same: somebody may decide by what
    /// is shown, so nothing is left out because it was counted wrong.
    fn goes_on(&self, line: &str) -> bool {
        let is_head = ["--- ", "+++ "].iter().any(|head| line.starts_with(head));
        // The end of a patch that was sent by mail.
        let is_signature = line == "-- ";
        let has_begun = self.old > 0 || self.new > 0;
        has_begun && !is_head && !is_signature && line.starts_with(['+', '-', ' '])
    }

    fn row<'a>(&mut self, line: &'a str) -> Option<Row<'a>> {
        let (old, new) = (self.old, self.new);
        let text = line.get(1..).unwrap_or_default();
        let words = Vec::new();
        let (is_old, is_new, row) = match line.as_bytes().first() {
            Some(b'-') => (true, false, Row::Removed { old, text, words }),
            Some(b'+') => (false, true, Row::Added { new, text, words }),
            // Some tools leave out the space of an empty line.
            Some(b' ') | None => (true, true, Row::Same { old, new, text }),
            Some(b'\\') => return None,
            Some(_) => {
                *self = Self::default();
                return None;
            }
        };
        self.old = old.saturating_add(usize::from(is_old));
        self.new = new.saturating_add(usize::from(is_new));
        self.old_left = self.old_left.saturating_sub(usize::from(is_old));
        self.new_left = self.new_left.saturating_sub(usize::from(is_new));
        Some(row)
    }
}

fn named(old: &str, new: &str) -> String {
    let (path, side) = if new.trim() == "/dev/null" {
        (old, "a/")
    } else {
        (new, "b/")
    };
    let path = path.split('\t').next().unwrap_or(path);
    let path = path.trim_matches('"');
    path.strip_prefix(side).unwrap_or(path).to_owned()
}
