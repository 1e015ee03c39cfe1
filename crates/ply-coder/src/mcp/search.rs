//! Tools that are too many to be listed: a model looks for those that it needs.
//!
//! The tools that were found are listed behind all others, in the order in which they were found, so that what a service has cached
//! of a request stays good.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use ply_agent::v2;
use serde_json::{Value, json};

use super::Servers;
use super::remote::Remote;
use crate::model::ToolSpec;
use crate::text::{head, short};
use crate::tool::{Arguments, Outcome, Prepared, Preparing, Tool, ToolContext};

/// How many tools of servers are listed; where there are more, none is before it was found.
pub(crate) const LISTED_MAX: usize = 40;
/// How many tools one search finds.
const FOUND_MAX: usize = 10;
/// How many tools a session may have found.
const TAKEN_MAX: usize = 128;
/// How much one search tells, in bytes.
const ANSWER_BYTES_MAX: usize = 48 * 1024;
/// How much of a query is looked at, in bytes.
const QUERY_BYTES_MAX: usize = 1024;
/// How long a query may be in a title, in characters.
const TITLE_CHARS_MAX: usize = 60;
/// The name of the tool.
pub(crate) const NAME: &str = "tool_search";

/// The names of the tools that were found in a session, in the order of being found.
#[derive(Debug, Default)]
pub(crate) struct Taken(Mutex<Vec<String>>);

impl Taken {
    /// Makes tools available that were found, or called before.
    pub(crate) fn add<'n>(&self, names: impl IntoIterator<Item = &'n str>) {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            if taken.len() < TAKEN_MAX && !taken.iter().any(|known| known == name) {
                taken.push(name.to_owned());
            }
        }
    }

    fn names(&self) -> Vec<String> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.clone()
    }
}

/// The tools of servers that a request offers.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// The names of those that must be found first.
    pub(crate) hidden: HashSet<String>,
}

impl Servers {
    /// Returns the tools to offer: all of them, or the search and those that were found.
    ///
    /// # Cancel safety
    ///
    /// As for [`Servers::tools`].
    pub(crate) async fn offered(&self, taken: &Arc<Taken>) -> Offered {
        let remotes = self.remotes().await;
        let resources = self.resource_tools().into_iter();
        if remotes.len() <= LISTED_MAX {
            let tools = remotes.into_iter().map(|tool| tool as Arc<dyn Tool>);
            return Offered {
                tools: resources.chain(tools).collect(),
                hidden: HashSet::new(),
            };
        }
        let names = taken.names();
        let found = names.iter().filter_map(|name| {
            let mut remotes = remotes.iter();
            let found = remotes.find(|remote| remote.name == *name)?;
            Some(Arc::clone(found) as Arc<dyn Tool>)
        });
        let found: Vec<_> = found.collect();
        let hidden = remotes.iter().map(|remote| remote.name.clone());
        let hidden = hidden.filter(|name| !names.contains(name)).collect();
        let search: Arc<dyn Tool> = Arc::new(ToolSearch {
            taken: Arc::clone(taken),
            remotes,
        });
        Offered {
            tools: resources.chain([search]).chain(found).collect(),
            hidden,
        }
    }
}

/// The tool that finds others.
#[derive(Debug)]
struct ToolSearch {
    remotes: Vec<Arc<Remote>>,
    taken: Arc<Taken>,
}

