//! Prompts with a name of their sender's: sent again, they are carried out once and answered alike.

use std::collections::VecDeque;

use ply_wire::negotiate::Version;
use ply_wire::transcript::{MessageKind, Transcript};
use ply_wire::v2;

use super::act::settle_v1;
use super::response::Response;
use crate::{Event, OPERATIONS_MAX, PromptId, QueueChange, RequestId, ViewId};

/// What is known of the newest of them.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    known: VecDeque<Operation>,
    /// The key of an edited prompt that left the queue in the past. If its turn began, that is written down a little later.
    left: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Operation {
    key: String,
    /// None if another owner of the session carried it out.
    prompt: Option<PromptId>,
    message: Option<v2::MessageId>,
    /// Its name in the queue, if an earlier owner queued it.
    queued: Option<String>,
    /// Whether somebody else changed what it says, so that its sender has to be shown it.
    is_edited: bool,
    stop: Option<v2::StopReason>,
    /// Who sent it again and was not answered yet.
    repeats: Vec<(RequestId, ViewId)>,
}

/// Where it is written what a prompt says.
pub(super) enum Written<'o> {
    Message(&'o v2::MessageId),
    Queued(PromptId),
}

impl Operation {
    /// Returns what its sender is answered, once that is known.
    pub(super) fn response(&self, version: Version) -> Option<Result<Response, v2::Error>> {
        match version {
            Version::V2 => self
                .message
                .clone()
                .map(|message| Ok(Response::Prompt(v2::PromptResponse::new(message)))),
            Version::V1 => self.stop.as_ref().map(settle_v1),
        }
    }
}

impl Operation {
    /// Returns whether nobody waits for it, so that it can be forgotten.
    fn is_over(&self) -> bool {
        self.stop.is_some() && self.repeats.is_empty()
    }
}

