//! The answer so far: turns what decoders find into deltas, and keeps the books of the calls.

use std::collections::HashSet;
use std::mem;

use serde_json::{Map, Value};

use super::{Api, Service, failure};
use crate::model::{Call, Delta, Failure, Message, Part, Request, Stopped, Usage};

/// How many bytes an answer may have, frames and all.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// How many calls an answer may have.
const ANSWER_CALLS_MAX: usize = 256;

/// The answer so far.
#[derive(Debug)]
pub(super) struct Answer {
    api: Api,
    service: Service,
    bytes: usize,
    deltas: Vec<Delta>,
    calls: Vec<Making>,
    ids: HashSet<String>,
    earlier: usize,
    usage: Option<Usage>,
    over: bool,
    spoke: bool,
}

/// A call that is being made.
#[derive(Debug)]
struct Making {
    /// How the service tells it from others.
    key: u64,
    id: String,
    name: String,
    arguments: String,
    signatures: Vec<String>,
    ended: bool,
}

impl Answer {
    pub(super) fn new(service: &Service, request: &Request) -> Self {
        let ids: HashSet<String> = request
            .messages
            .iter()
            .flat_map(|message| match message {
                Message::Assistant(parts) => parts.as_slice(),
                _ => &[],
            })
            .filter_map(|part| match part {
                Part::Call(call) => Some(call.id.clone()),
                _ => None,
            })
            .collect();
        Self {
            api: service.api,
            service: service.clone(),
            bytes: 0,
            deltas: Vec::new(),
            calls: Vec::new(),
            earlier: ids.len(),
            ids,
            usage: None,
            over: false,
            spoke: false,
        }
    }

    pub(super) fn service(&self) -> &Service {
        &self.service
    }

    /// Counts bytes against the limit.
    pub(super) fn count(&mut self, bytes: usize) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > ANSWER_BYTES_MAX {
            return Err(failure::malformed(
                &self.service,
                "the answer is longer than 64 MiB",
            ));
        }
        Ok(())
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = Delta> + use<> {
        mem::take(&mut self.deltas).into_iter()
    }

    /// Says whether the answer came to its end.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Says whether there is any text or call.
    pub(super) fn spoke(&self) -> bool {
        self.spoke
    }

