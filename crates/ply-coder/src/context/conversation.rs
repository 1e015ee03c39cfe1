//! The conversation as models see it: a projection of the session's history.
//!
//! Nothing else is kept, so a session that was loaded after a crash goes on like one that never ended.
//! Whatever happened to a turn, every call in it has a result here, as every service demands. Thoughts
//! of earlier turns are left out: services want them back only within a turn.

use ply_agent::History;
use ply_agent::transcript::{Entry, MessageKind, ToolCall};
use ply_agent::v2;
use serde_json::{Value, json};

use super::{compaction, content, notes};
use crate::commands::Command;
use crate::model::{Call, CallResult, Content, Facts, Message, Part};

/// The key of our metadata on tool calls.
const META: &str = "ply";
/// Says there what the card of a call tells the model, although no model called it.
const TELLS: &str = "tells";
/// Says there which request of its turn made the call: calls of one request are one message.
const STEP: &str = "step";
/// Names there the call whose sub-agent made the call.
const PARENT: &str = "parent";
/// The same, beside our own metadata, for clients that show such calls below that one.
const PARENT_CALL: &str = "parentToolCallId";
/// Says in a call's raw output what the model was told.
const TOLD: &str = "text";
/// What the model is told of a turn that the user ended.
const INTERRUPTED: &str = "the user interrupted this turn; do not go on with it unless they ask";
/// What the model is told of a call without a result.
const CUT_OFF: &str = "This call was cut off; it may have been done in part.";

/// Returns the metadata of a call that a request made.
pub(crate) fn step_meta(step: u64) -> v2::Meta {
    let mut meta = v2::Meta::new();
    meta.insert(META.to_owned(), json!({ STEP: step }));
    meta
}

/// Returns the metadata of a call that a request of a sub-agent made.
pub(crate) fn child_meta(step: u64, parent: &v2::ToolCallId) -> v2::Meta {
    let mut meta = v2::Meta::new();
    meta.insert(META.to_owned(), json!({ STEP: step, PARENT: parent }));
    meta.insert(PARENT_CALL.to_owned(), json!(parent));
    meta
}

/// What the text of a card tells the model that no model called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tells {
    /// What the prompt stands for.
    Prompt,
    /// A note of the program.
    Note,
}

impl Tells {
    const ALL: [(&str, Self); 2] = [("prompt", Self::Prompt), ("note", Self::Note)];

    fn of(call: &ToolCall) -> Option<Self> {
        let word = call.meta.get(META)?.get(TELLS)?.as_str()?;
        if call.status != v2::ToolCallStatus::Completed {
            // The turn ended before all of it was there.
            return None;
        }
        let mut all = Self::ALL.into_iter();
        all.find(|(known, _)| *known == word).map(|(_, it)| it)
    }
}

/// Returns the metadata of a card that tells the model something. Nothing but the history is kept, so what the
/// model was told has to be there, and where users see it they know what their words became.
pub(crate) fn tells(what: Tells) -> v2::Meta {
    let word = Tells::ALL.into_iter().find(|(_, it)| *it == what);
    let mut meta = v2::Meta::new();
    meta.insert(
        META.to_owned(),
        json!({ TELLS: word.map(|(word, _)| word) }),
    );
    meta
}

/// Returns a prompt as the model is told: what its words stand for, if they do, and what is attached.
pub(crate) fn prompt(
    blocks: &[v2::ContentBlock],
    expanded: Option<&str>,
    facts: &Facts,
) -> Vec<Content> {
    let Some(expanded) = expanded else {
        return content::of_blocks(blocks, facts);
    };
    let attached = blocks
        .iter()
        .filter(|block| !matches!(block, v2::ContentBlock::Text(_)));
    let attached =
        attached.flat_map(|block| content::of_blocks(std::slice::from_ref(block), facts));
    std::iter::once(Content::Text(expanded.to_owned()))
        .chain(attached)
        .collect()
}

/// Returns a call's raw output, which holds what the model is told.
pub(crate) fn raw_output(text: &str, failed: bool) -> Value {
    match failed {
        true => json!({ TOLD: text, "failed": true }),
        false => json!({ TOLD: text }),
    }
}

/// Returns a result with images that the model cannot see.
pub(crate) fn with_unseen(text: String, images: usize) -> String {
    let what = match images {
        1 => "An image belongs to this".to_owned(),
        many => format!("{many} images belong to this"),
    };
    format!("{text}\n[{what}, which you cannot see; tell the user so if it matters.]")
}

