//! Diffs: v1 has a path with an old and a new text, v2 has file changes with a git patch.
//!
//! With both texts at hand ([`EditTexts`], [`edit`]) either form is exact. Without them a patch
//! gives one v1 diff per hunk, marked partial; and a v1 diff, whose texts may be snippets, gives a
//! patch marked approximate.

mod patch;

use std::path::Path;

use serde_json::json;

pub(crate) use self::patch::Hunk;
use self::patch::{Context, Missing};
use crate::{v1, v2};

/// `_meta` key on a v1 diff that shows one hunk of a file; its value holds the hunk's first lines.
pub(crate) const PARTIAL: &str = "ply/partial";
/// `_meta` key on a v2 diff whose line numbers are a guess.
pub(crate) const APPROXIMATE: &str = "ply/approximate";

/// The whole text of a file before and after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditText {
    /// The text before the edit; none if the file was new.
    pub old: Option<String>,
    /// The text after the edit; empty if the file was deleted.
    pub new: String,
}

/// Side data of edits: the texts that a v2 diff leaves out and a v1 diff needs.
pub trait EditTexts {
    /// Returns the texts of the edit of `path` that `diff` of tool call `call` reports, if they
    /// were kept.
    fn texts(&self, call: &v2::ToolCallId, diff: &v2::Diff, path: &Path) -> Option<EditText>;
}

/// No texts were kept, as for a foreign agent: diffs are taken from the patch.
impl EditTexts for () {
    fn texts(&self, _: &v2::ToolCallId, _: &v2::Diff, _: &Path) -> Option<EditText> {
        None
    }
}

impl<F> EditTexts for F
where
    F: Fn(&v2::ToolCallId, &v2::Diff, &Path) -> Option<EditText>,
{
    fn texts(&self, call: &v2::ToolCallId, diff: &v2::Diff, path: &Path) -> Option<EditText> {
        self(call, diff, path)
    }
}

/// Returns the v2 diff of one edited text file; no old text means a new file, no new text a deleted
/// one.
#[must_use]
pub fn edit(path: &Path, old: Option<&str>, new: Option<&str>) -> v2::Diff {
    let (change, missing) = match (old, new) {
        (None, _) => (v2::DiffChange::add(path), Missing::Old),
        (Some(_), None) => (v2::DiffChange::delete(path), Missing::New),
        (Some(_), Some(_)) => (v2::DiffChange::modify(path), Missing::Neither),
    };
    let hunk = Hunk::new(old.unwrap_or_default(), new.unwrap_or_default());
    let text = patch::write(path, missing, &[hunk], Context::Near);
    diff_of(change.file_type(v2::DiffFileType::Text), text)
}

/// Returns the v1 items that show a v2 diff, one or more per file. Where words stand for an operation they name
/// it and do not say that it was done: the same diff is shown before the user is asked.
pub(crate) fn down(
    call: &v2::ToolCallId,
    diff: &v2::Diff,
    texts: &dyn EditTexts,
) -> Vec<v1::ToolCallContent> {
    let patch = read_patch(diff);
    let mut items = Vec::new();
    for change in &diff.changes {
        let (path, verb) = match &change.operation {
            v2::DiffChangeOperation::Add(add) => (&add.path.0, "Add"),
            v2::DiffChangeOperation::Modify(modify) => (&modify.path.0, "Change"),
            v2::DiffChangeOperation::Delete(delete) => (&delete.path.0, "Delete"),
            v2::DiffChangeOperation::Move(pair) => {
                items.push(named("Move", &pair.old_path.0, Some(&pair.path.0)));
                continue;
            }
            v2::DiffChangeOperation::Copy(pair) => {
                items.push(named("Copy", &pair.old_path.0, Some(&pair.path.0)));
                continue;
            }
            v2::DiffChangeOperation::Other(other) => {
                items.push(text_item(format!("File operation {}", other.operation)));
                continue;
            }
            _ => continue,
        };
        let is_text = matches!(
            change.file_type,
            None | Some(v2::DiffFileType::Text | v2::DiffFileType::Other(_))
        );
        let shown = items.len();
        if is_text {
            match texts.texts(call, diff, path) {
                Some(kept) => {
                    items.push(
                        v1::Diff::new(path.clone(), kept.new)
                            .old_text(kept.old)
                            .into(),
                    );
                }
                None => {
                    hunks_down(&change.operation, path, patch.of(path), &mut items);
                }
            }
        }
        if shown == items.len() || matches!(change.operation, v2::DiffChangeOperation::Delete(_)) {
            items.push(named(verb, path, None));
        }
    }
    items
}

