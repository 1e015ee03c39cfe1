//! The texts of edited files, which version 1 shows with a diff and version 2 does not.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use ply_wire::project::{EditText, EditTexts};
use ply_wire::v2;

use crate::{EDITS_BYTES_MAX, Edit};

/// The texts of the newest edits. Clones share them.
///
/// Older ones are in the journal only: a version 1 client that loads the session is shown the part of the file that the
/// diff itself holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Edits {
    kept: VecDeque<(v2::ToolCallId, Arc<[Edit]>)>,
    bytes: usize,
}

impl Edits {
    pub(crate) fn keep(&mut self, call: &v2::ToolCallId, edits: &[Edit]) {
        self.bytes += bytes(edits);
        self.kept.push_back((call.clone(), edits.into()));
        while self.bytes > EDITS_BYTES_MAX && self.kept.len() > 1 {
            let Some((_, oldest)) = self.kept.pop_front() else {
                return;
            };
            self.bytes -= bytes(&oldest);
        }
    }
}

fn bytes(edits: &[Edit]) -> usize {
    edits.iter().map(Edit::bytes).sum()
}

impl EditTexts for Edits {
    fn texts(&self, call: &v2::ToolCallId, diff: &v2::Diff, path: &Path) -> Option<EditText> {
        let of_call = self.kept.iter().filter(|(of, _)| of == call);
        text_of(of_call.flat_map(|(_, edits)| &**edits), diff, path)
    }
}

/// The texts of one record.
pub(crate) struct OfRecord<'a>(pub(crate) &'a [Edit]);

impl EditTexts for OfRecord<'_> {
    fn texts(&self, _: &v2::ToolCallId, diff: &v2::Diff, path: &Path) -> Option<EditText> {
        text_of(self.0.iter(), diff, path)
    }
}

fn text_of<'a>(
    edits: impl Iterator<Item = &'a Edit>,
    diff: &v2::Diff,
    path: &Path,
) -> Option<EditText> {
    let mut kept = edits.filter(|edit| edit.path == path);
    let mut edit = kept.next()?;
    // A file edited twice in one call: the patch tells which one this is.
    for later in kept {
        let of = |edit: &Edit| {
            ply_wire::convert::diff::edit(path, edit.old.as_deref(), edit.new.as_deref())
        };
        if of(later).patch == diff.patch {
            edit = later;
        }
    }
    Some(EditText {
        old: edit.old.clone(),
        new: edit.new.clone().unwrap_or_default(),
    })
}
