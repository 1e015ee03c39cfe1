//! What makes `git` run other programs.

use super::{after_last, has_letter, is_option};

/// Options before the subcommand that change nothing but the output.
const HARMLESS: &[&str] = &[
    "--no-pager",
    "-P",
    "--no-optional-locks",
    "--literal-pathspecs",
    "--version",
    "--help",
];

/// Subcommands that a rule for `git *` is taken to mean. Any other one runs programs by design, changes
/// what git runs, or is an alias or a program that somebody else named.
#[rustfmt::skip]
const SUBCOMMANDS: &[&str] = &[
    "add", "annotate", "apply", "blame", "branch", "cat-file", "check-ignore", "checkout", "cherry", "cherry-pick",
    "clean", "clone", "commit", "describe", "diff", "diff-tree", "fetch", "for-each-ref", "grep", "init",
    "log", "ls-files", "ls-remote", "ls-tree", "merge", "merge-base", "mv", "name-rev", "notes", "pull", "push",
    "range-diff", "reflog", "remote", "reset", "restore", "rev-list", "rev-parse", "revert", "rm", "shortlog",
    "show", "show-branch", "show-ref", "stash", "status", "switch", "tag", "version", "whatchanged", "worktree",
];

/// Options after the subcommand that run programs, or write files that nobody sees.
#[rustfmt::skip]
const OPTIONS: &[&str] = &[
    "upload-pack", "receive-pack", "exec", "exec-path", "ext-diff", "textconv", "output", "open-files-in-pager",
    "config", "config-env", "template", "recurse-submodules", "git-dir", "work-tree", "separate-git-dir",
    "extcmd", "no-index", "contents", "tool", "gpg-sign", "strategy", "remote", "super-prefix",
];

/// Options before the subcommand whose value is the next word.
const VALUED: &[&str] = &[
    "-c",
    "-C",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--config-env",
];

pub(super) fn words_to_name(arguments: &[&str]) -> usize {
    let place = subcommand_place(arguments);
    let (before, rest) = arguments.split_at(place);
    let early = after_last(before, |word| {
        word.starts_with('-') && !HARMLESS.contains(&word)
    });
    let Some((subcommand, after)) = rest.split_first() else {
        return early;
    };
    let unknown = if SUBCOMMANDS.contains(subcommand) {
        0
    } else {
        place + 2
    };
    let letters = match *subcommand {
        "clone" => "cu",
        "rebase" => "xis",
        "grep" | "diff" | "log" | "show" => "O",
        "merge" | "pull" | "cherry-pick" | "revert" => "sX",
        _ => "",
    };
    let late = after_last(after, |word| {
        is_option(word, OPTIONS) || has_letter(word, letters) || word.contains("::")
    });
    let late = if late == 0 { 0 } else { late + place + 1 };
    early.max(unknown).max(late)
}

fn subcommand_place(arguments: &[&str]) -> usize {
    let mut place = 0;
    while let Some(word) = arguments.get(place).filter(|word| word.starts_with('-')) {
        place += if VALUED.contains(word) { 2 } else { 1 };
    }
    place.min(arguments.len())
}
