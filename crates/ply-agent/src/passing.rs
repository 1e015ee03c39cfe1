//! Sessions whose turns another program runs: what it does is passed on, and kept so that another owner of the session can go on
//! with the program where this one stopped.

use std::any::Any;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use ply_session::{
    Answer, Ask, AskId, Connection, Edit, Entity, Question, Runner, Stop, TurnId, update_bytes,
};
use ply_wire::v2;
use tokio::sync::oneshot;

use crate::session::op::Op;
use crate::turn::Context;
use crate::{Error, Result, Session, Turn};

/// What one line of another program means.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Line {
    /// Its number, if the program may outlive this owner of the session. Then all that it means is kept together with the number.
    pub number: Option<u64>,
    /// What it reports, with the whole texts of the files whose diffs it shows.
    pub updates: Vec<(v2::SessionUpdate, Vec<Edit>)>,
}

impl Line {
    /// Returns a line that reports these updates.
    #[must_use]
    pub fn new(number: Option<u64>, updates: Vec<(v2::SessionUpdate, Vec<Edit>)>) -> Self {
        Self { number, updates }
    }

    /// Returns about how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let update = |(update, edits): &(v2::SessionUpdate, Vec<Edit>)| {
            update_bytes(update) + edits.iter().map(Edit::bytes).sum::<usize>()
        };
        self.updates.iter().map(update).sum()
    }
}

/// A question of another program.
#[derive(Debug, Clone)]
#[must_use = "it is asked by `Turn::pass_on` or `Session::pass_on`"]
pub struct Inquiry {
    question: Question,
    request: Option<u64>,
    known: Option<AskId>,
}

impl Inquiry {
    /// Returns a question. What it names as its session becomes the session that it is passed on in.
    pub fn new(question: Question) -> Self {
        Self {
            question,
            request: None,
            known: None,
        }
    }

    /// Says which request of the program it is, to be kept.
    pub fn request(mut self, request: u64) -> Self {
        self.request = Some(request);
        self
    }

    /// Says under which number an earlier owner of the session asked it: its answer is waited for, and it is not asked again.
    pub fn known(mut self, ask: AskId) -> Self {
        self.known = Some(ask);
        self
    }
}

/// What is let go of when everybody knows that a turn has ended.
#[derive(Clone, Default)]
pub(crate) struct UntilEnd(Arc<Mutex<Vec<Box<dyn Any + Send>>>>);

impl UntilEnd {
    pub(crate) fn let_go(&self) {
        // No code that can panic runs under the lock.
        let kept = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        drop(kept);
    }
}

impl std::fmt::Debug for UntilEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UntilEnd")
    }
}

impl Session {
    /// Notes that another program runs the turns of the session from here on, and by which id it knows the session. The journal
    /// keeps it; see [`History::runner`](crate::History::runner).
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is noted.
    pub async fn set_runner(&self, runner: Runner) -> Result<()> {
        self.report(Op::Runner(runner)).await
    }

    /// Says who is told when a client cancels one tool call or terminal of the program that runs the turns, in place of whoever was
    /// told before. It is called where nothing may wait.
    pub fn on_cancel(&self, tell: impl Fn(Entity) + Send + Sync + 'static) {
        self.pass_cancels_to(tell);
    }

    /// Notes something about the connection to the program that runs the turns. The future says whether it is kept: everything
    /// that was reported before it and itself survive this process.
    pub fn note_connection(
        &self,
        connection: Connection,
    ) -> impl Future<Output = bool> + Send + use<> {
        self.report_now(Op::Connection(connection));
        let (tell, told) = oneshot::channel();
        // Whoever waits may have gone away.
        self.after_reports(None, move |is_safe| {
            tell.send(is_safe).ok();
        });
        async move { told.await.unwrap_or(false) }
    }

    /// Reports what a line of the program means outside any turn.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    pub async fn report_line(&self, line: Line) -> Result<()> {
        self.line_in(None, line).await
    }

    async fn line_in(&self, turn: Option<TurnId>, line: Line) -> Result<()> {
        self.report(Op::Line(turn, Box::new(line))).await
    }

    /// Passes on a question of another program that belongs to no turn. See [`Turn::pass_on`].
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the question is taken back.
    pub async fn pass_on(&self, inquiry: Inquiry) -> Result<Answer> {
        put(&Context::outside(self.clone()), inquiry).await
    }

    /// Takes back a question that an earlier owner of the session asked and nobody wants to be answered any more.
    pub fn take_back(&self, ask: AskId) {
        self.report_now(Op::Unask(ask));
    }

    /// Runs the turn that an earlier owner of the session started and that goes on in another program. Returns whether there is
    /// such a turn, and does not wait for its end.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the turn may go on or not.
    pub async fn adopt_turn<F, W>(&self, work: F) -> Result<bool>
    where
        F: FnOnce(Turn) -> W + Send + 'static,
        W: Future<Output = Result<Stop>> + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        let work = Box::new(
            move |turn| -> std::pin::Pin<Box<dyn Future<Output = _> + Send>> {
                Box::pin(work(turn))
            },
        );
        self.report(Op::Adopt(work, tell)).await?;
        told.await.map_err(|_| Error::session_closed())
    }
}

impl Turn {
    /// Reports what a line of another program means. It goes through also after the user cancelled, so that what was done by then
    /// is kept.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    pub async fn report_line(&self, line: Line) -> Result<()> {
        self.session().line_in(self.context.turn(), line).await
    }

    /// Passes on a question of another program, with its own words and options, to whoever can answer it.
    ///
    /// # Errors
    ///
    /// The turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the question is taken back.
    pub async fn pass_on(&self, inquiry: Inquiry) -> Result<Answer> {
        put(&self.context, inquiry).await
    }

    /// Keeps something until the end of the turn is reported, after its code has returned: whoever waits for it reports after that
    /// end.
    pub fn keep_until_end(&self, what: impl Send + 'static) {
        let mut kept = self
            .until_end
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        kept.push(Box::new(what));
    }
}

/// Puts a question and waits for its answer.
pub(crate) async fn put(context: &Context, inquiry: Inquiry) -> Result<Answer> {
    let Inquiry {
        mut question,
        request,
        known,
    } = inquiry;
    context.adapt(&mut question)?;
    let (answer, answered) = oneshot::channel();
    let session = context.session();
    let id = known.unwrap_or_else(|| session.next_ask());
    let op = match known {
        Some(ask) => Op::Await { ask, answer },
        None => {
            let turn = context.turn();
            let ask = Box::new(Ask { id, turn, question });
            Op::Ask {
                ask,
                answer,
                request,
            }
        }
    };
    context.unless_cancelled(session.report(op)).await?;
    let mut unask = Unask(Some(session), id);
    // An answer that is not safe yet does not keep the code from its cancel.
    let answered = async { answered.await.map_err(|_| Error::session_closed()) };
    let answer = context.unless_cancelled(answered).await?;
    unask.0 = None;
    match answer {
        Answer::Cancelled if context.is_cancelled() => Err(Error::cancelled()),
        answer => Ok(answer),
    }
}

/// Takes a question back when nobody waits for its answer any more. Without a session there is nothing to take back.
struct Unask<'s>(Option<&'s Session>, AskId);

impl Drop for Unask<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.0 {
            session.report_now(Op::Unask(self.1));
        }
    }
}
