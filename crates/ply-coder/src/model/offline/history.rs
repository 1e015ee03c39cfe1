//! What changed, by git.

use serde_json::json;

use super::intent::Changes;
use super::script::Reply;
use super::tally::plural;
use super::turn::{Done, Rounds};
use super::words;
use crate::text;

/// Commits that are listed.
const COMMITS_MAX: u32 = 10;
/// Files that are listed.
const FILES_MAX: usize = 20;
/// Bytes of a diff that are shown.
const DIFF_BYTES_MAX: usize = 6_000;
/// What stands between the two parts of the output.
const NO_COMMITS: &str = "does not have any commits yet";

/// Returns what comes after so many rounds.
pub(super) fn next(changes: Changes, rounds: &Rounds<'_>) -> Reply {
    let command = match changes {
        Changes::Recent => {
            format!("git status --short --branch && git log --oneline -n {COMMITS_MAX}")
        }
        Changes::Diff => "git --no-pager diff HEAD".to_owned(),
    };
    let Some(ran) = rounds.last() else {
        return Reply::call("shell", json!({ "command": command }));
    };
    let said = match changes {
        _ if ran.text.contains("not a git repository") => {
            "This directory is not in a git repository, so there is no history to look at."
                .to_owned()
        }
        Changes::Recent if ran.text.contains(NO_COMMITS) => {
            format!("{}\nThere are no commits yet.\n", status(ran.text))
        }
        _ if !ran.was_run() => words::not_run(&command, ran.text),
        _ if ran.failed => words::failed(&command, ran.text),
        Changes::Recent => format!("{}\n{}", status(ran.text), commits(ran.text)),
        Changes::Diff => diff(ran),
    };
    Reply::say(words::signed(&said))
}

/// Says on which branch it is and what is not committed.
fn status(output: &str) -> String {
    let branch = output.lines().find_map(|line| line.strip_prefix("## "));
    let branch = branch.unwrap_or("an unknown branch");
    let branch = branch.strip_prefix("No commits yet on ").unwrap_or(branch);
    let (branch, upstream) = match branch.split_once("...") {
        Some((branch, upstream)) => (branch, format!(", which follows `{upstream}`")),
        None => (branch, String::new()),
    };
    let mut said = format!("The branch is `{branch}`{upstream}.");
    let changed = output.lines().filter_map(|line| {
        let (mark, path) = line.split_at_checked(2)?;
        let path = path.strip_prefix(' ')?;
        Some((kind(mark)?, path))
    });
    let changed: Vec<_> = changed.collect();
    if changed.is_empty() {
        said.push_str(" Nothing is uncommitted.\n");
        return said;
    }
    let count = plural(changed.len() as u64, "file is", "files are");
    said.push_str(&format!(" {count} not committed:\n\n"));
    for (kind, path) in changed.iter().take(FILES_MAX) {
        said.push_str(&format!("- {kind}: `{path}`\n"));
    }
    if changed.len() > FILES_MAX {
        said.push_str(&format!("- and {} more\n", changed.len() - FILES_MAX));
    }
    said
}

/// Returns what git's two letters before a path mean.
fn kind(mark: &str) -> Option<&'static str> {
    let letter = mark.trim().chars().next()?;
    Some(match letter {
        '?' => "new",
        'M' => "changed",
        'A' => "added",
        'D' => "deleted",
        'R' => "renamed",
        'U' => "in conflict",
        'T' => "changed in type",
        _ => return None,
    })
}

fn commits(output: &str) -> String {
    let is_commit = |line: &&str| {
        let hash = line.split(' ').next().unwrap_or_default();
        hash.len() >= 7 && hash.chars().all(|c| c.is_ascii_hexdigit())
    };
    let commits = output.lines().filter(is_commit);
    let commits: Vec<String> = commits
        .filter_map(|line| line.split_once(' '))
        .map(|(hash, title)| format!("- `{hash}` {title}\n"))
        .collect();
    match commits.is_empty() {
        true => String::new(),
        false => format!("The latest commits:\n\n{}", commits.concat()),
    }
}

fn diff(ran: Done<'_>) -> String {
    let at = ran.text.find("diff --git ");
    let Some(diff) = at.and_then(|at| ran.text.get(at..)) else {
        return "Nothing has changed since the last commit. New files that git does not follow are not in \
                a diff; `what changed?` lists them."
            .to_owned();
    };
    let diff = diff.trim_end();
    let diff = diff.strip_suffix("exit code 0").unwrap_or(diff).trim_end();
    let shown = text::head(diff, DIFF_BYTES_MAX);
    let more = match diff.len() - shown.len() {
        0 => String::new(),
        left => format!("\n{left} bytes more are left out.\n"),
    };
    let files = diff
        .lines()
        .filter(|line| line.starts_with("diff --git "))
        .count();
    let files = plural(files as u64, "file has", "files have");
    format!(
        "{files} changed since the last commit:\n\n```diff\n{}\n```\n{more}",
        shown.trim_end()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_git_is_put_into_words() {
        let output =
            "## main...origin/main\n M src/a.rs\n?? b.txt\n1a2b3c4 Pour tea\n5d6e7f8 Begin\n";
        assert_eq!(
            status(output),
            "The branch is `main`, which follows `origin/main`. 2 files are not committed:\n\n\
             - changed: `src/a.rs`\n- new: `b.txt`\n"
        );
        assert_eq!(
            commits(output),
            "The latest commits:\n\n- `1a2b3c4` Pour tea\n- `5d6e7f8` Begin\n"
        );
        assert!(status("## main\n").ends_with("Nothing is uncommitted.\n"));
    }
}
