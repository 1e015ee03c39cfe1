//! `git` when it only shows.
//!
//! Its settings can make almost every subcommand run programs, so whoever takes a command for harmless
//! also looks at the repository: see [`Need::Repository`].

use super::options::{Options, Parsed};
use super::{Git, Need, Reach, Reads, Shows};

/// Options of whatever shows differences. Missing on purpose: `--output` and `-O` (files), `--ext-diff`,
/// `--textconv` (programs), `--no-index` (files outside of the repository), `--text` and `--binary` (content of
/// secrets that its history may have, which is left out otherwise).
#[rustfmt::skip]
const DIFF: &[&str] = &[
    "patch", "no-patch", "unified:", "stat?", "numstat", "shortstat", "dirstat?", "cumulative", "summary",
    "compact-summary", "name-only", "name-status", "color?", "no-color", "color-words?", "word-diff?",
    "word-diff-regex:", "color-moved?", "color-moved-ws:", "no-color-moved", "find-renames?", "find-copies?", "find-copies-harder",
    "break-rewrites?", "irreversible-delete", "diff-filter:", "pickaxe-all", "pickaxe-regex", "find-object:",
    "relative?", "no-relative", "ignore-all-space", "ignore-space-change", "ignore-space-at-eol",
    "ignore-cr-at-eol", "ignore-blank-lines", "ignore-matching-lines:", "inter-hunk-context:", "function-context",
    "no-ext-diff", "no-textconv", "no-renames", "renames", "check", "exit-code", "quiet", "abbrev?", "full-index",
    "raw", "minimal", "patience", "histogram", "anchored:", "diff-algorithm:", "indent-heuristic",
    "no-indent-heuristic", "src-prefix:", "dst-prefix:", "no-prefix", "default-prefix", "line-prefix:", "ita-invisible-in-index",
    "patch-with-stat", "patch-with-raw", "ignore-submodules?", "cc", "combined-all-paths",
];

/// Options of whatever chooses and shows commits. Missing on purpose: `--show-signature`, which runs `gpg`.
#[rustfmt::skip]
const LOG: &[&str] = &[
    "oneline", "graph", "no-graph", "decorate?", "no-decorate", "decorate-refs:", "decorate-refs-exclude:", "all",
    "branches?", "tags?", "remotes?", "glob:", "exclude:", "not", "merges", "no-merges", "min-parents:", "max-parents:",
    "first-parent", "reverse", "follow", "date:", "date-order", "author-date-order", "topo-order", "abbrev-commit",
    "no-abbrev-commit", "full-history", "dense", "sparse", "simplify-merges", "simplify-by-decoration",
    "ancestry-path?", "left-right", "left-only", "right-only", "cherry", "cherry-pick", "cherry-mark", "no-walk?",
    "do-walk", "source", "boundary", "parents", "children", "merge", "since:", "after:", "until:", "before:",
    "since-as-filter:", "author:", "committer:", "grep:", "all-match", "invert-grep", "regexp-ignore-case",
    "extended-regexp", "fixed-strings", "perl-regexp", "basic-regexp", "max-count:", "skip:", "format:", "pretty?",
    "expand-tabs?", "no-expand-tabs", "notes?", "no-notes", "use-mailmap", "mailmap", "no-mailmap", "encoding:",
    "relative-date", "walk-reflogs", "log-size", "count", "diff-merges:", "no-diff-merges",
    "show-pulls", "clear-decorations", "root", "full-diff",
];

const LOG_LETTERS: &str = "pusU:M?C?B?D?S:G:l:RwbWzcmtrn:iEFPgqL:X?";

struct Subcommand {
    names: &'static [&'static str],
    letters: &'static str,
    long: &'static [&'static [&'static str]],
    operands: Operands,
}

/// What may follow the options.
#[derive(Clone, Copy)]
enum Operands {
    /// Commits and files.
    Any,
    /// None, unless one of these options is given: else they would make something.
    OnlyWith(&'static [&'static str]),
    /// A pattern first, then commits and files.
    Pattern,
    /// None.
    Nothing,
}

use Operands::{Any, Nothing, OnlyWith, Pattern};

const fn subcommand(
    names: &'static [&'static str],
    operands: Operands,
    letters: &'static str,
    long: &'static [&'static [&'static str]],
) -> Subcommand {
    Subcommand {
        names,
        letters,
        long,
        operands,
    }
}

