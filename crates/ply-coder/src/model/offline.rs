//! The model that needs no network: rules in place of wit.
//!
//! It makes the first run work without a key, and tests deterministic. It understands a few sentences,
//! says so, and drives every tool through the same loop as any other model. What it says next follows from
//! the conversation alone.

mod explain;
mod grammar;
mod script;

use futures::stream;

use self::script::Reply;
use super::{
    Call, Content, Delta, Deltas, Facts, Failure, Message, Model, Request, Stopped, Usage,
};
use crate::BoxFuture;
use crate::context::budget;

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
    let (prompt, since) = split(&request.messages);
    let reply = match prompt.starts_with(crate::context::compaction::ASK_BEGINS) {
        true => Reply::say(script::sum_up(&request.messages)),
        false => script::next(&prompt, since),
    };
    let mut deltas = Vec::new();
    if let Some(thought) = reply.thought {
        deltas.push(Delta::Thought(thought));
    }
    deltas.extend(words(&reply.text).map(|word| Delta::Text(word.to_owned())));
    let round = since.len();
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
        cached_tokens: 0,
    }));
    deltas.push(Delta::Stopped(Stopped::End));
    deltas
}

/// Returns the newest prompt, and what was said since. Notes of the loop, in brackets, are no prompts.
fn split(messages: &[Message]) -> (String, &[Message]) {
    for (place, message) in messages.iter().enumerate().rev() {
        if let Message::User(contents) = message {
            let prompt = text_of(contents);
            if !prompt.is_empty() {
                return (prompt, messages.get(place + 1..).unwrap_or(&[]));
            }
        }
    }
    (String::new(), &[])
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
