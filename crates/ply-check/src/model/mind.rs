//! What the scripted model answers.

use std::path::Path;

use serde_json::{Value, json};

/// What is asked, whatever the API.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The last words of the user.
    pub(super) words: String,
    /// Whether a tool has returned something since.
    pub(super) has_result: bool,
    /// The tools: name and schema of the parameters.
    pub(super) tools: Vec<(String, Value)>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// Words.
    Say(String),
    /// Words that take a while.
    Linger(Vec<String>),
    /// A call of a tool.
    Call(String, Value),
}

/// What a prompt wants a tool for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish<'a> {
    Read(&'a str),
    Write(&'a str, &'a str),
    Run(&'a str),
}

/// Words of an answer that takes a while.
const LINGERING_WORDS: usize = 40;

/// Answers what is asked, in sessions that work in a directory.
pub(super) fn reply(asked: &Asked, directory: &Path) -> Reply {
    let wish = wish(asked.words.trim());
    if !asked.has_result {
        let of = |wish: Wish<'_>| {
            let (name, schema) = tool(&asked.tools, wish)?;
            let arguments = arguments(schema, wish, directory);
            Some(Reply::Call(name.clone(), arguments))
        };
        // Some agents have a shell and nothing else.
        let call = wish.and_then(|wish| of(wish).or_else(|| of(Wish::Run(&in_shell(wish)))));
        return call.unwrap_or_else(|| lingers(wish).unwrap_or_else(|| said("ready")));
    }
    lingers(wish).unwrap_or_else(|| said("Done."))
}

fn said(word: &str) -> Reply {
    Reply::Say(word.to_owned())
}

/// Returns slow words for a command that only waits. Many agents do not let a model wait, and the turn is to be long all the same.
fn lingers(wish: Option<Wish<'_>>) -> Option<Reply> {
    let is_waiting = matches!(wish, Some(Wish::Run(command)) if command.starts_with("sleep "));
    let words = (1..=LINGERING_WORDS).map(|number| format!("{number} "));
    is_waiting.then(|| Reply::Linger(words.collect()))
}

/// Reads the prompts that checks send. Agents may put words of their own around them.
fn wish(words: &str) -> Option<Wish<'_>> {
    for line in words.lines().rev() {
        let line = line.trim();
        if let Some(command) = line.split_once("Run `").map(|(_, rest)| rest) {
            return Some(Wish::Run(command.split('`').next().unwrap_or_default()));
        }
        if let Some(rest) = line.split_once("Write ").map(|(_, rest)| rest) {
            let (path, content) = rest.split_once(": ")?;
            return Some(Wish::Write(path, content));
        }
        if let Some(path) = line.split_once("Read ").map(|(_, rest)| rest) {
            return Some(Wish::Read(path.split_whitespace().next()?));
        }
    }
    None
}

/// Returns the tool that fits a wish best, by its name.
fn tool<'a>(tools: &'a [(String, Value)], wish: Wish<'_>) -> Option<(&'a String, &'a Value)> {
    let names: &[&str] = match wish {
        Wish::Read(_) => &["read_file", "readfile", "read", "view", "open_file", "cat"],
        Wish::Write(..) => &["write_file", "writefile", "write", "create", "edit", "save"],
        Wish::Run(_) => &[
            "run_shell_command",
            "bash",
            "shell",
            "exec",
            "terminal",
            "run",
            "command",
        ],
    };
    let found = names.iter().find_map(|wanted| {
        let exact = tools.iter().find(|(name, _)| plain(name) == plain(wanted));
        exact.or_else(|| {
            tools
                .iter()
                .find(|(name, _)| plain(name).contains(&plain(wanted)))
        })
    });
    found.map(|(name, schema)| (name, schema))
}

/// Returns the command that does what is wanted.
fn in_shell(wish: Wish<'_>) -> String {
    match wish {
        Wish::Read(path) => format!("cat '{path}'"),
        Wish::Write(path, content) => format!("printf '%s' '{content}' > '{path}'"),
        Wish::Run(command) => command.to_owned(),
    }
}

fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '-'], "")
}

