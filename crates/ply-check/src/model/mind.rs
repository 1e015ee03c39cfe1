//! What the scripted model answers.

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

/// Answers what is asked.
pub(super) fn reply(asked: &Asked) -> Reply {
    let words = asked.words.trim();
    let call = wish(words).filter(|_| !asked.has_result);
    let call = call.and_then(|wish| {
        let (name, schema) = tool(&asked.tools, wish)?;
        Some(Reply::Call(name.clone(), arguments(schema, wish)))
    });
    call.unwrap_or_else(|| {
        Reply::Say(match asked.has_result {
            true => "Done.".to_owned(),
            false => "ready".to_owned(),
        })
    })
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

fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '-'], "")
}

/// Fills in the parameters of a tool: those that are known by their names, and what else it needs.
fn arguments(schema: &Value, wish: Wish<'_>) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|required| required.iter().any(|it| it.as_str() == Some(name)))
    };
    let mut filled = serde_json::Map::new();
    for (name, schema) in properties.into_iter().flatten() {
        let is_list = schema.get("type").and_then(Value::as_str) == Some("array");
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
