//! The task that owns a session: it feeds the core and does what the core wants done.

mod drive;
mod early;
mod perform;
mod send;
mod start;
mod watch;

use std::collections::HashMap;
use std::sync::Arc;

use ply_rpc::Gather;
use ply_session::{
    Answer, AskId, Connection, Core, Effect, Input, Prompt, RequestId, TurnId, ViewId,
};
use ply_wire::v2;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use self::drive::Driver;
pub(crate) use self::perform::close_by_host;
use self::send::Unsent;
pub(crate) use self::start::{core_setup, refuse};
use super::Session;
use super::ask::Asked;
use super::control::{Attaching, Control, Waiter};
use super::inbox::Ops;
use super::op::{Op, Then};
use super::run::{Code, Own, Running};
use super::store::Store;
use crate::Overview;
use crate::client::Client;
use crate::host::Host;
use crate::passing::Line;

/// The task of a session.
#[derive(Debug)]
pub(crate) struct Task {
    session: Session,
    host: Arc<Host>,
    core: Core,
    store: Store,
    began: Instant,
    /// What begins every update, since all of them name the session.
    update_head: String,
    effects: Vec<Effect>,
    /// Kept to be used again.
    gathers: Vec<Gather>,
    clients: HashMap<ViewId, Arc<Client>>,
    waiters: HashMap<RequestId, Waiter>,
    /// The metadata of prompts whose turn has not begun, and whose prompts they are.
    metas: HashMap<RequestId, (ViewId, Box<v2::Meta>)>,
    /// The connections of clients that wait to be attached.
    attaching: HashMap<RequestId, (Arc<Client>, crate::connection::Views)>,
    running: Option<Running>,
    /// The agent's code for it, for whoever drives the session.
    code: Option<Code>,
    preparing: Option<AbortHandle>,
    own: HashMap<RequestId, Own>,
    asks: HashMap<AskId, oneshot::Sender<Answer>>,
    /// Questions of an earlier owner whose answers nobody waits for yet, with those that came.
    unclaimed: HashMap<AskId, Option<Answer>>,
    /// The newest question that waits with nobody there who may answer it.
    unseen: Option<AskId>,
    calls: HashMap<(AskId, ViewId), Asked>,
    barriers: Barriers,
    /// Requests that came while the session ended, for when it is over.
    late: Vec<Control>,
    /// Whether a client was sent something since the task last waited.
    has_sent: bool,
    /// Whether a turn has ended since the session gave back what it does not need while it is idle.
    is_tired: bool,
    is_over: bool,
}

#[derive(Default)]
struct Barriers {
    next: u64,
    waiting: HashMap<u64, Then>,
}

impl std::fmt::Debug for Barriers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} barriers", self.waiting.len())
    }
}

/// Where a session comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    New,
    Journal,
    /// From the journal if it is there, and new otherwise.
    Keyed,
    /// A copy of another, in the journal. Nobody was told of it.
    #[cfg(feature = "unstable_session_fork")]
    Fork,
}

impl Task {
    fn new(session: Session, host: Arc<Host>, core: Core, store: Store) -> Self {
        let id = serde_json::to_string(session.id()).unwrap_or_default();
        session.number_asks(core.epoch());
        let unclaimed = core.engine().questions().map(|(ask, _)| (ask, None));
        Self {
            unclaimed: unclaimed.collect(),
            update_head: format!("{{\"sessionId\":{id},\"update\":"),
            session,
            host,
            core,
            store,
            began: Instant::now(),
            effects: Vec::new(),
            gathers: Vec::new(),
            clients: HashMap::new(),
            waiters: HashMap::new(),
            metas: HashMap::new(),
            attaching: HashMap::new(),
            running: None,
            code: None,
            preparing: None,
            own: HashMap::new(),
            asks: HashMap::new(),
            unseen: None,
            calls: HashMap::new(),
            barriers: Barriers::default(),
            late: Vec::new(),
            has_sent: false,
            is_tired: false,
            is_over: false,
        }
    }

