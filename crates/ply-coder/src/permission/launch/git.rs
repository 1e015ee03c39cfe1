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

/// Options after the subcommand that run programs, or read or write files that nobody sees.
#[rustfmt::skip]
const OPTIONS: &[&str] = &[
    "upload-pack", "receive-pack", "exec", "exec-path", "ext-diff", "textconv", "output", "open-files-in-pager",
    "config", "config-env", "template", "recurse-submodules", "git-dir", "work-tree", "separate-git-dir",
    "extcmd", "show-signature", "no-index", "contents", "tool", "gpg-sign", "strategy", "remote", "super-prefix", "output-directory",
    // Those that read files which need not be the project's.
    "ignore-revs-file", "pathspec-from-file", "exclude-from", "exclude-per-directory", "file", "filters",
    "reference", "reference-if-able", "bundle-uri", "build-fake-ancestor", "trailer",
    // Those that show objects which nobody names, secrets among them.
    "batch", "batch-command",
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
        "grep" => "Of",
        "diff" | "diff-tree" | "log" | "range-diff" | "reflog" | "show" | "stash"
        | "whatchanged" => "O",
        "blame" | "annotate" => "S",
        "ls-files" => "X",
        "commit" | "notes" | "tag" => "Ft",
        "merge" | "pull" | "cherry-pick" | "revert" => "sXF",
        _ => "",
    };
    let late = after_last(after, |word| {
        is_option(word, OPTIONS)
            || has_letter(word, letters)
            || ["::", "%G", "%(signature", "remerge"]
                .iter()
                .any(|part| word.contains(part))
    });
    let late = if late == 0 { 0 } else { late + place + 1 };
    early.max(unknown).max(late)
}

/// Returns the same for words by which `git` looks outside of the repository: `git diff` compares any two
/// files as soon as one of them is elsewhere.
pub(super) fn words_to_name_outside(arguments: &[&str]) -> usize {
    after_last(arguments, |word| {
        let value = word.split_once('=').map(|(_, value)| value);
        let glued = word
            .starts_with('-')
            .then(|| word.char_indices().nth(2))
            .flatten()
            .and_then(|(place, _)| word.get(place..));
        [Some(word), value, glued]
            .into_iter()
            .flatten()
            .any(|path| path.starts_with('/') || path.split('/').any(|part| part == ".."))
    })
}

fn subcommand_place(arguments: &[&str]) -> usize {
    let mut place = 0;
    while let Some(word) = arguments.get(place).filter(|word| word.starts_with('-')) {
        place += if VALUED.contains(word) { 2 } else { 1 };
    }
    place.min(arguments.len())
}
