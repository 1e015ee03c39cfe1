//! The task that moves lines between an agent's process and its link.

mod act;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use ply_agent::Line;
use ply_wire::transcript::Transcript;
use tokio::sync::{mpsc, oneshot};

use super::book::{Book, Noted, Written};
use super::link::again::Resumed;
use super::link::{Link, Output, Wish};
use super::process::{Known, Order, Reply};
use super::queue::{Baton, EVENTS_MAX, Event};
use super::screen::Screen;
use super::words;
use crate::hold::Control;
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
    outgoing: VecDeque<Outgoing>,
    /// The last line that was written to the agent.
    written: u64,
    /// What has to be in the journal before the line with this number is sent.
    gate: Option<(u64, Noted)>,
    book: Book,
    holder: Option<Control>,
    /// What the holder knows of whether there is work worth waiting for.
    is_busy: bool,
    /// Whether the process is known to have ended.
    has_ended: bool,
    /// A prompt that waits for the end of another that was given up.
    prompt: Option<(Wish, oneshot::Sender<Baton>)>,
    /// What the agent told again of the past.
    replay: Transcript,
    known: Arc<Known>,
    screen: Arc<Screen>,
    fate: Arc<OnceLock<String>>,
    outputs: Vec<Output>,
}

/// A line for the agent.
struct Outgoing {
    number: u64,
    line: Bytes,
    /// What has to be in the journal first.
    gate: Option<Noted>,
}

/// What a driver was woken by.
enum Came {
    Order(Option<Order>),
    Screen,
    Agent(Option<FromAgent>),
}

/// Whether the driver goes on.
enum Next {
    GoOn,
    Over,
}

