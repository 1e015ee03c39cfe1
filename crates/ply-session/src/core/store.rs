//! What the core knows of its journal: whether there is one, how far it has come, and whether it works.

use std::time::Duration;

use ply_wire::v2;

use super::act::Gated;
use super::attach::respond;
use super::effect::{Description, Effect, Persist};
use super::input::{Input, Opened};
use super::view::Apart;
use super::{Core, close};
use crate::engine::{self, Action};
use crate::{Answer, Event, Level, PromptId, RETRY_EVERY, RETRY_TIME_MAX, TurnId};

/// The journal of a session.
#[derive(Debug)]
pub(super) struct Store {
    state: State,
    /// Up to which place, and how many records, the journal has taken.
    confirmed: (u64, u64),
    /// The same for what it has written: what it only has taken may be lost when it fails.
    written: (u64, u64),
    description: Option<Description>,
    /// Whether the session is created though nothing was said in it.
    is_wanted: bool,
}

#[derive(Debug)]
enum State {
    /// Nothing was kept yet; what there is waits in the window. If creating it failed, that is tried again for the next request.
    New { has_failed: bool },
    /// It is being created.
    Creating,
    /// It is opened again.
    Opening(Failure),
    Open {
        under_way: Option<UnderWay>,
        retry: Option<Retry>,
    },
    /// It failed, and is opened again for the next request.
    Failed(Failure),
    /// It is another owner's, or closed.
    Gone,
}

/// How a journal failed.
#[derive(Debug)]
struct Failure {
    /// Records that it was given and may have or not, each with the place after it.
    handed: Vec<(Vec<u8>, u64)>,
    /// Up to where what it was given is still here.
    seen: u64,
    /// What clients were shown of it at once.
    shown: Vec<v2::SessionUpdate>,
    error: v2::Error,
}

/// An append that was not answered yet.
#[derive(Debug)]
struct UnderWay {
    upto: u64,
    level: Level,
    records: u64,
    description: Option<Description>,
}

/// An append that failed in passing.
#[derive(Debug, Clone, Copy)]
struct Retry {
    at: Duration,
    until: Duration,
}

impl Store {
    pub(super) fn new() -> Self {
        Self {
            state: State::New { has_failed: false },
            confirmed: (0, 0),
            written: (0, 0),
            description: None,
            is_wanted: false,
        }
    }

    pub(super) fn open(records: u64) -> Self {
        Self {
            state: State::Open {
                under_way: None,
                retry: None,
            },
            confirmed: (0, records),
            written: (0, records),
            description: None,
            is_wanted: false,
        }
    }

    pub(super) fn is_new(&self) -> bool {
        matches!(self.state, State::New { .. })
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(self.state, State::Gone)
    }

    pub(super) fn is_failed(&self) -> bool {
        matches!(self.state, State::Failed(_))
    }

    /// Returns whether requests can be served: there is a journal that works, or none is needed yet.
    pub(super) fn is_usable(&self) -> bool {
        match self.state {
            State::New { .. } | State::Creating | State::Open { .. } => true,
            State::Opening(_) | State::Failed(_) | State::Gone => false,
        }
    }

    pub(super) fn description(&mut self) -> &mut Option<Description> {
        &mut self.description
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        match &self.state {
            State::Open {
                retry: Some(retry),
                under_way: None,
            } => Some(retry.at),
            _ => None,
        }
    }

    pub(super) fn set_gone(&mut self) {
        self.state = State::Gone;
    }
}

impl Core {
    /// Has the session created in the journal though nothing was said in it.
    pub fn keep(&mut self) {
        self.store.is_wanted = true;
    }

    /// Returns what is to be appended to the journal now. To be asked for after every batch of inputs.
    pub fn persist(&mut self) -> Option<Persist> {
        let write_bytes = self.limits().write_bytes;
        let State::Open { under_way, retry } = &mut self.store.state else {
            return None;
        };
        if under_way.is_some() || retry.is_some_and(|retry| self.now < retry.at) {
            return None;
        }
        let run = self.window.hand_over();
        let mut description = self.store.description.take();
        // What was found in the journal when it was opened again may not be safe yet.
        let level = run.as_ref().map_or(Level::Accepted, |run| run.level);
        let mut level = level.max(self.window.unsafe_level().unwrap_or_default());
        if self.window.unwritten_bytes() > write_bytes && self.window.has_unreported() {
            // What is written can be forgotten here.
            level = level.max(Level::Written);
        }
        if run.is_none() && level > Level::Accepted {
            // A store has to write something to make sure of what is before it.
            description.get_or_insert_default();
        }
        if run.is_none() && description.is_none() {
            return None;
        }
        *under_way = Some(UnderWay {
            upto: self.window.handed(),
            level,
            records: self.window.records(),
            description: description.clone(),
        });
        Some(Persist {
            records: run.map_or_else(Vec::new, |run| run.records),
            level,
            description,
        })
    }

