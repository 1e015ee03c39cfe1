//! What the link wants done.

use ply_agent::Line;
use ply_wire::transcript::Transcript;

use super::{Driver, Outgoing};
use crate::down::link::{Done, Failure, Output};
use crate::down::process::Reply;
use crate::down::queue::Event;
use crate::pipe::ToAgent;

impl Driver {
    /// Does what the link wants done: about a line, if it has a number.
    pub(super) fn act(&mut self, line: Option<u64>) {
        let mut outputs = std::mem::take(&mut self.outputs);
        let mut updates = Vec::new();
        let events = self.backlog.len();
        for output in outputs.drain(..) {
            let Output::Update(told) = output else {
                let before = self.backlog.len();
                self.act_on(output);
                if self.backlog.len() > before && !updates.is_empty() {
                    // In their order.
                    let line = Line::new(None, std::mem::take(&mut updates));
                    self.backlog.insert(before, Event::Line(Box::new(line)));
                }
                continue;
            };
            self.known.note(&told.update);
            updates.push((told.update, told.edits));
        }
        // The journal learns of a line with the last that it means, or after it.
        let number = line.filter(|_| self.book.is_open());
        let has_meaning = !updates.is_empty() || self.backlog.len() > events;
        if !updates.is_empty() || (number.is_some() && has_meaning) {
            self.report(Line::new(number, updates));
        }
        if self.outputs.is_empty() {
            // The buffer is used again.
            self.outputs = outputs;
        } else {
            self.act(None);
        }
    }

    pub(super) fn report(&mut self, line: Line) {
        self.backlog.push_back(Event::Line(Box::new(line)));
    }

    fn act_on(&mut self, output: Output) {
        let event = match output {
            Output::Send { number, line } => {
                let gate = self.gate.take_if(|(first, _)| *first == number);
                let gate = gate.map(|(_, noted)| noted);
                return self.outgoing.push_back(Outgoing { number, line, gate });
            }
            Output::Answered { call, outcome } => return self.answered(call, outcome),
            Output::Replayed(update) => {
                self.replay.apply(&update);
                return;
            }
            Output::Odd(words) => {
                tracing::warn!(words, "an agent breaks the protocol");
                return;
            }
            // Those of a line are reported together.
            Output::Update(_) => return,
            Output::Ask { request, question } => Event::Ask(request, question),
            Output::Service { request, service } => Event::Service(request, service),
            Output::Retracted { request } => Event::Retracted(request),
            Output::VisitOver(id) => Event::VisitOver(id),
            Output::Background(work) => Event::Background(work),
            Output::Began => Event::Began,
            Output::Rested(end) => Event::Rested(end),
            Output::Ended(end) => {
                self.backlog.push_back(Event::Ended(end));
                return self.begin_if_possible();
            }
        };
        self.backlog.push_back(event);
    }

    /// Tells the holder that the journal has what lines up to this one mean. One that cannot be told now is told with the next.
    pub(super) fn acknowledge(&self, upto: u64, is_kept: bool) {
        if is_kept {
            drop(self.pipe.to.try_send(ToAgent::Acknowledge { upto }));
        }
    }

    /// Says whether there is work worth waiting for, should this hub go.
    pub(super) fn tell_holder(&mut self) {
        let is_busy = self.link.is_working() || self.link.open_requests() > 0;
        if let Some(holder) = self.holder.as_ref().filter(|_| is_busy != self.is_busy)
            && holder.busy_now(is_busy)
        {
            self.is_busy = is_busy;
        }
    }

    fn answered(&mut self, call: i64, outcome: Result<Done, Failure>) {
        let replay = match outcome {
            Ok(Done::Opened(_)) => std::mem::take(&mut self.replay),
            _ => Transcript::new(),
        };
        if let Some(reply) = self.waiting.remove(&call) {
            // Whoever asked may have gone away.
            drop(reply.send(Reply { outcome, replay }));
        }
    }
}
