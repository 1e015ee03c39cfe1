//! What a file or a directory has in it.

use serde_json::json;

use super::names::is_known_file;
use super::outline::{self, Item};
use super::script::Reply;
use super::tally::{Tally, ending_of, files, language_of, lines, number, plural};
use super::turn::{Done, Rounds, without_numbers};
use super::{readme, words};

/// Lines of a file that are read.
const FILE_LINES: u32 = 5_000;
/// Definitions that are listed.
const ITEMS_MAX: usize = 24;
/// Entries of a directory that are listed.
const ENTRIES_MAX: usize = 30;
/// Bytes of what is said about one of them.
const ABOUT_BYTES_MAX: usize = 110;

/// Returns what comes after so many rounds.
pub(super) fn next(path: &str, rounds: &Rounds<'_>) -> Reply {
    let trimmed = path.trim_end_matches('/');
    let read = || ("read_file", json!({ "path": trimmed, "limit": FILE_LINES }));
    let list = || {
        let count = json!({ "pattern": "^", "mode": "count", "path": trimmed });
        let list = json!({ "path": trimmed, "depth": 1 });
        vec![("list_dir", list), ("grep", count)]
    };
    // What is likelier first; each sort of thing is refused by the tool for the other.
    let is_directory =
        path.ends_with('/') || ending_of(trimmed).is_empty() && !is_known_file(trimmed);
    let tried = |tool: &str| {
        rounds
            .calls(tool)
            .find(|done| done.argument("path") == trimmed)
    };
    let (file, directory_list) = (tried("read_file"), tried("list_dir"));
    if let Some(file) = file.filter(|file| !file.failed) {
        return Reply::say(words::signed(&explain(trimmed, file.text)));
    }
    if let Some(list) = directory_list.filter(|list| !list.failed) {
        let count = rounds.calls("grep").last();
        return Reply::say(words::signed(&directory(trimmed, list, count)));
    }
    match (file, directory_list) {
        (None, None) if is_directory => Reply::calls(list()),
        (None, _) => Reply::calls(vec![read()]),
        // A name with an ending is hardly a directory; it is more likely further down.
        (Some(file), None)
            if !ending_of(trimmed).is_empty() && !file.text.contains("is a directory") =>
        {
            elsewhere(trimmed, file, rounds)
        }
        (Some(_), None) => Reply::calls(list()),
        (Some(file), Some(_)) => elsewhere(trimmed, file, rounds),
    }
}

/// Looks for the name further down: reads the one file that has it, or says which there are.
fn elsewhere(path: &str, first: Done<'_>, rounds: &Rounds<'_>) -> Reply {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some(found) = rounds.calls("glob").last() else {
        let name: String = name.chars().filter(|c| !"*?[]{}\\".contains(*c)).collect();
        return Reply::call("glob", json!({ "pattern": format!("**/{name}") }));
    };
    let mut all: Vec<&str> = found.lines().collect();
    all.sort_unstable();
    let said = match all.as_slice() {
        [only] => match rounds
            .calls("read_file")
            .find(|done| done.argument("path") == *only)
        {
            Some(read) => explain(only, read.text),
            None => {
                return Reply::call("read_file", json!({ "path": only, "limit": FILE_LINES }));
            }
        },
        [] => format!(
            "I cannot read `{path}`: {} No file of that name is further down either.",
            first.text.trim()
        ),
        several => {
            let several = several.iter().take(ENTRIES_MAX);
            let several: String = several.map(|it| format!("- `explain {it}`\n")).collect();
            format!("There are several files of that name; which one?\n\n{several}")
        }
    };
    Reply::say(words::signed(&said))
}

