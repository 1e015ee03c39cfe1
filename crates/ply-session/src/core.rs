//! The core of a session: everything that is decided about it, without a task, a clock or a disk.
//!
//! A driver feeds [`Input`]s one at a time and does the [`Effect`]s that come of them. It appends what [`Core::persist`] hands
//! out, and sends each client what [`Core::pull`] gives, whenever that client can take more. Nothing waits inside: that the
//! journal has something, that time has passed and that a client reads are inputs like any other.

mod act;
mod attach;
mod begin;
mod close;
mod effect;
mod entity;
mod failure;
mod fork;
mod input;
mod mark;
mod operations;
mod options;
mod prompt;
mod read;
mod record;
mod response;
mod rest;
mod store;
mod title;
mod view;
mod waiting;
mod window;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ply_wire::v2;

pub use self::attach::wrong_directory;
pub use self::effect::{Description, Effect, Form, Message, Persist, Pull};
pub use self::input::{
    After, Attach, Close, How, Input, Keep, Opened, Prompt, Rights, Setup, Viewer,
};
pub use self::record::Json;
pub use self::response::{Empty, OptionChange, Response, Title, request_cancelled};
pub use self::title::{title_of, title_record};

use self::act::Gated;
use self::close::Closing;
use self::fork::Fork;
pub(crate) use self::operations::Operations;
use self::options::Options;
pub(crate) use self::record::Record;
use self::store::Store;
use self::view::View;
use self::window::Window;
use crate::engine::{self, Action, Engine};
use crate::{Event, History, Limits, PromptId, RequestId, TurnId, ViewId};

/// The core of one session.
#[derive(Debug)]
pub struct Core {
    session: v2::SessionId,
    setup: Arc<Setup>,
    engine: Engine,
    window: Window,
    store: Store,
    views: Vec<View>,
    /// What is done as soon as views may see up to a place.
    gated: VecDeque<(u64, Gated)>,
    /// Prompts of clients that were not answered yet. Sorted, so that the same inputs have the same effects.
    prompts: BTreeMap<PromptId, ViewId>,
    /// Queued prompts whose sender left, and on whose behalf it acted.
    left: BTreeMap<PromptId, Arc<str>>,
    /// Queued prompts that say something else than their senders did.
    edited: BTreeSet<PromptId>,
    /// Turns that the agent asked for itself.
    own: Vec<RequestId>,
    options: Options,
    /// Requests that wait until the session can serve them, in order.
    waiting: VecDeque<Input>,
    /// Whether the runner is ready.
    is_prepared: bool,
    /// Up to where a session that was opened has to be safe before anybody sees it.
    repaired: u64,
    closing: Closing,
    /// Whether anybody ever attached: a session nobody has seen yet is not abandoned.
    was_seen: bool,
    /// Whether anybody was told that the session exists. One that is found in the journal is known.
    was_answered: bool,
    /// Whether the host was told that nobody sees the session, which is kept in memory alone.
    is_unattended: bool,
    /// When a cancelled turn is ended without its code.
    overdue: Option<(TurnId, Duration)>,
    operations: Operations,
    /// Copies that wait until the journal has everything.
    forks: Vec<Fork>,
    /// Records of the journal that could not be read.
    damaged: u64,
    epoch: u64,
    /// The owner that wrote the first record. Places that those before it told a client are not in this journal.
    first_owner: u64,
    actions: Vec<Action>,
    now: Duration,
}

impl Core {
    /// Takes one input at a moment, and appends what the driver must do, in order.
    pub fn step(&mut self, now: Duration, input: Input, out: &mut Vec<Effect>) {
        self.now = now.max(self.now);
        if input.request().is_some() || matches!(input, Input::Begin { .. }) {
            self.open_if_failed(out);
        }
        if let Some(input) = self.admit(input, out) {
            self.take(input, out);
        }
        self.settle(out);
    }

    /// Returns everything that was said.
    #[must_use]
    pub fn history(&self) -> &History {
        self.engine.history()
    }

    /// Returns the conversation inside.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the attached views.
    pub fn views(&self) -> impl Iterator<Item = ViewId> {
        self.views.iter().map(|view| view.id)
    }

    /// Returns how many attached views may answer questions.
    #[must_use]
    pub fn approvers(&self) -> usize {
        let may_approve = |view: &&View| view.viewer.rights.approve;
        self.views.iter().filter(may_approve).count()
    }

    /// Returns the view at this place in the order in which they were attached.
    #[must_use]
    pub fn view_at(&self, at: usize) -> Option<ViewId> {
        self.views.get(at).map(|view| view.id)
    }

