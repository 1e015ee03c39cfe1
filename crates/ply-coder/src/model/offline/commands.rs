//! Sentences that name a tool and what to do with it, such as `read src/main.rs`.
//!
//! A sentence counts only if all of it fits. A verb followed by prose is no command: whoever says "run
//! through the code with me" wants no program called `through`.

use serde_json::{Value, json};

use super::names::{is_file_name, is_name, literal, unquoted};

/// A call of a tool.
pub(super) type Call = (&'static str, Value);

/// The sentences, one line each.
pub(super) const HELP: &str = "\
- `read FILE`, `list DIR`, `find *.rs`, `search TEXT [in DIR]`
- `run COMMAND`
- `write FILE: TEXT`, `replace A with B in FILE`, `move A to B`, `delete FILE`
- `plan STEP, STEP, …`, `think: THOUGHT`, `ask: QUESTION`, `fetch URL` (if `web_fetch` is on)";

/// Programs whose name is enough to tell a command from prose.
const PROGRAMS: [&str; 40] = [
    "awk", "bash", "bun", "cargo", "cat", "cd", "cmake", "curl", "date", "df", "docker", "du",
    "echo", "env", "find", "git", "go", "grep", "head", "jq", "ls", "make", "mkdir", "mvn", "node",
    "npm", "npx", "pip", "pnpm", "printf", "ps", "pwd", "python", "python3", "rg", "sed", "sh",
    "touch", "tree", "yarn",
];

/// Words with which prose begins, and commands do not.
const PROSE: [&str; 30] = [
    "a",
    "all",
    "an",
    "and",
    "any",
    "each",
    "every",
    "everything",
    "for",
    "into",
    "it",
    "just",
    "me",
    "my",
    "only",
    "our",
    "over",
    "please",
    "some",
    "tests",
    "that",
    "the",
    "these",
    "this",
    "those",
    "through",
    "to",
    "us",
    "with",
    "your",
];

/// Reads a prompt: one sentence on each line, or joined by ", then". None if any of it is no command.
pub(super) fn parse(prompt: &str) -> Option<Vec<Call>> {
    let lines = prompt.lines().flat_map(|line| line.split(", then "));
    let lines = lines.map(str::trim).filter(|line| !line.is_empty());
    let calls: Option<Vec<Vec<Call>>> = lines.map(sentence).collect();
    let calls: Vec<Call> = calls?.into_iter().flatten().collect();
    (!calls.is_empty()).then_some(calls)
}

fn sentence(line: &str) -> Option<Vec<Call>> {
    let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let call = match verb.to_ascii_lowercase().as_str() {
        "read" | "cat" if is_name(rest) => ("read_file", json!({ "path": unquoted(rest) })),
        "show" | "open" if is_file_name(rest) => ("read_file", json!({ "path": unquoted(rest) })),
        "list" | "ls" if rest.is_empty() => ("list_dir", json!({ "path": "." })),
        "list" | "ls" if is_name(rest) => ("list_dir", json!({ "path": unquoted(rest) })),
        "find" if is_file_name(rest) || rest.contains('*') && is_name(rest) => {
            ("glob", json!({ "pattern": unquoted(rest) }))
        }
        "search" | "grep" => search(rest)?,
        "run" if is_command(rest) => ("shell", json!({ "command": unquote(rest, '`') })),
        "write" => {
            let (path, text) = rest.split_once(':').filter(|(path, _)| is_name(path))?;
            let text = text.strip_prefix(' ').unwrap_or(text).replace("\\n", "\n");
            let path = unquoted(path);
            ("write_file", json!({ "path": path, "content": text }))
        }
        "replace" => return replace(rest),
        "delete" if is_name(rest) => ("delete", json!({ "path": unquoted(rest) })),
        "move" | "rename" => {
            let both = rest.split_once(" to ");
            let (from, to) = both.filter(|(from, to)| is_name(from) && is_name(to))?;
            let (from, to) = (unquoted(from), unquoted(to));
            ("move_file", json!({ "from": from, "to": to }))
        }
        "plan" if rest.contains(',') => ("update_plan", plan(rest.split(','), 0)),
        "think:" if !rest.is_empty() => ("think", json!({ "thought": rest })),
        "ask:" if !rest.is_empty() => ("ask_user", json!({ "question": rest })),
        "fetch" if rest.starts_with("http") && is_name(rest) => {
            ("web_fetch", json!({ "url": unquoted(rest) }))
        }
        _ => return None,
    };
    Some(vec![call])
}

/// Reads `[for] TEXT [in DIR]`.
fn search(rest: &str) -> Option<Call> {
    let rest = rest.strip_prefix("for ").unwrap_or(rest);
    let (text, path) = match rest.rsplit_once(" in ") {
        Some((text, path)) if is_name(path) => (text, Some(unquoted(path))),
        Some((text, place)) if place.starts_with("the ") => (text, None),
        _ => (rest, None),
    };
    let first = text.split_whitespace().next()?.to_ascii_lowercase();
    if matches!(first.as_str(), "the" | "through" | "all") && unquoted(text) == text {
        return None;
    }
    let pattern = literal(unquoted(text));
    let arguments = match path {
        Some(path) => json!({ "pattern": pattern, "path": path }),
        None => json!({ "pattern": pattern }),
    };
    Some(("grep", arguments))
}

/// Says whether a text is a command line and not prose.
fn is_command(text: &str) -> bool {
    if unquote(text, '`') != text {
        return true;
    }
    let mut words = text.split_whitespace();
    let Some(first) = words.next() else {
        return false;
    };
    if PROGRAMS.contains(&first) {
        return true;
    }
    let is_prose = |word: &str| PROSE.contains(&word.to_ascii_lowercase().as_str());
    let is_plain = |word: &str| word.chars().all(|c| c.is_alphabetic() || c == '\'');
    let ends_as_prose = text.ends_with(['?', '!']);
    let reads_as_prose = text.split_whitespace().all(is_plain) && words.any(is_prose);
    !(is_prose(first) || ends_as_prose || reads_as_prose)
}

/// Reads `A with B in FILE`. A file is read before it is changed.
fn replace(rest: &str) -> Option<Vec<Call>> {
    let (old, rest) = rest.split_once(" with ")?;
    let (new, path) = rest.rsplit_once(" in ").filter(|(_, path)| is_name(path))?;
    let plain = |text: &str| unquoted(text).replace("\\n", "\n");
    let (old, new, path) = (plain(old), plain(new), unquoted(path));
    let edits = json!([{ "old": old, "new": new }]);
    Some(vec![
        ("read_file", json!({ "path": path })),
        ("edit_file", json!({ "path": path, "edits": edits })),
    ])
}

/// Returns the arguments that show a plan of which so many steps are done.
pub(super) fn plan<'s>(steps: impl Iterator<Item = &'s str>, done: usize) -> Value {
    let steps = steps.enumerate().map(|(place, step)| {
        let status = match place {
            _ if place < done => "completed",
            _ if place == done => "in_progress",
            _ => "pending",
        };
        json!({ "step": step.trim(), "status": status })
    });
    json!({ "steps": steps.collect::<Vec<_>>() })
}

