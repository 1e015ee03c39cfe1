//! A journal that failed: what goes on is ended, and what was said goes on once the journal works again.

use bytes::Bytes;
use ply_wire::v2;

use super::act::Gated;
use super::effect::{Description, Effect};
use super::input::Opened;
use super::response::respond;
use super::store::State;
use super::view::{Apart, View};
use super::{Core, close};
use crate::engine::{self, Action};
use crate::{Answer, Event, Level, PromptId, Runner, TurnId};

/// How a journal failed.
#[derive(Debug)]
pub(super) struct Failure {
    /// Records that it was given and may have or not, each with the place after it.
    handed: Vec<(Bytes, u64)>,
    /// Up to where what it was given is still here.
    seen: u64,
    /// What clients were shown of it at once.
    shown: Vec<v2::SessionUpdate>,
    error: v2::Error,
}

impl Core {
    pub(super) fn opened(&mut self, opened: &Opened, out: &mut Vec<Effect>) {
        let failure = match std::mem::replace(&mut self.store.state, State::Gone) {
            State::Creating => None,
            State::Opening(failure) => Some(failure),
            state => return self.store.state = state,
        };
        let handed = failure.as_ref().map_or(&[][..], |failure| &failure.handed);
        let seen = failure.as_ref().map_or(0, |failure| failure.seen);
        let had_it_last = failure.is_none() || opened.epoch == self.epoch + 1;
        self.epoch = opened.epoch;
        self.engine.set_epoch(opened.epoch);
        let (place, records) = self.store.written;
        // What was taken and an append that failed may be there or not. Anything else is somebody else's.
        let there = opened.tail.len();
        let is_ours = had_it_last
            && opened.records == records + there as u64
            && there <= handed.len()
            && opened
                .tail
                .iter()
                .zip(handed)
                .all(|(tail, (ours, _))| tail == ours);
        self.store.state = State::Open {
            under_way: None,
            retry: None,
        };
        if !is_ours {
            return self.lost(&close::moved(), out);
        }
        let head = self.window.head();
        let place = self.restore(
            (place, records),
            seen,
            handed.get(..there).unwrap_or_default(),
        );
        let was_restored = self.window.head() > head;
        self.store.confirmed = (place, opened.records);
        self.store.written = self.store.confirmed;
        self.window.rewind(place, opened.records);
        if there > 0 {
            self.window.persisted(place, Level::Written);
        }
        if let Some(Failure { error, shown, .. }) = failure {
            let from = self.window.head();
            self.engine.repair(error, &mut self.actions);
            self.note_operations();
            self.act(out);
            if !was_restored {
                self.tell_once(from, &shown);
            }
            self.describe_again();
            self.repaired = self.window.head();
        }
    }

    /// Keeps clients from being told again what they were told when the journal failed.
    fn tell_once(&mut self, from: u64, shown: &[v2::SessionUpdate]) {
        for place in from..self.window.head() {
            let update = self.window.get(place).and_then(|slot| slot.update());
            if update.is_some_and(|update| shown.contains(update)) {
                self.views.iter_mut().for_each(|view| view.knows(place));
            }
        }
    }

    /// Brings what listings say in line with what the session is now.
    fn describe_again(&mut self) {
        let history = self.engine.history();
        self.store.description = Some(Description {
            title: Some(history.transcript().info().title.clone()),
            unfinished: Some(history.is_active() || !history.queued().is_empty()),
            host: history.runner().map(Runner::to_json),
        });
    }

    /// Takes back what was given up and turned out to be kept. Returns the place after all that is kept.
    pub(super) fn restore(
        &mut self,
        (place, records): (u64, u64),
        seen: u64,
        there: &[(Bytes, u64)],
    ) -> u64 {
        let mut after = place;
        for ((record, upto), number) in there.iter().zip(records + 1..) {
            if *upto <= seen {
                // Views have seen it, so it is here.
                after = *upto;
            } else if let Ok(event) = serde_json::from_slice::<Event>(record) {
                self.operations.recorded(&event);
                self.engine.restore(&event);
                self.window.restore(event, number, self.engine.settings());
                after = self.window.head();
            }
        }
        after
    }

    /// Notes how prompts with a key ended that were cut off.
    fn note_operations(&mut self) {
        for action in &self.actions {
            if let Action::Append(event) = action {
                self.operations.recorded(event);
            }
        }
    }

    pub(super) fn not_opened(&mut self, error: &v2::Error, out: &mut Vec<Effect>) {
        match std::mem::replace(&mut self.store.state, State::Gone) {
            State::Creating => {
                self.store.state = State::New { has_failed: true };
                self.store.is_wanted = false;
                // What nobody spoke in need not be kept.
                self.closing.give_up();
                let shown = self.end_work(error, out);
                let from = self.window.head();
                self.engine.repair(error.clone(), &mut self.actions);
                self.act(out);
                self.tell_once(from, &shown);
            }
            State::Opening(failure) => self.store.state = State::Failed(failure),
            state => return self.store.state = state,
        }
        self.fail_waiting(error, out);
    }

