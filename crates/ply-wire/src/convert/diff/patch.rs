//! Git patch text with absolute paths and without prefixes: writing it, and reading what others
//! wrote.

use std::{
    borrow::Cow,
    collections::HashMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use similar::{DiffOp, DiffTag, TextDiff, group_diff_ops};

/// Lines of unchanged text kept around a change, as git does.
const CONTEXT_LINES: usize = 3;

/// Old lines times new lines up to which the smallest difference is looked for. Beyond it, what differs
/// is shown as replaced: the search could take minutes, and nobody reads such a diff line by line.
const COMPARED_LINES_MAX: usize = 4_000_000;

/// One hunk as its two sides, context included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The first line of the old side, counted from 1.
    pub(crate) old_line: u32,
    /// The first line of the new side, counted from 1.
    pub(crate) new_line: u32,
    pub(crate) old: String,
    pub(crate) new: String,
}

impl Hunk {
    pub(crate) fn new(old: &str, new: &str) -> Self {
        Self {
            old_line: 1,
            new_line: 1,
            old: old.to_owned(),
            new: new.to_owned(),
        }
    }
}

/// Which side of a file change does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Neither,
    Old,
    New,
}

/// How much unchanged text a hunk keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// A few lines around each change; the text may be a whole file.
    Near,
    /// Everything, as one hunk, also if nothing changed.
    All,
}

/// A patch, read.
#[derive(Debug, Default)]
pub(super) struct Patch {
    sections: Vec<Section>,
    by_path: HashMap<PathBuf, Vec<usize>>,
}

/// The part of a patch that is about one file.
#[derive(Debug, Default)]
struct Section {
    old: String,
    new: String,
    hunks: Vec<Hunk>,
}

impl Patch {
    /// Returns the hunks of one file.
    pub(super) fn of(&self, path: &Path) -> impl Iterator<Item = &Hunk> {
        let sections = self.by_path.get(path).into_iter().flatten();
        let sections = sections.filter_map(|place| self.sections.get(*place));
        sections.flat_map(|section| &section.hunks)
    }

    /// Returns all hunks.
    pub(super) fn hunks(&self) -> impl Iterator<Item = &Hunk> {
        self.sections.iter().flat_map(|section| &section.hunks)
    }

    fn new(sections: Vec<Section>) -> Self {
        let mut by_path: HashMap<PathBuf, Vec<usize>> = HashMap::new();
        for (place, section) in sections.iter().enumerate() {
            for (name, prefix) in [(&section.old, "a/"), (&section.new, "b/")] {
                let mut paths = vec![PathBuf::from(name)];
                // Git's own prefixes, which the protocol forbids, are forgiven.
                if let Some(name) = name.strip_prefix(prefix) {
                    paths.extend([PathBuf::from(name), Path::new("/").join(name)]);
                }
                for path in paths {
                    let places = by_path.entry(path).or_default();
                    if places.last() != Some(&place) {
                        places.push(place);
                    }
                }
            }
        }
        Self { sections, by_path }
    }
}

/// Returns the patch of one file, or none if the hunks change nothing.
pub(super) fn write(
    path: &Path,
    missing: Missing,
    hunks: &[Hunk],
    context: Context,
) -> Option<String> {
    let mut text = String::new();
    for hunk in hunks {
        write_hunk(hunk, context, &mut text);
    }
    (!text.is_empty()).then(|| header(path, missing) + &text)
}

/// Returns the lines that open the section of one file.
pub(super) fn header(path: &Path, missing: Missing) -> String {
    let path = path.to_string_lossy();
    let name = quoted(&path);
    // Git ends a name with a tab when it holds a space, so that readers can find its end.
    let end = if path.contains(' ') { "\t" } else { "" };
    let (mode, old, new) = match missing {
        Missing::Neither => ("", format!("{name}{end}"), format!("{name}{end}")),
        Missing::Old => (
            "new file mode 100644\n",
            "/dev/null".to_owned(),
            format!("{name}{end}"),
        ),
        Missing::New => (
            "deleted file mode 100644\n",
            format!("{name}{end}"),
            "/dev/null".to_owned(),
        ),
    };
    format!("diff --git {name} {name}\n{mode}--- {old}\n+++ {new}\n")
}

