//! One client's view of a session: what it is shown, in the order in which it is written.

mod replay;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use ply_rpc::Responder;
use ply_session::{AskId, History, PromptId, Refusal, ViewId};
use ply_wire::link::{rpc_error_v1, rpc_error_v2};
use ply_wire::method::Notification as _;
use ply_wire::negotiate::Version;
use ply_wire::project::{self, Down, Projector, PromptTicket};
use ply_wire::{v1, v2};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::task::AbortHandle;

use self::replay::{encoded, replayed};
use super::answer::{self, Answer, refusal_error};
use super::control::How;
use super::offer::Offer;
use crate::client::Client;

/// Bytes that may wait for a client that does not read while another one does.
const VIEW_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Updates that may wait behind a replay that a client does not read while another one reads.
const VIEW_UPDATES_MAX: usize = 10_000;

/// A client and what it has not been sent yet.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) id: ViewId,
    pub(crate) client: Arc<Client>,
    session: v2::SessionId,
    shape: Shape,
    /// Prompts that wait for their answer.
    prompts: HashMap<PromptId, Responder>,
    pub(super) offers: HashMap<AskId, Offered>,
    /// Whether the client was last told that work goes on.
    active: bool,
    /// What waits until there is room: a replay, and whatever comes after it.
    backlog: VecDeque<Out>,
    /// How many of these are no part of a replay.
    waiting: usize,
    /// Whether the client will send nothing more.
    pub(crate) hung_up: bool,
    downs: Vec<Down>,
}

#[derive(Debug)]
enum Shape {
    V1(Box<Projector>),
    V2,
}

/// A question that was put to the client.
#[derive(Debug)]
pub(super) struct Offered {
    /// Ends the wait, which takes the question back; none while the question waits itself.
    pub(super) call: Option<AbortHandle>,
    pub(super) down: Option<project::AskId>,
}

/// Something to write.
#[derive(Debug)]
pub(super) enum Out {
    V1(v1::SessionUpdate),
    V2(v2::SessionUpdate),
    /// An update of a replay, as JSON: there are many of them, and as values they are large.
    Replayed(Box<RawValue>),
    Answer(Responder, Answer),
    Offer(Offer),
}

/// `session/update` with everything borrowed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a, U> {
    session_id: &'a v2::SessionId,
    update: &'a U,
}

impl View {
    /// Returns the view of a client that attaches, and queues what it is shown first and the answer
    /// to its request.
    pub(crate) fn attach(
        id: ViewId,
        client: Arc<Client>,
        session: v2::SessionId,
        how: How,
        history: &History,
        responder: Option<Responder>,
    ) -> Self {
        let mut backlog = VecDeque::new();
        let shape = match client.version {
            Version::V1 => {
                let (shows, prefix) = (client.shows, format!("{}/", id.0));
                let transcript = history.transcript();
                Shape::V1(Box::new(match how {
                    How::New => Projector::new(shows, prefix),
                    How::Replay => {
                        let queue = |downs: &mut Vec<Down>| backlog.extend(replayed(downs));
                        Projector::load_by(shows, prefix, transcript, history, queue)
                    }
                    How::Resume => Projector::resume(shows, prefix, transcript, history),
                }))
            }
            Version::V2 => Shape::V2,
        };
        let mut view = Self {
            id,
            client,
            session,
            shape,
            prompts: HashMap::new(),
            offers: HashMap::new(),
            active: history.is_active(),
            hung_up: false,
            backlog,
            waiting: 0,
            downs: Vec::new(),
        };
        if let Some(responder) = responder {
            view.introduce(how, history, responder);
        }
        view
    }