/// Returns the conversation of a session.
pub(crate) fn project(history: &History, facts: &Facts) -> Vec<Message> {
    let mut projection = Projection {
        facts,
        messages: Vec::new(),
        said: Vec::new(),
        results: Vec::new(),
        step: None,
        local: false,
        is_told: false,
        steered: Vec::new(),
        blocks: &[],
        prompt: Vec::new(),
    };
    let mut interrupted = history.interrupted().peekable();
    for (place, entry) in history.transcript().entries().enumerate() {
        if interrupted.next_if(|at| *at <= place).is_some() {
            projection.interrupted();
        }
        if history.is_refused(place) {
            continue;
        }
        match entry {
            Entry::Message(message) if history.is_steered(place) => {
                projection.steered(&message.content)
            }
            entry => projection.entry(entry),
        }
    }
    projection.flush();
    projection.messages
}

/// Makes a conversation that a service did not take as plain as it gets: no thoughts, no signatures,
/// no images, and a result for every call.
pub(crate) fn repair(messages: &mut Vec<Message>) {
    let mut open: Vec<(String, String)> = Vec::new();
    let mut repaired = Vec::with_capacity(messages.len());
    for message in messages.drain(..) {
        if !open.is_empty() && !matches!(message, Message::Results(_)) {
            repaired.push(Message::Results(missing(open.drain(..))));
        }
        match message {
            Message::User(mut contents) => {
                contents.retain(|content| matches!(content, Content::Text(_)));
                if contents.is_empty() {
                    contents.push(Content::Text(
                        "[An attachment that you cannot see.]".to_owned(),
                    ));
                }
                repaired.push(Message::User(contents));
            }
            Message::Assistant(mut parts) => {
                parts.retain(|part| !matches!(part, Part::Thought { .. }));
                for part in &mut parts {
                    if let Part::Call(call) = part {
                        call.signatures.clear();
                        open.push((call.id.clone(), call.name.clone()));
                    }
                }
                if !parts.is_empty() {
                    repaired.push(Message::Assistant(parts));
                }
            }
            Message::Results(mut results) => {
                results.retain(|result| open.iter().any(|(id, _)| *id == result.call));
                open.retain(|(id, _)| !results.iter().any(|result| result.call == *id));
                results.extend(missing(open.drain(..)));
                for result in &mut results {
                    result.images.clear();
                }
                if !results.is_empty() {
                    repaired.push(Message::Results(results));
                }
            }
        }
    }
    if !open.is_empty() {
        repaired.push(Message::Results(missing(open.drain(..))));
    }
    *messages = repaired;
}

fn missing(calls: impl Iterator<Item = (String, String)>) -> Vec<CallResult> {
    let results = calls.map(|(call, name)| CallResult {
        call,
        name,
        text: CUT_OFF.to_owned(),
        images: Vec::new(),
        failed: true,
    });
    results.collect()
}

struct Projection<'f> {
    facts: &'f Facts,
    messages: Vec<Message>,
    /// The message of the model that is being put together.
    said: Vec<Part>,
    /// The results of its calls.
    results: Vec<CallResult>,
    /// The request that made those calls.
    step: Option<u64>,
    /// Whether the turn was a command that no model heard of.
    local: bool,
    /// Whether it should hear what came of that command.
    is_told: bool,
    /// What the user said to the turn while it ran, until the request that was told of it.
    steered: Vec<Content>,
    /// What the user sent to begin the turn.
    blocks: &'f [v2::ContentBlock],
    /// The same, as the model is told.
    prompt: Vec<Content>,
}

impl<'f> Projection<'f> {
    fn entry(&mut self, entry: &'f Entry) {
        match entry {
            Entry::Message(message) if message.kind == MessageKind::User => {
                self.flush();
                let command = Command::parse(&message.text());
                self.local = command.is_some();
                self.is_told = command.is_some_and(|command| command.changes_files());
                self.prompt.clear();
                if !self.local {
                    self.blocks = &message.content;
                    self.prompt = prompt(self.blocks, None, self.facts);
                    self.user(self.prompt.clone());
                }
            }
            Entry::Compaction(compaction) => {
                if let Some(kept) = compaction::kept_by(compaction) {
                    // What was being said is part of the summary too; what it is about stays whole.
                    self.said.clear();
                    self.results.clear();
                    let steered = std::mem::take(&mut self.steered);
                    self.messages.clear();
                    self.user(kept);
                    self.user(self.prompt.clone());
                    self.user(steered);
                }
            }
            Entry::Message(message) if self.is_told && message.kind == MessageKind::Agent => {
                self.user(vec![Content::Text(notes::note(&message.text()))]);
            }
            _ if self.local => {}
            Entry::Message(message) if message.kind == MessageKind::Agent => {
                if !self.results.is_empty() || !self.steered.is_empty() {
                    self.flush();
                }
                let text = message.text();
                if !text.is_empty() {
                    self.said.push(Part::Text(text));
                }
            }
            Entry::ToolCall(call) => match Tells::of(call) {
                Some(Tells::Prompt) => self.expanded(&call.text()),
                Some(Tells::Note) => {
                    self.flush();
                    self.user(vec![Content::Text(call.text())]);
                }
                None => self.call(call),
            },
            _ => {}
        }
    }

