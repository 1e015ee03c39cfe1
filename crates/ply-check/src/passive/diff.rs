//! Diffs of version 2: which files changed, and a patch of it.

use serde_json::Value;

use super::Passive;
use super::message::{given, is_absolute, list, text};
use crate::rule::{Side, id};

impl Passive {
    pub(super) fn diff(&mut self, diff: &Value) {
        let changes = list(diff, "/changes");
        let is_kept = !changes.is_empty() && changes.iter().all(is_change);
        let what = "a diff has no changes, or a change without absolute paths";
        self.keeps(id::V2_DIFF_01, Side::Agent, is_kept, what);
        let patch = given(diff, "/patch");
        let is_text = |change: &Value| text(change, "/fileType") == Some("text");
        if patch.is_some() || changes.iter().any(is_text) {
            let what = "a diff of text has no patch";
            self.keeps(id::V2_DIFF_04, Side::Agent, patch.is_some(), what);
        }
        // Other formats may come; only this one is known.
        let git = |patch: &&Value| text(patch, "/format") == Some("git_patch");
        let Some(patch) = patch.filter(git) else {
            return;
        };
        let patch = text(patch, "/text").unwrap_or_default();
        let names = |change: &Value| patch.contains(text(change, "/path").unwrap_or_default());
        let sections = patch.lines().filter(|line| line.starts_with("diff --git "));
        let is_kept = sections.count() == changes.len() && changes.iter().all(names);
        let what = "the patch is of other files than the changes";
        self.keeps(id::V2_DIFF_02, Side::Agent, is_kept, what);
        let what = "the patch has path prefixes or commit headers";
        self.keeps(id::V2_DIFF_03, Side::Agent, is_plain(patch), what);
    }
}

fn is_change(change: &Value) -> bool {
    let has = |at| text(change, at).is_some_and(is_absolute);
    match text(change, "/operation") {
        Some("add" | "delete" | "modify") => has("/path"),
        Some("move" | "copy") => has("/path") && has("/oldPath"),
        Some(other) => other.starts_with('_'),
        None => false,
    }
}

/// Returns whether the headers of a patch name files as they are.
fn is_plain(patch: &str) -> bool {
    let mut is_header = false;
    for (place, line) in patch.lines().enumerate() {
        if line.starts_with("diff --git ") {
            is_header = true;
        } else if place == 0 {
            return false;
        }
        if line.starts_with("@@") {
            is_header = false;
        }
        let file = line
            .strip_prefix("--- ")
            .or_else(|| line.strip_prefix("+++ "));
        let is_prefixed = |file: &str| file.starts_with("a/") || file.starts_with("b/");
        if is_header && file.is_some_and(is_prefixed) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_files_as_they_are() {
        assert!(is_plain(
            "diff --git /a/x /a/x\n--- /dev/null\n+++ /a/x\n@@ -0,0 +1 @@\n+--- a/b\n"
        ));
        assert!(!is_plain(
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n"
        ));
        assert!(!is_plain("From: somebody\ndiff --git /x /x\n"));
    }
}