    pub(super) fn persisted(&mut self) {
        let State::Open { under_way, retry } = &mut self.store.state else {
            return;
        };
        *retry = None;
        if let Some(done) = under_way.take() {
            self.store.confirmed = (done.upto, done.records);
            if done.level >= Level::Written {
                self.store.written = self.store.confirmed;
            }
            self.window.persisted(done.upto, done.level);
        }
    }

    pub(super) fn not_persisted(
        &mut self,
        error: &v2::Error,
        may_pass: bool,
        out: &mut Vec<Effect>,
    ) {
        let State::Open { under_way, retry } = &mut self.store.state else {
            return;
        };
        if let Some(failed) = under_way.take() {
            Description::restore(&mut self.store.description, failed.description);
        }
        let until = retry.map_or(self.now + RETRY_TIME_MAX, |retry| retry.until);
        if may_pass && self.now < until {
            *retry = Some(Retry {
                at: self.now + RETRY_EVERY,
                until,
            });
            let (place, records) = self.store.confirmed;
            return self.window.rewind(place, records);
        }
        self.fail(error, out);
    }

    /// Creates the journal once there is something that must be kept.
    pub(super) fn create_if_needed(&mut self, out: &mut Vec<Effect>) {
        let State::New { has_failed: false } = self.store.state else {
            return;
        };
        let is_needed = self.store.is_wanted
            || self.window.needs_journal()
            || self.window.unwritten_bytes() > self.limits().uncreated_bytes
            || self.closing.wants_journal();
        if is_needed && !self.closing.deletes() {
            self.store.state = State::Creating;
            out.push(Effect::Create);
        }
    }

    /// Gives a journal that failed another chance, since somebody needs it.
    pub(super) fn open_if_failed(&mut self, out: &mut Vec<Effect>) {
        match std::mem::replace(&mut self.store.state, State::Gone) {
            State::New { .. } => self.store.state = State::New { has_failed: false },
            State::Failed(failure) => {
                self.store.state = State::Opening(failure);
                let from = self.store.written.1;
                out.push(Effect::Open { from });
            }
            state => self.store.state = state,
        }
    }

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
            unfinished: Some(history.is_active()),
        });
    }

    /// Takes back what was given up and turned out to be kept. Returns the place after all that is kept.
    fn restore(
        &mut self,
        (place, records): (u64, u64),
        seen: u64,
        there: &[(Vec<u8>, u64)],
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

    fn fail(&mut self, error: &v2::Error, out: &mut Vec<Effect>) {
        self.store.state = State::Failed(Failure {
            handed: self.window.handed_from(self.store.written.0),
            seen: self.kept(),
            shown: Vec::new(),
            error: error.clone(),
        });
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
        let shown = self.show_end(error);
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
        shown
    }

    /// Returns up to where everything is kept whatever happens: views have seen it, or the journal has it.
    fn kept(&self) -> u64 {
        self.window.visible().max(self.store.written.0)
    }

    /// Shows that what went on has ended, though nothing of that can be kept yet.
    fn show_end(&mut self, error: &v2::Error) -> Vec<v2::SessionUpdate> {
        let visible = self.window.visible();
        let mut ended = self.engine.cut_off();
        if self.engine.history().is_active() {
            let stop = v2::StopReason::Error(v2::ErrorStopReason::new().error(error.clone()));
            let idle = v2::StateUpdate::Idle(v2::IdleStateUpdate::new().stop_reason(stop));
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
        // Nothing of it comes again.
        drop(self.end_work(error, out));
        self.fail_waiting(error, out);
        self.converse(engine::Input::Close, out);
        self.gated.clear();
    }

    /// Returns whether all that can be kept is.
    pub(super) fn is_kept(&self) -> bool {
        match &self.store.state {
            State::Open { under_way, .. } => {
                under_way.is_none()
                    && !self.window.has_unhanded()
                    && self.store.description.is_none()
            }
            State::New { .. } => !self.closing.wants_journal(),
            State::Creating | State::Opening(_) => false,
            State::Failed(_) | State::Gone => true,
        }
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
        // The turn is over.
        Gated::Start(_) | Gated::Steer(..) => None,
    }
}

impl Input {
    /// Returns the request that it is, if it is one.
    #[must_use]
    pub fn request(&self) -> Option<crate::RequestId> {
        match self {
            Self::Attach(attach) => Some(attach.request),
            Self::Prompt(prompt) => Some(prompt.request),
            Self::SetOption { request, .. } => Some(*request),
            Self::Close(close) => close.request,
            _ => None,
        }
    }
}
