//! The core of a session: everything that is decided about it, without a task, a clock or a disk.
//!
//! A driver feeds [`Input`]s one at a time and does the [`Effect`]s that come of them. It appends what [`Core::persist`] hands
//! out, and sends each client what [`Core::pull`] gives, whenever that client can take more. Nothing waits inside: that the
//! journal has something, that time has passed and that a client reads are inputs like any other.

mod act;
mod attach;
mod close;
mod effect;
mod input;
mod operations;
mod options;
mod record;
mod response;
mod store;
mod view;
mod window;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ply_wire::negotiate::Version;
use ply_wire::v2;

pub use self::attach::wrong_directory;
pub use self::effect::{Description, Effect, Form, Message, Persist, Pull};
pub use self::input::{Attach, Close, How, Input, Keep, Opened, Prompt, Rights, Setup, Viewer};
pub use self::record::Json;
pub use self::response::{Empty, OptionChange, Response};

use self::act::Gated;
use self::close::Closing;
pub(crate) use self::operations::Operations;
use self::options::Options;
use self::store::Store;
use self::view::{Cursor, Source, Step, View};
use self::window::Window;
use crate::engine::{self, Action, Engine, Opening};
use crate::{
    CancelScope, History, Limits, Pace, PromptId, Reply, RequestId, Settings, TurnId, ViewId,
    WAITING_MAX,
};

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
    /// Whether anybody was told that the session exists.
    was_answered: bool,
    /// When a cancelled turn is ended without its code.
    overdue: Option<(TurnId, Duration)>,
    operations: Operations,
    /// Records of the journal that could not be read.
    damaged: u64,
    epoch: u64,
    actions: Vec<Action>,
    now: Duration,
}

impl Core {
    /// Returns the core of a session that is new, and kept in memory until there is something to keep.
    #[must_use]
    pub fn new(session: v2::SessionId, settings: Settings, setup: Arc<Setup>) -> Self {
        let epoch = 1;
        let engine = Engine::new(settings, epoch);
        Self::with(session, setup, engine, epoch, Store::new(), 0)
    }

    /// Returns the core of a session that was read from its journal. What was cut off in it is ended.
    #[must_use]
    pub fn open(
        session: v2::SessionId,
        settings: Settings,
        setup: Arc<Setup>,
        mut opening: Opening,
        opened: &Opened,
    ) -> Self {
        let mut actions = Vec::new();
        let (damaged, mut operations) = (opening.damaged, std::mem::take(&mut opening.operations));
        let engine = opening.finish(settings, opened.epoch, &mut actions);
        let store = Store::open(opened.records);
        let mut core = Self::with(session, setup, engine, opened.epoch, store, opened.records);
        core.damaged = damaged;
        // A prompt whose turn was cut off has its answer now.
        for action in &actions {
            if let Action::Append(event) = action {
                operations.recorded(event);
            }
        }
        core.operations = operations;
        core.actions = actions;
        let mut out = Vec::new();
        core.act(&mut out);
        core.repaired = core.window.head();
        core
    }

    fn with(
        session: v2::SessionId,
        setup: Arc<Setup>,
        engine: Engine,
        epoch: u64,
        store: Store,
        records: u64,
    ) -> Self {
        Self {
            session,
            setup,
            window: Window::new(records, engine.settings().limits.record_text_bytes),
            engine,
            store,
            views: Vec::new(),
            gated: VecDeque::new(),
            prompts: BTreeMap::new(),
            own: Vec::new(),
            options: Options::default(),
            waiting: VecDeque::new(),
            is_prepared: false,
            repaired: 0,
            closing: Closing::default(),
            was_seen: false,
            was_answered: false,
            overdue: None,
            operations: Operations::default(),
            damaged: 0,
            epoch,
            actions: Vec::new(),
            now: Duration::ZERO,
        }
    }

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