    /// Sends what version 2 wants before the answer, the answer, and what comes after it.
    fn introduce(&mut self, how: How, history: &History, responder: Responder) {
        let transcript = history.transcript();
        if self.client.version == Version::V2 {
            match how {
                How::New => {}
                How::Replay => {
                    let updates = transcript.updates();
                    self.backlog
                        .extend(updates.filter_map(|update| encoded(&update)));
                }
                // Also when nothing is replayed (V2-RESUME-08).
                How::Resume => {
                    let state = v2::SessionUpdate::StateUpdate(transcript.state_snapshot());
                    self.backlog.push_back(Out::V2(state));
                }
            }
        }
        if let Shape::V1(projector) = &mut self.shape
            && let Some(modes) = ply_wire::convert::config::modes_down(transcript.config_options())
        {
            projector.mode_answered(modes.current_mode_id);
        }
        let answer = answer::setup(how, &self.session, transcript, &self.client);
        self.backlog.push_back(Out::Answer(responder, answer));
        self.pump();
        for update in answer::after(how, transcript, self.client.version) {
            self.show(&update, history);
        }
    }

    /// Shows an event.
    pub(crate) fn show(&mut self, update: &v2::SessionUpdate, history: &History) {
        if let v2::SessionUpdate::StateUpdate(state) = update {
            self.active = !matches!(state, v2::StateUpdate::Idle(_));
        }
        match &mut self.shape {
            Shape::V2 if self.backlog.is_empty() => self.tell(update),
            Shape::V2 => {
                self.waiting += 1;
                self.backlog.push_back(Out::V2(update.clone()));
            }
            Shape::V1(projector) => {
                let mut downs = std::mem::take(&mut self.downs);
                projector.apply_with(update, history, &mut downs);
                self.write_downs(&mut downs);
                self.downs = downs;
            }
        }
    }

    /// Sends what was held back to send less often.
    pub(crate) fn flush(&mut self) {
        self.project(|projector, downs| projector.flush(downs));
    }

    /// Notes a prompt of this client. It is answered when it is inserted (version 2), or when its
    /// turn ends (version 1).
    pub(crate) fn prompted(&mut self, prompt: PromptId, responder: Responder) {
        self.prompts.insert(prompt, responder);
    }

    /// Notes a terminal that the client made itself.
    pub(crate) fn client_terminal(&mut self, terminal: v2::TerminalId) {
        self.project(|projector, _| projector.client_terminal(terminal));
    }

    /// Notes which message is this client's prompt; a version 1 client wrote it itself.
    pub(crate) fn owns(&mut self, prompt: PromptId, message: &v2::MessageId) {
        self.project(|projector, downs| {
            projector.own_prompt(PromptTicket(prompt.0), message.clone(), downs);
        });
    }

    /// Tells a version 2 client that its prompt is inserted.
    pub(crate) fn accepted(&mut self, prompt: PromptId, message: &v2::MessageId) {
        if let Shape::V2 = &self.shape {
            let answer = v2::PromptResponse::new(message.clone());
            self.answer_prompt(prompt, Answer::Prompted(answer));
        }
    }

    pub(crate) fn refused(&mut self, prompt: PromptId, refusal: Refusal) {
        let error = refusal_error(refusal);
        match &mut self.shape {
            Shape::V2 => self.answer_prompt(prompt, Answer::Error(rpc_error_v2(&error))),
            Shape::V1(_) => {
                self.project(|projector, downs| {
                    projector.prompt_refused(PromptTicket(prompt.0), &error, downs);
                });
            }
        }
    }

    pub(crate) fn has_prompts(&self) -> bool {
        !self.prompts.is_empty()
    }

    /// Writes all that waits, however much it is: the view ends.
    pub(crate) fn write_all(&mut self) {
        while let Some(out) = self.backlog.pop_front() {
            self.write(out);
        }
    }

    /// Returns whether the client reads so slowly that others would have to wait for it.
    pub(crate) fn is_slow(&self) -> bool {
        self.client.peer.queued_bytes() > VIEW_BYTES_MAX || self.waiting > VIEW_UPDATES_MAX
    }

