//! What the session did to files: shown, taken back, done again.

use std::path::Path;

use ply_agent::{Result, v2};
use similar::{ChangeTag, TextDiff};

use super::TurnLoop;
use super::dispatch::show_changes;
use crate::checkpoint::Moved;
use crate::commands::Anyway;
use crate::tool::Change;

/// Files that are named one by one.
const NAMED_MAX: usize = 20;

impl TurnLoop<'_> {
    pub(super) async fn undo(&self, anyway: Anyway) -> String {
        let (moved, beyond) = self.state.checkpoints.undo(anyway.0).await;
        let words = match moved {
            Moved::Nothing => "There is no turn to take back: none has changed files.".to_owned(),
            Moved::Conflicts(paths) => format!(
                "Nothing was taken back: these files were changed since.\n{}\n`/undo anyway` overwrites them; `/redo` \
                 then brings them back.",
                self.names(paths.iter().map(|path| &**path))
            ),
            Moved::Done {
                prompt,
                files,
                failed,
            } => self.tell("Taken back", &prompt, &files, &failed),
        };
        with(words, beyond)
    }

    pub(super) async fn redo(&self, anyway: Anyway) -> String {
        let (moved, beyond) = self.state.checkpoints.redo(anyway.0).await;
        let words = match moved {
            Moved::Nothing => "There is nothing to do again: nothing was taken back.".to_owned(),
            Moved::Conflicts(paths) => format!(
                "Nothing was done again: these files were changed since.\n{}\n`/redo anyway` overwrites them; `/undo` \
                 then brings them back.",
                self.names(paths.iter().map(|path| &**path))
            ),
            Moved::Done {
                prompt,
                files,
                failed,
            } => self.tell("Done again", &prompt, &files, &failed),
        };
        with(words, beyond)
    }

    fn tell(
        &self,
        what: &str,
        prompt: &str,
        files: &[std::path::PathBuf],
        failed: &[(std::path::PathBuf, String)],
    ) -> String {
        let mut words = format!("{what}: “{prompt}”.\n");
        if !files.is_empty() {
            words.push_str(&self.names(files.iter().map(|path| &**path)));
        }
        for (path, reason) in failed.iter().take(NAMED_MAX) {
            words.push_str(&format!("- not `{}`: {reason}\n", self.name(path)));
        }
        words
    }

    /// Shows everything that the session changed, as one call with a difference for each file.
    pub(super) async fn show_diff(&self) -> Result<String> {
        let (changes, beyond) = self.state.checkpoints.changes().await;
        if changes.is_empty() {
            return Ok(with(
                "This session has changed no files.".to_owned(),
                beyond,
            ));
        }
        let card = self
            .turn
            .tool_call("changes of this session")
            .kind(v2::ToolKind::Read)
            .await?;
        show_changes(&card, &changes).await?;
        card.end(v2::ToolCallStatus::Completed).await?;
        let mut words = String::new();
        for change in changes.iter().take(NAMED_MAX) {
            let (added, removed) = count(change);
            let path = self.name(&change.path);
            words.push_str(&format!("- `{path}` +{added} −{removed}\n"));
        }
        if let Some(more) = changes
            .len()
            .checked_sub(NAMED_MAX)
            .filter(|more| *more > 0)
        {
            words.push_str(&format!("- and {more} more\n"));
        }
        Ok(with(words, beyond))
    }

    fn names<'p>(&self, paths: impl ExactSizeIterator<Item = &'p Path>) -> String {
        let more = paths.len().saturating_sub(NAMED_MAX);
        let names = paths.take(NAMED_MAX);
        let mut words: String = names
            .map(|path| format!("- `{}`\n", self.name(path)))
            .collect();
        if more > 0 {
            words.push_str(&format!("- and {more} more\n"));
        }
        words
    }

    fn name(&self, path: &Path) -> String {
        let cwd = self.state.workspace.cwd();
        let path = path.strip_prefix(cwd).unwrap_or(path);
        crate::permission::shown(&path.to_string_lossy())
    }
}

/// Adds what the words cannot speak of.
fn with(words: String, beyond: Option<String>) -> String {
    match beyond {
        Some(beyond) => format!("{}\n\n{beyond}", words.trim_end()),
        None => words,
    }
}

/// Returns how many lines a change adds and removes.
fn count(change: &Change) -> (usize, usize) {
    let old = change.old.as_deref().unwrap_or("");
    let new = change.new.as_deref().unwrap_or("");
    let diff = TextDiff::configure()
        .timeout(std::time::Duration::from_secs(1))
        .diff_lines(old, new);
    let changes = diff.iter_all_changes();
    changes.fold((0, 0), |(added, removed), change| match change.tag() {
        ChangeTag::Insert => (added + 1, removed),
        ChangeTag::Delete => (added, removed + 1),
        ChangeTag::Equal => (added, removed),
    })
}