    /// Returns whether the agent's code has to wait before it reports more: every client is behind, or the journal is.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        let is_failed = !self.store.is_usable() && !self.closing.is_closed;
        if is_failed || self.window.unwritten_bytes() > self.limits().unwritten_bytes {
            return true;
        }
        let by_views = self.engine.settings().pace == Pace::Views && !self.views.is_empty();
        by_views && self.views.iter().all(|view| self.is_behind(view))
    }

    fn is_behind(&self, view: &View) -> bool {
        match view.cursor {
            Cursor::Window(place) => {
                let enough = self.limits().pace_bytes;
                // What is not safe yet is nothing that the client could have read.
                place < self.window.visible() && self.window.bytes_from(place, enough) >= enough
            }
            Cursor::Journal(_) => true,
        }
    }

    /// Returns about how many bytes of the newest records are kept for views and for the journal.
    #[must_use]
    pub fn window_bytes(&self) -> usize {
        self.window.bytes()
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

    /// Returns what a view's client is sent next. To be asked for until it is nothing, while the client can take more.
    pub fn pull(&mut self, now: Duration, view: ViewId, out: &mut Vec<Effect>) -> Pull {
        self.now = now.max(self.now);
        if self.attach_waits(view) {
            // It is about to see everything anew.
            return Pull::Nothing;
        }
        loop {
            let Some(view) = self.views.iter_mut().find(|open| open.id == view) else {
                return Pull::Nothing;
            };
            let (engine, now) = (&self.engine, self.now);
            let source = Source {
                window: &self.window,
                history: engine.history(),
                question: &|ask| engine.question(ask),
                now,
            };
            let id = view.id;
            match view.next(&source) {
                Step::Message(message) => return Pull::Message(message),
                Step::Read(from) => return Pull::Read { from },
                Step::Nothing => return Pull::Nothing,
                Step::CannotAsk(ask) => {
                    let reply = Reply::Failed;
                    self.answer(ask, id, reply, out);
                    self.settle(out);
                }
            }
        }
    }

    /// Returns whether a view may have something for its client.
    #[must_use]
    pub fn has_news(&self, view: ViewId) -> bool {
        let mut views = self.views.iter();
        let open = views.find(|open| open.id == view);
        open.is_some_and(|open| open.has_news(&self.window)) && !self.attach_waits(view)
    }

    /// Takes the requests that came too late for this life of the session.
    pub fn take_waiting(&mut self) -> Vec<Input> {
        std::mem::take(&mut self.waiting).into()
    }

    /// Returns the input if it can be taken now, and keeps it otherwise.
    fn admit(&mut self, input: Input, out: &mut Vec<Effect>) -> Option<Input> {
        let is_request = matches!(
            input,
            Input::Attach(_)
                | Input::Prompt(_)
                | Input::SetOption { .. }
                | Input::Close(_)
                | Input::Begin { .. }
        );
        if !is_request {
            return self.admit_report(input);
        }
        let waits = match &input {
            // It is not for this life of the session.
            Input::Attach(_) if !self.engine.is_open() => true,
            Input::Close(close) if self.closing.is_too_late_for(close) => true,
            Input::Prompt(Prompt { view, .. }) | Input::SetOption { view, .. }
                if self.attach_waits(*view) =>
            {
                true
            }
            _ if self.store.is_gone() => false,
            Input::Attach(_) => self.is_blocked(),
            // What was said last is kept if it can be.
            Input::Close(close) => {
                close.journal != Keep::Nothing && self.is_prepared && self.is_blocked()
            }
            // The agent may start a turn while it prepares the session.
            Input::Begin { .. } => self.is_unsafe(),
            Input::Prompt(_) | Input::SetOption { .. } => self.must_wait(),
            _ => false,
        };
        if !waits {
            return Some(input);
        }
        if let Input::Close(_) = input {
            self.close_waits();
        }
        if self.waiting.len() >= WAITING_MAX {
            let error = v2::Error::new(
                v2::ErrorCode::InternalError.into(),
                "too many requests wait for this session; wait for an answer",
            );
            self.refuse_waiting(input, &error, out);
            return None;
        }
        if let Input::Attach(attach) = &input
            && !self.engine.is_open()
        {
            // It begins anew with the next life, so what is left of this one would only confuse it.
            let view = attach.view;
            self.remove_view(view, out);
        }
        self.waiting.push_back(input);
        None
    }

    /// Keeps what the agent reports while nothing can be kept: it comes after what a journal that failed may have.
    fn admit_report(&mut self, input: Input) -> Option<Input> {
        let is_failed = !self.store.is_usable() && !self.store.is_gone();
        let waits = is_failed
            && match &input {
                Input::Say { turn, .. } | Input::Update { turn, .. } => turn.is_none(),
                Input::Ask(ask) => ask.turn.is_none(),
                Input::Unask { ask } => {
                    let is_it =
                        |waiting: &Input| matches!(waiting, Input::Ask(asked) if asked.id == *ask);
                    self.waiting.iter().any(is_it)
                }
                _ => false,
            };
        if waits {
            self.waiting.push_back(input);
            return None;
        }
        Some(input)
    }

    /// Returns whether a prompt or an option has to wait for what came before it.
    fn must_wait(&self) -> bool {
        self.is_blocked()
            || self.options.is_busy()
            || self
                .waiting
                .iter()
                .any(|input| matches!(input, Input::Prompt(_) | Input::SetOption { .. }))
    }

    fn attach_waits(&self, view: ViewId) -> bool {
        let attaches =
            |input: &Input| matches!(input, Input::Attach(attach) if attach.view == view);
        self.waiting.iter().any(attaches)
    }

    /// Returns whether nobody can be served now.
    fn is_blocked(&self) -> bool {
        !self.is_prepared || self.is_unsafe()
    }

    /// Returns whether the journal has to be opened, or the session to be repaired, first.
    fn is_unsafe(&self) -> bool {
        !self.store.is_usable() || self.window.visible() < self.repaired
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
            Input::SetOption {
                request,
                view,
                change,
            } => self.set_option(request, view, &change, out),
            Input::OptionSet { request, outcome } => self.option_set(request, outcome, out),
            Input::Answer { ask, view, reply } => self.answer(ask, view, reply, out),
            Input::Opened(opened) => self.opened(&opened, out),
            Input::NotOpened { error } => self.not_opened(&error, out),
            Input::Persisted => self.persisted(),
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
            self.evict();
            self.leave_if_abandoned(out);
            self.release_journal(out);
            self.create_if_needed(out);
            if !self
                .waiting
                .front()
                .is_some_and(|input| self.can_take(input))
            {
                return;
            }
            let Some(input) = self.waiting.pop_front() else {
                return;
            };
            self.take(input, out);
        }
    }

    /// Returns whether the request that waits longest can be taken.
    fn can_take(&self, input: &Input) -> bool {
        match input {
            Input::Attach(_) => self.engine.is_open() && !self.is_blocked(),
            Input::Prompt(_) | Input::SetOption { .. } => {
                !self.is_blocked() && !self.options.is_busy()
            }
            Input::Begin { .. }
            | Input::Say { .. }
            | Input::Update { .. }
            | Input::Ask(_)
            | Input::Unask { .. } => !self.is_unsafe(),
            Input::Close(close) if self.closing.is_too_late_for(close) => false,
            _ => !self.is_blocked(),
        }
    }

    /// Brings the snapshot forward, so that it does not hold a full window: there may be no moment at which everything is
    /// safe.
    fn advance_snapshot(&mut self) {
        let visible = self.window.visible();
        while let Some(at) = self.engine.snapshot().map(|snapshot| snapshot.at)
            && at < visible
            && let Some(slot) = self.window.get(at)
        {
            let event = match &slot.kind {
                window::Kind::Event(event) => Some(event),
                window::Kind::Told(_) => None,
            };
            self.engine.advance_snapshot(event);
        }
    }

    fn evict(&mut self) {
        if self.window.bytes() > self.limits().window_bytes {
            self.advance_snapshot();
        }
        let pinned = self
            .engine
            .snapshot()
            .map_or(u64::MAX, |snapshot| snapshot.at);
        let places = self.views.iter().map(|view| match view.cursor {
            Cursor::Window(place) => place,
            Cursor::Journal(_) => u64::MAX,
        });
        let passed = places.min().unwrap_or(u64::MAX);
        let upto = passed.max(self.window.above(self.limits().window_bytes));
        let views = &mut self.views;
        self.window.evict(upto.min(pinned), |place, slot| {
            for view in views.iter_mut() {
                view.evicted(place, slot);
            }
        });
    }

    fn prompt(&mut self, prompt: Prompt, out: &mut Vec<Effect>) {
        let Prompt {
            request,
            view,
            content,
            operation,
            steers,
        } = prompt;
        let Some(open) = self.view(view) else {
            let response = Err(self.no_such_session());
            return out.push(Effect::Respond { request, response });
        };
        if !open.viewer.rights.prompt {
            let response = Err(no_right());
            return open.urgent(Message::Respond { request, response });
        }
        if let Some(key) = operation {
            if self.repeats(&key, request, view) {
                return;
            }
            self.operations.begin(key, PromptId(request.0));
        }
        let id = PromptId(request.0);
        self.prompts.insert(id, view);
        let prompt = engine::Prompt { id, view, content };
        if steers && self.engine.settings().steering {
            return self.converse(engine::Input::Steer(prompt), out);
        }
        self.converse(engine::Input::Prompt(prompt), out);
    }

    /// Takes a request back. A version 1 client that takes back the prompt whose turn runs means the turn; in version 2 it was
    /// answered already, and nothing comes of it (V2-PROMPT-16).
    fn withdraw(&mut self, request: RequestId, out: &mut Vec<Effect>) {
        if self.withdraw_waiting(request, out) {
            return;
        }
        for (request, view) in self.operations.take_repeats(|repeat, _| repeat == request) {
            let response = Err(attach::cancelled());
            attach::respond(self.view(view), request, response, out);
        }
        let prompt = PromptId(request.0);
        let view = self.prompts.get(&prompt).copied();
        let is_v1 = view
            .and_then(|view| self.view(view))
            .is_some_and(|view| view.viewer.version == Version::V1);
        let runs = self.engine.running_prompt() == Some(prompt);
        let input = if is_v1 && runs {
            engine::Input::CancelTurn
        } else {
            engine::Input::Withdraw { prompt }
        };
        self.converse(input, out);
    }

    fn cancel(&mut self, view: Option<ViewId>, out: &mut Vec<Effect>) {
        if view.is_some_and(|view| !self.may_prompt(view)) {
            return;
        }
        let own = self.engine.settings().cancel == CancelScope::Own;
        let Some(view) = view.filter(|_| own) else {
            self.cancel_waiting(|_| true, out);
            return self.converse(engine::Input::Cancel, out);
        };
        let principal = |id| {
            let mut views = self.views.iter();
            let view: Option<&View> = views.find(|open| open.id == id);
            view.and_then(|view| view.viewer.principal.clone())
        };
        let mine = principal(view);
        let own = self
            .views
            .iter()
            .map(|view| view.id)
            .filter(|of| *of == view || (mine.is_some() && principal(*of) == mine));
        let own: Vec<ViewId> = own.collect();
        self.cancel_waiting(|of| own.contains(&of), out);
        let mine = self.prompts.iter().filter(|(_, of)| own.contains(of));
        let prompts: Vec<PromptId> = mine.map(|(prompt, _)| *prompt).collect();
        for prompt in prompts {
            self.converse(engine::Input::Withdraw { prompt }, out);
        }
        self.converse(engine::Input::CancelTurn, out);
    }

    /// Returns whether a client may do more than look; one that is not attached is told so elsewhere.
    fn may_prompt(&self, view: ViewId) -> bool {
        let mut views = self.views.iter().filter(|open| open.id == view);
        views.all(|view| view.viewer.rights.prompt)
    }

    fn answer(&mut self, ask: crate::AskId, view: ViewId, reply: Reply, out: &mut Vec<Effect>) {
        let may = self
            .view(view)
            .is_some_and(|view| view.viewer.rights.approve);
        let counted = if may { reply.clone() } else { Reply::Failed };
        let input = engine::Input::Answer {
            ask,
            view,
            reply: counted,
        };
        self.converse(input, out);
        // Not before the answer is safe: this may tell the client what became of the call.
        let head = self.window.head();
        let window = &self.window;
        if let Some(view) = self.views.iter_mut().find(|open| open.id == view) {
            view.ask_ended(ask, &reply, head, window);
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

/// Returns what a client is told that may not do more than look.
fn no_right() -> v2::Error {
    let reason = "This client may watch the session and not change it.";
    v2::Error::new(v2::ErrorCode::InvalidRequest.into(), reason)
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
