//! Prompts that are queued in the journal too, so that they survive their sender and this process.

use ply_wire::v2;

use super::queue::{NOBODY, Queued};
use super::{Action, Engine, Input, Prompt, Refusal, refuse};
use crate::{Event, PromptId, QueueChange, QueuedPrompts};

/// Numbers of prompts that earlier processes were sent, counted down from here: no request of this one has such a number, nor has
/// a turn that was adopted.
const KEPT: u64 = u64::MAX / 2;

impl Engine {
    /// Returns whether queued prompts are kept.
    fn keeps_queue(&self) -> bool {
        self.settings.queued_prompts == QueuedPrompts::Stay
    }

    /// Writes down the prompt that was queued last.
    pub(super) fn keep_last(&mut self, out: &mut Vec<Action>) {
        if !self.keeps_queue() {
            return;
        }
        let key = self.fresh_id("queued");
        let Some(queued) = self.queue.last_mut().filter(|last| last.view.is_some()) else {
            return;
        };
        queued.key = Some(key.clone());
        let event = Event::Queued {
            key,
            content: queued.content.clone(),
            by: None,
            operation: queued.operation.clone(),
        };
        self.append(event, out);
    }

    /// Notes that a prompt waits no longer.
    pub(super) fn leave_queue(&mut self, queued: &Queued, out: &mut Vec<Action>) {
        if let Some(key) = queued.key.clone() {
            self.append(Event::Queue(QueueChange::Left { key }), out);
        }
    }

    /// Pauses the queue after a turn that did not come to its own end: what waits was written for another world.
    pub(super) fn pause_after(&mut self, stop: &v2::StopReason, out: &mut Vec<Action>) {
        if self.pauses_after(stop) {
            self.append(Event::Queue(QueueChange::Paused), out);
        }
    }

    pub(super) fn pauses_after(&self, stop: &v2::StopReason) -> bool {
        let is_cut = matches!(stop, v2::StopReason::Cancelled | v2::StopReason::Error(_));
        is_cut && !self.history.queued().is_empty() && !self.history.is_paused()
    }

    /// Returns what clients are told of prompts that wait until somebody says so. Their senders would wait without a word.
    pub(crate) fn queue_is_paused(&self) -> v2::Notice {
        let title = match self.history.queued().len() {
            1 => "1 queued prompt is paused, since the turn before it was cut off.".to_owned(),
            more => {
                format!("{more} queued prompts are paused, since the turn before them was cut off.")
            }
        };
        let hint = "Run `ply queue resume` to start what waits, or `ply queue ls` to list it.";
        v2::Notice::new(v2::NoticeSeverity::Warning, title).description(hint.to_owned())
    }

    /// Takes back the prompts that an earlier process was sent. They wait until somebody says so.
    pub(super) fn adopt_queue(&mut self, out: &mut Vec<Action>) {
        self.take_queue();
        if !self.queue.is_empty() && !self.history.is_paused() {
            self.append(Event::Queue(QueueChange::Paused), out);
        }
    }

    /// The same, but what waits goes on as it was: nothing was cut off.
    pub(super) fn take_queue(&mut self) {
        for (kept, number) in self.history.queued().iter().zip(0..) {
            let prompt = PromptId(KEPT - number);
            self.queue.adopt(Queued::kept(kept, prompt));
        }
    }

    /// Notes that prompts are gone which a journal that failed still has: their senders were told so.
    pub(super) fn forget_queue(&mut self, out: &mut Vec<Action>) {
        let kept = self.history.queued().iter();
        let gone = kept.filter(|kept| self.queue.named(&kept.key).is_none());
        let gone: Vec<String> = gone.map(|kept| kept.key.clone()).collect();
        for key in gone {
            self.append(Event::Queue(QueueChange::Left { key }), out);
        }
    }

    /// Takes a prompt of somebody who sees the session through no view, or says why not.
    pub(crate) fn post(
        &mut self,
        prompt: PromptId,
        content: Vec<v2::ContentBlock>,
        out: &mut Vec<Action>,
    ) -> Option<Refusal> {
        let mut taken = Vec::new();
        let view = NOBODY;
        self.step(
            Input::Prompt(Prompt {
                id: prompt,
                view,
                content,
                operation: None,
            }),
            &mut taken,
        );
        let refused = taken.extract_if(
            ..,
            |action| matches!(action, Action::Refuse { prompt: of, .. } if *of == prompt),
        );
        let refused = refused.last();
        out.append(&mut taken);
        match refused {
            Some(Action::Refuse { refusal, .. }) => Some(refusal),
            _ => None,
        }
    }

    /// Returns what a queued prompt says.
    pub(crate) fn queued_content(&self, prompt: PromptId) -> Option<&Vec<v2::ContentBlock>> {
        self.queue.content(prompt)
    }

    /// Returns the queued prompt with this name in the journal.
    pub(crate) fn prompt_named(&self, key: &str) -> Option<PromptId> {
        self.queue.named(key)
    }

    /// Changes the queue as somebody wants who may. Returns whether it could.
    pub(crate) fn change_queue(&mut self, change: QueueChange, out: &mut Vec<Action>) -> bool {
        if !self.is_open() {
            return false;
        }
        let prompt = match &change {
            QueueChange::Edited { key, .. }
            | QueueChange::Moved { key, .. }
            | QueueChange::Left { key } => match self.queue.named(key) {
                Some(prompt) => Some(prompt),
                None => return false,
            },
            QueueChange::Paused | QueueChange::Resumed => None,
        };
        match (&change, prompt) {
            (QueueChange::Left { .. }, Some(prompt)) => {
                if let Some(queued) = self.queue.remove(prompt) {
                    self.leave_queue(&queued, out);
                    refuse(queued, Refusal::Cancelled, out);
                }
                return true;
            }
            (QueueChange::Edited { content, .. }, _)
                if self.settings.accepts.refusal_of(content).is_some() =>
            {
                return false;
            }
            // Nothing waits that could.
            (QueueChange::Paused, _) if self.queue.is_empty() => return false,
            _ => {}
        }
        self.append(Event::Queue(change), out);
        self.queue.arrange(self.history.queued());
        self.start_next(out);
        true
    }
}
