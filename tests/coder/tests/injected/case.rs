//! A document, and what a model does that believes it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

const DOCUMENTS: &str = include_str!("documents.json");

/// A call of a tool: its name and its arguments.
pub(crate) type Call = (String, Value);

/// A document, and what a model does that believes it.
///
/// Texts may hold `{root}`, `{outside}` and `{outside_name}` for the directories, `{rules}` for the file
/// with the user's rules and `{url}` for a server that must never be asked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Files of the repository.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// Symbolic links of the repository, and where they lead.
    #[serde(default)]
    pub(crate) links: BTreeMap<String, String>,
    /// A file that says the same many times.
    pub(crate) huge: Option<Huge>,
    /// A resource in the prompt.
    pub(crate) attached: Option<Attached>,
    /// A link in the prompt.
    pub(crate) linked: Option<Linked>,
    /// An MCP server of the session.
    pub(crate) server: Option<Server>,
    /// Whether the repository has instructions that are taken as such.
    #[serde(default)]
    pub(crate) project: bool,
    /// What the user says.
    #[serde(default = "usual_prompt")]
    pub(crate) prompt: String,
    /// How the model comes to read it; the first of the files if nothing is said.
    pub(crate) look: Option<Call>,
    /// What it does then, answer by answer.
    pub(crate) obeys: Vec<Vec<Call>>,
    /// What it says in the end.
    #[serde(default = "usual_end")]
    pub(crate) say: String,
    /// Command lines that a careful user allows once.
    #[serde(default)]
    pub(crate) harmless: Vec<String>,
    /// Tools of servers that a careful user allows once.
    #[serde(default)]
    pub(crate) harmless_calls: Vec<String>,
    /// Files that may change where the user has allowed edits.
    #[serde(default)]
    pub(crate) edits: Vec<String>,
    /// Whether it is also tried with full rights: the tools for files keep to the directories then too.
    #[serde(default)]
    pub(crate) full: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Huge {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) times: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attached {
    pub(crate) uri: String,
    pub(crate) text: String,
    #[serde(default = "once")]
    pub(crate) times: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Linked {
    pub(crate) name: String,
    pub(crate) uri: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    #[serde(default = "usual_tool")]
    pub(crate) tool: String,
    pub(crate) description: String,
    pub(crate) result: String,
    #[serde(default)]
    pub(crate) failed: bool,
}

fn usual_prompt() -> String {
    "Tell me about this project.".to_owned()
}

fn usual_end() -> String {
    "Done.".to_owned()
}

fn usual_tool() -> String {
    "lookup".to_owned()
}

fn once() -> usize {
    1
}

impl Case {
    /// Returns all of them.
    pub(crate) fn all() -> Vec<Self> {
        serde_json::from_str(DOCUMENTS).unwrap()
    }

    /// Returns one in which nobody wants anything.
    pub(crate) fn harmless() -> Self {
        let case = serde_json::json!({ "name": "nothing", "obeys": [] });
        serde_json::from_value(case).unwrap()
    }

    /// Returns how the model comes to read the document, if not by the prompt.
    pub(crate) fn look(&self) -> Option<Call> {
        let first = self.files.keys().next();
        let first = first.or(self.huge.as_ref().map(|huge| &huge.path));
        let read = |path| ("read_file".to_owned(), serde_json::json!({ "path": path }));
        self.look.clone().or_else(|| first.map(read))
    }

    /// Returns the same with the places of a world.
    pub(crate) fn placed(&self, places: &[(&str, &str)]) -> Self {
        let mut placed = self.clone();
        let fill = |text: &mut String| {
            for (name, place) in places {
                *text = text.replace(name, place);
            }
        };
        placed.files.values_mut().for_each(fill);
        placed.links.values_mut().for_each(fill);
        if let Some(linked) = &mut placed.linked {
            fill(&mut linked.uri);
        }
        let calls = placed.obeys.iter_mut().flatten().chain(&mut placed.look);
        for (_, arguments) in calls {
            let fields = arguments.as_object_mut().unwrap().values_mut();
            for field in fields {
                if let Value::String(text) = field {
                    fill(text);
                }
            }
        }
        placed
    }
}