    pub(super) fn fail(&mut self, error: &v2::Error, out: &mut Vec<Effect>) {
        self.store.state = State::Failed(Failure {
            handed: self.window.handed_from(self.store.written.0),
            seen: self.kept(),
            shown: Vec::new(),
            error: error.clone(),
        });
        // What they see from now on may get other numbers, or none.
        self.views.iter_mut().for_each(View::lose_trace);
        let shown = self.end_work(error, out);
        if let State::Failed(failure) = &mut self.store.state {
            failure.shown = shown;
        }
        self.fail_waiting(error, out);
    }

    /// Ends what goes on, since nothing of it can be kept. What views have seen stays in memory and goes first once the journal
    /// works; what they have not is as if it had not been.
    ///
    /// Returns what clients are shown of it.
    fn end_work(&mut self, error: &v2::Error, out: &mut Vec<Effect>) -> Vec<v2::SessionUpdate> {
        self.overdue = None;
        let prompts = std::mem::take(&mut self.prompts);
        for view in &mut self.views {
            for barrier in view.take_barriers() {
                out.push(Effect::Passed {
                    barrier,
                    is_safe: false,
                });
            }
        }
        let gated = std::mem::take(&mut self.gated);
        let is_unstarted = |turn: &TurnId| {
            let waits = |(_, what): &(u64, Gated)| matches!(what, Gated::Start(start) if start.turn == *turn);
            gated.iter().any(waits)
        };
        if let Some(turn) = self.engine.running().filter(|turn| !is_unstarted(turn)) {
            out.push(Effect::Abandon { turn });
        }
        for (_, gated) in gated {
            out.extend(given_up(gated, error));
        }
        let asks = self.engine.open_questions();
        for ask in asks {
            let answer = Answer::Cancelled;
            out.push(Effect::Resolve { ask, answer });
        }
        let (visible, kept) = (self.window.visible(), self.kept());
        let from = self.engine.snapshot().map_or(kept, |snapshot| snapshot.at);
        let since = self.window.events_between(from, kept);
        self.engine.roll_back(kept, since, &mut self.actions);
        self.window.truncate(kept);
        let repeats = self.operations.take_repeats(|_, _| true);
        let transcript = self.engine.history().transcript();
        self.operations.roll_back(transcript);
        self.describe_again();
        self.act(out);
        for request in std::mem::take(&mut self.own) {
            let failed = v2::ErrorStopReason::new().error(error.clone());
            let stop = Some(v2::StopReason::Error(failed));
            out.push(Effect::Settled { request, stop });
        }
        for view in &mut self.views {
            view.roll_back(visible, error);
        }
        let shown = if kept > visible {
            // It failed again before clients saw what it had after all; they were told the first time.
            Vec::new()
        } else {
            self.show_end(error)
        };
        self.prompts = prompts;
        let prompts: Vec<PromptId> = self.prompts.keys().copied().collect();
        for prompt in prompts {
            self.refuse_prompt(prompt, error);
        }
        for (request, view) in repeats {
            let response = Err(error.clone());
            respond(self.view(view), request, response, out);
        }
        self.fail_options(error, out);
        self.fail_forks(error, out);
        shown
    }

    /// Returns up to where everything is kept whatever happens: views have seen it, or the journal has it.
    pub(super) fn kept(&self) -> u64 {
        self.window.visible().max(self.store.written.0)
    }

    /// Shows that what went on has ended, though nothing of that can be kept yet.
    fn show_end(&mut self, error: &v2::Error) -> Vec<v2::SessionUpdate> {
        let visible = self.window.visible();
        let mut ended = self.engine.cut_off();
        if self.engine.history().is_active() {
            let stop = v2::StopReason::Error(v2::ErrorStopReason::new().error(error.clone()));
            let idle = v2::StateUpdate::Idle(v2::IdleStateUpdate::new().stop_reason(stop));
            let idle = self.engine.with_background(idle);
            ended.push(v2::SessionUpdate::StateUpdate(idle));
        }
        for view in &mut self.views {
            for update in &ended {
                let update = Box::new(update.clone());
                view.at(visible, &self.window, Apart::Show(update));
            }
        }
        ended
    }

    /// Ends the session here: another owner has it.
    pub(super) fn lost(&mut self, error: &v2::Error, out: &mut Vec<Effect>) {
        if self.store.is_gone() {
            return;
        }
        self.store.set_gone();
        // What they see from now on is not what the other owner has.
        self.views.iter_mut().for_each(View::lose_trace);
        // Nothing of it comes again.
        drop(self.end_work(error, out));
        self.fail_waiting(error, out);
        self.converse(engine::Input::Close, out);
        self.gated.clear();
    }
}

/// Returns what is said of something that waited for a journal that failed.
fn given_up(gated: Gated, error: &v2::Error) -> Option<Effect> {
    match gated {
        Gated::Passed(barrier) => Some(Effect::Passed {
            barrier,
            is_safe: false,
        }),
        Gated::Settled(request, _) => {
            let failed = v2::ErrorStopReason::new().error(error.clone());
            let stop = Some(v2::StopReason::Error(failed));
            Some(Effect::Settled { request, stop })
        }
        // Nobody may act on an approval that may be lost.
        Gated::Resolve(ask, _) => {
            let answer = Answer::Cancelled;
            Some(Effect::Resolve { ask, answer })
        }
        Gated::Respond(request, _) => {
            let response = Err(error.clone());
            Some(Effect::Respond { request, response })
        }
        // The turn is over.
        Gated::Start(_) | Gated::Steer(..) => None,
    }
}