impl Operations {
    /// Notes a prompt of the past.
    pub(crate) fn recorded(&mut self, event: &Event) {
        match event {
            Event::Operation { key, message } => {
                let is_edited = self.left.take().as_ref() == Some(key);
                self.push(Operation {
                    key: key.clone(),
                    message: Some(message.clone()),
                    is_edited,
                    ..Operation::default()
                });
            }
            Event::Queued {
                key,
                operation: Some(operation),
                ..
            } => self.push(Operation {
                key: operation.clone(),
                queued: Some(key.clone()),
                ..Operation::default()
            }),
            Event::Queue(QueueChange::Edited { key, .. }) => {
                let mut known = self.known.iter_mut();
                let edited = known.find(|known| known.queued.as_ref() == Some(key));
                edited.into_iter().for_each(|known| known.is_edited = true);
            }
            Event::Queue(QueueChange::Left { key }) => {
                let is_it = |known: &Operation| known.queued.as_ref() == Some(key);
                let at = self.known.iter().position(is_it);
                let gone = at.and_then(|at| self.known.remove(at));
                self.left = gone.filter(|gone| gone.is_edited).map(|gone| gone.key);
            }
            Event::Update(v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle))) => {
                for operation in &mut self.known {
                    if operation.stop.is_none() && operation.queued.is_none() {
                        operation.stop.clone_from(&idle.stop_reason);
                    }
                }
            }
            _ => {}
        }
    }

    /// Names the prompts whose work goes on in a runner that outlived its session's owner, and returns the names.
    pub(crate) fn adopt(&mut self) -> Vec<PromptId> {
        let unsettled = |known: &&mut Operation| known.stop.is_none() && known.queued.is_none();
        let unsettled = self.known.iter_mut().filter(unsettled);
        let named = unsettled.zip(1..).map(|(operation, number)| {
            // No request of this process has such a number.
            *operation.prompt.insert(PromptId(u64::MAX - number))
        });
        named.collect()
    }

    /// Takes the numbers that prompts have which an earlier owner queued, by their names in the queue.
    pub(super) fn queued_as(&mut self, prompt_named: impl Fn(&str) -> Option<PromptId>) {
        for operation in &mut self.known {
            if let Some(key) = operation.queued.as_deref() {
                operation.prompt = prompt_named(key);
            }
        }
    }

    /// Returns the prompts that these clients sent again and that are not answered.
    pub(super) fn sent_again_by(&self, is_it: impl Fn(ViewId) -> bool) -> Vec<PromptId> {
        let sent = |known: &&Operation| known.repeats.iter().any(|(_, view)| is_it(*view));
        let sent = self.known.iter().filter(sent);
        sent.filter_map(|operation| operation.prompt).collect()
    }

    pub(super) fn begin(&mut self, key: String, prompt: PromptId) {
        self.push(Operation {
            key,
            prompt: Some(prompt),
            ..Operation::default()
        });
    }

    fn push(&mut self, operation: Operation) {
        self.known.push_back(operation);
        if self.known.len() > OPERATIONS_MAX
            && let Some(oldest) = self.known.iter().position(Operation::is_over)
        {
            self.known.remove(oldest);
        }
    }

    /// Notes that a prompt is sent again, and returns which one.
    pub(super) fn repeat(
        &mut self,
        key: &str,
        request: RequestId,
        view: ViewId,
    ) -> Option<PromptId> {
        let mut known = self.known.iter_mut();
        let operation = known.find(|operation| operation.key == key)?;
        // One of another owner has no number here; this request can stand for it.
        let prompt = *operation.prompt.get_or_insert(PromptId(request.0));
        operation.repeats.push((request, view));
        Some(prompt)
    }

    /// Returns the message that a prompt became, unless its sender has to be shown it.
    pub(super) fn own_message(&self, key: &str) -> Option<&v2::MessageId> {
        let mut known = self.known.iter();
        let operation = known.find(|operation| operation.key == key)?;
        operation.message.as_ref().filter(|_| !operation.is_edited)
    }

    /// Returns where it is written what the sender of a prompt wrote.
    pub(super) fn written(&self, key: &str) -> Option<Written<'_>> {
        let mut known = self.known.iter();
        let operation = known.find(|operation| operation.key == key && !operation.is_edited)?;
        let message = operation.message.as_ref().map(Written::Message);
        message.or(operation.prompt.map(Written::Queued))
    }

    /// Notes that somebody else changed what a prompt says.
    pub(super) fn edited(&mut self, prompt: PromptId) {
        if let Some(operation) = self.get(prompt) {
            operation.is_edited = true;
        }
    }

    /// Returns whether somebody else changed what a prompt says.
    pub(super) fn is_edited(&mut self, prompt: PromptId) -> bool {
        self.get(prompt)
            .is_some_and(|operation| operation.is_edited)
    }

    /// Returns the key of a prompt, and who sent it again and was not answered yet.
    pub(super) fn senders(&self, prompt: PromptId) -> Option<(String, Vec<ViewId>)> {
        let mut known = self.known.iter();
        let operation = known.find(|operation| operation.prompt == Some(prompt))?;
        let repeats = operation.repeats.iter().map(|(_, view)| *view);
        Some((operation.key.clone(), repeats.collect()))
    }

    pub(super) fn accepted(&mut self, prompt: PromptId, message: &v2::MessageId) -> Option<Event> {
        let operation = self.get(prompt)?;
        operation.message = Some(message.clone());
        operation.queued = None;
        Some(Event::Operation {
            key: operation.key.clone(),
            message: message.clone(),
        })
    }

    pub(super) fn settled(&mut self, prompt: PromptId, stop: &v2::StopReason) {
        if let Some(operation) = self.get(prompt) {
            operation.stop = Some(stop.clone());
        }
    }

    /// Forgets a prompt that was refused, and returns who sent it again. One that is part of the conversation is not
    /// carried out again, however its sender was answered.
    pub(super) fn forget(&mut self, prompt: PromptId) -> Vec<(RequestId, ViewId)> {
        let is_it = |operation: &Operation| operation.prompt == Some(prompt);
        let Some(at) = self.known.iter().position(is_it) else {
            return Vec::new();
        };
        if let Some(operation) = self
            .known
            .get_mut(at)
            .filter(|known| known.message.is_some())
        {
            return std::mem::take(&mut operation.repeats);
        }
        let operation = self.known.remove(at);
        operation.map_or_else(Vec::new, |operation| operation.repeats)
    }

    /// Forgets prompts that turned out not to be part of the conversation.
    pub(super) fn roll_back(&mut self, transcript: &Transcript) {
        self.known.retain(|operation| {
            let message = operation.message.as_ref();
            message.is_some_and(|id| transcript.message(MessageKind::User, id).is_some())
        });
    }

    /// Takes those who sent a prompt again and are not to wait for its answer any more.
    pub(super) fn take_repeats(
        &mut self,
        is_it: impl Fn(RequestId, ViewId) -> bool,
    ) -> Vec<(RequestId, ViewId)> {
        let repeats = self.known.iter_mut().flat_map(|operation| {
            let repeats = &mut operation.repeats;
            repeats.extract_if(.., |(request, view)| is_it(*request, *view))
        });
        repeats.collect()
    }

    /// Goes through those who sent a prompt again, and keeps those that are not answered.
    pub(super) fn respond(
        &mut self,
        prompt: PromptId,
        mut respond: impl FnMut(ViewId, RequestId, &Operation) -> bool,
    ) {
        if let Some(operation) = self.get(prompt) {
            let mut repeats = std::mem::take(&mut operation.repeats);
            repeats.retain(|(request, view)| !respond(*view, *request, operation));
            operation.repeats = repeats;
        }
    }

    fn get(&mut self, prompt: PromptId) -> Option<&mut Operation> {
        let mut known = self.known.iter_mut();
        known.find(|operation| operation.prompt == Some(prompt))
    }
}
