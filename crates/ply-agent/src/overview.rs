//! The sessions of a server, as a program that hosts them sees them.

use std::path::PathBuf;

use ply_journal::{Filter, Head, Page};
use ply_session::{AskId, Core, Input, Keep, Question, QueueChange, QueuedPrompt, Setup};
use ply_wire::v2;
use tokio::sync::oneshot;

use crate::session::control::{Control, Waiter};
use crate::session::{Origin, close_by_host};
use crate::{Caller, Error, NewPrompts, Result, Server, SessionSetup};

/// An open session, at a moment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Overview {
    /// Its id.
    pub id: v2::SessionId,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its title.
    pub title: Option<String>,
    /// What the journal keeps of it for its host.
    pub host: Option<String>,
    /// What goes on in the foreground.
    pub state: v2::StateUpdate,
    /// How many clients see it.
    pub clients: usize,
    /// How many of them may answer its questions.
    pub approvers: usize,
    /// The prompts that wait for their turn.
    pub queue: Vec<QueuedPrompt>,
    /// Whether they wait until somebody says that they may begin.
    pub is_paused: bool,
    /// How much goes on in the background.
    pub background: usize,
    /// What its user is asked.
    pub questions: Vec<OpenQuestion>,
}

/// A question that waits for an answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OpenQuestion {
    /// Its number.
    pub id: AskId,
    /// What is asked.
    pub question: Question,
}

impl Overview {
    /// Returns a session in this state, of which nothing else is known.
    #[must_use]
    pub fn new(id: v2::SessionId, cwd: impl Into<PathBuf>, state: v2::StateUpdate) -> Self {
        Self {
            id,
            cwd: cwd.into(),
            title: None,
            host: None,
            state,
            clients: 0,
            approvers: 0,
            queue: Vec::new(),
            is_paused: false,
            background: 0,
            questions: Vec::new(),
        }
    }

    pub(crate) fn of(core: &Core, session: &crate::Session, host: Option<String>) -> Self {
        let open = |(id, question): (AskId, &Question)| OpenQuestion {
            id,
            question: question.clone(),
        };
        Self {
            id: session.id().clone(),
            cwd: session.cwd().to_owned(),
            title: core.history().transcript().info().title.clone(),
            host,
            state: core.state(),
            clients: core.views().count(),
            approvers: core.approvers(),
            queue: core.history().queued().to_vec(),
            is_paused: core.history().is_paused(),
            background: core
                .history()
                .transcript()
                .background()
                .map_or(0, <[_]>::len),
            questions: core.engine().questions().map(open).collect(),
        }
    }
}

impl Server {
    /// Returns the sessions that are open, as each of them says.
    ///
    /// # Cancel safety
    ///
    /// Safe to drop.
    pub async fn sessions(&self) -> Vec<Overview> {
        let asked = self.host().open_sessions();
        let asked = asked.into_iter().filter_map(|session| {
            let (tell, told) = oneshot::channel();
            let control = Control::Look(tell);
            session.control(control).is_ok().then_some(told)
        });
        let asked: Vec<_> = asked.collect();
        let mut sessions = Vec::with_capacity(asked.len());
        for told in asked {
            // One that ends just now says nothing.
            sessions.extend(told.await);
        }
        sessions
    }

    /// Waits until an open session has a question that no client sees which may answer it. Such a question that came since the last
    /// call counts; one task may wait at a time.
    ///
    /// # Cancel safety
    ///
    /// Safe to drop.
    pub async fn question_waits(&self) {
        self.host().question_waits.notified().await;
    }

    /// Returns the stored sessions of which a turn or a queue is unfinished, the newest first and at most so many. Those that
    /// another process owns are among them.
    ///
    /// # Errors
    ///
    /// The journal cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe to drop.
    pub async fn unfinished(&self, most: usize) -> Result<Vec<Head>> {
        let mut filter = Filter::new(most);
        filter.unfinished = Some(true);
        Ok(self.stored(filter).await?.sessions)
    }

    /// Returns a page of the stored sessions, those of other processes among them.
    ///
    /// # Errors
    ///
    /// The journal cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe to drop.
    pub async fn stored(&self, filter: Filter) -> Result<Page> {
        Ok(self.host().journal().list(filter).await?)
    }

    /// Opens a stored session for nobody in particular, if it is not open. What comes of it is for the session to tell.
    pub fn open(&self, head: &Head, caller: Caller) {
        let mut setup = SessionSetup::from_core(&Setup::new(head.cwd.clone()));
        setup.caller = caller;
        let id = v2::SessionId::new(head.id.clone());
        self.host().open(&id, setup, Origin::Journal);
    }

    /// Closes a session: what runs is cancelled, and its end written. It can be opened again.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the session may be closed or not.
    pub async fn close(&self, session: &v2::SessionId) {
        let Some(open) = self.host().open_session(session) else {
            return;
        };
        let (tell, told) = oneshot::channel();
        let close = close_by_host(self.host().next_request(), Keep::IfUsed);
        if open
            .control(Control::Request(close, Waiter::Host(tell)))
            .is_ok()
        {
            // Told, or gone because the session is over.
            drop(told.await);
        }
    }

    /// Picks an option of a permission request on behalf of `by`, as a client would. The first answer counts.
    ///
    /// # Errors
    ///
    /// The session is not open, the question is answered already, or it does not offer the option.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the answer may count or not.
    pub async fn answer(
        &self,
        session: &v2::SessionId,
        question: AskId,
        option: v2::PermissionOptionId,
        by: &str,
    ) -> Result<()> {
        let decide = Input::Decide {
            request: self.host().next_request(),
            ask: question,
            option,
            by: Some(by.into()),
        };
        self.told(session, decide).await
    }

    /// Sends a prompt to an open session, as nobody in particular. It is taken when this returns: its turn runs, or it waits for
    /// its turn.
    ///
    /// # Errors
    ///
    /// The session is not open, or does not take the prompt.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the prompt may be taken or not.
    pub async fn post(
        &self,
        session: &v2::SessionId,
        content: Vec<v2::ContentBlock>,
    ) -> Result<()> {
        match self.host().new_prompts() {
            NewPrompts::Taken => {}
            // Nobody sends it again.
            NewPrompts::Wait => return Err(Error::msg("this process is about to end")),
            NewPrompts::Refused(reason) => return Err(Error::msg(&*reason)),
        }
        let request = self.host().next_request();
        self.told(session, Input::Post { request, content }).await
    }

    /// Changes the prompts that wait for their turn in a session.
    ///
    /// # Errors
    ///
    /// The session is not open, or there is no such prompt.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the change may count or not.
    pub async fn change_queue(&self, session: &v2::SessionId, change: QueueChange) -> Result<()> {
        let request = self.host().next_request();
        self.told(session, Input::Queue { request, change }).await
    }

    async fn told(&self, session: &v2::SessionId, input: Input) -> Result<()> {
        let gone = || Error::from(crate::error::no_such_session(session));
        let open = self.host().open_session(session).ok_or_else(gone)?;
        let (tell, told) = oneshot::channel();
        let control = Control::Request(Box::new(input), Waiter::Told(tell));
        open.control(control).map_err(|_| gone())?;
        match told.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(ply_wire::link::rpc_error_v2(&error).into()),
            Err(_) => Err(gone()),
        }
    }
}
