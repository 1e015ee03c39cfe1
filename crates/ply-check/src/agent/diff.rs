//! Diffs of version 2: which files changed, and a patch of it.

use serde_json::Value;

use super::bench::{Agent, Bench};
use super::tool::is_absolute;
use super::turn::{Course, word};
use crate::rule::Rule;
use crate::topic::Topic;

/// What is reported as changed is judged wherever a turn brings it; the probes are those of tools and permissions.
pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V2-DIFF-01", "A diff lists its changes, each with an operation and absolute paths.")
            .matters("Clients cannot say which files were touched, or open the wrong ones.")
            .fix("Give `changes` with `operation` and `path`, and `oldPath` for a move or a copy."),
        Rule::agent("V2-DIFF-02", "A patch is a `git_patch` of the same files as the changes.")
            .matters("Users approve one thing and get another.")
            .fix("Make `changes` and `patch` from the same list: one `diff --git` section for each change."),
        Rule::agent("V2-DIFF-03", "A patch names files without `a/` and `b/`, and has no headers of a commit.")
            .matters("Clients look for files in directories `a` and `b`.")
            .fix("Write absolute paths after `---` and `+++`, and `/dev/null` for the side that is not there."),
        Rule::agent("V2-DIFF-04", "A diff of text has a patch.")
            .should()
            .matters("Users see that a file changes, not how.")
            .fix("Send the patch with the diff wherever both texts are known."),
    ],
    probes: &[],
};

/// Looks at the diffs of a turn.
pub(super) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    for (frame, update) in course.updates() {
        let content = update.get("content");
        let items = match content {
            Some(Value::Array(items)) => items.as_slice(),
            Some(item) => std::slice::from_ref(item),
            None => &[],
        };
        let is_diff = |item: &&Value| word(item, "type").as_deref() == Some("diff");
        for item in items.iter().filter(is_diff) {
            judge(bench, agent, frame, item);
        }
    }
}

fn judge(bench: &mut Bench, agent: &Agent, frame: usize, diff: &Value) {
    let changes = diff.get("changes").and_then(Value::as_array);
    let changes = changes.map_or(&[][..], Vec::as_slice);
    let is_kept = !changes.is_empty() && changes.iter().all(is_change);
    let saw = "a diff has no changes, or one without its paths";
    bench.judge("V2-DIFF-01", is_kept, agent, &[frame], saw);
    let patch = diff.get("patch").filter(|patch| !patch.is_null());
    let is_text = |change: &Value| word(change, "fileType").as_deref() == Some("text");
    if patch.is_some() || changes.iter().any(is_text) {
        let saw = "a diff of text has no patch";
        bench.judge("V2-DIFF-04", patch.is_some(), agent, &[frame], saw);
    }
    let Some(patch) = patch else {
        return;
    };
    let text = word(patch, "text").unwrap_or_default();
    // Other formats may come; only this one is known.
    if word(patch, "format").as_deref() != Some("git_patch") {
        return;
    }
    let names = |change: &Value| {
        let path = word(change, "path").unwrap_or_default();
        text.contains(&path)
    };
    let sections = text.lines().filter(|line| line.starts_with("diff --git "));
    let is_kept = sections.count() == changes.len() && changes.iter().all(names);
    let saw = "the patch is of other files than the changes";
    bench.judge("V2-DIFF-02", is_kept, agent, &[frame], saw);
    let saw = "the patch has prefixes before its paths, or headers of a commit";
    bench.judge("V2-DIFF-03", is_plain(&text), agent, &[frame], saw);
}

fn is_change(change: &Value) -> bool {
    let has = |key| word(change, key).is_some_and(|path| is_absolute(&path));
    match word(change, "operation").as_deref() {
        Some("add" | "delete" | "modify") => has("path"),
        Some("move" | "copy") => has("path") && has("oldPath"),
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
