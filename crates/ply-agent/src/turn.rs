//! One turn, as the agent's code sees it.

mod elicitation;
mod files;
mod own_terminal;
mod permission;
mod stoppable;
mod terminal;
mod tool_call;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ply_session::{Entity, History, TurnId, ViewId};
use ply_wire::{convert, v2};

pub use self::elicitation::Elicited;
pub use self::files::ReadFile;
pub use self::own_terminal::{NewOwnTerminal, OwnTerminal};
pub use self::permission::{Decision, Permission};
pub use self::terminal::{NewTerminal, Terminal};
pub use self::tool_call::{NewToolCall, ToolCall};
use crate::cancel::Cancel;
use crate::client::Client;
use crate::passing::UntilEnd;
use crate::session::op::Op;
use crate::session::steering::{Open, Steered};
use crate::{Error, Prompt, Result, Session};

/// The name under which a turn's plan is reported.
const PLAN_ID: &str = "main";

/// A turn: the prompt, and everything the agent can do about it.
///
/// Everything that waits fails when the user cancels, so that `?` leaves the turn. What it reports
/// waits while the client is slow to read.
#[derive(Debug)]
pub struct Turn {
    prompt: Prompt,
    pub(crate) context: Context,
    numbers: AtomicU64,
    id_prefix: String,
    pub(crate) until_end: UntilEnd,
    /// Takes what the user says to the turn, as long as its code runs.
    steering: Open,
}

/// What everything of a turn needs: where to report, when to stop, whom to ask.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    session: Session,
    /// The turn; none for what goes on after it.
    turn: Option<TurnId>,
    cancel: Cancel,
    pub(crate) client: Option<(Arc<Client>, ViewId)>,
}

impl Turn {
    pub(crate) fn new(
        session: Session,
        turn: TurnId,
        id_prefix: String,
        prompt: Prompt,
        cancel: Cancel,
        client: Option<(Arc<Client>, ViewId)>,
    ) -> Self {
        Self {
            steering: session.open_steering(turn),
            prompt,
            context: Context {
                session,
                turn: Some(turn),
                cancel,
                client,
            },
            numbers: AtomicU64::new(1),
            id_prefix,
            until_end: UntilEnd::default(),
        }
    }

    /// Returns what the user sent. A turn that the agent started itself has an empty one.
    #[must_use]
    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// Returns what the user said to the turn since this was last called, in its order; only an agent that
    /// [says so](crate::About::steering) is told. It is part of the history. A good moment to ask is before each request to a model.
    ///
    /// ```
    /// # use ply_agent::{About, Agent, Result, Stop, Turn};
    /// # struct Counter;
    /// impl Agent for Counter {
    ///     fn about(&self) -> About {
    ///         About::new("counter", "1.0.0").steering()
    ///     }
    ///
    ///     async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
    ///         for number in 1..=10 {
    ///             for steered in turn.steered() {
    ///                 turn.say(format!("You said: {}\n", steered.text())).await?;
    ///             }
    ///             turn.say(format!("{number}\n")).await?;
    ///         }
    ///         Ok(Stop::EndTurn)
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn steered(&self) -> Vec<Steered> {
        self.steering.take()
    }

    /// Returns what [`steered`](Self::steered) does, and waits for what the journal is still writing. If that is nothing, the turn
    /// takes no more: what the user says from now on begins a turn of its own. For code that is about to end the turn.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it has taken nothing.
    #[must_use]
    pub async fn last_steered(&self) -> Vec<Steered> {
        let last = self.unless_cancelled(self.steering.take_last()).await;
        last.unwrap_or_default()
    }

