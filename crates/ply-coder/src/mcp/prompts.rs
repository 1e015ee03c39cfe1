//! Prompts of servers: texts that a user asks for by name, as `/server:prompt`.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, PaginatedRequestParams, ResourceContents, Role,
};
use rmcp::service::{Peer, ServiceError};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::server::Server;
use super::{Servers, catalog, stdio, words};
use crate::text::middle_cut;

/// How many prompts of one server are taken.
const PROMPTS_MAX: usize = 100;
/// How many pages its list may have.
const PAGES_MAX: usize = 16;
/// How many arguments one prompt may have.
const ARGUMENTS_MAX: usize = 16;
/// How long the name of a prompt or of an argument may be, in bytes.
const NAME_BYTES_MAX: usize = 128;
/// How long a description may be, in characters.
const DESCRIPTION_CHARS_MAX: usize = 200;
/// How long the text of a prompt may be, in bytes.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// A prompt of a server, as a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerPrompt {
    /// What the user types behind the slash: `server:prompt`.
    pub command: String,
    /// What it does, in the server's words.
    pub description: String,
    /// Its arguments by position, such as `issue [branch]`; none if it takes none.
    pub hint: Option<String>,
}

/// A prompt, as its server lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    name: String,
    description: String,
    /// Name of each argument, and whether it must be given.
    arguments: Vec<(String, bool)>,
}

impl Listed {
    fn hint(&self) -> Option<String> {
        let arguments = self.arguments.iter().map(|(name, required)| {
            let name = words::line(name, NAME_BYTES_MAX);
            if *required { name } else { format!("[{name}]") }
        });
        let hint = arguments.collect::<Vec<_>>().join(" ");
        (!hint.is_empty()).then_some(hint)
    }

    /// Gives the words of the user to the arguments by position; the last one takes all that are left.
    fn filled(&self, given: &str) -> Result<Map<String, Value>, String> {
        let mut filled = Map::new();
        let mut rest = given.trim();
        for (place, (name, required)) in self.arguments.iter().enumerate() {
            let is_last = place + 1 == self.arguments.len();
            let (word, after) = match rest.split_once(char::is_whitespace) {
                Some(parts) if !is_last => parts,
                _ => (rest, ""),
            };
            rest = after.trim_start();
            if !word.is_empty() {
                filled.insert(name.clone(), Value::from(word));
            } else if *required {
                let hint = self.hint().unwrap_or_default();
                return Err(format!("This command needs more: {hint}."));
            }
        }
        Ok(filled)
    }
}

/// Asks a server for its prompts.
pub(super) async fn ask(peer: &Peer<RoleClient>) -> Result<Vec<Listed>, ServiceError> {
    let mut listed: Vec<Listed> = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let mut params = PaginatedRequestParams::default();
        params.cursor = cursor;
        let page = peer.list_prompts(Some(params)).await?;
        for prompt in page.prompts {
            let arguments = prompt.arguments.unwrap_or_default();
            let named = |name: &str| !name.is_empty() && name.len() <= NAME_BYTES_MAX;
            let sound = named(&prompt.name)
                && arguments.len() <= ARGUMENTS_MAX
                && arguments.iter().all(|argument| named(&argument.name));
            if sound && listed.len() < PROMPTS_MAX {
                let description = prompt.description.as_deref().unwrap_or_default();
                let arguments = arguments.into_iter();
                listed.push(Listed {
                    description: words::line(description, DESCRIPTION_CHARS_MAX),
                    arguments: arguments
                        .map(|argument| (argument.name, argument.required == Some(true)))
                        .collect(),
                    name: prompt.name,
                });
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() || listed.len() >= PROMPTS_MAX {
            break;
        }
    }
    Ok(listed)
}

impl Servers {
    /// Returns the prompts of all servers that are connected. Of two with one name the first counts.
    #[must_use]
    pub fn prompts(&self) -> Vec<ServerPrompt> {
        let mut prompts: Vec<ServerPrompt> = Vec::new();
        for (server, listed) in self.listed_prompts() {
            let command = command(&server, &listed);
            if !prompts.iter().any(|known| known.command == command) {
                prompts.push(ServerPrompt {
                    hint: listed.hint(),
                    description: listed.description,
                    command,
                });
            }
        }
        prompts
    }

    /// Asks a server for the text that a command stands for, with what the user wrote behind it. None if no prompt has that
    /// command.
    ///
    /// # Errors
    ///
    /// An argument is missing, or the server cannot be reached or refuses. The words are for the user.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the request.
    pub async fn expand_prompt(&self, name: &str, given: &str) -> Option<Result<String, String>> {
        let mut listed = self.listed_prompts().into_iter();
        let (server, listed) = listed.find(|(server, listed)| command(server, listed) == name)?;
        let expanded = expand(&server, &listed, given).await;
        Some(expanded)
    }

    fn listed_prompts(&self) -> Vec<(Arc<Server>, Listed)> {
        let servers = self.servers().into_iter();
        let listed = servers.flat_map(|server| {
            let prompts = server.prompts().into_iter();
            prompts.map(move |listed| (Arc::clone(&server), listed))
        });
        listed.collect()
    }
}

fn command(server: &Server, listed: &Listed) -> String {
    format!("{}:{}", server.key, catalog::plain_name(&listed.name))
}

async fn expand(server: &Server, listed: &Listed, given: &str) -> Result<String, String> {
    let arguments = listed.filled(given)?;
    let failed = |problem: String| format!("The MCP server `{}` failed: {problem}.", server.name);
    let link = server.link().await.map_err(failed)?;
    let mut params = GetPromptRequestParams::new(listed.name.clone());
    params.arguments = (!arguments.is_empty()).then_some(arguments);
    let answer = timeout(server.settings.connect, link.peer.get_prompt(params)).await;
    let answer = answer
        .map_err(|_| failed(stdio::no_answer(server.settings.connect)))?
        .map_err(|error| failed(words::request(&error)))?;
    let messages = answer.messages.into_iter().map(|message| {
        let text = match message.content {
            ContentBlock::Text(text) => text.text,
            ContentBlock::Resource(resource) => match resource.resource {
                ResourceContents::TextResourceContents { text, .. } => text,
                _ => "[left out: a resource that is not text]".to_owned(),
            },
            _ => "[left out: something that is not text]".to_owned(),
        };
        match message.role {
            Role::Assistant => format!("An answer that you would give:\n{text}"),
            _ => text,
        }
    });
    let text = messages.collect::<Vec<_>>().join("\n\n");
    match text.trim().is_empty() {
        true => Err(failed("its prompt is empty".to_owned())),
        false => Ok(middle_cut(&text, TEXT_BYTES_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_to_arguments_by_position_and_the_last_takes_the_rest() {
        let listed = Listed {
            name: "review".to_owned(),
            description: String::new(),
            arguments: vec![("issue".to_owned(), true), ("why".to_owned(), false)],
        };
        let check = |given: &str, expected: &str| {
            let filled = listed.filled(given).map(Value::Object);
            assert_eq!(filled.unwrap().to_string(), expected, "{given}");
        };
        check("7", r#"{"issue":"7"}"#);
        check(
            " 7  it is  broken",
            r#"{"issue":"7","why":"it is  broken"}"#,
        );
        let missing = listed.filled(" ").unwrap_err();
        assert!(missing.contains("issue [why]"), "{missing}");
    }
}
