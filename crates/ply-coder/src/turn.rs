//! The turn loop: ask the model, run the tools it wants, until it wants none.

mod answer;
mod ask;
mod command;
mod diagnose;
mod dispatch;
mod expand;
mod failures;
mod guard;
mod hooks;
mod nested;
mod order;
mod servers;
mod shorten;
mod steering;
mod sub_agent;
mod surface;
mod tickets;
mod toolbox;
mod undo;
mod voice;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use ply_agent::{Result, Stop, Turn, v2};
use tokio::sync::Semaphore;

use self::answer::Answer;
use self::guard::Guard;
use self::order::Queue;
use self::steering::Listen;
use self::toolbox::Toolbox;
use self::voice::Voice;
use crate::Config;
use crate::commands::Command;
use crate::context::agents_md::{self, Project};
use crate::context::{conversation, instructions, notes};
use crate::mcp::search::Offered;
use crate::model::{
    Content, Facts, Message, Model, Part, Request, Stopped, Usage, catalogue, offline,
};
use crate::options::Choice;
use crate::playbook::Playbook;
use crate::session::{State, confinement};
use crate::tool::skill::ReadSkill;
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
    /// The instructions of the project and the user, as they were when the model was first asked.
    project: OnceLock<Project>,
    shared: Arc<Shared>,
    /// Whether the window is full of what no summary makes shorter.
    crowded: AtomicBool,
    voice: Voice<'t>,
}

/// What there is once for a turn, however many conversations with a model it has.
#[derive(Debug)]
struct Shared {
    /// The commands of the user and the project, as they were when the turn began.
    playbook: OnceLock<Arc<Playbook>>,
    /// What the prompt stands for, if it is one of them.
    expanded: OnceLock<String>,
    /// The files that were changed and not checked since.
    edited: Mutex<BTreeSet<PathBuf>>,
    /// Whether the turn has waited for MCP servers.
    servers_started: AtomicBool,
    /// Held while the user is asked, so that there is one question at a time.
    asking: tokio::sync::Mutex<()>,
    queue: Queue,
    ids: AtomicU64,
    /// Places for sub-agents.
    sub_agents: Semaphore,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            playbook: OnceLock::new(),
            expanded: OnceLock::new(),
            edited: Mutex::default(),
            servers_started: AtomicBool::new(false),
            asking: tokio::sync::Mutex::new(()),
            queue: Queue::default(),
            ids: AtomicU64::new(1),
            sub_agents: Semaphore::new(sub_agent::SIDE_BY_SIDE_MAX),
        }
    }
}