/// Appends the text as hunks.
pub(super) fn write_hunk(hunk: &Hunk, context: Context, out: &mut String) {
    let old: Vec<&str> = hunk.old.split_inclusive('\n').collect();
    let new: Vec<&str> = hunk.new.split_inclusive('\n').collect();
    if old.is_empty() && new.is_empty() {
        return;
    }
    let groups = match context {
        Context::Near => group_diff_ops(differences(&old, &new), CONTEXT_LINES),
        Context::All => vec![vec![DiffOp::Replace {
            old_index: 0,
            old_len: old.len(),
            new_index: 0,
            new_len: new.len(),
        }]],
    };
    for group in groups {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let old_range = first.old_range().start..last.old_range().end;
        let new_range = first.new_range().start..last.new_range().end;
        let (Some(old), Some(new)) = (old.get(old_range.clone()), new.get(new_range.clone()))
        else {
            continue;
        };
        // Of several smallest differences, another may be found without the rest of the text. A hunk is written as it looks
        // by itself, so that its two sides are all that a reader needs to write it again.
        let ops = differences(old, new);
        let _infallible = writeln!(
            out,
            "@@ -{} +{} @@",
            range(hunk.old_line, &old_range),
            range(hunk.new_line, &new_range)
        );
        for op in &ops {
            match op.tag() {
                DiffTag::Equal => lines(' ', old.get(op.old_range()), out),
                DiffTag::Delete => lines('-', old.get(op.old_range()), out),
                DiffTag::Insert => lines('+', new.get(op.new_range()), out),
                DiffTag::Replace => {
                    lines('-', old.get(op.old_range()), out);
                    lines('+', new.get(op.new_range()), out);
                }
            }
        }
    }
}

fn differences(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let same = |(old, new): &(&&str, &&str)| old == new;
    let head = old.iter().zip(new).take_while(same).count();
    let left = old.len().min(new.len()) - head;
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(left)
        .take_while(same)
        .count();
    let (old_len, new_len) = (old.len() - head - tail, new.len() - head - tail);
    if old_len.saturating_mul(new_len) <= COMPARED_LINES_MAX {
        return TextDiff::configure().diff_slices(old, new).ops().to_vec();
    }
    let equal = |old_index, new_index, len| DiffOp::Equal {
        old_index,
        new_index,
        len,
    };
    let replace = DiffOp::Replace {
        old_index: head,
        old_len,
        new_index: head,
        new_len,
    };
    let ops = [
        equal(0, 0, head),
        replace,
        equal(head + old_len, head + new_len, tail),
    ];
    ops.into_iter()
        .filter(|op| !op.old_range().is_empty() || !op.new_range().is_empty())
        .collect()
}

fn lines(sign: char, lines: Option<&[&str]>, out: &mut String) {
    for line in lines.unwrap_or_default() {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn range(first_line: u32, range: &std::ops::Range<usize>) -> String {
    let start = u64::from(first_line).saturating_add(range.start as u64);
    match range.len() {
        // An empty side names the line before it.
        0 => format!("{},0", start.saturating_sub(1)),
        1 => start.to_string(),
        count => format!("{start},{count}"),
    }
}

/// Quotes a name as git does when it holds a quote, a backslash, a control or a non-ASCII byte.
fn quoted(name: &str) -> Cow<'_, str> {
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if name.bytes().all(plain) {
        return Cow::Borrowed(name);
    }
    let mut text = String::from('"');
    for byte in name.bytes() {
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'\r' => text.push_str("\\r"),
            byte if plain(byte) => text.push(char::from(byte)),
            byte => {
                let _infallible = write!(text, "\\{byte:03o}");
            }
        }
    }
    text.push('"');
    Cow::Owned(text)
}

fn unquoted(name: &str) -> String {
    // A tab ends the name; other tools write a time after it. Tabs in names are quoted.
    let name = name.split('\t').next().unwrap_or(name);
    let Some(inner) = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'))
    else {
        return name.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit @ b'0'..=b'7') = rest.peek().copied() {
                        value = value * 8 + u32::from(digit - b'0');
                        rest.next();
                    }
                }
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads a patch; what is not understood is skipped.
pub(super) fn read(text: &str) -> Patch {
    let mut sections: Vec<Section> = Vec::new();
    let mut left = (0u64, 0u64);
    let mut last = ' ';
    for line in text.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let open = sections
            .last_mut()
            .and_then(|section| section.hunks.last_mut());
        if let Some(hunk) = open {
            let mut signs = line.chars();
            let sign = signs.next().unwrap_or(' ');
            if sign == '\\' {
                unterminate(hunk, last);
                continue;
            }
            // Some tools strip the space of an empty context line.
            let (sign, body) = if bare.is_empty() {
                (' ', line)
            } else {
                (sign, signs.as_str())
            };
            if left != (0, 0) && matches!(sign, ' ' | '-' | '+') {
                take_line(hunk, sign, body, &mut left);
                last = sign;
                continue;
            }
            left = (0, 0);
        }
        if bare.starts_with("diff --git ") {
            sections.push(Section::default());
        } else if let Some(name) = bare.strip_prefix("--- ") {
            if sections
                .last()
                .is_none_or(|section| !section.old.is_empty())
            {
                sections.push(Section::default());
            }
            if let Some(section) = sections.last_mut() {
                section.old = unquoted(name);
            }
        } else if let Some(name) = bare.strip_prefix("+++ ") {
            if let Some(section) = sections.last_mut() {
                section.new = unquoted(name);
            }
        } else if let Some((hunk, counts)) = bare.strip_prefix("@@ -").and_then(hunk_header)
            && let Some(section) = sections.last_mut()
        {
            section.hunks.push(hunk);
            left = counts;
        }
    }
    for section in &mut sections {
        section
            .hunks
            .retain(|hunk| !hunk.old.is_empty() || !hunk.new.is_empty());
    }
    Patch::new(sections)
}

