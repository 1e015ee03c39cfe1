//! The task that owns a session: it feeds the core and does what the core wants done.

mod early;
mod perform;

use std::collections::HashMap;
use std::future::Future as _;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use ply_journal::Head;
use ply_rpc::Peer;
use ply_session::{
    Answer, AskId, Close, Core, Effect, Input, Keep, Message, Opening, Pull, RequestId, Setup,
    ViewId, no_such_session,
};
use ply_wire::link::rpc_error_v2;
use ply_wire::v2;
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use self::early::Early;
pub(crate) use self::perform::close_by_host;
use super::control::{Attaching, Control, Waiter};
use super::inbox::Ops;
use super::op::{Op, Then};
use super::run::{Own, Running};
use super::store::{Store, told};
use super::{Session, ask};
use crate::client::Client;
use crate::host::Host;
use crate::{SessionSetup, clock};

/// How long a client that is behind may take to read the rest of a session that is closed.
const LAST_WORDS_TIME_MAX: Duration = Duration::from_secs(60);

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
    clients: HashMap<ViewId, Arc<Client>>,
    waiters: HashMap<RequestId, Waiter>,
    /// The connections of clients that wait to be attached.
    attaching: HashMap<RequestId, (Arc<Client>, crate::connection::Views)>,
    running: Option<Running>,
    preparing: Option<AbortHandle>,
    own: HashMap<RequestId, Own>,
    asks: HashMap<AskId, oneshot::Sender<Answer>>,
    calls: HashMap<(AskId, ViewId), AbortHandle>,
    barriers: Barriers,
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
}

impl Task {
    /// Starts the task of a session.
    pub(crate) fn start(session: Session, host: Arc<Host>, setup: SessionSetup, origin: Origin) {
        tokio::spawn(async move {
            let id = session.id().clone();
            let mut early = Early::default();
            let opened = match origin {
                Origin::New => {
                    let head = Head::new(&*id.0, setup.cwd.clone(), clock::now_ms());
                    let mut core = Core::new(id, host.settings(), core_setup(&setup));
                    if host.may_wait() {
                        session.set_unlisted(Some(head.clone()));
                    } else {
                        core.keep();
                    }
                    Ok((Store::new(host.journal(), head), core))
                }
                Origin::Journal => early.come_until(&session, read(&host, &id, &setup)).await,
            };
            match opened {
                Ok((store, core)) => {
                    let mut task = Self::new(session, host, core, store);
                    task.prepare(setup);
                    for control in early.0 {
                        task.control(control);
                    }
                    task.run().await;
                }
                Err(Unopened::Refused(error)) => fail(&session, &host, early, &error),
                Err(Unopened::Elsewhere) => fail_first(&session, &host, early),
            }
        });
    }

    fn new(session: Session, host: Arc<Host>, core: Core, store: Store) -> Self {
        let id = serde_json::to_string(session.id()).unwrap_or_default();
        Self {
            update_head: format!("{{\"sessionId\":{id},\"update\":"),
            session,
            host,
            core,
            store,
            began: Instant::now(),
            effects: Vec::new(),
            clients: HashMap::new(),
            waiters: HashMap::new(),
            attaching: HashMap::new(),
            running: None,
            preparing: None,
            own: HashMap::new(),
            asks: HashMap::new(),
            calls: HashMap::new(),
            barriers: Barriers::default(),
            is_over: false,
        }
    }

    async fn run(mut self) {
        while !self.is_over {
            let full = self.advance();
            if self.is_over {
                break;
            }
            self.wait(full).await;
        }
        self.say_last_words().await;
    }

    /// Does everything that can be done now. Returns the links that have to be read before more can be written.
    fn advance(&mut self) -> Vec<Peer> {
        loop {
            self.perform();
            if let Some(persist) = self.core.persist() {
                self.store.append(persist);
            }
            if let Some(input) = self.store.poll_now() {
                self.step(input);
                continue;
            }
            let full = self.pump();
            if self.effects.is_empty() {
                return full;
            }
        }
    }

