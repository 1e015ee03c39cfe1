//! Every command line that README and docs print is run here, or is marked with what it needs.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod install;
mod pictures;
mod place;

use std::path::Path;

use place::Place;

/// The documents, from the root of the repository.
const DOCUMENTS: [&str; 10] = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/AGENT.md",
    "docs/CHAT.md",
    "docs/CHECK.md",
    "docs/HUB.md",
    "docs/INSTALL.md",
    "docs/RUN.md",
    "docs/SDK.md",
    "docs/TRACE.md",
];

/// How a command line is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// By a shell, and it ends well.
    Shell,
    /// On a terminal, where it shows a session that is ready.
    Terminal,
    /// Not here, for a reason.
    Marked,
}

/// Lines that are not run as they are, by how they begin, with what they need.
const MARKED: &[(&str, &str)] = &[
    ("cargo ", "a compiler and minutes; CI runs them"),
    (
        "target/debug/examples/",
        "examples that are built; the tests of `ply` run them",
    ),
    (
        "ply check agent -- gemini --acp",
        "minutes; the tests of the checker do the same",
    ),
    (
        "ply check client -- my-client",
        "minutes; the tests of the checker do the same",
    ),
    (
        "ply check client -- ply run",
        "minutes; the tests of the checker do the same",
    ),
    ("ply check client --serve", "an editor that connects"),
    ("ply permits allow", "a question that waits"),
    (
        "ply agents add",
        "a registry; the tests of `ply agents` have one",
    ),
    ("ply agents login", "an agent with a login"),
    ("ply mcp login", "a server with a login"),
    ("ply mcp logout", "a server that is configured"),
    ("ply agents update", "a registry"),
    ("ply agents remove", "an agent that is installed"),
];

fn how(line: &str) -> How {
    let is_marked = MARKED.iter().any(|(begin, _)| line.starts_with(begin));
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        _ if is_marked => How::Marked,
        (Some("ply"), None | Some("chat" | "demo")) => How::Terminal,
        (Some("ply"), Some(word)) if word.starts_with('-') => How::Terminal,
        _ => How::Shell,
    }
}

/// Returns the command lines of a document: in blocks of the kinds `console`, behind a `$`, and `sh`.
fn command_lines(document: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut block = None;
    for line in document.lines() {
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            block = match block {
                None => Some(kind.trim().to_owned()),
                Some(_) => None,
            };
            continue;
        }
        let command = match block.as_deref() {
            Some("console") => line.strip_prefix("$ "),
            Some("sh" | "bash") => Some(line),
            _ => None,
        };
        let command = command.map(|command| match command.split_once("  #") {
            Some((command, _)) => command.trim(),
            None => command.trim(),
        });
        lines.extend(command.filter(|it| !it.is_empty()).map(str::to_owned));
    }
    lines
}

fn all_command_lines() -> Vec<(&'static str, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let of = |name: &'static str| {
        let text = std::fs::read_to_string(root.join(name)).unwrap();
        let lines = command_lines(&text).into_iter();
        lines.map(move |line| (name, line)).collect::<Vec<_>>()
    };
    DOCUMENTS.into_iter().flat_map(of).collect()
}

#[test]
fn every_printed_command_line_works() {
    let place = Place::new();
    let mut faults = Vec::new();
    let mut tried = 0;
    for (document, line) in all_command_lines() {
        let done = match how(&line) {
            How::Marked => continue,
            How::Shell => place.run(&line),
            How::Terminal => place.open(&line),
        };
        tried += 1;
        if let Err(fault) = done {
            faults.push(format!("{document}: {line}\n{fault}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(tried >= 10, "only {tried} lines were found");
}

#[test]
fn a_mark_that_no_line_needs_is_gone() {
    let lines = all_command_lines();
    let is_used = |begin: &str| lines.iter().any(|(_, line)| line.starts_with(begin));
    let unused: Vec<_> = MARKED.iter().filter(|(begin, _)| !is_used(begin)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn command_lines_are_found_where_people_copy_them_from() {
    let text = "x\n```console\n$ ply run hi  # says hi\nhi\n```\n$ no\n```sh\nply\n\n```\n";
    assert_eq!(command_lines(text), ["ply run hi", "ply"]);
}