fn hunks_down<'a>(
    operation: &v2::DiffChangeOperation,
    path: &Path,
    hunks: impl Iterator<Item = &'a Hunk>,
    items: &mut Vec<v1::ToolCallContent>,
) {
    match operation {
        v2::DiffChangeOperation::Add(_) => {
            let new: String = hunks.map(|hunk| hunk.new.as_str()).collect();
            if !new.is_empty() {
                items.push(v1::Diff::new(path, new).into());
            }
        }
        v2::DiffChangeOperation::Delete(_) => items.extend(
            hunks
                .filter(|hunk| !hunk.old.is_empty())
                .map(|hunk| partial(path, hunk, String::new())),
        ),
        _ => items.extend(hunks.map(|hunk| partial(path, hunk, hunk.new.clone()))),
    }
}

/// Returns the v2 diff for the v1 diffs of one path, which are all new files or all changed ones.
pub(crate) fn up(diffs: &[&v1::Diff], locations: &[v1::ToolCallLocation]) -> Option<v2::Diff> {
    let first = diffs.first()?;
    let is_new = first.old_text.is_none();
    let located = locations
        .iter()
        .find(|location| location.path == first.path)
        .and_then(|location| location.line)
        .filter(|line| *line > 0);
    let mut text = String::new();
    let mut meta = v2::Meta::new();
    for diff in diffs {
        let mut hunk = Hunk::new(diff.old_text.as_deref().unwrap_or_default(), &diff.new_text);
        let mark = diff.meta.as_ref().and_then(|meta| meta.get(PARTIAL));
        let line = |key| {
            mark?
                .get(key)?
                .as_u64()
                .and_then(|line| u32::try_from(line).ok())
        };
        let start = if is_new { None } else { located };
        hunk.old_line = line("oldLine").or(start).unwrap_or(1);
        hunk.new_line = line("newLine").or(start).unwrap_or(1);
        // A hunk that came from a patch already has the context its author chose.
        let context = if mark.is_some() {
            Context::All
        } else {
            Context::Near
        };
        patch::write_hunk(&hunk, context, &mut text);
        for (key, value) in diff
            .meta
            .iter()
            .flatten()
            .filter(|(key, _)| *key != PARTIAL)
        {
            meta.insert(key.clone(), value.clone());
        }
    }
    let (change, missing) = if is_new {
        (v2::DiffChange::add(first.path.clone()), Missing::Old)
    } else {
        meta.insert(APPROXIMATE.to_owned(), json!(true));
        (v2::DiffChange::modify(first.path.clone()), Missing::Neither)
    };
    let patch = (!text.is_empty()).then(|| patch::header(&first.path, missing) + &text);
    Some(diff_of(change, patch).meta((!meta.is_empty()).then_some(meta)))
}

/// Rewrites the patch of a diff of one file so that what the two sides say is left, not how it is
/// cut into hunks.
pub(crate) fn join_hunks(diff: &mut v2::Diff) {
    let mut joined = Hunk::new("", "");
    for hunk in read_patch(diff).hunks() {
        joined.old.push_str(&hunk.old);
        joined.new.push_str(&hunk.new);
    }
    let change = diff.changes.first().map(|change| &change.operation);
    diff.patch = match change {
        Some(v2::DiffChangeOperation::Add(add)) => {
            patch::write(&add.path.0, Missing::Old, &[joined], Context::All)
        }
        Some(v2::DiffChangeOperation::Modify(modify)) => {
            patch::write(&modify.path.0, Missing::Neither, &[joined], Context::All)
        }
        _ => None,
    }
    .map(v2::DiffPatch::new);
    if let Some(meta) = &mut diff.meta {
        meta.remove(APPROXIMATE);
    }
    diff.meta = diff.meta.take().filter(|meta| !meta.is_empty());
}

fn diff_of(change: v2::DiffChange, patch: Option<String>) -> v2::Diff {
    let mut diff = v2::Diff::new(vec![change]);
    diff.patch = patch.map(v2::DiffPatch::new);
    diff
}

fn read_patch(diff: &v2::Diff) -> patch::Patch {
    match &diff.patch {
        Some(patch) if patch.format == v2::DiffPatchFormat::GitPatch => patch::read(&patch.text),
        _ => patch::Patch::default(),
    }
}

fn partial(path: &Path, hunk: &Hunk, new: String) -> v1::ToolCallContent {
    let mut meta = v1::Meta::new();
    let lines = json!({ "oldLine": hunk.old_line, "newLine": hunk.new_line });
    meta.insert(PARTIAL.to_owned(), lines);
    v1::Diff::new(path, new)
        .old_text(hunk.old.clone())
        .meta(meta)
        .into()
}

fn named(verb: &str, path: &Path, to: Option<&Path>) -> v1::ToolCallContent {
    let to = to.map(|to| format!(" to {}", to.display()));
    text_item(format!(
        "{verb} {}{}",
        path.display(),
        to.unwrap_or_default()
    ))
}

fn text_item(text: String) -> v1::ToolCallContent {
    v1::ToolCallContent::from(text)
}
