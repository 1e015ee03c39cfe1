//! Telling the session what its agent does: from the code of a turn, or between turns from a task of its own.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex as SyncMutex, PoisonError, Weak};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use ply_agent::event::{Connection, PassedOn};
use ply_agent::{Error, Inquiry, Result, Session, Stop, Turn};
use ply_wire::v2;
use tokio::sync::{Mutex, Notify, oneshot};
use tokio::task::AbortHandle;

use super::book::Noted;
use super::link::{Answer, End, Question, Service, Wish};
use super::process::Process;
use super::queue::{Baton, Event, Queue};
use super::serve::Hands;
use super::words;

/// How long a prompt waits for an agent that still works on one that was given up.
const BEGIN_TIME_MAX: Duration = Duration::from_secs(60);

/// A process that has the session open.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) process: Arc<Process>,
    pub(super) hands: Hands,
    /// Questions that another hub passed on.
    asked: SyncMutex<HashMap<u64, PassedOn>>,
    /// Where work that the agent began by itself waits for a turn.
    own: Own,
}

#[derive(Debug, Default)]
struct Own {
    baton: SyncMutex<Option<Baton>>,
    came: Notify,
}

impl Own {
    fn put(&self, baton: Baton) {
        *self.baton.lock().unwrap_or_else(PoisonError::into_inner) = Some(baton);
        self.came.notify_waiters();
    }

    fn take(&self) -> Option<Baton> {
        let mut baton = self.baton.lock().unwrap_or_else(PoisonError::into_inner);
        baton.take()
    }
}

/// What came of a prompt.
pub(super) enum Worked {
    /// Its turn ended.
    Ended(Stop),
    /// The agent stopped before it got the prompt, so that another process may be sent it; in words.
    Unread(String),
}

impl Worked {
    /// Returns how the turn ended; an error if nobody worked on it.
    pub(super) fn stop(self) -> Result<Stop> {
        match self {
            Self::Ended(stop) => Ok(stop),
            Self::Unread(words) => Err(interrupted(&words)),
        }
    }
}

type Work<'t> = FuturesUnordered<Pin<Box<dyn Future<Output = u64> + Send + 't>>>;

impl Live {
    pub(super) fn new(process: Arc<Process>, hands: Hands) -> Arc<Self> {
        Arc::new(Self {
            process,
            hands,
            asked: SyncMutex::default(),
            own: Own::default(),
        })
    }

    /// Notes what another hub passed on.
    pub(super) fn know(&self, asked: impl IntoIterator<Item = PassedOn>) {
        let asked = asked.into_iter().map(|passed| (passed.request, passed));
        let mut known = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(asked);
    }

    /// Sends a prompt and works on it.
    pub(super) async fn prompt(
        &self,
        turn: &Turn,
        message: v2::MessageId,
        content: Vec<v2::ContentBlock>,
    ) -> Result<Worked> {
        let wish = Wish::Prompt { message, content };
        match self.process.prompt(wish).await {
            Ok(begins) => self.work(turn, begins).await,
            Err(trouble) => Ok(Worked::Unread(trouble.to_string())),
        }
    }

    /// Works on a prompt that was sent.
    async fn work(&self, turn: &Turn, mut begins: oneshot::Receiver<Baton>) -> Result<Worked> {
        let late = tokio::time::sleep(BEGIN_TIME_MAX);
        let mut late = std::pin::pin!(late);
        let baton = loop {
            let came = self.own.came.notified();
            // Work of the agent's own that waits for a turn becomes part of this one: neither would begin otherwise.
            if let Some(baton) = self.own.take() {
                break baton;
            }
            tokio::select! {
                biased;
                baton = &mut begins => match baton {
                    Ok(baton) => break baton,
                    // The turn begins before anything is sent.
                    Err(_) => return Ok(Worked::Unread(self.process.gone().to_string())),
                },
                () = came => {}
                () = turn.cancelled() => {
                    self.process.tell(Wish::Cancel).await;
                    return Ok(Worked::Ended(Stop::Cancelled));
                }
                () = &mut late => {
                    let seconds = BEGIN_TIME_MAX.as_secs();
                    return Err(Error::msg(format!(
                        "The agent still works on a turn that was cancelled, and took no prompt for {seconds} seconds. \
                         Wait for it, or close the session to end it."
                    )));
                }
            }
        };
        self.report(turn, baton).await
    }