#[rustfmt::skip]
const SUBCOMMANDS: &[Subcommand] = &[
    subcommand(&["status"], Any, "sbvzu?M?", &[&["short", "branch", "porcelain?", "long", "verbose", "show-stash",
        "untracked-files?", "ignored?", "ignore-submodules?", "ahead-behind", "no-ahead-behind", "renames",
        "no-renames", "find-renames?", "column?", "no-column", "null"]]),
    subcommand(&["diff"], Any, LOG_LETTERS, &[DIFF, &["cached", "staged", "merge-base", "base", "ours", "theirs"]]),
    subcommand(&["log", "show"], Any, LOG_LETTERS, &[DIFF, LOG]),
    subcommand(&["rev-list"], Any, "n:iEFPg", &[LOG, &["objects", "objects-edge", "header", "timestamp", "bisect",
        "disk-usage?", "no-object-names", "no-commit-header"]]),
    subcommand(&["diff-tree", "diff-index", "diff-files"], Any, LOG_LETTERS, &[DIFF, LOG, &["cached", "no-commit-id"]]),
    subcommand(&["range-diff"], Any, "sU:", &[DIFF, &["creation-factor:", "no-dual-color", "left-only", "right-only"]]),
    subcommand(&["shortlog"], Any, "nsecw?", &[LOG, &["numbered", "summary", "email", "group:", "committer"]]),
    subcommand(&["blame", "annotate"], Any, "L:wM?C?enflstcbp", &[&["date:", "porcelain", "line-porcelain",
        "incremental", "root", "since:", "abbrev:", "color-lines", "color-by-age", "show-stats", "ignore-rev:",
        "show-name", "show-number", "show-email", "encoding:", "reverse", "first-parent"]]),
    subcommand(&["ls-files"], Any, "cdmoiskutvfzx:", &[&["cached", "deleted", "modified", "others", "ignored",
        "stage", "unmerged", "killed", "directory", "no-empty-directory", "full-name", "exclude-standard", "exclude:",
        "error-unmatch", "abbrev?", "eol", "deduplicate", "format:", "resolve-undo"]]),
    subcommand(&["ls-tree"], Any, "drtlz", &[&["name-only", "name-status", "object-only", "full-name", "full-tree",
        "long", "abbrev?", "format:"]]),
    subcommand(&["rev-parse"], Any, "q", &[&["show-toplevel", "abbrev-ref?", "short?", "verify", "quiet", "git-dir",
        "git-common-dir", "absolute-git-dir", "is-inside-work-tree", "is-inside-git-dir", "is-bare-repository",
        "is-shallow-repository", "show-prefix", "show-cdup", "show-object-format?", "all", "branches?", "tags?",
        "remotes?", "symbolic", "symbolic-full-name", "default:", "revs-only", "no-revs", "flags", "no-flags"]]),
    subcommand(&["describe"], Any, "", &[&["all", "tags", "contains", "abbrev:", "candidates:", "exact-match", "long",
        "match:", "exclude:", "always", "first-parent", "dirty?", "broken?"]]),
    subcommand(&["merge-base"], Any, "a", &[&["all", "octopus", "independent", "is-ancestor", "fork-point"]]),
    subcommand(&["name-rev"], Any, "", &[&["tags", "refs:", "exclude:", "all", "name-only", "no-undefined", "always"]]),
    subcommand(&["show-ref"], Any, "dqs?", &[&["head", "heads", "branches", "tags", "dereference", "hash?", "verify",
        "exists", "abbrev?", "quiet"]]),
    subcommand(&["for-each-ref"], Any, "", &[&["count:", "sort:", "format:", "color?", "points-at:", "merged?",
        "no-merged?", "contains?", "no-contains?", "ignore-case", "omit-empty", "exclude:"]]),
    subcommand(&["show-branch"], Any, "ar", &[&["all", "remotes", "current", "topo-order", "date-order", "sparse",
        "more:", "list", "merge-base", "independent", "no-name", "sha1-name", "topics", "color?", "no-color"]]),
    subcommand(&["cat-file"], Any, "ptse", &[&["allow-unknown-type", "use-mailmap", "mailmap"]]),
    subcommand(&["check-ignore"], Any, "qvn", &[&["quiet", "verbose", "non-matching", "no-index"]]),
    subcommand(&["check-attr"], Any, "a", &[&["all", "cached"]]),
    subcommand(&["count-objects"], Nothing, "vH", &[&["verbose", "human-readable"]]),
    subcommand(&["cherry"], Any, "v", &[&["verbose", "abbrev?"]]),
    subcommand(&["branch"], OnlyWith(&["l", "list", "contains", "no-contains", "merged", "no-merged", "points-at"]),
        "arvlqi", &[&["all", "remotes", "verbose", "list", "show-current", "contains:", "no-contains:", "merged?",
        "no-merged?", "points-at:", "sort:", "format:", "column?", "no-column", "color?", "no-color", "abbrev?",
        "no-abbrev", "ignore-case", "quiet"]]),
    subcommand(&["tag"], OnlyWith(&["l", "list", "n", "contains", "no-contains", "merged", "no-merged", "points-at"]),
        "ln?i", &[&["list", "contains:", "no-contains:", "merged:", "no-merged:", "points-at:", "sort:", "format:",
        "column?", "no-column", "color?", "ignore-case", "omit-empty"]]),
    subcommand(&["grep"], Pattern, "nilLcwEFGPe=hHovpWqzIm:A:B:C:r", &[&["line-number", "column", "ignore-case",
        "files-with-matches", "name-only", "files-without-match", "count", "word-regexp", "extended-regexp",
        "fixed-strings", "basic-regexp", "perl-regexp", "invert-match", "only-matching", "show-function",
        "function-context", "quiet", "null", "heading", "break", "cached", "and", "or", "not", "all-match",
        "max-depth:", "max-count:", "after-context:", "before-context:", "context:", "color?", "no-color",
        "full-name", "threads:", "recursive", "no-recursive"]]),
    subcommand(&["version"], Nothing, "", &[&["build-options"]]),
];