fn take_line(hunk: &mut Hunk, sign: char, body: &str, left: &mut (u64, u64)) {
    let whole = |side: &mut String| {
        side.push_str(body);
        // The last line of the patch text itself may have lost its end.
        if !body.ends_with('\n') {
            side.push('\n');
        }
    };
    if sign != '+' {
        whole(&mut hunk.old);
        left.0 = left.0.saturating_sub(1);
    }
    if sign != '-' {
        whole(&mut hunk.new);
        left.1 = left.1.saturating_sub(1);
    }
}

fn unterminate(hunk: &mut Hunk, sign: char) {
    if sign != '+' && hunk.old.ends_with('\n') {
        hunk.old.pop();
    }
    if sign != '-' && hunk.new.ends_with('\n') {
        hunk.new.pop();
    }
}

/// Reads `1,2 +3,4 @@ …` into an empty hunk and the number of lines on each side.
fn hunk_header(text: &str) -> Option<(Hunk, (u64, u64))> {
    let (ranges, _) = text.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let side = |text: &str| -> Option<(u32, u64)> {
        let (line, count) = text.split_once(',').unwrap_or((text, "1"));
        let (line, count): (u64, u64) = (line.parse().ok()?, count.parse().ok()?);
        // An empty side names the line before it.
        let line = if count == 0 {
            line.saturating_add(1)
        } else {
            line.max(1)
        };
        Some((u32::try_from(line).unwrap_or(u32::MAX), count))
    };
    let ((old_line, old_count), (new_line, new_count)) = (side(old)?, side(new)?);
    let hunk = Hunk {
        old_line,
        new_line,
        old: String::new(),
        new: String::new(),
    };
    Some((hunk, (old_count, new_count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_patch_reads_back_with_both_sides_and_lines() {
        let mut hunk = Hunk::new("a\nb", "a\nc\n");
        (hunk.old_line, hunk.new_line) = (7, 9);
        let path = Path::new("/tmp/ü \"x\".rs");
        let text = write(
            path,
            Missing::Neither,
            std::slice::from_ref(&hunk),
            Context::All,
        )
        .unwrap();
        assert_eq!(read(&text).of(path).collect::<Vec<_>>(), [&hunk]);
    }

    #[test]
    fn a_removed_line_that_looks_like_a_file_header_stays_in_its_hunk() {
        let text = "diff --git /x /x\n--- /x\n+++ /x\n@@ -1,2 +1 @@\n--- /y\n-+++ /z\n+ok\n";
        let patch = read(text);
        let hunks: Vec<_> = patch.of(Path::new("/x")).collect();
        assert_eq!(hunks.len(), 1);
        assert_eq!(hunks[0].old, "-- /y\n+++ /z\n");
        assert_eq!(hunks[0].new, "ok\n");
    }

    #[test]
    fn an_added_file_has_no_prefixes_and_a_null_old_side() {
        let text = write(
            Path::new("/a/b"),
            Missing::Old,
            &[Hunk::new("", "x\n")],
            Context::Near,
        );
        let expected = concat!(
            "diff --git /a/b /a/b\nnew file mode 100644\n",
            "--- /dev/null\n+++ /a/b\n@@ -0,0 +1 @@\n+x\n",
        );
        assert_eq!(text.as_deref(), Some(expected));
    }

    #[test]
    fn a_time_after_the_name_is_not_part_of_it() {
        let patch = read("--- /w/a b\t2026-01-01 10:00\n+++ /w/a b\t\n@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!(patch.of(Path::new("/w/a b")).count(), 1);
        let patch = read("--- \"/w/a\\tb\"\tthen\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
        assert_eq!(patch.of(Path::new("/w/a\tb")).count(), 1);
    }

    #[test]
    fn git_prefixes_are_forgiven() {
        let patch = read("--- a/w/x\n+++ b/w/x\n@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!(patch.of(Path::new("/w/x")).count(), 1);
        assert_eq!(patch.of(Path::new("/x")).count(), 0);
    }

    #[test]
    fn two_large_texts_with_nothing_in_common_are_one_replacement() {
        let text = |word: &str| {
            (0..6000)
                .map(|line| format!("{word}{line}\n"))
                .collect::<String>()
        };
        let (old, new) = (
            format!("head\n{}tail\n", text("a")),
            format!("head\n{}tail\n", text("b")),
        );
        let patch = write(
            Path::new("/x"),
            Missing::Neither,
            &[Hunk::new(&old, &new)],
            Context::Near,
        );
        let patch = read(&patch.unwrap());
        let hunk = patch.of(Path::new("/x")).next().unwrap();
        assert_eq!((&hunk.old, &hunk.new), (&old, &new));
    }

    #[test]
    fn broken_patches_are_read_as_far_as_they_go() {
        for text in [
            "",
            "@@",
            "@@ -1 +1 @@\n-x",
            "--- /x\n@@ -9999999999 +1 @@\n",
            "diff --git\n+++ \n@@ -1,9 +1,9 @@\n\\ No\n",
        ] {
            assert!(read(text).hunks().count() < 2);
        }
    }
}
