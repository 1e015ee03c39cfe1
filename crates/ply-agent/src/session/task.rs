//! The one task that owns a session: it feeds the engine and does what the engine wants done.

mod actions;
mod controls;
mod ending;

use std::collections::{HashMap, VecDeque};
use std::future::Future as _;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use ply_journal::Log;
use ply_rpc::Responder;
use ply_session::{Action, Answer, AskId, Engine, Input, PromptId, ViewId};
use tokio::sync::oneshot;
use tokio::time::Instant;

pub(crate) use self::controls::refuse;
use super::Session;
use super::control::{Attach, Control, Done, OptionChange};
use super::inbox::Ops;
use super::op::Op;
use super::run::{Ended, Own, PromptIds, Running};
use super::view::View;
use crate::host::{DynAgent, Host};

/// How often streamed tool output is sent to clients that get it only as a whole.
const FLUSH_EVERY: Duration = Duration::from_millis(100);

/// The task of a session.
#[derive(Debug)]
pub(crate) struct Task {
    session: Session,
    host: Arc<Host>,
    agent: Arc<dyn DynAgent>,
    engine: Engine,
    log: Box<dyn Log>,
    actions: Vec<Action>,
    views: Vec<View>,
    /// Whether anybody ever attached: a session nobody has seen yet is not abandoned.
    was_seen: bool,
    running: Option<Running>,
    prompts: PromptIds,
    own: HashMap<PromptId, Own>,
    asks: HashMap<AskId, oneshot::Sender<Answer>>,
    closing: Vec<(Option<ViewId>, Done)>,
    /// Changes of options that wait for the one the agent is told about.
    options: VecDeque<(ViewId, Box<OptionChange>, Responder)>,
    option_is_set: bool,
    /// Clients that came when the session was about to close.
    late: Vec<Attach>,
    /// When to flush the views next, if there is something to flush.
    flush_at: Option<Instant>,
    /// Records of the journal that could not be read.
    damaged: u64,
}

/// A session as it was made, or read from its journal.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) engine: Engine,
    pub(crate) log: Box<dyn Log>,
    /// What opening it left to do.
    pub(crate) actions: Vec<Action>,
    /// Records that could not be read.
    pub(crate) damaged: u64,
}

/// Why the task ends before the session is closed.
#[derive(Debug)]
pub(super) struct Broken(ply_journal::Error);

impl Task {
    /// Starts the task of a session.
    pub(crate) fn start(session: Session, host: Arc<Host>, kept: Kept) {
        let agent = host.agent();
        let Kept {
            engine,
            log,
            actions,
            damaged,
        } = kept;
        let task = Self {
            session,
            host,
            agent,
            engine,
            log,
            actions,
            views: Vec::new(),
            was_seen: false,
            running: None,
            prompts: PromptIds::default(),
            own: HashMap::new(),
            asks: HashMap::new(),
            closing: Vec::new(),
            options: VecDeque::new(),
            option_is_set: false,
            late: Vec::new(),
            flush_at: None,
            damaged,
        };
        tokio::spawn(task.run());
    }

    async fn run(mut self) {
        let outcome = match self.commit().await {
            Ok(()) => self.serve().await,
            Err(broken) => Err(broken),
        };
        self.end(outcome).await;
    }

    async fn serve(&mut self) -> Result<(), Broken> {
        let session = self.session.clone();
        while !self.engine.is_closed() {
            self.views.iter_mut().for_each(View::pump);
            if self.flush_at.is_some_and(|at| at <= Instant::now()) {
                self.flush();
            }
            // The author's code waits for the client that reads fastest. One that is far behind it
            // is cut off, and can resume.
            let full: Vec<&View> = self.views.iter().filter(|view| view.is_full()).collect();
            let all_full = !full.is_empty() && full.len() == self.views.len();
            if let Some(slow) = full.iter().find(|view| !all_full && view.is_slow()) {
                self.cut_off(slow.id).await?;
                continue;
            }
            let ops = match all_full {
                true => Ops::Leave,
                false => Ops::Take,
            };
            let room = room(full.iter().map(|view| view.client.peer.clone()).collect());
            tokio::select! {
                biased;
                ended = ended(&mut self.running) => self.turn_ended(ended).await?,
                batch = session.0.inbox.next(ops) => {
                    // What the agent reported while it prepared the session is for the answer.
                    let is_attach = |control: &Control| matches!(control, Control::Attach(_));
                    let mut ops = batch.ops;
                    if batch.controls.iter().any(is_attach) {
                        self.ops(std::mem::take(&mut ops)).await?;
                    }
                    for control in batch.controls {
                        self.control(control).await?;
                    }
                    self.ops(ops).await?;
                }
                () = at(self.flush_at) => self.flush(),
                () = room => {}
            }
        }
        Ok(())
    }