/// Subcommands that compare the working tree, and with it those of submodules.
const SUBMODULES: &[&str] = &["status", "diff", "diff-files", "diff-index", "describe"];

/// Subcommands that show the content of files unless one of [`BRIEF`] is given.
const SHOWING: &[&str] = &["diff", "range-diff", "grep"];

/// Subcommands that show it if one of [`PATCH`] is given.
const PATCHING: &[&str] = &["log", "diff-tree", "diff-index", "diff-files"];

/// Options that show the content of files.
#[rustfmt::skip]
const PATCH: &[&str] = &[
    "p", "u", "U", "W", "c", "L", "patch", "unified", "patch-with-stat", "patch-with-raw", "word-diff",
    "word-diff-regex", "color-words", "function-context", "cc", "check",
];

/// Options that show only which files there are, or how much of them.
#[rustfmt::skip]
const BRIEF: &[&str] = &[
    "s", "q", "stat", "numstat", "shortstat", "dirstat", "summary", "compact-summary", "name-only", "name-status", "raw",
    "no-patch", "quiet",
];

/// The same of `grep`.
const BRIEF_OF_GREP: &[&str] = &[
    "l",
    "L",
    "c",
    "q",
    "name-only",
    "files-with-matches",
    "files-without-match",
    "count",
    "quiet",
];

/// Options before the subcommand that change nothing but the output.
const EARLY: &[&str] = &[
    "--no-pager",
    "-P",
    "--no-optional-locks",
    "--literal-pathspecs",
    "--no-replace-objects",
];

/// Subcommands of subcommands, as whole beginnings; what follows may only be options of `rest`.
#[rustfmt::skip]
const NESTED: &[(&[&str], &[&str], bool)] = &[
    (&["remote"], &["-v", "--verbose"], true),
    (&["stash", "list"], &["--oneline", "--stat", "-p"], false),
    (&["stash", "show"], &["-p", "--patch", "--stat", "-u", "--include-untracked", "--name-only"], false),
    (&["worktree", "list"], &["--porcelain", "-v", "--verbose", "-z"], false),
    (&["reflog"], &["--oneline", "--all"], false),
    (&["reflog", "show"], &["--oneline", "--all"], false),
    (&["notes", "list"], &[], false),
    (&["bisect", "log"], &[], false),
];

/// Sections of the settings that hold nothing secret.
const SETTINGS: &[&str] = &[
    "user.", "core.", "init.", "branch.", "merge.", "pull.", "push.", "fetch.",
];