    /// Puts what the prompt stands for in its place.
    fn expanded(&mut self, text: &str) {
        let Some(Message::User(last)) = self.messages.last_mut() else {
            return;
        };
        if !self.said.is_empty() || !last.ends_with(&self.prompt) {
            return;
        }
        last.truncate(last.len() - self.prompt.len());
        self.prompt = prompt(self.blocks, Some(text), self.facts);
        last.extend(self.prompt.clone());
    }

    /// Adds what the user said to the turn. Calls of one request stay one message, so it comes after their results, as the model
    /// was told.
    fn steered(&mut self, blocks: &[v2::ContentBlock]) {
        // Whatever the turn was, these words are for a model.
        (self.local, self.is_told) = (false, false);
        let said = prompt(blocks, None, self.facts);
        self.steered.extend(said);
        if self.results.is_empty() {
            self.flush();
        }
    }

    /// Notes that the user ended the turn before the model had.
    fn interrupted(&mut self) {
        self.flush();
        if !self.local && !self.messages.is_empty() {
            self.user(vec![Content::Text(notes::note(INTERRUPTED))]);
        }
    }

    /// Adds to what the user said: services want users and models to take turns.
    fn user(&mut self, content: Vec<Content>) {
        if content.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some(Message::User(last)) => last.extend(content),
            _ => self.messages.push(Message::User(content)),
        }
    }

    fn call(&mut self, call: &ToolCall) {
        // A call without a name is none of the model's, and one whose arguments never became complete
        // was never made.
        let (Some(name), Some(arguments)) = (&call.name, &call.raw_input) else {
            return;
        };
        let meta = call.meta.get(META);
        if meta.is_some_and(|meta| meta.get(PARENT).is_some()) {
            // What a sub-agent did is none of the agent's; it got the report.
            return;
        }
        let step = meta.and_then(|meta| meta.get(STEP)?.as_u64());
        if !self.results.is_empty() && step != self.step {
            self.flush();
        }
        self.step = step;
        let id = call.id.0.to_string();
        self.said.push(Part::Call(Call {
            id: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
            signatures: Vec::new(),
        }));
        self.results.push(result(id, name, call, self.facts));
    }

    fn flush(&mut self) {
        if !self.said.is_empty() {
            if self.messages.is_empty() {
                // The beginning was lost, for instance to damage on disk.
                let words = "the beginning of the conversation is lost";
                self.user(vec![Content::Text(notes::note(words))]);
            }
            let said = std::mem::take(&mut self.said);
            self.messages.push(Message::Assistant(said));
        }
        if !self.results.is_empty() {
            let results = std::mem::take(&mut self.results);
            self.messages.push(Message::Results(results));
        }
        let steered = std::mem::take(&mut self.steered);
        self.user(steered);
        self.step = None;
    }
}

/// Returns what the model was told of a call. One that was cut off gets a result that says so.
fn result(id: String, name: &str, call: &ToolCall, facts: &Facts) -> CallResult {
    let told = call.raw_output.as_ref();
    let told = told.and_then(|raw| raw.get(TOLD)?.as_str());
    let failed = call.status != v2::ToolCallStatus::Completed;
    let text = match told {
        Some(told) => told.to_owned(),
        None if call.status == v2::ToolCallStatus::Cancelled => {
            "The user interrupted this call; it may have been done in part.".to_owned()
        }
        None => CUT_OFF.to_owned(),
    };
    let images = images(call);
    let (text, images) = match images.is_empty() || facts.images {
        true => (text, images),
        false => (with_unseen(text, images.len()), Vec::new()),
    };
    CallResult {
        call: id,
        name: name.to_owned(),
        text,
        images,
        failed,
    }
}

/// Returns the images that a call showed.
fn images(call: &ToolCall) -> Vec<Content> {
    let image = |mime_type: String, data: &str| Content::Image {
        mime_type,
        data: data.to_owned(),
    };
    let shown = call.content.iter().filter_map(|content| match content {
        v2::ToolCallContent::Content(content) => match &content.content {
            v2::ContentBlock::Image(shown) => Some(image(shown.mime_type.to_string(), &shown.data)),
            v2::ContentBlock::Resource(embedded) => match &embedded.resource {
                v2::EmbeddedResourceResource::BlobResourceContents(blob) => {
                    let mime_type = blob.mime_type.as_ref().map(ToString::to_string);
                    let mime_type = mime_type.filter(|kind| kind.starts_with("image/"));
                    mime_type.map(|mime_type| image(mime_type, &blob.blob))
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    shown.collect()
}

#[cfg(test)]
mod tests;