    pub(super) fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.spoke = true;
            self.end_complete_calls();
            self.deltas.push(Delta::Text(text.to_owned()));
        }
    }

    pub(super) fn thought(&mut self, text: &str) {
        if !text.is_empty() {
            self.end_complete_calls();
            self.deltas.push(Delta::Thought(text.to_owned()));
        }
    }

    /// Adds a signature, which says by its first word which service made it.
    pub(super) fn signature(&mut self, tag: &str, signature: &str) {
        if !signature.is_empty() {
            self.deltas
                .push(Delta::Signature(format!("{tag}:{signature}")));
        }
    }

    /// Begins a call, unless it has begun. Its place is that of its beginning.
    pub(super) fn call_started(&mut self, key: u64, id: &str, name: &str) -> Result<(), Failure> {
        if self.calls.iter().any(|call| call.key == key) {
            return Ok(());
        }
        if self.calls.len() == ANSWER_CALLS_MAX {
            return Err(failure::malformed(
                &self.service,
                "the answer has more than 256 calls",
            ));
        }
        self.spoke = true;
        self.end_complete_calls();
        let place = self.calls.len();
        let id = self.unique(id, place);
        self.deltas.push(Delta::CallStarted {
            place,
            id: id.clone(),
            name: name.to_owned(),
        });
        self.calls.push(Making {
            key,
            id,
            name: name.to_owned(),
            arguments: String::new(),
            signatures: Vec::new(),
            ended: false,
        });
        Ok(())
    }

    /// Adds to the arguments of a call. Those of a call that never began, or is over, are dropped.
    pub(super) fn call_arguments(&mut self, key: u64, json: &str) {
        let call = self.calls.iter_mut().enumerate();
        let call = call.into_iter().find(|(_, call)| call.key == key);
        let Some((place, call)) = call.filter(|(_, call)| !call.ended && !json.is_empty()) else {
            return;
        };
        call.arguments.push_str(json);
        self.deltas.push(Delta::CallArguments {
            place,
            json: json.to_owned(),
        });
    }

    /// Gives the arguments of a call as a whole, where none came in pieces.
    pub(super) fn call_all_arguments(&mut self, key: u64, json: &str) {
        if self
            .calls
            .iter()
            .any(|call| call.key == key && call.arguments.is_empty())
        {
            self.call_arguments(key, json);
        }
    }

    pub(super) fn call_signature(&mut self, key: u64, tag: &str, signature: &str) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.key == key) {
            call.signatures.push(format!("{tag}:{signature}"));
        }
    }

    /// Says whether the arguments of a call are whole by now.
    pub(super) fn is_call_complete(&self, key: u64) -> bool {
        let call = self.calls.iter().find(|call| call.key == key);
        call.is_some_and(Making::is_complete)
    }

    pub(super) fn call_ended(&mut self, key: u64) {
        let call = self.calls.iter_mut().enumerate();
        if let Some((place, call)) = call.into_iter().find(|(_, call)| call.key == key)
            && !call.ended
        {
            self.deltas.push(call.end(place));
        }
    }

    pub(super) fn usage(&mut self, usage: Usage) {
        if self.usage != Some(usage) {
            self.usage = Some(usage);
            self.deltas.push(Delta::Usage(usage));
        }
    }

    /// Returns the last usage.
    pub(super) fn usage_so_far(&self) -> Usage {
        self.usage.unwrap_or_default()
    }

    /// Ends the calls that are still being made, and the answer.
    ///
    /// An answer that may not be longer, or that is a refusal, ends in the middle of what it did last,
    /// so that a call which is not whole JSON by then is no call and is left without an end.
    pub(super) fn stop(&mut self, stopped: Stopped) {
        for (place, call) in self.calls.iter_mut().enumerate() {
            if !call.ended && (stopped == Stopped::End || call.is_complete()) {
                self.deltas.push(call.end(place));
            }
        }
        self.over = true;
        self.deltas.push(Delta::Stopped(stopped));
    }

    /// Ends calls whose arguments are whole, because something else begins.
    ///
    /// Whether they are is looked at, as services may send the arguments of several calls by turns.
    fn end_complete_calls(&mut self) {
        for (place, call) in self.calls.iter_mut().enumerate() {
            if !call.ended && call.is_complete() {
                self.deltas.push(call.end(place));
            }
        }
    }

    /// Returns an id that no other call of the conversation has.
    fn unique(&mut self, id: &str, place: usize) -> String {
        let mut number = self.earlier + place;
        let mut id = id.to_owned();
        while id.is_empty() || !self.ids.insert(id.clone()) {
            // `genai` sends an id of the first form back to Gemini as no id at all, which is what came.
            id = match self.api {
                Api::Gemini => format!("call#gemini#{number}"),
                _ => format!("call_{number}"),
            };
            number += 1;
        }
        id
    }
}

impl Making {
    fn is_complete(&self) -> bool {
        serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }

    fn end(&mut self, place: usize) -> Delta {
        self.ended = true;
        Delta::CallEnded {
            place,
            call: Call {
                id: self.id.clone(),
                name: self.name.clone(),
                arguments: arguments(&self.arguments),
                signatures: mem::take(&mut self.signatures),
            },
        }
    }
}

/// Returns arguments as an object, or as the text that came where they are none.
fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Null) => Value::Object(Map::new()),
        Ok(Value::Object(object)) => Value::Object(object),
        // A string that came as JSON is shown without its quotes.
        Ok(Value::String(text)) => Value::String(text),
        _ => Value::String(text.to_owned()),
    }
}