    /// Reports what the agent does until the work is over.
    pub(super) async fn report(&self, turn: &Turn, mut baton: Baton) -> Result<Worked> {
        let mut work = Work::new();
        let mut asked: HashMap<u64, oneshot::Sender<()>> = HashMap::new();
        let mut is_cancelled = false;
        let mut is_prompt = false;
        loop {
            let event = tokio::select! {
                biased;
                () = turn.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    self.process.tell(Wish::Cancel).await;
                    continue;
                }
                Some(request) = work.next(), if !work.is_empty() => {
                    asked.remove(&request);
                    continue;
                }
                event = baton.next() => event,
            };
            match event {
                Some(Event::Line(line)) => {
                    let report = turn.report_line(*line);
                    let mut report = std::pin::pin!(report);
                    tokio::select! {
                        biased;
                        done = &mut report => done?,
                        // Whoever reads may be slow; the agent hears of it at once.
                        () = turn.cancelled(), if !is_cancelled => {
                            is_cancelled = true;
                            self.process.tell(Wish::Cancel).await;
                            report.await?;
                        }
                    }
                }
                Some(Event::Ask(request, question)) => {
                    let (retract, retracted) = oneshot::channel();
                    asked.insert(request, retract);
                    let ask = self.ask_in(turn, request, question);
                    work.push(Box::pin(unless(retracted, ask, request)));
                }
                Some(Event::Service(request, service)) => {
                    let (retract, retracted) = oneshot::channel();
                    asked.insert(request, retract);
                    let serve = self.serve(Some(turn), request, service);
                    work.push(Box::pin(unless(retracted, serve, request)));
                }
                // Its drop ends what was asked.
                Some(Event::Retracted(request)) => drop(asked.remove(&request)),
                Some(Event::VisitOver(id)) => {
                    if let Err(error) = turn.finish_url(id).await {
                        tracing::debug!(%error, "nobody is told that a visit is over");
                    }
                }
                Some(Event::Background(work)) => turn.outlive(&work).await?,
                Some(Event::Begin(_)) => is_prompt = true,
                // Whoever waited may have gone away.
                Some(Event::Barrier(told)) => drop(told.send(())),
                Some(Event::State(state, tell)) => note(turn.session(), *state, tell),
                Some(Event::Began) => {}
                Some(Event::Ended(end)) => return over(turn, baton, end),
                Some(Event::Rested(end)) => {
                    if !is_prompt && turn.prompt().message_id().is_none() {
                        return over(turn, baton, end);
                    }
                }
                Some(Event::Gone {
                    words, is_unread, ..
                }) if is_unread && !is_cancelled => {
                    return Ok(Worked::Unread(words));
                }
                Some(Event::Gone { words, .. }) => return Err(interrupted(&words)),
                None => return Err(self.process.gone().error()),
            }
        }
    }

    async fn ask_in(&self, turn: &Turn, request: u64, question: Question) {
        let answer = match self.inquiry(request, question) {
            Ok(inquiry) => turn.pass_on(inquiry).await.unwrap_or(Answer::Unanswered),
            Err(answer) => answer,
        };
        // A cancel was answered already.
        if !turn.is_cancelled() {
            self.process.tell(Wish::Answer { request, answer }).await;
        }
    }

    async fn ask_outside(&self, session: &Session, request: u64, question: Question) {
        let answer = match self.inquiry(request, question) {
            Ok(inquiry) => session.pass_on(inquiry).await.unwrap_or(Answer::Unanswered),
            Err(answer) => answer,
        };
        self.process.tell(Wish::Answer { request, answer }).await;
    }

    /// Returns what the session is asked; the answer if the session was asked before and has answered.
    fn inquiry(&self, request: u64, question: Question) -> Result<Inquiry, Answer> {
        let inquiry = Inquiry::new(question);
        if self.process.holder.is_none() {
            return Ok(inquiry);
        }
        let known = {
            let mut known = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            known.remove(&request)
        };
        match known {
            None => Ok(inquiry.request(request)),
            Some(PassedOn {
                answer: Some(answer),
                ..
            }) => Err(answer),
            Some(PassedOn { ask, .. }) => Ok(inquiry.known(ask)),
        }
    }

    async fn serve(&self, turn: Option<&Turn>, request: u64, service: Service) {
        let (terminal, result) = self.hands.serve(turn, service).await;
        let wish = Wish::Serve {
            request,
            terminal,
            result: Some(result),
        };
        self.process.tell(wish).await;
    }
}

