//! The model that needs no network: it looks things up and reports them.
//!
//! It makes the first run useful without a key, and tests deterministic. It answers the questions that
//! people ask first about a project, and drives every tool through the same loop as any other model. What
//! it says next follows from the conversation alone.
//!
//! `intent` reads a prompt; `survey` looks at a project, with `project` (manifests), `tally` (sizes) and
//! `readme`; `repository`, `path`, `search`, `history` and `checks` each answer one sort of question, and
//! `commands` are sentences that name a tool. `words` is what it says about itself.

mod checks;
mod commands;
mod history;
mod intent;
mod names;
mod outline;
mod path;
mod project;
mod readme;
mod repository;
mod script;
mod search;
mod survey;
mod tally;
mod turn;
mod words;

use futures::stream;

use self::script::Reply;
use super::{
    Call, Content, Delta, Deltas, Facts, Failure, Message, Model, Request, Stopped, Usage,
};
use crate::BoxFuture;
use crate::context::budget;
use crate::context::content::ATTACHED_UNSEEN;

/// Its name in configuration and in the model option.
pub const ID: &str = "offline";

/// The model that needs no network.
#[derive(Debug)]
pub struct Offline {
    facts: Facts,
}

impl Default for Offline {
    fn default() -> Self {
        Self::new()
    }
}

impl Offline {
    /// Returns the model.
    #[must_use]
    pub fn new() -> Self {
        let mut facts = Facts::new(ID);
        facts.name = "Offline (rules, no language model)".to_owned();
        Self { facts }
    }
}

impl Model for Offline {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Deltas, Failure>> {
        let deltas = deltas(request).into_iter().map(Ok);
        Box::pin(async { Ok(Box::pin(stream::iter(deltas)) as Deltas) })
    }
}

/// Returns the whole answer to a request.
fn deltas(request: &Request) -> Vec<Delta> {
    let reply = reply(&request.messages);
    let mut deltas = Vec::new();
    deltas.extend(words(&reply.text).map(|word| Delta::Text(word.to_owned())));
    let round = request.messages.len();
    for (place, (name, arguments)) in reply.calls.into_iter().enumerate() {
        let id = format!("offline-{round}-{place}");
        let name = name.to_owned();
        let json = arguments.to_string();
        deltas.push(Delta::CallStarted {
            place,
            id: id.clone(),
            name: name.clone(),
        });
        deltas.push(Delta::CallArguments { place, json });
        let call = Call {
            id,
            name,
            arguments,
            signatures: Vec::new(),
        };
        deltas.push(Delta::CallEnded { place, call });
    }
    deltas.push(Delta::Usage(Usage {
        input_tokens: budget::tokens(request),
        output_tokens: reply.text.len().div_ceil(4) as u64,
        ..Usage::default()
    }));
    deltas.push(Delta::Stopped(Stopped::End));
    deltas
}

/// Returns what comes next in a conversation.
fn reply(messages: &[Message]) -> Reply {
    let (contents, since) = split(messages);
    let prompt = text_of(contents);
    if prompt.starts_with(crate::context::compaction::ASK_BEGINS) {
        return Reply::say(script::sum_up(messages));
    }
    let unseen = contents.iter().filter(|content| is_unseen(content)).count();
    if unseen > 0 && prompt.is_empty() {
        return Reply::say(words::unseen(unseen));
    }
    let mut reply = script::next(&prompt, since);
    // Said once, with the answer.
    if unseen > 0 && reply.calls.is_empty() {
        reply.text = format!("{}\n{}", words::unseen(unseen), reply.text);
    }
    reply
}

/// Returns the newest message of the user, and what was said since. Notes of the loop are no prompts.
fn split(messages: &[Message]) -> (&[Content], &[Message]) {
    for (place, message) in messages.iter().enumerate().rev() {
        if let Message::User(contents) = message {
            let is_said = !text_of(contents).is_empty() || contents.iter().any(is_unseen);
            if is_said {
                return (contents, messages.get(place + 1..).unwrap_or(&[]));
            }
        }
    }
    (&[], &[])
}

/// Says whether something was attached that this model cannot look at.
fn is_unseen(content: &Content) -> bool {
    match content {
        Content::Text(text) => text.starts_with(ATTACHED_UNSEEN),
        Content::Image { .. } | Content::Audio { .. } => true,
    }
}

/// Returns the last thing a user said in a message; a shortened conversation begins with a summary.
fn text_of(contents: &[Content]) -> String {
    let texts = contents.iter().rev().filter_map(|content| match content {
        Content::Text(text) if !text.starts_with(['[', '<']) => Some(text.trim()),
        _ => None,
    });
    texts.into_iter().next().unwrap_or("").to_owned()
}

/// Cuts a text as a stream would: behind every white space.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(prompt: &str) -> Vec<Delta> {
        let request = Request {
            messages: vec![Message::User(vec![Content::Text(prompt.to_owned())])],
            ..Request::default()
        };
        deltas(&request)
    }

    #[test]
    fn the_same_prompt_gets_the_same_answer() {
        assert_eq!(ask("read a.txt"), ask("read a.txt"));
    }

    #[test]
    fn an_answer_ends_with_its_stop_reason() {
        for prompt in ["read a.txt", "what is love?", "", "explain this repository"] {
            let deltas = ask(prompt);
            assert!(
                matches!(deltas.last(), Some(Delta::Stopped(Stopped::End))),
                "{prompt}"
            );
        }
    }
}