    async fn ops(&mut self, ops: Vec<Op>) -> Result<(), Broken> {
        if ops.is_empty() {
            return Ok(());
        }
        self.take_ops(ops).await?;
        self.commit().await
    }

    async fn take_ops(&mut self, ops: Vec<Op>) -> Result<(), Broken> {
        for op in ops {
            if matches!(op, Op::Then(_)) {
                self.commit().await?;
            }
            self.op(op);
        }
        Ok(())
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
            } => {
                self.note_update(&update);
                Input::Update {
                    turn,
                    update: *update,
                    edits,
                }
            }
            Op::Ask { ask, answer } => {
                self.asks.insert(ask.id, answer);
                Input::Ask(*ask)
            }
            Op::Unask(ask) => Input::Unask { ask },
            Op::ClientTerminal(view, terminal) => {
                if let Some(view) = self.view(view) {
                    view.client_terminal(terminal);
                }
                return;
            }
            Op::Begin { work, ended } => {
                let prompt = self.prompts.next();
                let work = Some(work);
                self.own.insert(prompt, Own { work, ended });
                Input::Begin { prompt }
            }
            Op::History(tell) => {
                // Whoever asked may have gone away.
                drop(tell.send(self.engine.history().clone()));
                return;
            }
            Op::Then(then) => return then(),
        };
        self.engine.step(input, &mut self.actions);
    }

    async fn turn_ended(&mut self, ended: Ended) -> Result<(), Broken> {
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        let turn = running.turn;
        let input = match ended {
            Ended::Overdue => {
                running.was_overdue();
                Input::TurnOverdue { turn }
            }
            Ended::Done(outcome) => {
                self.running = None;
                // What the code reported last comes before its end.
                let mut batch = self.session.0.inbox.take(Ops::Take);
                self.take_ops(batch.ops).await?;
                self.commit().await?;
                // So does a cancel that came before it, also while that was written: it is for the
                // prompts that are held, too.
                let late = self.session.0.inbox.take(Ops::Leave).controls;
                batch.controls.extend(late);
                for control in batch.controls {
                    self.control(control).await?;
                }
                self.step(Input::TurnEnded { turn, outcome }).await?;
                return self.leave_if_abandoned().await;
            }
        };
        self.step(input).await?;
        self.leave_if_abandoned().await
    }

    /// Takes one input and does what comes of it.
    async fn step(&mut self, input: Input) -> Result<(), Broken> {
        self.engine.step(input, &mut self.actions);
        self.commit().await
    }

    fn flush(&mut self) {
        self.flush_at = None;
        self.views.iter_mut().for_each(View::flush);
    }

    /// Ends a session that no client sees any more, once nothing runs in it. Its journal stays.
    async fn leave_if_abandoned(&mut self) -> Result<(), Broken> {
        let abandoned = self.was_seen && self.views.is_empty() && self.engine.running().is_none();
        match abandoned {
            true => self.step(Input::Close).await,
            false => Ok(()),
        }
    }
}

async fn ended(running: &mut Option<Running>) -> Ended {
    match running {
        Some(running) => running.ended().await,
        None => std::future::pending().await,
    }
}

/// Waits until one of the clients reads again.
async fn room(full: Vec<ply_rpc::Peer>) {
    if full.is_empty() {
        std::future::pending::<()>().await;
    }
    let mut rooms: Vec<_> = full.iter().map(|peer| Box::pin(peer.room())).collect();
    std::future::poll_fn(|cx| {
        let mut rooms = rooms.iter_mut();
        match rooms.any(|room| room.as_mut().poll(cx).is_ready()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
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

impl Task {
    /// Arms the flush for updates that version 1 clients get only now and then.
    fn note_update(&mut self, update: &ply_wire::v2::SessionUpdate) {
        use ply_wire::v2::SessionUpdate as Update;
        let streams = matches!(
            update,
            Update::ToolCallContentChunk(_)
                | Update::TerminalOutputChunk(_)
                | Update::TerminalUpdate(_)
        );
        if streams && self.flush_at.is_none() {
            self.flush_at = Some(Instant::now() + FLUSH_EVERY);
        }
    }
}

impl From<ply_journal::Error> for Broken {
    fn from(error: ply_journal::Error) -> Self {
        Self(error)
    }
}