/// Explains a text file by what it says about itself and what it defines.
fn explain(path: &str, numbered: &str) -> String {
    let text = without_numbers(numbered);
    let count = text.lines().count() as u64;
    let total = total_lines(numbered);
    let language = language_of(path)
        .map(|name| format!(" of {name}"))
        .unwrap_or_default();
    let size = match total {
        Some(total) => (
            lines(total),
            format!(" (the first {} were read)", number(count)),
        ),
        None => (lines(count), String::new()),
    };
    let (size, part) = size;
    let mut said = format!("`{path}`: {size}{language}{part}.\n\n");
    let is_document = matches!(language_of(path), Some("Markdown" | "reStructuredText"));
    if is_document {
        said.push_str(&document(&text));
        return said;
    }
    if let Some(about) = outline::about(path, &text) {
        said.push_str(&format!(
            "{}\n\n",
            readme::sentences(&readme::plain(&about), 500)
        ));
    }
    let items = outline::items(&text);
    let passed_on = match language_of(path) {
        Some("Rust") => outline::passed_on(&text),
        _ => Vec::new(),
    };
    if !passed_on.is_empty() {
        let names = passed_on
            .iter()
            .take(ITEMS_MAX)
            .map(|name| format!("`{name}`"));
        let names = names.collect::<Vec<_>>().join(", ");
        let more = match passed_on.len().saturating_sub(ITEMS_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        said.push_str(&format!("It re-exports {names}{more}.\n\n"));
    }
    said.push_str(&match items.is_empty() {
        false => defined(&items, &text),
        true if passed_on.is_empty() => beginning_of(&text),
        true => String::new(),
    });
    said
}

/// Returns how many lines a file has of which not all were read.
fn total_lines(numbered: &str) -> Option<u64> {
    let note = numbered.lines().last()?.strip_prefix("[Lines 1 to ")?;
    let (_, total) = note.split_once(" of ")?;
    total.split('.').next()?.parse().ok()
}

/// Lists what a file defines: what others may use, or everything if nothing is for others.
fn defined(items: &[Item], text: &str) -> String {
    let public: Vec<_> = items.iter().filter(|item| item.is_public).collect();
    let (shown, what) = match public.is_empty() {
        true => (items.iter().collect(), "It defines"),
        false => (public, "Its public definitions"),
    };
    let hidden = items.len() - shown.len();
    let mut said = format!("{what}:\n\n");
    for item in shown.iter().take(ITEMS_MAX) {
        let about = item.about.as_deref().map(readme::plain);
        let about = about.map(|about| format!(": {}", readme::sentences(&about, ABOUT_BYTES_MAX)));
        let (kind, name, line) = (item.kind, &item.name, item.line);
        said.push_str(&format!(
            "- {kind} `{name}` (line {line}){}\n",
            about.unwrap_or_default()
        ));
    }
    if shown.len() > ITEMS_MAX {
        said.push_str(&format!("- and {} more\n", shown.len() - ITEMS_MAX));
    }
    if hidden > 0 {
        let hidden = plural(hidden as u64, "definition is", "definitions are");
        said.push_str(&format!("\n{hidden} private.\n"));
    }
    let tests = text.lines().filter(|line| line.trim() == "#[test]").count();
    if tests > 0 {
        let tests = plural(tests as u64, "test", "tests");
        said.push_str(&format!("\nIt contains {tests}.\n"));
    }
    said
}

/// Shows how a file begins that defines nothing.
fn beginning_of(text: &str) -> String {
    let head: Vec<&str> = text.lines().take(20).collect();
    match head.is_empty() {
        true => "It is empty.".to_owned(),
        false => format!("It begins:\n\n```\n{}\n```\n", head.join("\n")),
    }
}

/// Says what a document is about, by its first paragraph and its headings.
fn document(text: &str) -> String {
    let mut said = readme::paragraph(text)
        .map(|words| format!("{words}\n\n"))
        .unwrap_or_default();
    let mut in_code = false;
    let mut headings = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        let level = line.chars().take_while(|c| *c == '#').count();
        if let Some(title) = line.get(level..).and_then(|rest| rest.strip_prefix(' '))
            && (1..=3).contains(&level)
            && !in_code
        {
            headings.push((level, readme::plain(title)));
        }
    }
    // Four spaces before the first one would make code of them all.
    if let Some(top) = headings.iter().map(|(level, _)| *level).min() {
        said.push_str("Its headings:\n\n");
        for (level, title) in headings.iter().take(ENTRIES_MAX) {
            said.push_str(&format!("{}- {title}\n", "  ".repeat(level - top)));
        }
        if headings.len() > ENTRIES_MAX {
            said.push_str(&format!("- and {} more\n", headings.len() - ENTRIES_MAX));
        }
    }
    said
}

/// Lists a directory with the size of what is in it.
fn directory(path: &str, list: Done<'_>, count: Option<Done<'_>>) -> String {
    let tally = Tally::read(count);
    let base = if path == "." {
        String::new()
    } else {
        format!("{path}/")
    };
    let mut said = format!("`{path}/` has {}.\n\n", tally.sentence());
    let entries: Vec<&str> = list.lines().map(str::trim).collect();
    for entry in entries.iter().take(ENTRIES_MAX) {
        let name = entry.trim_end_matches('@');
        let size = match name.strip_suffix('/') {
            Some(directory) => {
                let amount = tally.below(&format!("{base}{directory}"));
                (amount.files > 0 && tally.is_whole)
                    .then(|| format!("{}, {}", files(amount.files), lines(amount.lines)))
            }
            None => {
                let full = format!("{base}{name}");
                let found = tally.files.iter().find(|(path, _)| *path == full);
                found.map(|(_, count)| format!("{} lines", number(*count)))
            }
        };
        let size = size.map(|size| format!(" ({size})")).unwrap_or_default();
        said.push_str(&format!("- `{name}`{size}\n"));
    }
    if entries.len() > ENTRIES_MAX {
        said.push_str(&format!("- and {} more\n", entries.len() - ENTRIES_MAX));
    }
    said
}