/// Returns what `git` reads, if it does nothing else.
pub(super) fn reads(arguments: &[&str]) -> Option<Reads> {
    let mut git = Git::default();
    let mut rest = arguments;
    loop {
        rest = match rest {
            ["-C", directory, after @ ..] if git.directory.is_none() => {
                git.directory = Some((*directory).to_owned());
                after
            }
            [early, after @ ..] if EARLY.contains(early) => after,
            _ => break,
        };
    }
    let (name, arguments) = rest.split_first()?;
    let (places, reach) = match nested(rest) {
        Some(shows_addresses) => {
            git.shows_addresses = shows_addresses;
            let patches = arguments
                .iter()
                .any(|word| ["-p", "--patch"].contains(word));
            git.shows = patches.then(Shows::default);
            (Vec::new(), Reach::Names)
        }
        None if *name == "config" => (setting(arguments)?, Reach::Names),
        None if *name == "remote" => {
            let ["get-url", remote] = arguments else {
                return None;
            };
            git.shows_addresses = true;
            (vec![(*remote).to_owned()], Reach::Names)
        }
        None => {
            git.enters_submodules = SUBMODULES.contains(name);
            let (places, reach, shows) = known(name, arguments)?;
            git.shows = shows;
            (places, reach)
        }
    };
    Some(Reads {
        places,
        reach,
        needs: Some(Need::Repository(git)),
    })
}

fn known(name: &str, arguments: &[&str]) -> Option<(Vec<String>, Reach, Option<Shows>)> {
    let subcommand = SUBCOMMANDS
        .iter()
        .find(|subcommand| subcommand.names.contains(&name))?;
    let options = Options {
        letters: subcommand.letters,
        long: subcommand.long,
        digits: true,
    };
    let parsed = Parsed::new(arguments, &options)?;
    // Formats can have signatures checked, by a program of the settings; merges are made anew by others.
    let runs = |value: &&str| {
        ["%G", "signature", "remerge"]
            .iter()
            .any(|word| value.contains(word))
    };
    if parsed.values.iter().any(runs) {
        return None;
    }
    let mut operands = parsed.operands.as_slice();
    match subcommand.operands {
        Nothing if !operands.is_empty() => return None,
        OnlyWith(options) if !operands.is_empty() && !parsed.has(options) => return None,
        Pattern if !parsed.has_pattern => operands = operands.split_first()?.1,
        _ => {}
    }
    let reach = match subcommand.operands {
        Pattern => Reach::Kept,
        _ => Reach::Names,
    };
    let mut places: Vec<String> = operands
        .iter()
        .chain(&parsed.values)
        .flat_map(|word| pieces(word))
        .collect();
    if reach == Reach::Kept && places.is_empty() {
        places.push(".".to_owned());
    }
    let shows = shows_content(name, &parsed).map(|brief| {
        let marked = arguments.iter().position(|word| *word == "--");
        Shows {
            operands: operands.iter().map(|word| (*word).to_owned()).collect(),
            files: marked.map(|at| arguments.len() - at - 1),
            changes: name == "diff" && !parsed.has(&["cached", "staged", "merge-base"]),
            brief,
        }
    });
    Some((places, reach, shows))
}

/// Says whether the content of files is shown, and if so, whether only of those whose object is named.
fn shows_content(name: &str, parsed: &Parsed<'_>) -> Option<bool> {
    let brief = match name {
        "grep" => parsed.has(BRIEF_OF_GREP),
        _ => parsed.has(BRIEF) && !parsed.has(PATCH),
    };
    match name {
        // Whatever else it is told, it shows an object that is a file.
        "show" => Some(brief),
        "cat-file" => Some(true),
        _ if PATCHING.contains(&name) => parsed.has(PATCH).then_some(false),
        _ => (SHOWING.contains(&name) && !brief).then_some(false),
    }
}

/// Returns everything in a word that may be the name of a file: `HEAD:.env`, `:(top).env`, `:!.env`.
fn pieces(word: &str) -> impl Iterator<Item = String> {
    let parts = word.split([':', '(', ')', '!', '^']);
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(str::to_owned)
}

fn nested(rest: &[&str]) -> Option<bool> {
    NESTED.iter().find_map(|(begin, options, addresses)| {
        let after = rest.strip_prefix(*begin)?;
        let plain = after.iter().all(|word| options.contains(word));
        plain.then_some(*addresses && rest != ["remote"])
    })
}

/// Reads `git config` when it shows one setting that is no secret.
fn setting(arguments: &[&str]) -> Option<Vec<String>> {
    let key = match arguments {
        ["--get" | "get", key] | ["--local", "--get", key] => *key,
        _ => return None,
    };
    let key = key.to_lowercase();
    let plain = key
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
    let shown = SETTINGS.iter().any(|section| key.starts_with(section));
    (plain && shown).then(Vec::new)
}