    async fn run(self: Box<Self>) {
        Driver::new(self).run().await;
    }

    /// Does everything that can be done now. Returns what clients could not be sent.
    fn advance(&mut self) -> Unsent {
        if self.gathers.is_empty() {
            // What is sent before the task waits leaves in one write, and from here: no link's task need be woken for it.
            let clients = self.clients.values();
            self.gathers
                .extend(clients.map(|client| client.peer.gather()));
        }
        loop {
            self.perform();
            if let Some(persist) = self.core.persist() {
                self.store.append(persist);
            }
            if let Some(input) = self.store.poll_now() {
                self.step(input);
                continue;
            }
            let unsent = self.pump();
            if self.effects.is_empty() {
                self.look_for_questions();
                return unsent;
            }
        }
    }

    /// Tells the host of a question that nobody sees.
    fn look_for_questions(&mut self) {
        let newest = self.core.engine().questions().map(|(ask, _)| ask).last();
        let unseen = newest.filter(|_| self.core.approvers() == 0);
        if unseen.is_some() && unseen != self.unseen {
            self.host.question_waits.notify_one();
        }
        self.unseen = unseen;
    }

    /// Gives back memory that is only kept to be used again. Once for each turn, since whatever comes next takes it again.
    fn rest(&mut self) {
        self.is_tired = false;
        self.core.rest();
        self.effects.shrink_to_fit();
        self.gathers.shrink_to_fit();
        self.waiters.shrink_to_fit();
        self.metas.shrink_to_fit();
        self.attaching.shrink_to_fit();
        self.own.shrink_to_fit();
        self.asks.shrink_to_fit();
        self.calls.shrink_to_fit();
    }

    fn wanted_ops(&self) -> Ops {
        match (self.core.is_paused(), self.core.has_failed()) {
            (false, _) => Ops::Take,
            (true, true) => Ops::TakeToBegin,
            (true, false) => Ops::Leave,
        }
    }

    fn step(&mut self, mut input: Input) {
        if let Input::Opened(_) = input {
            // From now on the journal lists it.
            self.session.set_listed();
        }
        let now = self.began.elapsed();
        let Input::Prompt(Prompt {
            steers: steers @ true,
            ..
        }) = &mut input
        else {
            return self.core.step(now, input, &mut self.effects);
        };
        // The code may have taken its last since the request came. From here on it does not end before it has this one.
        let held = self.session.hold_steering();
        *steers = held.is_open();
        self.core.step(now, input, &mut self.effects);
        let out = self.effects.iter();
        let out = out.filter(|effect| matches!(effect, Effect::Steer { .. }));
        held.expect(self.core.steers() + out.count());
    }

    /// Keeps what listings say of a session that is not in the journal.
    fn list(&self) {
        self.session.change_unlisted(|head| {
            head.clone_from(self.store.head());
            head.title.clone_from(&self.title());
        });
    }

    fn title(&self) -> Option<String> {
        self.core.history().transcript().info().title.clone()
    }

    fn control(&mut self, control: Control) {
        match control {
            Control::Attach(attaching) => {
                let Attaching {
                    attach,
                    client,
                    waiter,
                    views,
                } = *attaching;
                self.waiters.insert(attach.request, waiter);
                self.attaching
                    .insert(attach.request, (client.clone(), views));
                self.clients.insert(attach.view, client);
                self.step(Input::Attach(Box::new(attach)));
            }
            Control::Request(input, waiter) => {
                if let Some(request) = input.request() {
                    let waiter = self.keep_meta(&input, request, waiter);
                    self.waiters.insert(request, waiter);
                }
                self.step(*input);
            }
            // A link that ended takes everything back, but a turn does not end with its client.
            Control::Withdraw(request, client) => {
                if client.peer.closed_reason().is_none() {
                    self.step(Input::Withdraw { request });
                }
            }
            #[cfg(feature = "unstable_session_status")]
            Control::Status(asked) => asked.open(self.core.state()),
            #[cfg(feature = "unstable_session_archive")]
            Control::Unarchive(responder) => self.unarchive(responder),
            Control::Look(tell) => {
                let host = self.store.head().host.clone();
                // Whoever asked may have gone away.
                drop(tell.send(Overview::of(&self.core, &self.session, host)));
            }
            Control::Input(input) => {
                if let Input::Detach { view } = &*input {
                    self.clients.remove(view);
                    // Its prompts that wait are gone with it.
                    self.metas.retain(|_, (of, _)| of != view);
                }
                self.step(*input);
            }
        }
    }

