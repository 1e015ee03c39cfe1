//! The tool `task`: work that a sub-agent does, in a conversation of its own.

use ply_agent::v2;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Order, Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;
use crate::text;

/// The tool's name.
pub const NAME: &str = "task";
/// Characters of a task's description that are shown.
const DESCRIPTION_CHARS_MAX: usize = 60;
/// The tools of a sub-agent that only reads.
const READING: [&str; 6] = [
    "read_file",
    "list_dir",
    "glob",
    "grep",
    "web_fetch",
    "think",
];
/// The tools that no sub-agent has: it starts no others, and the user and the plan belong to the agent.
const WITHHELD: [&str; 3] = [NAME, "ask_user", "update_plan"];

/// What a sub-agent is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delegated {
    /// The task in a few words, for people.
    pub description: String,
    /// The task, for the sub-agent.
    pub prompt: String,
    /// What it may do.
    pub access: TaskAccess,
}

/// What a sub-agent may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskAccess {
    /// Look at files and pages.
    Read,
    /// What the agent may do.
    Write,
}

impl TaskAccess {
    const WORDS: [(&'static str, Self); 2] = [("read", Self::Read), ("write", Self::Write)];

    /// Says whether a sub-agent with this access has a tool that is built in.
    #[must_use]
    pub fn includes(self, tool: &str) -> bool {
        match self {
            Self::Read => READING.contains(&tool),
            Self::Write => !WITHHELD.contains(&tool),
        }
    }
}

/// Starts a sub-agent and waits for what it reports.
#[derive(Debug, Clone, Copy)]
pub struct Task;

impl Tool for Task {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description:
                "Has a sub-agent do a task and returns its final message. It works with the same model and project, but \
                 in a conversation of its own: it sees nothing of this one, so the prompt must say everything it needs \
                 and what it should report. Use it to search or read a lot when only the conclusion matters, and for \
                 independent pieces of work: tasks with access `read` that are called in one answer run in parallel, \
                 those with `write` one after the other. Do not use it for what one or two calls can do."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "description": { "type": "string", "description": "The task in 3 to 6 words, for the user" },
                    "prompt": { "type": "string", "description": "The task, with all that is needed to do it" },
                    "access": {
                        "type": "string",
                        "enum": ["read", "write"],
                        "description": "`read` (default) only reads and searches files; `write` may also change them and \
                                        run commands",
                    },
                },
                "required": ["description", "prompt"],
            }),
        }
    }

    /// Until its arguments are known it may be one that acts.
    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Other
    }

    fn only_reads(&self, arguments: &Value) -> bool {
        read(arguments.clone()).is_ok_and(|task| task.access == TaskAccess::Read)
    }

    /// A sub-agent ends what it started.
    fn tidies_up(&self) -> bool {
        true
    }

    fn prepare<'t>(&'t self, given: Value, context: ToolContext<'t>) -> Preparing<'t> {
        Box::pin(async move {
            let task = read(given)?;
            let title = format!("Sub-agent: {}", task.description);
            let work = async move { context.surface.delegate(task).await };
            let mut prepared = Prepared::new(title, self.kind(), work);
            prepared.order = Order::Apart;
            Ok(prepared)
        })
    }
}

fn read(given: Value) -> Result<Delegated, Outcome> {
    let arguments = Arguments::new(given)?;
    let (description, prompt) = (arguments.text("description")?, arguments.text("prompt")?);
    let access = arguments.word("access", &TaskAccess::WORDS)?;
    if prompt.trim().is_empty() {
        return Err(arguments.wrong("prompt", "is empty; say what the sub-agent is to do"));
    }
    // Models leave it empty at times, and the user should still see what it is about.
    let described = match description.trim() {
        "" => &prompt,
        _ => &description,
    };
    Ok(Delegated {
        description: text::first_line(described, DESCRIPTION_CHARS_MAX),
        prompt,
        access: access.unwrap_or(TaskAccess::Read),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_only_reads_unless_it_says_otherwise() {
        let task = |access: Value| json!({ "description": "x", "prompt": "y", "access": access });
        assert!(Task.only_reads(&task(Value::Null)));
        assert!(Task.only_reads(&task(json!("read"))));
        assert!(!Task.only_reads(&task(json!("write"))));
        assert!(!Task.only_reads(&task(json!("all"))));
        assert!(!Task.only_reads(&json!({ "description": "x" })));
    }

    #[test]
    fn what_is_wrong_with_a_task_is_said() {
        let words = |given: Value| read(given).unwrap_err().text;
        assert_eq!(
            words(json!({ "description": "x", "prompt": " " })),
            "The argument `prompt` is empty; say what the sub-agent is to do."
        );
        assert_eq!(
            words(json!({ "description": "x", "prompt": "y", "access": "all" })),
            "The argument `access` must be one of read, write."
        );
    }

    #[test]
    fn a_task_without_a_description_is_described_by_its_prompt() {
        let task = read(json!({ "description": "", "prompt": "\nFind the parser\nand more" }));
        assert_eq!(task.unwrap().description, "Find the parser");
    }

    #[test]
    fn no_sub_agent_starts_another_or_speaks_for_the_agent() {
        for access in [TaskAccess::Read, TaskAccess::Write] {
            for tool in WITHHELD {
                assert!(!access.includes(tool), "{access:?} {tool}");
            }
            assert!(access.includes("read_file"));
        }
        assert!(!TaskAccess::Read.includes("shell") && TaskAccess::Write.includes("shell"));
    }
}
