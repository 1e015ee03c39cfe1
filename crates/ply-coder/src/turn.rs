//! The turn loop: ask the model, run the tools it wants, until it wants none.

mod answer;
mod ask;
mod command;
mod dispatch;
mod failures;
mod guard;
mod order;
mod shorten;
mod surface;
mod tickets;
mod toolbox;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use ply_agent::{Result, Stop, Turn, v2};

use self::answer::Answer;
use self::guard::Guard;
use self::order::Queue;
use self::toolbox::Toolbox;
use crate::Config;
use crate::commands::Command;
use crate::context::instructions::{self, Project};
use crate::context::{conversation, notes};
use crate::model::{Content, Facts, Message, Model, Part, Request, Stopped, Usage, offline};
use crate::options::Choice;
use crate::session::{State, confinement};
use crate::tool::{self, Tool};

/// How long tools may tidy up after the user cancelled. The session waits two seconds in all.
const CANCEL_GRACE: Duration = Duration::from_millis(1_000);
/// Characters of a session's title.
const TITLE_CHARS_MAX: usize = 60;

/// One turn of the agent.
pub(crate) struct TurnLoop<'t> {
    config: &'t Config,
    state: &'t State,
    models: &'t [Arc<dyn Model>],
    turn: &'t Turn,
    built_in: Vec<Arc<dyn Tool>>,
    /// The tools of the moment: those of MCP servers come and go.
    tools: Mutex<Arc<Toolbox>>,
    /// The project's instructions, as they were when the model was first asked.
    project: OnceLock<Project>,
    /// Held while the user is asked, so that there is one question at a time.
    asking: tokio::sync::Mutex<()>,
    queue: Queue,
    ids: AtomicU64,
    /// Whether the window is full of what no summary makes shorter.
    crowded: AtomicBool,
}

impl<'t> TurnLoop<'t> {
    pub(crate) fn new(
        config: &'t Config,
        state: &'t State,
        models: &'t [Arc<dyn Model>],
        turn: &'t Turn,
    ) -> Self {
        Self {
            config,
            state,
            models,
            turn,
            built_in: tool::built_in(config, turn),
            tools: Mutex::default(),
            project: OnceLock::new(),
            asking: tokio::sync::Mutex::new(()),
            queue: Queue::default(),
            ids: AtomicU64::new(1),
            crowded: AtomicBool::new(false),
        }
    }

    /// Works on the prompt until the model has nothing more to do.
    pub(crate) async fn run(&self) -> Result<Stop> {
        let processes = &self.state.processes;
        let before: Vec<String> = processes.list().into_iter().map(|one| one.id).collect();
        let stop = self.work().await;
        if self.turn.is_cancelled() {
            // Whoever cancels wants what the turn began to be over.
            processes.stop_others(&before).await;
        }
        stop
    }

    async fn work(&self) -> Result<Stop> {
        let prompt = self.turn.prompt().text();
        if let Some(command) = Command::parse(&prompt) {
            return self.command(command).await;
        }
        let history = self.turn.history().await?;
        if history.transcript().info().title.is_none() {
            let title = crate::text::first_line(&prompt, TITLE_CHARS_MAX);
            if !title.is_empty() {
                self.turn.session().set_title(title).await?;
            }
        }
        self.tell_what_is_missing().await?;
        let facts = self.state.choice().model.facts().clone();
        // The offline model reads no instructions, and is to answer at once.
        if facts.id != offline::ID {
            self.look_around().await?;
            self.tell_what_is_unseen(&facts).await?;
        }
        let mut talk = conversation::project(&history, &facts);
        self.talk(&mut talk).await
    }

    async fn talk(&self, talk: &mut Vec<Message>) -> Result<Stop> {
        let mut guard = Guard::default();
        let mut nudged = false;
        for step in 0..self.config.turn_requests_max {
            let noted = self.add_notes(talk);
            let Answer {
                parts,
                results,
                stopped,
            } = match self.answer(talk, u64::from(step)).await? {
                Some(answer) => answer,
                None => return Ok(Stop::Cancelled),
            };
            for id in noted {
                self.state.processes.told(&id);
            }
            let is_empty = !parts
                .iter()
                .any(|part| !matches!(part, Part::Thought { .. }));
            if !parts.is_empty() {
                talk.push(Message::Assistant(parts));
            }
            match stopped {
                Stopped::Refusal => return Ok(Stop::Refusal),
                Stopped::MaxTokens => return Ok(Stop::MaxTokens),
                Stopped::End => {}
            }
            if is_empty {
                if nudged {
                    self.turn.say("The model gave no answer.").await?;
                    return Ok(Stop::EndTurn);
                }
                nudged = true;
                drop_empty(talk);
                let words = "your answer was empty; go on, or say that you are done";
                user_says(talk, notes::note(words));
                continue;
            }
            if results.is_empty() {
                return Ok(Stop::EndTurn);
            }
            let verdict = guard.look(talk.last(), &results);
            talk.push(Message::Results(results));
            match verdict {
                guard::Verdict::Fine => {}
                guard::Verdict::Warn => user_says(talk, notes::note(guard::WARNING)),
                guard::Verdict::Stop => {
                    let words = "I keep making the same call without getting anywhere, so I stop \
                                 here. Tell me how to go on.";
                    self.turn.say(words).await?;
                    return Ok(Stop::EndTurn);
                }
            }
        }
        Ok(Stop::MaxTurnRequests)
    }