    async fn wait(&mut self, full: Vec<Peer>) {
        let ops = match (self.core.is_paused(), self.core.has_failed()) {
            (false, _) => Ops::Take,
            (true, true) => Ops::TakeToBegin,
            (true, false) => Ops::Leave,
        };
        let deadline = self.core.deadline().map(|at| self.began + at);
        let session = self.session.clone();
        tokio::select! {
            biased;
            batch = session.0.inbox.next(ops) => {
                for control in batch.controls {
                    self.control(control);
                }
                for op in batch.ops {
                    self.op(op);
                }
                if self.core.is_new() {
                    self.list();
                }
            }
            input = std::future::poll_fn(|cx| self.store.poll(cx)) => self.step(input),
            () = at(deadline) => self.step(Input::Tick),
            () = room(full) => {}
        }
    }

    fn step(&mut self, input: Input) {
        if let Input::Opened(_) = input {
            // From now on the journal lists it.
            self.session.set_unlisted(None);
        }
        let now = self.began.elapsed();
        self.core.step(now, input, &mut self.effects);
    }

    /// Keeps what listings say of a session that is not in the journal.
    fn list(&self) {
        if self.session.unlisted().is_none() {
            return;
        }
        let mut head = self.store.head().clone();
        head.title.clone_from(&self.title());
        self.session.set_unlisted(Some(head));
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
            Control::Input(input) => {
                if let Input::Detach { view } = &*input {
                    self.clients.remove(view);
                }
                self.step(*input);
            }
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
            Op::Ask { ask, answer } => {
                self.asks.insert(ask.id, answer);
                Input::Ask(*ask)
            }
            Op::Unask(ask) => Input::Unask { ask },
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

    /// Sends every client what it can take. Returns the links that are full.
    fn pump(&mut self) -> Vec<Peer> {
        let mut full = Vec::new();
        let views: Vec<ViewId> = self.core.views().collect();
        for view in views {
            let Some(client) = self.clients.get(&view).map(Arc::clone) else {
                continue;
            };
            while self.core.has_news(view) {
                if client.peer.is_full() {
                    full.push(client.peer.clone());
                    break;
                }
                let now = self.began.elapsed();
                match self.core.pull(now, view, &mut self.effects) {
                    Pull::Message(message) => self.send(view, &client, message),
                    Pull::Read { from } => self.store.read(view, from),
                    _ => break,
                }
            }
        }
        full
    }

    fn send(&mut self, view: ViewId, client: &Arc<Client>, message: Message) {
        match message {
            Message::Update(json) => {
                let params = [&*self.update_head, json.as_str(), "}"];
                told_or_gone(client.peer.notify_json_now("session/update", &params));
            }
            Message::UpdateV1(update) => {
                let params = Update {
                    session_id: self.session.id(),
                    update: &*update,
                };
                told_or_gone(client.peer.notify_now("session/update", &params));
            }
            Message::Respond { request, response } => self.respond(request, response),
            Message::Ask { ask, form } => {
                let call = ask::put(&self.session, client, view, ask, form);
                self.calls.insert((ask, view), call);
            }
            Message::Passed { barrier } => self.passed(barrier, true),
            _ => {}
        }
    }

    fn passed(&mut self, barrier: u64, is_safe: bool) {
        if let Some(then) = self.barriers.waiting.remove(&barrier) {
            then(is_safe);
        }
    }

    /// Lets clients that are behind read the rest of a session that is over, each at its own pace.
    async fn say_last_words(mut self) {
        let all = async {
            loop {
                let full = self.pump();
                if full.is_empty() && !self.store.is_reading() {
                    return;
                }
                tokio::select! {
                    biased;
                    page = std::future::poll_fn(|cx| self.store.poll(cx)) => self.step(page),
                    () = room(full) => {}
                }
            }
        };
        if tokio::time::timeout(LAST_WORDS_TIME_MAX, all)
            .await
            .is_err()
        {
            tracing::debug!("a client did not read the end of a session");
        }
    }
}

/// Why a session is not opened.
enum Unopened {
    Refused(v2::Error),
    /// Whoever wants it gives another working directory.
    Elsewhere,
}

/// Opens a session from the journal.
async fn read(
    host: &Host,
    id: &v2::SessionId,
    setup: &SessionSetup,
) -> Result<(Store, Core), Unopened> {
    let opened = Store::open(host.journal(), &id.0).await;
    let opened = opened.map_err(|error| Unopened::Refused(told(&error)))?;
    let Some((store, opening, opened)) = opened else {
        return Err(Unopened::Refused(no_such_session(id)));
    };
    if store.head().cwd != setup.cwd {
        return Err(Unopened::Elsewhere);
    }
    let damaged = Opening::damaged(&opening);
    if damaged > 0 {
        tracing::warn!(session = %id.0, damaged, "records of a session cannot be read");
    }
    let setup = core_setup(setup);
    let core = Core::open(id.clone(), host.settings(), setup, opening, &opened);
    Ok((store, core))
}

/// Ends a session that could not be opened.
fn fail(session: &Session, host: &Host, early: Early, error: &v2::Error) {
    for control in give_up(session, host, early) {
        refuse(control, error);
    }
}

/// Refuses the client for which a session was to be opened; the others may be right about its directory.
fn fail_first(session: &Session, host: &Arc<Host>, early: Early) {
    let mut left = give_up(session, host, early);
    let is_attach = |control: &Control| matches!(control, Control::Attach(_));
    if let Some(at) = left.iter().position(is_attach) {
        refuse(left.remove(at), &ply_session::wrong_directory());
    }
    host.come_late(session, left);
}

fn give_up(session: &Session, host: &Host, early: Early) -> Vec<Control> {
    session.0.inbox.close_ops();
    let mut left = early.0;
    left.extend(session.0.inbox.close());
    host.forget(session);
    left
}

/// Answers what a session that is over cannot serve.
pub(crate) fn refuse(control: Control, error: &v2::Error) {
    let (waiter, is_close) = match control {
        Control::Attach(attaching) => (attaching.waiter, false),
        Control::Request(input, waiter) => {
            let is_close =
                matches!(*input, Input::Close(Close { journal, .. }) if journal != Keep::Nothing);
            (waiter, is_close)
        }
        Control::Withdraw(..) | Control::Input(_) => return,
    };
    match waiter {
        Waiter::Client(responder) if is_close => responder.respond(Ok(serde_json::Map::new())),
        Waiter::Client(responder) => responder.respond::<()>(Err(rpc_error_v2(error))),
        // Whoever waited may have gone away.
        Waiter::Host(tell) => drop(tell.send(())),
    }
}

/// Returns the part of a setup that clients may agree about or not.
pub(crate) fn core_setup(setup: &SessionSetup) -> Arc<Setup> {
    let mut own = Setup::new(setup.cwd.clone());
    own.additional_directories
        .clone_from(&setup.additional_directories);
    own.mcp_servers.clone_from(&setup.mcp_servers);
    Arc::new(own)
}

/// `session/update` with everything borrowed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a, U> {
    session_id: &'a v2::SessionId,
    update: &'a U,
}

fn told_or_gone(told: Result<(), ply_rpc::CallError>) {
    // Whether a link is gone is for the connection to notice; it detaches the view then.
    if let Err(error) = told {
        tracing::debug!(%error, "an update was not sent");
    }
}

/// Waits until one of the clients reads again.
async fn room(full: Vec<Peer>) {
    if full.is_empty() {
        std::future::pending::<()>().await;
    }
    let mut rooms: Vec<_> = full.iter().map(|peer| Box::pin(peer.room())).collect();
    std::future::poll_fn(|cx| {
        if rooms
            .iter_mut()
            .any(|room| room.as_mut().poll(cx).is_ready())
        {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