fn unquote(text: &str, quote: char) -> &str {
    let inner = text
        .strip_prefix(quote)
        .and_then(|text| text.strip_suffix(quote));
    inner.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(prompt: &str, expected: &[Call]) {
        assert_eq!(parse(prompt).unwrap_or_default(), expected, "{prompt}");
    }

    #[test]
    fn sentences_become_calls() {
        let read = |path: &str| ("read_file", json!({ "path": path }));
        check("read `src/main.rs`", &[read("src/main.rs")]);
        check("show Cargo.toml", &[read("Cargo.toml")]);
        check("list", &[("list_dir", json!({ "path": "." }))]);
        check(
            "search for a.b in src",
            &[("grep", json!({ "pattern": "a\\.b", "path": "src" }))],
        );
        check(
            "search for a b in the code",
            &[("grep", json!({ "pattern": "a b" }))],
        );
        check(
            "run ls -l; true",
            &[("shell", json!({ "command": "ls -l; true" }))],
        );
        check(
            "write a.txt: one\\ntwo\n",
            &[(
                "write_file",
                json!({ "path": "a.txt", "content": "one\ntwo" }),
            )],
        );
        let edits = json!([{ "old": "foo", "new": "bar" }]);
        check(
            "replace foo with bar in a.rs",
            &[
                read("a.rs"),
                ("edit_file", json!({ "path": "a.rs", "edits": edits })),
            ],
        );
        check(
            "move a to b",
            &[("move_file", json!({ "from": "a", "to": "b" }))],
        );
        check("read a, then read b", &[read("a"), read("b")]);
    }

    #[test]
    fn a_verb_followed_by_prose_is_no_command() {
        for prompt in [
            "",
            "what is love?",
            "write",
            "write a function that adds two numbers: it should be fast",
            "replace a",
            "replace tabs with spaces in all files",
            "read",
            "read the code and tell me what is wrong",
            "read this",
            "show me the tests",
            "open the door",
            "list all functions that panic",
            "find the bug",
            "search the web for an answer",
            "run the tests",
            "run through the code with me",
            "run it again, please",
            "run tests for the parser",
            "delete the old code",
            "delete everything",
            "move the parser to another file",
            "plan the migration",
            "think about the design",
            "ask me something",
            "fetch the latest changes",
            "read a.txt, then tell me what it means",
        ] {
            check(prompt, &[]);
        }
    }

    #[test]
    fn a_program_may_be_run_with_any_words() {
        for command in [
            "echo this is it",
            "git log",
            "true",
            "./run.sh the tests",
            "kill -INT $$; echo x",
        ] {
            let prompt = format!("run {command}");
            check(&prompt, &[("shell", json!({ "command": command }))]);
        }
    }
}
