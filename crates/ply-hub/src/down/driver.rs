//! The task that moves lines between an agent's process and its link.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use ply_wire::transcript::Transcript;
use ply_wire::v2;
use tokio::sync::{mpsc, oneshot};

use super::link::{Done, Failure, Link, Output, Told, Wish};
use super::process::{Known, Order, Reply};
use super::queue::{Baton, EVENTS_MAX, Event};
use super::screen::Screen;
use super::words;
use crate::pipe::{Exit, FromAgent, Pipe, ToAgent};

/// Lines that may wait for an agent which does not read before the hub takes no more orders for it.
const OUTGOING_MAX: usize = 1024;

/// How long an agent may take to stop.
const STOP_TIME_MAX: Duration = Duration::from_secs(30);

pub(super) struct Driver {
    link: Link,
    pipe: Pipe,
    orders: mpsc::Receiver<Order>,
    /// Those who wait for answers, by our requests.
    waiting: BTreeMap<i64, oneshot::Sender<Reply>>,
    events: mpsc::Sender<Event>,
    /// Events that wait for their place.
    backlog: VecDeque<Event>,
    outgoing: VecDeque<(u64, Bytes)>,
    /// A prompt that waits for the end of another that was given up.
    prompt: Option<(Wish, oneshot::Sender<Baton>)>,
    /// What the agent told again of the past.
    replay: Transcript,
    known: Arc<Known>,
    screen: Arc<Screen>,
    fate: Arc<OnceLock<String>>,
    outputs: Vec<Output>,
}

/// What a driver was woken by.
enum Came {
    Order(Option<Order>),
    Agent(Option<FromAgent>),
}

/// Whether the driver goes on.
enum Next {
    GoOn,
    Over,
}

impl Driver {
    pub(super) fn new(
        pipe: Pipe,
        (orders, events): (mpsc::Receiver<Order>, mpsc::Sender<Event>),
        (known, screen): (Arc<Known>, Arc<Screen>),
        fate: Arc<OnceLock<String>>,
    ) -> Self {
        Self {
            link: Link::new(),
            pipe,
            orders,
            waiting: BTreeMap::new(),
            events,
            backlog: VecDeque::new(),
            outgoing: VecDeque::new(),
            prompt: None,
            replay: Transcript::new(),
            known,
            screen,
            fate,
            outputs: Vec::new(),
        }
    }

    pub(super) async fn run(mut self) {
        while let Next::GoOn = self.step().await {}
        // Whoever waits is told by the drop of what it waits on, and finds the reason in the fate of the process.
        self.waiting.clear();
        self.orders.close();
        for event in self.backlog {
            if self.events.send(event).await.is_err() {
                return;
            }
        }
    }

    async fn step(&mut self) -> Next {
        let has_room = self.backlog.len() < EVENTS_MAX;
        let takes_orders = self.outgoing.len() < OUTGOING_MAX;
        let came = tokio::select! {
            biased;
            order = self.orders.recv(), if takes_orders => Came::Order(order),
            permit = self.pipe.to.reserve(), if !self.outgoing.is_empty() => {
                if let (Ok(permit), Some((number, line))) = (permit, self.outgoing.pop_front()) {
                    permit.send(ToAgent::Line { number, line });
                }
                return Next::GoOn;
            }
            permit = self.events.reserve(), if !self.backlog.is_empty() => {
                if let (Ok(permit), Some(event)) = (permit, self.backlog.pop_front()) {
                    permit.send(event);
                }
                return Next::GoOn;
            }
            () = self.screen.came(), if has_room => {
                let shown = self.screen.take().into_iter();
                self.backlog.extend(shown.map(update_event));
                return Next::GoOn;
            }
            came = self.pipe.from.recv(), if has_room => Came::Agent(came),
        };
        match came {
            Came::Order(Some(order)) => self.order(order),
            Came::Order(None) => return self.nobody_is_left().await,
            Came::Agent(Some(FromAgent::Line { number, line })) => {
                self.link.line(number, &line, &mut self.outputs);
                self.act();
                // What the line means is handed over; nothing is recorded yet for which it would have to be kept. One that is
                // not acknowledged now is with the next.
                drop(self.pipe.to.try_send(ToAgent::Acknowledge { upto: number }));
            }
            Came::Agent(Some(FromAgent::Wrote { .. })) => {}
            Came::Agent(Some(FromAgent::Exit(exit))) => return self.gone(Some(&exit)),
            Came::Agent(None) => return self.gone(None),
        }
        Next::GoOn
    }

