//! The sentences that the offline model understands.

use serde_json::{Value, json};

/// Something to do: calls of tools, one round after the other.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wish {
    /// Calls of tools, each after the one before.
    Calls(Vec<(&'static str, Value)>),
    /// Look around and say what this is.
    Explain,
}

/// What the offline model can be asked, one line each.
pub(super) const HELP: &str = "\
- explain this repository
- read FILE
- list DIR
- find PATTERN
- search TEXT [in DIR]
- run COMMAND
- write FILE: TEXT
- replace A with B in FILE
- delete FILE, move A to B
- plan STEP, STEP, …
- think THOUGHT, ask QUESTION, fetch URL";

/// Reads a prompt: one sentence on each line, or joined by \", then\".
pub(super) fn parse(prompt: &str) -> Vec<Wish> {
    let lines = prompt.lines().flat_map(|line| line.split(", then "));
    lines.filter_map(|line| sentence(line.trim())).collect()
}

fn sentence(line: &str) -> Option<Wish> {
    let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let one = |name, arguments| Some(Wish::Calls(vec![(name, arguments)]));
    match verb.to_ascii_lowercase().as_str() {
        "explain" | "describe" | "summarize" | "summarise" if is_about_all(rest) => {
            Some(Wish::Explain)
        }
        "read" | "show" | "open" if !rest.is_empty() => {
            one("read_file", json!({ "path": name(rest) }))
        }
        "list" => one(
            "list_dir",
            json!({ "path": if rest.is_empty() { "." } else { name(rest) } }),
        ),
        "find" if !rest.is_empty() => one("glob", json!({ "pattern": name(rest) })),
        "search" if !rest.is_empty() => {
            let rest = rest.strip_prefix("for ").unwrap_or(rest);
            match rest.rsplit_once(" in ") {
                Some((text, path)) => one(
                    "grep",
                    json!({ "pattern": literal(name(text)), "path": name(path) }),
                ),
                None => one("grep", json!({ "pattern": literal(name(rest)) })),
            }
        }
        "run" if !rest.is_empty() => one("shell", json!({ "command": unquote(rest, '`') })),
        "write" => {
            let (path, text) = rest.split_once(':')?;
            let text = text.strip_prefix(' ').unwrap_or(text).replace("\\n", "\n");
            one("write_file", json!({ "path": name(path), "content": text }))
        }
        "replace" => replace(rest),
        "delete" if !rest.is_empty() => one("delete", json!({ "path": name(rest) })),
        "move" | "rename" => {
            let (from, to) = rest.split_once(" to ")?;
            one("move_file", json!({ "from": name(from), "to": name(to) }))
        }
        "plan" if !rest.is_empty() => one("update_plan", plan(rest.split(','), 0)),
        "think" if !rest.is_empty() => one("think", json!({ "thought": rest })),
        "ask" if !rest.is_empty() => one("ask_user", json!({ "question": rest })),
        "fetch" if !rest.is_empty() => one("web_fetch", json!({ "url": name(rest) })),
        _ => None,
    }
}

/// Reads `A with B in FILE`. A file is read before it is changed.
fn replace(rest: &str) -> Option<Wish> {
    let (old, rest) = rest.split_once(" with ")?;
    let (new, path) = rest.rsplit_once(" in ")?;
    let (old, new) = (
        name(old).replace("\\n", "\n"),
        name(new).replace("\\n", "\n"),
    );
    let path = name(path);
    Some(Wish::Calls(vec![
        ("read_file", json!({ "path": path })),
        (
            "edit_file",
            json!({ "path": path, "edits": [{ "old": old, "new": new }] }),
        ),
    ]))
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

fn is_about_all(rest: &str) -> bool {
    let words = [
        "repository",
        "repo",
        "project",
        "code",
        "codebase",
        "directory",
    ];
    let mut found = rest.split(|c: char| !c.is_ascii_alphabetic());
    rest.is_empty() || found.any(|word| words.contains(&word.to_ascii_lowercase().as_str()))
}

/// Takes quotes away from a name.
fn name(text: &str) -> &str {
    let text = text.trim();
    let text = unquote(text, '`');
    let text = unquote(text, '"');
    unquote(text, '\'')
}

fn unquote(text: &str, quote: char) -> &str {
    let inner = text
        .strip_prefix(quote)
        .and_then(|text| text.strip_suffix(quote));
    inner.unwrap_or(text)
}

/// The tool takes a pattern; the user means the words.
fn literal(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\.+*?()|[]{}^$#&-~".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(prompt: &str, expected: &[(&'static str, Value)]) {
        let calls = parse(prompt).into_iter().flat_map(|wish| match wish {
            Wish::Calls(calls) => calls,
            Wish::Explain => vec![("explain", Value::Null)],
        });
        assert_eq!(calls.collect::<Vec<_>>(), expected, "{prompt}");
    }

    #[test]
    fn sentences_become_calls() {
        check(
            "read `src/main.rs`",
            &[("read_file", json!({ "path": "src/main.rs" }))],
        );
        check("list", &[("list_dir", json!({ "path": "." }))]);
        check(
            "search for a.b in src",
            &[("grep", json!({ "pattern": "a\\.b", "path": "src" }))],
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
        check(
            "replace foo with bar in a.rs",
            &[
                ("read_file", json!({ "path": "a.rs" })),
                (
                    "edit_file",
                    json!({ "path": "a.rs", "edits": [{ "old": "foo", "new": "bar" }] }),
                ),
            ],
        );
        check(
            "move a to b",
            &[("move_file", json!({ "from": "a", "to": "b" }))],
        );
        check("Explain this repository", &[("explain", Value::Null)]);
        check(
            "read a, then read b",
            &[
                ("read_file", json!({ "path": "a" })),
                ("read_file", json!({ "path": "b" })),
            ],
        );
    }

    #[test]
    fn what_it_does_not_know_is_no_call() {
        for prompt in [
            "",
            "what is love?",
            "write",
            "replace a",
            "read",
            "explain monads to me",
        ] {
            check(prompt, &[]);
        }
    }
}