    /// Returns the number of the session's owner, which grows with each.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns whether the session has never been written to its journal.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.store.is_new()
    }

    /// Returns whether the journal failed. What was cut off is ended when it is opened again, for the next request.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        !self.store.is_usable()
    }

    /// Returns what the foreground does, as clients may see it. Nothing changes by asking.
    #[must_use]
    pub fn state(&self) -> v2::StateUpdate {
        let history = match self.engine.snapshot() {
            Some(snapshot) => &snapshot.history,
            None => self.engine.history(),
        };
        history.transcript().state_snapshot()
    }

    /// Returns when the next deadline is, for [`Input::Tick`].
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let overdue = self.overdue.map(|(_, at)| at);
        let views = self.views.iter().filter_map(View::deadline);
        let others = [
            overdue,
            self.options.deadline(),
            self.store.deadline(),
            self.closing.deadline(),
        ];
        views.chain(others.into_iter().flatten()).min()
    }

    fn take(&mut self, input: Input, out: &mut Vec<Effect>) {
        match input {
            Input::Say {
                turn,
                thought,
                content,
            } => self.converse(
                engine::Input::Say {
                    turn,
                    thought,
                    content,
                },
                out,
            ),
            Input::Update {
                turn,
                update,
                edits,
            } => self.converse(
                engine::Input::Update {
                    turn,
                    update,
                    edits,
                },
                out,
            ),
            Input::Outlive { turn, entity } => {
                self.converse(engine::Input::Outlive { turn, entity }, out);
            }
            Input::Runner(runner) => {
                self.engine.note(runner.into(), &mut self.actions);
                self.act(out);
            }
            Input::Connection(connection) => {
                let event = Event::Connection(connection);
                self.engine.note(event, &mut self.actions);
                self.act(out);
            }
            Input::Lines { upto } => self.store.lines(upto),
            Input::Ask(ask) => self.converse(engine::Input::Ask(ask), out),
            Input::Unask { ask } => self.converse(engine::Input::Unask { ask }, out),
            Input::Ended { turn, outcome } => self.ended(turn, outcome, out),
            Input::Begin { request } => {
                self.own.push(request);
                let prompt = PromptId(request.0);
                self.converse(engine::Input::Begin { prompt }, out);
            }
            Input::Barrier { barrier, view } => self.barrier(barrier, view, out),
            Input::ClientTerminal { view, terminal } => {
                if let Some(view) = self.view(view) {
                    view.client_terminal(terminal);
                }
            }
            Input::Prepared { outcome } => self.prepared(outcome, out),
            Input::Attach(attach) => self.attach(*attach, out),
            Input::Detach { view } => self.detach(view, out),
            Input::HungUp { view } => self.hung_up(view, out),
            Input::Prompt(prompt) => self.prompt(prompt, out),
            Input::Withdraw { request } => self.withdraw(request, out),
            Input::Cancel { view } => self.cancel(view, out),
            Input::Close(close) => self.close(close, out),
            Input::Leave => self.leave(out),
            Input::SetOption {
                request,
                view,
                change,
            } => self.set_option(request, view, &change, out),
            Input::CancelEntity {
                request,
                view,
                entity,
            } => self.cancel_entity(request, view, entity, out),
            Input::SetTitle { request, title } => self.set_title(request, &title, out),
            Input::Fork { request } => self.fork(request),
            Input::OptionSet { request, outcome } => self.option_set(request, outcome, out),
            Input::Answer { ask, view, reply } => self.answer(ask, view, reply, out),
            Input::Decide {
                request,
                ask,
                option,
                by,
            } => self.decide(request, (ask, option), by.as_deref(), out),
            Input::Post { request, content } => self.post(request, content, out),
            Input::Queue { request, change } => self.change_queue(request, change, out),
            Input::Opened(opened) => self.opened(&opened, out),
            Input::NotOpened { error } => self.not_opened(&error, out),
            Input::Persisted { reached } => self.persisted(reached),
            Input::NotPersisted { error, may_pass } => self.not_persisted(&error, may_pass, out),
            Input::Lost { error } => self.lost(&error, out),
            Input::Page {
                view,
                from,
                records,
                next,
            } => {
                if let Some(view) = self.view(view) {
                    view.page(from, records, next);
                }
            }
            Input::Released => self.released(None, out),
            Input::NotReleased { error } => self.released(Some(&error), out),
            Input::Tick => self.tick(out),
        }
    }

    /// Steps the conversation and sees to what comes of it.
    fn converse(&mut self, input: engine::Input, out: &mut Vec<Effect>) {
        self.engine.step(input, &mut self.actions);
        self.act(out);
    }

    /// Does what the last input made possible.
    fn settle(&mut self, out: &mut Vec<Effect>) {
        loop {
            self.window.advance();
            if self.window.visible() == self.window.head() {
                self.engine.drop_snapshot();
            }
            self.release(out);
            self.release_forks(out);
            self.evict();
            self.leave_if_abandoned(out);
            self.release_journal(out);
            self.create_if_needed(out);
            self.keep_numbers();
            let Some(input) = self.next_waiting() else {
                return;
            };
            self.take(input, out);
        }
    }

    fn tick(&mut self, out: &mut Vec<Effect>) {
        if let Some((turn, _)) = self.overdue.take_if(|(_, at)| *at <= self.now) {
            self.converse(engine::Input::TurnOverdue { turn }, out);
        }
        self.option_overdue(out);
        self.close_overdue(out);
        for view in &mut self.views {
            view.flush_if_due(self.now);
        }
    }

    fn limits(&self) -> &Limits {
        &self.engine.settings().limits
    }

    fn view(&mut self, id: ViewId) -> Option<&mut View> {
        self.views.iter_mut().find(|view| view.id == id)
    }

    fn no_such_session(&self) -> v2::Error {
        no_such_session(&self.session)
    }
}

/// Returns what clients are told about a session that is not open.
#[must_use]
pub fn no_such_session(session: &v2::SessionId) -> v2::Error {
    let message =
        "There is no such session here. One that is stored has to be loaded or resumed first.";
    let mut error = v2::Error::new(v2::ErrorCode::ResourceNotFound.into(), message);
    error.data = serde_json::to_value(v2::SessionNotFoundErrorData::new(session.clone())).ok();
    error
}