    fn order(&mut self, order: Order) {
        match order {
            Order::Wish(wish, reply) => {
                let call = self.link.wish(wish, &mut self.outputs);
                match (call, reply) {
                    (Some(call), Some(reply)) => drop(self.waiting.insert(call, reply)),
                    // Its drop says that nothing comes of it.
                    (None, Some(reply)) => drop(reply),
                    (_, None) => {}
                }
            }
            Order::Barrier(told) => self.backlog.push_back(Event::Barrier(told)),
            Order::Prompt(wish, baton) => {
                self.prompt = Some((wish, baton));
                self.begin_if_possible();
            }
        }
        self.act();
    }

    /// Sends a prompt, unless the agent still works on one that was given up.
    fn begin_if_possible(&mut self) {
        if self.link.has_prompt() {
            return;
        }
        let Some((wish, baton)) = self.prompt.take() else {
            return;
        };
        if baton.is_closed() {
            return;
        }
        self.backlog.push_back(Event::Begin(baton));
        if self.link.wish(wish, &mut self.outputs).is_none() {
            let error = ply_rpc::RpcError::internal("the prompt could not be sent");
            self.backlog.push_back(Event::Ended(Err(error)));
        }
    }

    /// Does what the link wants done.
    fn act(&mut self) {
        let mut outputs = std::mem::take(&mut self.outputs);
        for output in outputs.drain(..) {
            self.act_on(output);
        }
        if self.outputs.is_empty() {
            // The buffer is used again.
            self.outputs = outputs;
        } else {
            self.act();
        }
    }

    fn act_on(&mut self, output: Output) {
        let event = match output {
            Output::Send { number, line } => return self.outgoing.push_back((number, line)),
            Output::Answered { call, outcome } => return self.answered(call, outcome),
            Output::Replayed(update) => {
                self.replay.apply(&update);
                return;
            }
            Output::Odd(words) => {
                tracing::warn!(words, "an agent breaks the protocol");
                return;
            }
            Output::Update(told) => {
                self.known.note(&told.update);
                Event::Update(told)
            }
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

    /// The process is gone.
    fn gone(&mut self, exit: Option<&Exit>) -> Next {
        let words = words::exit(exit);
        tracing::info!(words, "an agent's process is gone");
        let words = self.fate.get_or_init(|| words).clone();
        self.backlog.push_back(Event::Gone(words));
        Next::Over
    }

    /// Ends the process, since nobody wants it any more.
    async fn nobody_is_left(&mut self) -> Next {
        let lines = std::mem::take(&mut self.outgoing);
        let (to, from) = (self.pipe.to.clone(), &mut self.pipe.from);
        let telling = async move {
            for (number, line) in lines {
                if to.send(ToAgent::Line { number, line }).await.is_err() {
                    return;
                }
            }
            // It may be gone.
            drop(to.send(ToAgent::Stop).await);
        };
        let mut exit = None;
        let hearing = async {
            while let Some(came) = from.recv().await {
                if let FromAgent::Exit(how) = came {
                    exit = Some(how);
                    return;
                }
            }
        };
        let both = async { tokio::join!(telling, hearing) };
        if tokio::time::timeout(STOP_TIME_MAX, both).await.is_err() {
            tracing::warn!("an agent was told to stop and does not");
        }
        self.gone(exit.as_ref())
    }
}

fn update_event(update: v2::SessionUpdate) -> Event {
    let edits = Vec::new();
    Event::Update(Box::new(Told { update, edits }))
}