impl Tool for ToolSearch {
    fn spec(&self) -> ToolSpec {
        let mut servers: Vec<(&str, usize)> = Vec::new();
        for remote in &self.remotes {
            match servers.last_mut() {
                Some((name, count)) if *name == remote.server.name => *count += 1,
                _ => servers.push((&remote.server.name, 1)),
            }
        }
        let servers: Vec<_> = servers
            .iter()
            .map(|(name, count)| format!("`{name}` ({count} tools)"))
            .collect();
        ToolSpec {
            name: NAME.to_owned(),
            description: format!(
                "Finds tools of MCP servers by words in their names and descriptions, at most {FOUND_MAX} at a time, and makes \
                 them available from your next answer on. Tools of MCP servers that you do not have must be found first. \
                 Servers: {}.",
                servers.join(", ")
            ),
            schema: json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "Words that the tool should have, such as `issue comment`, or its exact name."
                    }
                },
                "required": ["query"],
                "additionalProperties": false
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Search
    }

    fn prepare<'t>(&'t self, arguments: Value, _context: ToolContext<'t>) -> Preparing<'t> {
        let prepared = Arguments::new(arguments).and_then(|arguments| {
            let query = arguments.text("query")?;
            let query = head(query.trim(), QUERY_BYTES_MAX).to_owned();
            if query.is_empty() {
                return Err(
                    arguments.wrong("query", "is empty; say words of the tool that you look for")
                );
            }
            let title = format!("Find tools: {}", short(&query, TITLE_CHARS_MAX));
            Ok(Prepared::new(title, self.kind(), async move {
                self.search(&query)
            }))
        });
        Box::pin(std::future::ready(prepared))
    }
}

impl ToolSearch {
    fn search(&self, query: &str) -> Outcome {
        let mut found: Vec<(u32, &Arc<Remote>)> = Vec::new();
        for remote in &self.remotes {
            let score = score(query, &remote.name, &remote.own_words());
            if score > 0 {
                found.push((score, remote));
            }
        }
        // Sorting keeps the order of the list among those that are as good.
        found.sort_by_key(|(score, _)| Reverse(*score));
        let more = found.len().saturating_sub(FOUND_MAX);
        found.truncate(FOUND_MAX);
        if found.is_empty() {
            return Outcome::done("No tool matches. Try other words, or fewer.");
        }
        self.taken
            .add(found.iter().map(|(_, remote)| remote.name.as_str()));
        let mut text = String::from("You can call these from your next answer on:\n");
        for (_, remote) in &found {
            let spec = remote.spec();
            let whole = format!("\n{}\n{}\n{}\n", spec.name, spec.description, spec.schema);
            match text.len() + whole.len() <= ANSWER_BYTES_MAX {
                true => text.push_str(&whole),
                // The list of tools has it from now on.
                false => text.push_str(&format!("\n{}\n", spec.name)),
            }
        }
        if more > 0 {
            text.push_str(&format!(
                "\n{more} more match; use further words to find them."
            ));
        }
        let names: Vec<_> = found.iter().map(|(_, remote)| &*remote.name).collect();
        Outcome::done(text).shown(names.join("\n"))
    }
}

/// Says how well a tool fits a query: names weigh more than descriptions, whole words more than parts.
fn score(query: &str, name: &str, description: &str) -> u32 {
    let query = query.to_lowercase();
    let (name, description) = (name.to_lowercase(), description.to_lowercase());
    if query == name {
        return u32::MAX;
    }
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let (in_name, in_description) = (words(&name), words(&description));
    let weigh = |word: &String| match word {
        word if in_name.contains(word) => 8,
        word if name.contains(word.as_str()) => 4,
        word if in_description.contains(word) => 3,
        word if description.contains(word.as_str()) => 1,
        _ => 0,
    };
    words(&query).iter().map(weigh).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_weigh_more_than_descriptions_and_whole_words_more_than_parts() {
        let score = |name: &str, description: &str| score("create issue", name, description);
        let whole = score("mcp__github__create_issue", "");
        let part = score("mcp__github__recreate_issues", "");
        let described = score("mcp__github__open", "Create an issue.");
        let half = score("mcp__github__open", "An issue.");
        assert!(whole > part && part > described && described > half && half > 0);
        assert_eq!(score("mcp__github__list", "Lists repositories."), 0);
    }

    #[test]
    fn the_exact_name_comes_first() {
        assert_eq!(score("mcp__a__b", "mcp__a__b", ""), u32::MAX);
    }

    #[test]
    fn what_was_found_stays_in_its_order_and_is_bounded() {
        let taken = Taken::default();
        taken.add(["b", "a"]);
        taken.add(["c", "b"]);
        assert_eq!(taken.names(), ["b", "a", "c"]);
        let many: Vec<_> = (0..1_000).map(|number| number.to_string()).collect();
        taken.add(many.iter().map(String::as_str));
        assert_eq!(taken.names().len(), TAKEN_MAX);
    }
}
