//! What a permission request is about, as far as it can be told.

use std::path::{Path, PathBuf};

use ply_agent::transcript::{ToolCall, Transcript};
use ply_client::v2;
use serde_json::Value;

use super::judge;
use crate::program::sessions::content;

/// What agents call the file that a tool is given.
const PATHS: [&str; 7] = [
    "path",
    "file_path",
    "filePath",
    "abs_path",
    "absolute_path",
    "notebook_path",
    "target_file",
];
/// What agents call things that a tool is given and that name no file.
const WORDLESS: [&str; 9] = [
    "command",
    "cmd",
    "args",
    "pattern",
    "query",
    "regex",
    "description",
    "prompt",
    "url",
];
/// How many other words of a tool's arguments are looked at; those of a call with more cannot be known.
const WORDS_MAX: usize = 1000;
/// How deep they may lie.
const DEPTH_MAX: usize = 16;

/// What a permission request is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Subject {
    /// The kind of the tool, in the protocol's word.
    pub(super) kind: String,
    /// What it is called: the title of the call, or of the request if it is about none.
    pub(super) title: String,
    /// The command that would be run.
    pub(super) command: Option<String>,
    /// The files that are named: where it works, and what it changes.
    pub(super) paths: Vec<PathBuf>,
    /// Other words that the tool is given. One of them may name a file in a way that is not known.
    pub(super) words: Vec<String>,
    /// Where the command would be run, if that is told.
    pub(super) cwd: Option<PathBuf>,
    /// Whether it would change files.
    pub(super) changes: bool,
    /// Whether there is a command, in a form that is not known.
    pub(super) has_odd_command: bool,
    /// Whether files are named in a form that is not known.
    pub(super) has_odd_paths: bool,
}

impl Subject {
    /// Reads a request, with what was told of its tool call before.
    pub(super) fn of(request: &v2::RequestPermissionRequest, transcript: &Transcript) -> Self {
        let mut subject = Self {
            kind: "other".to_owned(),
            title: request.title.clone(),
            ..Self::default()
        };
        match &request.subject {
            Some(v2::RequestPermissionSubject::Command(command)) => {
                subject.kind = "execute".to_owned();
                subject.command = Some(command.command.clone());
                subject.cwd = Some(command.cwd.0.clone());
            }
            Some(v2::RequestPermissionSubject::ToolCall(about)) => {
                // The request is part of what is known of the call, so this has it.
                if let Some(call) = transcript.tool_call(&about.tool_call.tool_call_id) {
                    subject.add_call(call);
                }
            }
            _ => {}
        }
        subject
    }

    /// Returns what a tool of a kind is about that is given this.
    #[cfg(test)]
    pub(super) fn given(kind: &str, input: &Value) -> Self {
        let mut subject = Self {
            kind: kind.to_owned(),
            ..Self::default()
        };
        let mut paths = Vec::new();
        subject.add_input(input, &mut paths);
        subject.paths = paths;
        subject
    }

    /// Whether there is something in it that cannot be read.
    pub(super) fn is_odd(&self) -> bool {
        self.has_odd_command || self.has_odd_paths
    }

    /// Whether everything below a directory that is named may be read.
    pub(super) fn searches(&self) -> bool {
        self.kind == "search"
    }

    /// Whether a word that the tool is given may name a secret.
    pub(super) fn names_hidden(&self, cwd: &Path) -> bool {
        let mut words = self.words.iter();
        words.any(|word| judge::may_name_hidden(word, cwd))
    }

    fn add_call(&mut self, call: &ToolCall) {
        // What version 1 agents ask has no title of its own, so that of the call is what rules can go by.
        self.title = call.shown_title();
        self.kind = content::name(&call.kind);
        let places = call.locations.iter().map(|place| place.path.0.clone());
        let mut paths: Vec<PathBuf> = places.collect();
        if let Some(input) = &call.raw_input {
            self.add_input(input, &mut paths);
        }
        for item in &call.content {
            if let v2::ToolCallContent::Diff(diff) = item {
                self.changes = true;
                for change in &diff.changes {
                    let files = changed(&change.operation);
                    self.has_odd_paths |= files.is_empty();
                    paths.extend(files);
                }
            }
        }
        for path in paths {
            if !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
    }

    /// Reads what a tool is given, as most agents write it.
    fn add_input(&mut self, input: &Value, paths: &mut Vec<PathBuf>) {
        match command(input) {
            Ok(command) => self.command = command,
            Err(Odd) => self.has_odd_command = true,
        }
        // A rule about a command is about it in the sandbox.
        if input
            .get("outside_sandbox")
            .is_some_and(|why| !why.is_null())
        {
            self.command = None;
            self.has_odd_command = true;
        }
        // Many programs run what variables say, and another shell may do anything.
        self.has_odd_command |= has_variables(input) || has_odd_shell(input);
        let directory = ["cwd", "workdir"].iter().find_map(|name| input.get(name));
        self.cwd = directory.and_then(Value::as_str).map(PathBuf::from);
        for value in PATHS.iter().filter_map(|name| input.get(name)) {
            match value {
                Value::Null => {}
                Value::String(path) => paths.push(PathBuf::from(path)),
                _ => self.has_odd_paths = true,
            }
        }
        self.has_odd_paths |= !add_words(input, 0, &mut self.words);
    }
}

/// Whether a tool is given variables for a command.
fn has_variables(input: &Value) -> bool {
    let mut given = ["env", "environment"]
        .iter()
        .filter_map(|name| input.get(name));
    given.any(|variables| match variables {
        Value::Null => false,
        Value::Object(variables) => !variables.is_empty(),
        Value::Array(variables) => !variables.is_empty(),
        _ => true,
    })
}

/// Whether a tool is given a shell that is none of the usual ones.
fn has_odd_shell(input: &Value) -> bool {
    match input.get("shell") {
        None | Some(Value::Null | Value::Bool(_)) => false,
        Some(Value::String(shell)) => {
            let name = ["/bin/", "/usr/bin/"]
                .iter()
                .find_map(|at| shell.strip_prefix(at));
            !["sh", "bash", "zsh", "dash"].contains(&name.unwrap_or(shell))
        }
        Some(_) => true,
    }
}

/// Adds all words in what a tool is given that may name a file. Returns whether these were all.
fn add_words(input: &Value, depth: usize, words: &mut Vec<String>) -> bool {
    match input {
        _ if depth > DEPTH_MAX || words.len() > WORDS_MAX => false,
        Value::String(word) => {
            words.push(word.clone());
            true
        }
        Value::Array(items) => items.iter().all(|item| add_words(item, depth + 1, words)),
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !WORDLESS.contains(&name.as_str()))
            .all(|(_, value)| add_words(value, depth + 1, words)),
        _ => true,
    }
}