    /// Puts together the request for what comes next.
    fn request(&self, choice: &Choice, messages: Vec<Message>) -> Request {
        let read = || instructions::read_project(&self.state.cwd);
        let project = self.project.get_or_init(read);
        let today = self.config.today.map(|today| today());
        let found = self.state.found();
        let support = found.map(|found| &found.support);
        let surroundings = instructions::Surroundings {
            cwd: &self.state.cwd,
            additional: &self.state.additional,
            today: today.as_deref(),
            shell: crate::shell::program(),
            sandbox: instructions::sandbox_words(
                support,
                &self.config.sandbox,
                confinement(choice.mode),
            ),
            git: found.and_then(|found| found.git.as_ref()),
            mode: choice.mode,
            has_forms: self.turn.has_forms(),
            is_repository: project.repository.is_some(),
            user: self.config.instructions.as_deref(),
            project: project.text.as_deref(),
        };
        let facts = choice.model.facts();
        Request {
            system: instructions::system(&surroundings),
            messages,
            tools: self.tools().specs().to_vec(),
            effort: choice.effort.filter(|_| facts.efforts),
            output_tokens_max: None,
            cache_key: Some(self.turn.session().id().0.to_string()),
        }
    }

    /// Asks MCP servers for their tools, if those have changed.
    async fn refresh_tools(&self) -> Result<()> {
        let foreign = self
            .turn
            .unless_cancelled(self.state.servers.tools())
            .await?;
        let tools = self.built_in.iter().cloned().chain(foreign).collect();
        let tools = Arc::new(Toolbox::new(tools));
        *self.tools.lock().unwrap_or_else(PoisonError::into_inner) = tools;
        Ok(())
    }

    /// Returns the tools of the moment.
    fn tools(&self) -> Arc<Toolbox> {
        Arc::clone(&self.tools.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Tells the model what happened in the background since it was last told. Returns the processes that
    /// this is about: the model has not heard of them before it answers.
    fn add_notes(&self, talk: &mut Vec<Message>) -> Vec<String> {
        let (ids, news): (Vec<_>, Vec<_>) = self.state.processes.finished().into_iter().unzip();
        if !news.is_empty() {
            let words = format!("in the background: {}", news.join("; "));
            user_says(talk, notes::note(&words));
        }
        ids
    }

    /// Waits for MCP servers that are still starting, and tells the user which ones did not.
    async fn tell_what_is_missing(&self) -> Result<()> {
        self.turn
            .unless_cancelled(self.state.servers.ready())
            .await?;
        let session = self.turn.session();
        for failed in self.state.take_failures() {
            session
                .notice(v2::NoticeSeverity::Warning, failed.to_string())
                .await?;
        }
        Ok(())
    }

    /// Finds out, once for the session, what the model is told of its surroundings.
    async fn look_around(&self) -> Result<()> {
        let project = self
            .project
            .get_or_init(|| instructions::read_project(&self.state.cwd));
        let repository = project.repository.clone();
        let look = self.state.look_around(repository);
        self.turn.unless_cancelled(look).await
    }

    /// Tells the user that the model cannot take what they attached. The model is told as well.
    async fn tell_what_is_unseen(&self, facts: &Facts) -> Result<()> {
        let content = self.turn.prompt().content().iter();
        let mut unseen = content.filter_map(|block| match block {
            v2::ContentBlock::Image(_) if !facts.images => Some("images"),
            v2::ContentBlock::Audio(_) if !facts.audio => Some("sound"),
            _ => None,
        });
        let Some(what) = unseen.next() else {
            return Ok(());
        };
        self.notice(format!(
            "The model `{}` cannot take {what}, so what you attached was not sent. Choose another one with `/model`.",
            facts.id
        ))
        .await
    }

    /// Returns an id that nothing else in the session has: no other turn has this one's prompt.
    fn fresh_id(&self, what: &str) -> String {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let prompt = self.turn.prompt().message_id();
        let prompt = prompt.map_or("turn", |id| &*id.0);
        format!("{what}-{prompt}-{number}")
    }

    /// Reports how full the window is after a request.
    async fn report_usage(&self, usage: Usage) -> Result<()> {
        let size = self.state.choice().model.facts().window_tokens;
        let used = usage.input_tokens + usage.output_tokens;
        let update = v2::UsageUpdate::new(used, size);
        self.turn.session().set_usage(update).await
    }
}

/// Adds to what the user says next: users and models take turns.
fn user_says(talk: &mut Vec<Message>, text: String) {
    let content = Content::Text(text);
    match talk.last_mut() {
        Some(Message::User(last)) => last.push(content),
        _ => talk.push(Message::User(vec![content])),
    }
}

/// Takes away an answer without words and calls, which some services do not take back.
fn drop_empty(talk: &mut Vec<Message>) {
    let is_empty = |message: &Message| match message {
        Message::Assistant(parts) => parts
            .iter()
            .all(|part| matches!(part, Part::Thought { .. })),
        _ => false,
    };
    if talk.last().is_some_and(is_empty) {
        talk.pop();
    }
}