    /// Returns the session, for what belongs to no turn.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.context.session
    }

    /// Returns what was said before, and in this turn. Refused turns are not among its
    /// [`entries`](History::entries).
    ///
    /// # Errors
    ///
    /// The turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn history(&self) -> Result<History> {
        let history = self.session().history();
        self.context.unless_cancelled(history).await
    }

    /// Says something. What is said in a row is one message.
    ///
    /// # Errors
    ///
    /// The turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is said.
    #[doc(alias = "agent_message_chunk")]
    #[doc(alias = "session_update")]
    pub async fn say(&self, content: impl Into<v2::ContentBlock>) -> Result<()> {
        self.speak(content.into(), false).await
    }

    /// Thinks aloud. What is thought in a row is one thought.
    ///
    /// # Errors
    ///
    /// The turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is said.
    #[doc(alias = "agent_thought_chunk")]
    pub async fn think(&self, content: impl Into<v2::ContentBlock>) -> Result<()> {
        self.speak(content.into(), true).await
    }

    async fn speak(&self, content: v2::ContentBlock, thought: bool) -> Result<()> {
        convert::content::check(&content)?;
        let say = Op::say(self.context.turn, thought, content);
        self.context
            .unless_cancelled(self.session().report(say))
            .await
    }

    /// Shows the plan, all of it. The next one takes its place.
    ///
    /// # Errors
    ///
    /// The turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is shown.
    pub async fn plan(&self, entries: Vec<v2::PlanEntry>) -> Result<()> {
        let plan = v2::PlanItems::new(PLAN_ID, entries);
        let plan = v2::PlanUpdate::new(v2::PlanUpdateContent::Items(plan));
        self.update(v2::SessionUpdate::PlanUpdate(plan)).await
    }

    /// Reports anything else. States and user messages are not the agent's to report and are
    /// dropped.
    ///
    /// # Errors
    ///
    /// The turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is reported.
    #[doc(alias = "session_update")]
    #[doc(alias = "send_notification")]
    pub async fn update(&self, update: v2::SessionUpdate) -> Result<()> {
        let report = self.context.update(update);
        self.context.unless_cancelled(report).await
    }

    /// Lets calls and terminals that another agent lists as background work go on after this turn. What is not known stays as it is.
    ///
    /// # Errors
    ///
    /// The session is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, some of them may end with the turn.
    pub async fn outlive(&self, work: &[v2::BackgroundWork]) -> Result<()> {
        let Some(turn) = self.context.turn else {
            return Ok(());
        };
        for work in work {
            let entity = match work {
                v2::BackgroundWork::ToolCall(call) => Entity::ToolCall(call.tool_call_id.clone()),
                v2::BackgroundWork::Terminal(terminal) => {
                    Entity::Terminal(terminal.terminal_id.clone())
                }
                _ => continue,
            };
            self.session().report(Op::Outlive(turn, entity)).await?;
        }
        Ok(())
    }

    /// Announces a tool call; await the result to send it.
    ///
    /// ```no_run
    /// # use ply_agent::{Result, Turn, v2::ToolKind};
    /// # async fn example(turn: &Turn) -> Result<()> {
    /// let call = turn.tool_call("Read main.rs").kind(ToolKind::Read).await?;
    /// call.start().await?;
    /// call.finish_with("12 lines").await?;
    /// # Ok(()) }
    /// ```
    pub fn tool_call(&self, title: impl Into<String>) -> NewToolCall<'_> {
        NewToolCall::new(self, title.into())
    }

    /// Returns whether the user cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.context.cancel.is_asked()
    }

    /// Waits until the user cancels.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn cancelled(&self) {
        self.context.cancel.asked().await;
    }

    /// Waits for something of the agent's own, such as a model, unless the user cancels.
    ///
    /// # Errors
    ///
    /// The turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// As for `work`.
    pub async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        self.context
            .unless_cancelled(async { Ok(work.await) })
            .await
    }

    /// Returns an id that nothing else in the session has.
    fn fresh_id(&self, what: &str) -> String {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        format!("{what}-{}-{number}", self.id_prefix)
    }
}

impl Context {
    /// Returns the context of what belongs to no turn.
    pub(crate) fn outside(session: Session) -> Self {
        Self {
            session,
            turn: None,
            cancel: Cancel::default(),
            client: None,
        }
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn turn(&self) -> Option<TurnId> {
        self.turn
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_asked()
    }

    /// Waits for `work`, unless the turn is cancelled.
    pub(crate) async fn unless_cancelled<T>(
        &self,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        if self.cancel.is_asked() {
            // Code that goes on regardless must leave room for whoever ends it.
            tokio::task::yield_now().await;
            return Err(Error::cancelled());
        }
        tokio::select! {
            biased;
            done = work => done,
            () = self.cancel.asked() => Err(Error::cancelled()),
        }
    }

    async fn update(&self, update: v2::SessionUpdate) -> Result<()> {
        self.session.update_in(self.turn, update, Vec::new()).await
    }

    /// Returns the client that sent the prompt, if it offers what `offers` looks for.
    fn client(
        &self,
        what: &'static str,
        offers: impl FnOnce(&Client) -> bool,
    ) -> Result<&(Arc<Client>, ViewId)> {
        let client = self.client.as_ref();
        client
            .filter(|(client, _)| offers(client))
            .ok_or_else(|| Error::not_offered(what))
    }

    /// Makes a path absolute, as every path on the wire is (V1-RPC-13). JSON has no form for bytes
    /// that are not UTF-8, so those are shown as what they are not (G5).
    fn absolute(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = self.session.cwd().join(path);
        match path.to_str() {
            Some(_) => path,
            None => PathBuf::from(path.to_string_lossy().into_owned()),
        }
    }
}