/// How a conversation with a model ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The model is done, or may not go on.
    Stopped(Stop),
    /// The model gets nowhere; this says why.
    Stuck(&'static str),
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
            shared: Arc::default(),
            crowded: AtomicBool::new(false),
            voice: Voice::Agent,
        }
    }

    /// Works on the prompt until the model has nothing more to do.
    pub(crate) async fn run(&self) -> Result<Stop> {
        let processes = &self.state.processes;
        let before: Vec<String> = processes.list().into_iter().map(|one| one.id).collect();
        let checkpoints = &self.state.checkpoints;
        let prompt = self.turn.prompt();
        let message = prompt.message_id().map(|id| &*id.0);
        checkpoints.begin(&prompt.text(), message);
        self.state.ledger.begin_turn();
        let stop = self.work().await;
        if self.turn.is_cancelled() {
            // Whoever cancels wants what the turn began to be over.
            processes.stop_others(&before).await;
        }
        let ended = checkpoints.end();
        // A request that was cancelled has cost something as well.
        self.report_usage().await?;
        match self.turn.unless_cancelled(ended).await {
            Ok(Some(words)) => self.notice(words).await?,
            Ok(None) => {}
            // Whoever cancelled does not wait for it; whatever comes next does.
            Err(error) => tracing::debug!(%error, "the turn is recorded behind its end"),
        }
        stop
    }

    async fn work(&self) -> Result<Stop> {
        let prompt = self.turn.prompt().text();
        if let Some(command) = Command::parse(&prompt) {
            // No model listens: what the user says meanwhile is a prompt of its own. What came before is in the history.
            drop(self.turn.last_steered().await);
            return self.command(command).await;
        }
        let mut history = self.turn.history().await?;
        if history.transcript().info().title.is_none() {
            let title = crate::text::first_line(&prompt, TITLE_CHARS_MAX);
            if !title.is_empty() {
                self.turn.session().set_title(title).await?;
            }
        }
        let told = self.tell_commands(history.transcript().commands()).await?;
        match self.expand(&prompt).await? {
            Err(words) => {
                self.turn.say(words).await?;
                return Ok(Stop::EndTurn);
            }
            Ok(()) if self.shared.expanded.get().is_some() => history = self.turn.history().await?,
            Ok(()) => {}
        }
        let facts = self.state.choice().model.facts().clone();
        self.start_servers().await?;
        // Those that were still starting may have prompts.
        self.tell_commands(&told).await?;
        // The offline model reads no instructions, and is to answer at once.
        if facts.id != offline::ID {
            self.look_around().await?;
            self.tell_what_is_unseen(&facts).await?;
        }
        let mut talk = conversation::project(&history, &facts);
        self.state.found_tools.add(called(&talk));
        match self.talk(&mut talk).await? {
            End::Stopped(stop) => Ok(stop),
            End::Stuck(words) => {
                self.turn.say(words).await?;
                Ok(Stop::EndTurn)
            }
        }
    }

    async fn talk(&self, talk: &mut Vec<Message>) -> Result<End> {
        let mut guard = Guard::default();
        let mut nudged = false;
        let mut continued = 0;
        for step in 0..self.requests_max() {
            self.begin_step();
            self.listen(talk, Listen::On).await;
            let noted = self.add_notes(talk);
            let Answer {
                parts,
                results,
                stopped,
            } = match self.answer(talk, u64::from(step)).await? {
                Some(answer) => answer,
                None => return Ok(End::Stopped(Stop::Cancelled)),
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
                Stopped::Refusal => return Ok(End::Stopped(Stop::Refusal)),
                Stopped::MaxTokens => return Ok(End::Stopped(Stop::MaxTokens)),
                Stopped::End => {}
            }
            if is_empty {
                if nudged {
                    return Ok(End::Stuck("The model gave no answer."));
                }
                nudged = true;
                drop_empty(talk);
                let words = "your answer was empty; go on, or say that you are done";
                user_says(talk, notes::note(words));
                continue;
            }
            if results.is_empty() {
                if self.listen(talk, Listen::On).await {
                    continue;
                }
                let note = match self.is_kept() {
                    true => self.turn_end(continued).await?,
                    // The turn goes on when a sub-agent is done.
                    false => None,
                };
                let Some(note) = note else {
                    if self.listen(talk, Listen::Last).await {
                        continue;
                    }
                    return Ok(End::Stopped(Stop::EndTurn));
                };
                continued += 1;
                user_says(talk, note);
                continue;
            }
            let verdict = guard.look(talk.last(), &results);
            talk.push(Message::Results(results));
            if let Some(note) = self.diagnose().await? {
                user_says(talk, note);
            }
            match verdict {
                guard::Verdict::Fine => {}
                guard::Verdict::Warn => user_says(talk, notes::note(guard::WARNING)),
                guard::Verdict::Stop => return Ok(End::Stuck(guard::GIVING_UP)),
            }
        }
        Ok(End::Stopped(Stop::MaxTurnRequests))
    }

    /// Puts together the request for what comes next.
    fn request(&self, choice: &Choice, messages: Vec<Message>) -> Request {
        let project = self.project();
        let today = self.config.today.map(|today| today());
        let found = self.state.found();
        let support = found.map(|found| &found.support);
        let servers = self.state.servers.instructions();
        let facts = choice.model.facts();
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
            // A sub-agent has nobody to ask, in a form or otherwise.
            has_forms: self.turn.has_forms() || !self.is_kept(),
            is_repository: project.repository.is_some(),
            user: project.user.as_deref(),
            project: project.text.as_deref(),
            servers: servers.as_deref(),
            maker: catalogue::maker(&facts.id),
            patches: facts.patches,
        };
        let skills = self.shared.playbook.get();
        let skills = skills.and_then(|playbook| playbook.skills().list());
        let mut system = instructions::system(&surroundings);
        system.push_str(&instructions::skills(skills.as_deref()));
        system.extend(self.role());
        Request {
            system,
            messages,
            tools: self.tools().specs().to_vec(),
            effort: choice.effort.filter(|_| facts.efforts),
            output_tokens_max: None,
            cache_key: Some(self.cache_key()),
        }
    }

    /// Asks MCP servers for their tools, if those have changed.
    async fn refresh_tools(&self) -> Result<()> {
        let foreign = match self.has_foreign_tools() {
            true => {
                let offered = self.state.servers.offered(&self.state.found_tools);
                self.turn.unless_cancelled(offered).await?
            }
            false => Offered::default(),
        };
        let playbook = self.playbook().await?;
        let has_skills = playbook.skills().models().next().is_some();
        let skill = has_skills.then(|| Arc::new(ReadSkill(playbook)) as Arc<dyn Tool>);
        let facts = self.state.choice().model.facts().clone();
        let built_in = self.built_in.iter();
        let built_in = built_in.filter(|built_in| tool::is_for(&built_in.spec().name, &facts));
        let tools = built_in.cloned().chain(skill);
        let tools = tools.chain(foreign.tools).collect();
        let tools = Arc::new(Toolbox::new(tools, foreign.hidden));
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
        if !self.is_kept() {
            // The agent is to hear of it, and hears of it once.
            return Vec::new();
        }
        let (ids, news): (Vec<_>, Vec<_>) = self.state.processes.finished().into_iter().unzip();
        if !news.is_empty() {
            let words = format!("in the background: {}", news.join("; "));
            user_says(talk, notes::note(&words));
        }
        ids
    }

    /// Starts the MCP servers that the user allows, waits for those that are still starting, and tells the user which ones
    /// did not.
    async fn start_servers(&self) -> Result<()> {
        if self.shared.servers_started.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        // The offline model calls no servers.
        if self.state.choice().model.facts().id != offline::ID {
            self.ask_about_servers().await?;
        }
        self.turn
            .unless_cancelled(self.state.servers.ready())
            .await?;
        self.ask_to_log_in().await?;
        let session = self.turn.session();
        for failed in self.state.take_failures() {
            session
                .notice(v2::NoticeSeverity::Warning, failed.to_string())
                .await?;
        }
        Ok(())
    }

    /// Returns the instructions of the project and the user, as they were when the turn first asked for them.
    fn project(&self) -> &Project {
        let read = || agents_md::read(&self.state.cwd, self.config);
        self.project.get_or_init(read)
    }

    /// Finds out, once for the session, what the model is told of its surroundings.
    async fn look_around(&self) -> Result<()> {
        let repository = self.project().repository.clone();
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
        let number = self.shared.ids.fetch_add(1, Ordering::Relaxed);
        let prompt = self.turn.prompt().message_id();
        let prompt = prompt.map_or("turn", |id| &*id.0);
        format!("{what}-{prompt}-{number}")
    }

    /// Counts what a request to a model took. The window that the user sees is that of the session's own conversation.
    fn count(&self, model: &str, usage: Usage) {
        if usage != Usage::default() {
            let price = self.config.prices.of(model);
            self.state.ledger.add(usage, price, self.is_kept());
        }
    }

    /// Reports how full the window is and what the session has cost, if that has changed.
    async fn report_usage(&self) -> Result<()> {
        let size = self.state.choice().model.facts().window_tokens;
        match self.state.ledger.news(size) {
            Some(update) => self.turn.session().set_usage(update).await,
            None => Ok(()),
        }
    }
}

impl fmt::Debug for TurnLoop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnLoop").finish_non_exhaustive()
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

/// Returns the names of tools of servers that were called: in a session that goes on, these tools had been found.
fn called(talk: &[Message]) -> impl Iterator<Item = &str> {
    let results = talk.iter().flat_map(|message| match message {
        Message::Results(results) => results.as_slice(),
        _ => &[],
    });
    // One that failed may not have been there.
    let done = results.filter(|result| !result.failed && result.name.starts_with("mcp__"));
    done.map(|result| result.name.as_str())
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
