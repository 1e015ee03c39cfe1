//! An agent that does what its prompts say, one command a line.

use std::sync::{Arc, Mutex};

use ply_agent::v2::{self, PlanEntryPriority, PlanEntryStatus, ToolKind};
use ply_agent::{
    About, Agent, Error, Extension, Result, Server, Session, SessionSetup, Stop, Turn,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::support::{Client, said};

/// The agent, and what a test sees of it from the side. Clones share everything.
#[derive(Clone)]
pub(crate) struct Actor {
    about: About,
    pub(crate) options: Vec<v2::SessionConfigOption>,
    pub(crate) commands: Vec<v2::AvailableCommand>,
    /// Each permit lets one `wait` through.
    pub(crate) gate: Arc<Semaphore>,
    /// Permits that opening a session takes; none means that it does not wait.
    pub(crate) open_gate: Option<Arc<Semaphore>>,
    pub(crate) close_gate: Option<Arc<Semaphore>>,
    /// What was said when sessions were opened.
    pub(crate) setups: Arc<Mutex<Vec<SessionSetup>>>,
    pub(crate) sessions: Arc<Mutex<Vec<Session>>>,
    /// Sessions that were closed.
    pub(crate) closed: Arc<Mutex<Vec<String>>>,
    /// Whether a login is needed, and whether there was one.
    pub(crate) logged_in: Option<Arc<Mutex<bool>>>,
    pub(crate) set: Arc<Mutex<Vec<String>>>,
    /// What happens when a session is opened or closed.
    pub(crate) trouble: Arc<Mutex<Option<Trouble>>>,
}

/// Something that goes wrong outside turns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    OpenFails,
    OpenPanics,
    ClosePanics,
    OptionPanics,
}

impl Actor {
    pub(crate) fn new() -> Self {
        Self::about_itself(About::new("actor", "1.2.3"))
    }

    pub(crate) fn about_itself(about: About) -> Self {
        Self {
            about,
            options: Vec::new(),
            commands: Vec::new(),
            gate: Arc::new(Semaphore::new(0)),
            open_gate: None,
            close_gate: None,
            setups: Arc::default(),
            sessions: Arc::default(),
            closed: Arc::default(),
            logged_in: None,
            set: Arc::default(),
            trouble: Arc::default(),
        }
    }

    pub(crate) fn serve(&self) -> Server {
        ply_agent::serve(self.clone())
    }

    pub(crate) fn last_session(&self) -> Session {
        self.sessions.lock().unwrap().last().unwrap().clone()
    }

    fn troubled(&self, by: Trouble) -> bool {
        *self.trouble.lock().unwrap() == Some(by)
    }
}

async fn pass(gate: &Semaphore) {
    gate.acquire().await.unwrap().forget();
}

impl Agent for Actor {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let script = turn.prompt().text();
        for line in script.lines() {
            let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
            match command {
                "say" => turn.say(rest).await?,
                "think" => turn.think(rest).await?,
                "wait" => turn.unless_cancelled(pass(&self.gate)).await?,
                "deaf" => pass(&self.gate).await,
                "ask" => {
                    let call = turn.tool_call("Edit").kind(ToolKind::Edit).await?;
                    let decision = call.ask_with("May I?").await?;
                    call.finish().await?;
                    let chosen = decision.option_id().map(|id| id.0.to_string());
                    turn.say(format!("chose {chosen:?}")).await?;
                }
                "everything" => everything(turn).await?,
                "flood" => {
                    for _ in 0..rest.parse().unwrap() {
                        turn.say("x".repeat(1024)).await?;
                    }
                }
                "recall" => {
                    let text = turn.history().await?;
                    let text: Vec<String> = text
                        .transcript()
                        .messages()
                        .map(|message| message.text())
                        .collect();
                    turn.say(text.join("|")).await?;
                }
                "cwd" => turn.say(turn.session().cwd().display().to_string()).await?,
                "roots" => {
                    let roots = turn.session().additional_directories();
                    turn.say(format!("{}", roots.len())).await?;
                }
                "locate" => {
                    let call = turn.tool_call("Read").location(rest, 1).await?;
                    call.finish().await?;
                }
                "mode" => {
                    let options = vec![mode_option(rest), boolean_option(true)];
                    turn.session().set_options(options).await?;
                }
                "abilities" => {
                    let abilities = json!({
                        "read": turn.can_read_files(),
                        "write": turn.can_write_files(),
                        "terminal": turn.has_terminals(),
                        "form": turn.has_forms(),
                        "url": turn.has_urls(),
                        "client": turn.client().and_then(|client| Some(client.info()?.name.clone())),
                    });
                    turn.say(abilities.to_string()).await?;
                }
                "panic" => panic!("as told"),
                "fail" => return Err(Error::msg(rest)),
                _ => turn.say(line).await?,
            }
        }
        Ok(Stop::EndTurn)
    }

    fn about(&self) -> About {
        self.about.clone()
    }

    async fn open(&self, session: &Session, setup: &SessionSetup) -> Result<()> {
        self.setups.lock().unwrap().push(setup.clone());
        self.sessions.lock().unwrap().push(session.clone());
        if let Some(logged_in) = &self.logged_in
            && !*logged_in.lock().unwrap()
        {
            return Err(Error::auth_required());
        }
        if let Some(gate) = &self.open_gate {
            pass(gate).await;
        }
        assert!(!self.troubled(Trouble::OpenPanics), "as told");
        if self.troubled(Trouble::OpenFails) {
            return Err(Error::msg("The model is gone; try again later."));
        }
        if !self.options.is_empty() {
            session.set_options(self.options.clone()).await?;
        }
        if !self.commands.is_empty() {
            session.set_commands(self.commands.clone()).await?;
        }
        Ok(())
    }

    async fn close(&self, session: &Session) {
        if let Some(gate) = &self.close_gate {
            pass(gate).await;
        }
        self.closed.lock().unwrap().push(session.id().0.to_string());
        assert!(!self.troubled(Trouble::ClosePanics), "as told");
    }

    async fn set_option(
        &self,
        _: &Session,
        option: &v2::SessionConfigId,
        value: &v2::SessionConfigOptionValue,
    ) -> Result<()> {
        assert!(!self.troubled(Trouble::OptionPanics), "as told");
        let set = format!("{}={}", option.0, json!(value)["value"]);
        self.set.lock().unwrap().push(set);
        Ok(())
    }

    async fn login(&self, method: &v2::AuthMethodId) -> Result<()> {
        match (&self.logged_in, &*method.0) {
            (Some(logged_in), "key") => *logged_in.lock().unwrap() = true,
            _ => return Err(Error::msg("The key is wrong; give another.")),
        }
        Ok(())
    }

    async fn logout(&self) -> Result<()> {
        if let Some(logged_in) = &self.logged_in {
            *logged_in.lock().unwrap() = false;
        }
        Ok(())
    }

    async fn extension(&self, request: &Extension) -> Result<Value> {
        match request.method() {
            "_actor/double" => {
                let params: Value = request.params()?;
                Ok(json!({"twice": [params.clone(), params]}))
            }
            "_actor/panic" => panic!("as told"),
            _ => Err(Error::method_not_found()),
        }
    }
}