impl Driver {
    pub(super) fn new(
        (pipe, holder): (Pipe, Option<Control>),
        (orders, events): (mpsc::Receiver<Order>, mpsc::Sender<Event>),
        (known, screen): (Arc<Known>, Arc<Screen>),
        fate: Arc<OnceLock<String>>,
    ) -> Self {
        Self {
            link: Link::new(),
            written: pipe.hello.last_in,
            pipe,
            gate: None,
            book: Book::default(),
            holder,
            is_busy: false,
            has_ended: false,
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

    /// Goes on with a connection that another hub began.
    pub(super) fn go_on(&mut self, resumed: Resumed, book: Book) {
        (self.link, self.book) = (resumed.link, book);
        self.outputs = resumed.asked;
        self.act(None);
        let mut outputs = resumed.outputs.into_iter().peekable();
        while let Some((line, output)) = outputs.next() {
            self.outputs.push(output);
            while let Some((_, output)) = outputs.next_if(|(next, _)| *next == line) {
                self.outputs.push(output);
            }
            self.act(Some(line));
        }
    }

    pub(super) async fn run(mut self) {
        while let Next::GoOn = self.step().await {
            self.tell_holder();
        }
        if let Some(holder) = self.holder.take().filter(|_| self.has_ended) {
            holder.bury().await;
        }
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
        let next = self.outgoing.front();
        let (is_shut, is_free) = next.map_or((false, false), |next| {
            (next.gate.is_some(), next.gate.is_none())
        });
        let came = tokio::select! {
            biased;
            order = self.orders.recv(), if takes_orders => Came::Order(order),
            () = opened(self.outgoing.front_mut()), if is_shut => return Next::GoOn,
            permit = self.pipe.to.reserve(), if is_free => {
                if let (Ok(permit), Some(next)) = (permit, self.outgoing.pop_front()) {
                    let Outgoing { number, line, .. } = next;
                    permit.send(ToAgent::Line { number, line });
                }
                return Next::GoOn;
            }
            written = self.book.written(), if self.book.is_writing() => {
                if let Some(Written { upto, done, is_kept }) = written {
                    self.acknowledge(upto, is_kept);
                    // Whoever waits may have gone away.
                    done.map(|done| done.send(is_kept).ok());
                }
                return Next::GoOn;
            }
            permit = self.events.reserve(), if !self.backlog.is_empty() => {
                if let (Ok(permit), Some(event)) = (permit, self.backlog.pop_front()) {
                    permit.send(event);
                }
                return Next::GoOn;
            }
            () = self.screen.came(), if has_room => Came::Screen,
            came = self.pipe.from.recv(), if has_room => Came::Agent(came),
        };
        match came {
            Came::Order(None | Some(Order::End)) => return self.nobody_is_left().await,
            Came::Order(Some(Order::LetGo(done))) => return self.let_go(done).await,
            Came::Order(Some(order)) => self.order(order),
            Came::Screen => {
                let shown = self.screen.take().into_iter();
                let shown = shown.map(|update| (update, Vec::new())).collect();
                self.report(Line::new(None, shown));
            }
            Came::Agent(Some(FromAgent::Line { number, line })) => {
                self.link.line(number, &line, &mut self.outputs);
                self.act(Some(number));
                self.note_lines(line.len());
            }
            Came::Agent(Some(FromAgent::Wrote { number })) => {
                self.written = number;
                // A state may have waited for it, and a holder with too many lines for the state.
                self.note_lines(0);
            }
            Came::Agent(Some(FromAgent::Exit(exit))) => return self.gone(Some(&exit), false),
            Came::Agent(None) => return self.gone(None, false),
        }
        Next::GoOn
    }

    fn order(&mut self, order: Order) {
        match order {
            Order::Wish(wish, reply) => {
                let call = self.wish(wish);
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
            Order::End | Order::LetGo(_) => {}
            Order::Record(session, done) => {
                let state = self.book.begin(session, &self.link, done);
                self.backlog.extend(state);
            }
        }
        self.act(None);
    }

    /// Has the link do something, after the journal knows.
    fn wish(&mut self, wish: Wish) -> Option<i64> {
        let noted = self.book.told(&self.link, &wish);
        let first = self.link.last_out() + 1;
        let call = self.link.wish(wish, &mut self.outputs);
        let is_sent = self.link.last_out() >= first;
        self.gate = noted.filter(|_| is_sent).map(|noted| (first, noted));
        call
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
        if self.wish(wish).is_none() {
            let error = ply_rpc::RpcError::internal("the prompt could not be sent");
            self.backlog.push_back(Event::Ended(Err(error)));
        }
    }

    /// Notes bytes of lines, and writes the state down if it is time.
    fn note_lines(&mut self, bytes: usize) {
        let state = self.book.line(&self.link, bytes, self.written);
        self.backlog.extend(state);
    }

    /// The process is gone.
    fn gone(&mut self, exit: Option<&Exit>, is_wanted: bool) -> Next {
        self.has_ended = exit.is_some();
        let words = words::exit(exit);
        tracing::info!(words, "an agent's process is gone");
        let words = self.fate.get_or_init(|| words).clone();
        let is_unread = exit.is_some_and(|exit| self.link.is_prompt_unread(exit.written));
        self.backlog.push_back(Event::Gone {
            words,
            is_unread,
            is_wanted,
        });
        Next::Over
    }

    /// Leaves the process to another hub. Whoever works on a turn of it waits from here on, until this hub has ended: it must not be
    /// told that the agent is gone, since it would write that down.
    async fn let_go(&mut self, done: oneshot::Sender<()>) -> Next {
        // What is not sent yet is recorded, and the next hub sends it.
        self.pipe = Pipe::closed();
        self.holder = None;
        // Whoever waited may have gone away.
        done.send(()).ok();
        std::future::pending().await
    }

    /// Ends the process, since nobody wants it any more.
    async fn nobody_is_left(&mut self) -> Next {
        let lines = std::mem::take(&mut self.outgoing);
        let (to, from) = (self.pipe.to.clone(), &mut self.pipe.from);
        let holder = self.holder.take();
        let telling = async move {
            for Outgoing { number, line, .. } in lines {
                if to.send(ToAgent::Line { number, line }).await.is_err() {
                    return;
                }
            }
            // It may be gone.
            drop(to.send(ToAgent::Stop).await);
            if let Some(holder) = holder {
                holder.bury().await;
            }
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
        self.gone(exit.as_ref(), true)
    }
}

/// Waits until the journal has what has to be there before a line is sent.
async fn opened(next: Option<&mut Outgoing>) {
    let Some(next) = next else {
        return;
    };
    if let Some(gate) = &mut next.gate
        && !gate.as_mut().await
    {
        // Another hub could not go on from here, and would find out.
        tracing::debug!("what an agent is told is not recorded");
    }
    next.gate = None;
}