/// Returns the files of a change; none if it is of a kind that is not known.
pub(super) fn changed(operation: &v2::DiffChangeOperation) -> Vec<PathBuf> {
    use v2::DiffChangeOperation::{Add, Copy, Delete, Modify, Move};
    match operation {
        Add(of) | Modify(of) | Delete(of) => vec![of.path.0.clone()],
        Move(of) | Copy(of) => vec![of.old_path.0.clone(), of.path.0.clone()],
        _ => Vec::new(),
    }
}

/// Something is there, and cannot be read.
#[derive(Debug, PartialEq, Eq)]
struct Odd;

/// Returns the command in what a tool is given.
fn command(input: &Value) -> Result<Option<String>, Odd> {
    let member = |name: &str| input.get(name).filter(|value| !value.is_null());
    let command = match (member("command"), member("cmd")) {
        (None, None) => return Ok(None),
        (Some(command), None) | (None, Some(command)) => command,
        // Which of them is meant is not known.
        (Some(_), Some(_)) => return Err(Odd),
    };
    let words = |words: &Value| -> Result<String, Odd> {
        let words = words.as_array().ok_or(Odd)?.iter().map(Value::as_str);
        let words: Vec<&str> = words.collect::<Option<_>>().ok_or(Odd)?;
        // They are words already, and must stay so when they are read as a line.
        Ok(words
            .iter()
            .map(|word| quoted(word))
            .collect::<Vec<_>>()
            .join(" "))
    };
    let mut all = match command {
        Value::String(command) => command.clone(),
        command => words(command)?,
    };
    if let Some(arguments) = member("args") {
        all.push(' ');
        all.push_str(&words(arguments)?);
    }
    Ok(Some(all))
}

/// Returns a word as a shell reads it back.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn h2_variables_and_shells_of_a_command_make_it_one_that_is_not_known() {
        for (more, is_odd) in [
            (json!({}), false),
            (json!({ "env": {}, "shell": null }), false),
            (json!({ "environment": [], "shell": "/bin/bash" }), false),
            (json!({ "shell": true }), false),
            (json!({ "env": { "GIT_EXTERNAL_DIFF": "id" } }), true),
            (json!({ "env": ["A=b"] }), true),
            (json!({ "environment": "A=b" }), true),
            (json!({ "shell": "./bash" }), true),
            (json!({ "shell": ["sh", "-c"] }), true),
        ] {
            let mut input = json!({ "command": "git diff" });
            for (name, value) in more.as_object().unwrap() {
                input[name] = value.clone();
            }
            assert_eq!(
                Subject::given("execute", &input).is_odd(),
                is_odd,
                "{input}"
            );
        }
    }

    #[test]
    fn a_command_is_read_or_known_to_be_unreadable() {
        for (input, expected) in [
            (json!({}), Ok(None)),
            (json!({ "command": null }), Ok(None)),
            (json!({ "command": "rm x" }), Ok(Some("rm x"))),
            (json!({ "cmd": ["rm", "x"] }), Ok(Some("rm x"))),
            (
                json!({ "command": "git", "args": ["push"] }),
                Ok(Some("git push")),
            ),
            (
                json!({ "command": ["cat", "#", "/etc/x", "a b;c"] }),
                Ok(Some("cat '#' /etc/x 'a b;c'")),
            ),
            (json!({ "command": "git", "args": "push" }), Err(Odd)),
            (json!({ "command": "ls", "cmd": "rm x" }), Err(Odd)),
            (json!({ "command": { "line": "rm x" } }), Err(Odd)),
            (json!({ "command": ["rm", 1] }), Err(Odd)),
            (json!({ "command": 1 }), Err(Odd)),
        ] {
            let expected = expected.map(|it| it.map(str::to_owned));
            assert_eq!(command(&input), expected, "{input}");
        }
    }

    #[test]
    fn files_that_a_tool_is_given_are_named_too() {
        let mut subject = Subject::default();
        let mut paths = Vec::new();
        let input = json!({ "path": "a", "file_path": "/b", "abs_path": null });
        subject.add_input(&input, &mut paths);
        assert_eq!(paths, [PathBuf::from("a"), PathBuf::from("/b")]);
        assert!(!subject.is_odd());
        subject.add_input(&json!({ "path": ["a"] }), &mut paths);
        assert!(subject.has_odd_paths);
    }
}