/// Reports one of everything there is.
async fn everything(turn: &Turn) -> Result<()> {
    let step = |text: &str, status| v2::PlanEntry::new(text, PlanEntryPriority::High, status);
    turn.plan(vec![step("Look", PlanEntryStatus::InProgress)])
        .await?;
    turn.think("Hm, ").await?;
    turn.think("yes.").await?;
    turn.say("First ").await?;
    turn.say("words.").await?;
    let call = turn
        .tool_call("Change a file")
        .name("edit")
        .kind(ToolKind::Edit)
        .location("a.txt", 3)
        .raw_input(json!({"path": "a.txt"}))
        .await?;
    call.start().await?;
    call.add("Working").await?;
    call.add_diff(
        "a.txt",
        Some("1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
        Some("1\n2\n3\n4\n5\n6\n7\n8\nX\n"),
    )
    .await?;
    call.set_raw_output(json!({"changed": 1})).await?;
    call.set_title("Changed a file").await?;
    call.finish_with("Done").await?;
    let failed = turn.tool_call("Fail").await?;
    failed.fail("No such file").await?;
    let session = turn.session();
    session.set_title("A title").await?;
    session.set_usage(v2::UsageUpdate::new(10, 100)).await?;
    session.set_commands(vec![command("plan")]).await?;
    session
        .set_options(vec![mode_option("code"), boolean_option(true)])
        .await?;
    session.notice(v2::NoticeSeverity::Info, "Only now").await?;
    turn.plan(vec![step("Look", PlanEntryStatus::Completed)])
        .await?;
    turn.say("Last words: \u{1F600} e\u{301}\nand a line.")
        .await
}

pub(crate) fn mode_option(current: &str) -> v2::SessionConfigOption {
    let choices = ["ask", "code"].map(|id| v2::SessionConfigSelectOption::new(id, id));
    v2::SessionConfigOption::select("mode", "Mode", current, choices.to_vec())
        .category(v2::SessionConfigOptionCategory::Mode)
}

pub(crate) fn boolean_option(current: bool) -> v2::SessionConfigOption {
    v2::SessionConfigOption::boolean("web", "Search the web", current)
}

pub(crate) fn command(name: &str) -> v2::AvailableCommand {
    let input = v2::TextCommandInput::new("what to plan");
    let input = v2::AvailableCommandInput::Text(input);
    v2::AvailableCommand::Command(v2::Command::new(name, "Makes a plan").input(input))
}

/// Runs a script to its end, on either version, and returns what the client saw of it.
pub(crate) async fn run(client: &mut Client, session: &str, script: &str) -> Vec<Value> {
    let prompt = client.prompt(session, script).await;
    let mut seen = client.answered(prompt).await;
    let answer = &seen.last().unwrap()["result"];
    assert!(answer.is_object(), "the prompt failed: {seen:#?}");
    if answer.get("stopReason").is_none() && !seen.iter().any(is_idle) {
        seen.extend(client.idle().await);
    }
    seen
}

fn is_idle(message: &Value) -> bool {
    crate::support::update(message)["stopReason"].is_string()
}

/// Runs a script and returns what the agent said.
pub(crate) async fn hear(client: &mut Client, session: &str, script: &str) -> String {
    said(&run(client, session, script).await)
}