/// Waits for `work` unless whoever holds the other end lets go; says which request it was.
async fn unless(
    retracted: oneshot::Receiver<()>,
    work: impl Future<Output = ()>,
    request: u64,
) -> u64 {
    tokio::select! {
        biased;
        () = work => {}
        _ = retracted => {}
    }
    request
}

/// Ends the work of a turn. What the agent does next is reported after that.
fn over(turn: &Turn, mut baton: Baton, end: End) -> Result<Worked> {
    baton.is_late = false;
    turn.keep_until_end(baton);
    stop(end).map(Worked::Ended)
}

/// Writes down the state of a connection.
fn note(session: &Session, state: Connection, tell: oneshot::Sender<Noted>) {
    let noted: Noted = Box::pin(session.note_connection(state));
    // Whoever waited may have gone away.
    drop(tell.send(noted));
}

fn stop(end: End) -> Result<Stop> {
    let reason = end?;
    Ok(reason.as_ref().map_or(Stop::EndTurn, Stop::from))
}

/// Returns the error of a turn whose agent died.
pub(super) fn interrupted(words: &str) -> Error {
    Error::msg(format!(
        "{words}\nThe turn was cut off. Send another prompt to start the agent again."
    ))
}

/// Reports what belongs to no turn, and hands over to turns, until the process is gone.
pub(super) async fn between_turns(session: Session, live: Weak<Live>, queue: Arc<Mutex<Queue>>) {
    let mut asked: HashMap<u64, AbortHandle> = HashMap::new();
    loop {
        let mut baton = Arc::clone(&queue).lock_owned().await;
        let Some(event) = baton.next().await else {
            return;
        };
        match event {
            Event::Begin(turn) => {
                baton.is_late = true;
                // A turn that is given up leaves what comes of it to be skipped.
                drop(turn.send(baton));
            }
            Event::Began => {
                let Some(live) = live.upgrade() else {
                    return;
                };
                baton.is_late = true;
                own_turn(&session, live, baton).await;
            }
            Event::Barrier(told) => drop(told.send(())),
            Event::Ended(_) | Event::Rested(_) => baton.is_late = false,
            Event::Line(mut line) => {
                if baton.is_late {
                    // Only that it came counts.
                    line.updates.clear();
                }
                if session.report_line(*line).await.is_err() {
                    return;
                }
            }
            Event::State(state, tell) => note(&session, *state, tell),
            Event::Ask(request, question) => {
                let (Some(live), session) = (live.upgrade(), session.clone()) else {
                    return;
                };
                let is_late = baton.is_late;
                asked.retain(|_, task| !task.is_finished());
                let task = tokio::spawn(async move {
                    if is_late {
                        let answer = Answer::Cancelled;
                        return live.process.tell(Wish::Answer { request, answer }).await;
                    }
                    live.ask_outside(&session, request, question).await;
                });
                asked.insert(request, task.abort_handle());
            }
            Event::Service(request, service) => {
                let Some(live) = live.upgrade() else {
                    return;
                };
                asked.retain(|_, task| !task.is_finished());
                let task = tokio::spawn(async move { live.serve(None, request, service).await });
                asked.insert(request, task.abort_handle());
            }
            Event::Retracted(request) => {
                if let Some(task) = asked.remove(&request) {
                    task.abort();
                }
            }
            Event::Gone {
                words, is_wanted, ..
            } => {
                if !is_wanted && let Err(error) = session.update(words::notice(&words)).await {
                    tracing::debug!(%error, "nobody is told that an agent is gone");
                }
            }
            Event::Background(_) | Event::VisitOver(_) => {}
        }
    }
}

/// Gives work that the agent began by itself a turn.
async fn own_turn(session: &Session, live: Arc<Live>, baton: Baton) {
    live.own.put(baton);
    let works = Arc::clone(&live);
    let turn = session.start_turn(move |turn| async move {
        match works.own.take() {
            Some(baton) => works.report(&turn, baton).await?.stop(),
            // A prompt came first and took it over.
            None => Ok(Stop::EndTurn),
        }
    });
    if let Err(error) = turn.await {
        tracing::debug!(%error, "an agent's own work got no turn");
    }
    // Without a turn it is background work.
    if let Some(mut baton) = live.own.take() {
        baton.is_late = false;
    }
}