    /// Ends everything the client waits for, as the session is closed.
    pub(crate) fn close(&mut self) {
        self.project(|projector, downs| projector.close(downs));
        for (_, offered) in self.offers.drain() {
            offered.call.inspect(AbortHandle::abort);
        }
    }

    /// Fails everything the client waits for.
    pub(crate) fn fail(&mut self, error: &crate::Error) {
        let asks: Vec<_> = self.offers.keys().copied().collect();
        // Their answers could not be kept.
        for ask in asks {
            self.retract(ask);
        }
        for (_, responder) in std::mem::take(&mut self.prompts) {
            self.send(Out::Answer(responder, Answer::Error(error.to_rpc())));
        }
        if self.active && self.client.version == Version::V2 {
            // Its prompt was answered long ago, so this is the only way to hear of the end. The
            // turn will be found cut off, and end like this, when the session is opened again.
            let stop = v2::ErrorStopReason::new().error(error.to_v2());
            let stop = v2::StopReason::Error(stop);
            let idle = v2::IdleStateUpdate::new().stop_reason(stop);
            let idle = v2::StateUpdate::Idle(idle);
            self.send(Out::V2(v2::SessionUpdate::StateUpdate(idle)));
        }
        self.close();
    }

    pub(crate) fn answer(&mut self, responder: Responder, answer: Answer) {
        self.send(Out::Answer(responder, answer));
    }

    /// Returns whether the client has to read before it can be shown more.
    pub(crate) fn is_full(&self) -> bool {
        !self.backlog.is_empty() || self.client.peer.is_full()
    }

    /// Writes what waits, as far as there is room.
    pub(crate) fn pump(&mut self) {
        while !self.client.peer.is_full() {
            let Some(out) = self.backlog.pop_front() else {
                self.waiting = 0;
                return;
            };
            self.write(out);
        }
    }

    pub(super) fn send(&mut self, out: Out) {
        if self.backlog.is_empty() {
            self.write(out);
        } else {
            self.backlog.push_back(out);
        }
    }

    fn write(&mut self, out: Out) {
        match out {
            Out::V1(update) => self.tell(&update),
            Out::V2(update) => self.tell(&update),
            Out::Replayed(update) => self.tell(&update),
            Out::Answer(responder, answer) => answer.give(responder),
            Out::Offer(offer) => self.put(offer),
        }
    }

    fn tell(&self, update: &impl Serialize) {
        let params = Update {
            session_id: &self.session,
            update,
        };
        // Whether a link is gone is for the connection to notice; it detaches the view then.
        let method = v2::UpdateSessionNotification::METHOD;
        if let Err(error) = self.client.peer.notify_now(method, &params) {
            tracing::debug!(session = %self.session.0, %error, "an update was not sent");
        }
    }

    pub(super) fn project<T>(
        &mut self,
        then: impl FnOnce(&mut Projector, &mut Vec<Down>) -> T,
    ) -> Option<T> {
        let Shape::V1(projector) = &mut self.shape else {
            return None;
        };
        let mut downs = std::mem::take(&mut self.downs);
        let done = then(projector, &mut downs);
        self.write_downs(&mut downs);
        self.downs = downs;
        Some(done)
    }

    fn write_downs(&mut self, downs: &mut Vec<Down>) {
        for down in downs.drain(..) {
            match down {
                Down::Update(update) if self.backlog.is_empty() => self.tell(&update),
                Down::Update(update) => {
                    self.waiting += 1;
                    self.backlog.push_back(Out::V1(update));
                }
                Down::Settle { prompt, outcome } => {
                    let answer = match outcome {
                        Ok(response) => Answer::Settled(response),
                        Err(error) => Answer::Error(rpc_error_v1(&error)),
                    };
                    self.answer_prompt(PromptId(prompt.0), answer);
                }
                _ => {}
            }
        }
    }

    fn answer_prompt(&mut self, prompt: PromptId, answer: Answer) {
        if let Some(responder) = self.prompts.remove(&prompt) {
            self.send(Out::Answer(responder, answer));
        }
    }
}