/// Fills in the parameters of a tool: those that are known by their names, and what else it needs.
fn arguments(schema: &Value, wish: Wish<'_>, directory: &Path) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|required| required.iter().any(|it| it.as_str() == Some(name)))
    };
    let mut filled = serde_json::Map::new();
    for (name, schema) in properties.into_iter().flatten() {
        let is_list = schema.get("type").and_then(Value::as_str) == Some("array");
        let description = schema.get("description").and_then(Value::as_str);
        let wants_absolute = description
            .into_iter()
            .chain([name.as_str()])
            .any(|words| words.to_ascii_lowercase().contains("absolute"));
        let value = match (plain(name).as_str(), wish) {
            ("command" | "cmd" | "script", Wish::Run(command)) if is_list => {
                Some(json!(["bash", "-c", command]))
            }
            ("command" | "cmd" | "script", Wish::Run(command)) => Some(json!(command)),
            (
                "content" | "contents" | "text" | "filetext" | "newstring" | "newtext",
                Wish::Write(_, text),
            ) => Some(json!(text)),
            (key, Wish::Read(path) | Wish::Write(path, _))
                if key.contains("path") || key == "file" || key == "filename" =>
            {
                let path = match wants_absolute {
                    true => directory.join(path).to_string_lossy().into_owned(),
                    false => path.to_owned(),
                };
                Some(match is_list {
                    true => json!([path]),
                    false => json!(path),
                })
            }
            _ if is_required(name) => Some(default(schema)),
            _ => None,
        };
        filled.extend(value.map(|value| (name.clone(), value)));
    }
    Value::Object(filled)
}

/// Returns a value that a schema takes.
fn default(schema: &Value) -> Value {
    let choices = schema.get("enum").and_then(Value::as_array);
    if let Some(first) = choices.and_then(|choices| choices.first()) {
        return first.clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => json!(false),
        Some("integer" | "number") => json!(1),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("check"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(asked: &Asked) -> Reply {
        super::reply(asked, Path::new("/work"))
    }

    fn asked(words: &str, tools: &[(&str, Value)]) -> Asked {
        let tools = tools.iter();
        Asked {
            words: words.to_owned(),
            has_result: false,
            tools: tools
                .map(|(name, it)| ((*name).to_owned(), it.clone()))
                .collect(),
        }
    }

    #[test]
    fn a_prompt_that_names_a_command_calls_the_tool_that_runs_it() {
        let shell = json!({"properties": {"command": {"type": "string"}, "why": {"type": "string"}}, "required": ["command", "why"]});
        let read = json!({"properties": {"file_path": {"type": "string"}}});
        let tools = [("Read", read), ("Bash", shell)];
        let run = reply(&asked("Run `echo checked`", &tools));
        let expected = json!({"command": "echo checked", "why": "check"});
        assert_eq!(run, Reply::Call("Bash".to_owned(), expected));
        let look = reply(&asked("Read README.md", &tools));
        assert_eq!(
            look,
            Reply::Call("Read".to_owned(), json!({"file_path": "README.md"}))
        );
    }

    #[test]
    fn an_agent_that_has_only_a_shell_reads_and_writes_with_it() {
        let shell = json!({"properties": {"cmd": {"type": "string"}}});
        for (words, command) in [
            ("Read README.md", "cat 'README.md'"),
            ("Write a.txt: text", "printf '%s' 'text' > 'a.txt'"),
        ] {
            let called = reply(&asked(words, &[("exec_command", shell.clone())]));
            let expected = Reply::Call("exec_command".to_owned(), json!({"cmd": command}));
            assert_eq!(called, expected);
        }
    }

    #[test]
    fn a_tool_that_wants_an_absolute_path_gets_one() {
        let path = json!({"type": "string", "description": "The absolute path of the file"});
        let read = json!({"properties": {"file_path": path}});
        let called = reply(&asked("Read README.md", &[("read_file", read)]));
        let expected = json!({"file_path": "/work/README.md"});
        assert_eq!(called, Reply::Call("read_file".to_owned(), expected));
    }

    #[test]
    fn a_turn_is_long_even_if_the_agent_lets_nobody_wait() {
        let refused = Asked {
            has_result: true,
            ..asked("Run `sleep 20`", &[])
        };
        assert!(matches!(reply(&refused), Reply::Linger(words) if words.len() > 10));
    }

    #[test]
    fn what_names_nothing_or_has_its_result_is_answered_in_a_word() {
        assert_eq!(
            reply(&asked("Reply with the one word: ready", &[])),
            Reply::Say("ready".to_owned())
        );
        let done = Asked {
            has_result: true,
            ..asked("Read README.md", &[])
        };
        assert_eq!(reply(&done), Reply::Say("Done.".to_owned()));
    }
}