    /// Keeps the metadata of a prompt until its turn begins.
    fn keep_meta(&mut self, input: &Input, request: RequestId, waiter: Waiter) -> Waiter {
        match (input, waiter) {
            (Input::Prompt(prompt), Waiter::Prompter(responder, meta)) => {
                self.metas.insert(request, (prompt.view, meta));
                Waiter::Client(responder)
            }
            (_, waiter) => waiter,
        }
    }

    fn op(&mut self, op: Op) {
        let input = match op {
            Op::Text {
                turn,
                thought,
                text,
            } => Input::Say {
                turn,
                thought,
                content: text.into(),
            },
            Op::Say {
                turn,
                thought,
                content,
            } => Input::Say {
                turn,
                thought,
                content: *content,
            },
            Op::Update {
                turn,
                update,
                edits,
            } => Input::Update {
                turn,
                update: *update,
                edits,
            },
            Op::Ask {
                ask,
                answer,
                request,
            } => {
                let id = ask.id;
                self.asks.insert(id, answer);
                if let Some(request) = request {
                    // In one step, so that the journal has both or neither.
                    self.step(Input::Ask(*ask));
                    Input::Connection(Connection::Asked { ask: id, request })
                } else {
                    Input::Ask(*ask)
                }
            }
            Op::Await { ask, answer } => {
                match self.unclaimed.remove(&ask) {
                    // Whoever asked may have gone away.
                    Some(Some(known)) => drop(answer.send(known)),
                    Some(None) => drop(self.asks.insert(ask, answer)),
                    None => drop(answer.send(Answer::Cancelled)),
                }
                return;
            }
            Op::Line(turn, line) => return self.line(turn, *line),
            Op::Connection(connection) => Input::Connection(connection),
            Op::Adopt(work, tell) => {
                let is_adopted = self.adopt_turn(work);
                // Whoever asked may have gone away.
                tell.send(is_adopted).ok();
                return;
            }
            Op::Unask(ask) => Input::Unask { ask },
            Op::Runner(runner) => Input::Runner(runner),
            Op::Outlive(turn, entity) => Input::Outlive { turn, entity },
            Op::ClientTerminal(view, terminal) => Input::ClientTerminal { view, terminal },
            Op::Begin { work, ended } => {
                let (request, work) = (self.host.next_request(), Some(work));
                self.own.insert(request, Own { work, ended });
                Input::Begin { request }
            }
            Op::History(tell) => {
                // Whoever asked may have gone away.
                drop(tell.send(self.core.history().clone()));
                return;
            }
            Op::Then { view, then } => {
                self.barriers.next += 1;
                let barrier = self.barriers.next;
                self.barriers.waiting.insert(barrier, then);
                Input::Barrier { barrier, view }
            }
            Op::Ended { turn, outcome } => {
                self.running.take_if(|running| running.turn == turn);
                self.is_tired = true;
                Input::Ended { turn, outcome }
            }
            Op::Prepared(outcome) => {
                self.preparing = None;
                Input::Prepared { outcome }
            }
            Op::OptionSet(request, outcome) => Input::OptionSet { request, outcome },
        };
        self.step(input);
    }

    /// Takes everything that a line of another program means at once: nothing is appended to the journal in between.
    fn line(&mut self, turn: Option<TurnId>, line: Line) {
        for (update, edits) in line.updates {
            self.step(Input::Update {
                turn,
                update,
                edits,
            });
        }
        if let Some(upto) = line.number {
            self.step(Input::Lines { upto });
        }
    }
}
