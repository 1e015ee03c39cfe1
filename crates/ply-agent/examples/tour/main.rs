//! A tour of what an agent can do. The first word of a prompt says which feature to show; any other
//! word gets the list of them.
//!
//! `cargo run -p ply-agent --example tour` runs it as it is, on standard input and output, for a
//! client of either protocol version. With `-- --login` it opens sessions only after a login.

mod editor;
mod ends;
mod session;
mod talk;
mod tools;

use std::sync::atomic::{AtomicBool, Ordering};

use ply_agent::{
    About, Accepts, Agent, Error, Result, Session, SessionSetup, Stop, Turn, serve_stdio, v2,
};

/// Every word of the tour, with what it shows.
const WORDS: &[(&str, &str)] = &[
    ("say", "a message that streams"),
    ("think", "a thought, then a message"),
    ("plan", "a plan and its progress"),
    ("history", "what you said first"),
    ("look", "what is attached to the prompt"),
    ("tool", "a tool call with everything it can have"),
    ("permission", "a question about a tool call"),
    ("choices", "a question with the agent's own options"),
    ("command", "a question about a command"),
    ("read PATH", "a file as the editor sees it"),
    ("write PATH TEXT", "a file written by the editor"),
    ("run COMMAND", "a command in the editor's terminal"),
    ("form", "a form to fill in"),
    ("visit", "a page to visit"),
    ("notice", "a notice outside the history"),
    ("usage", "how full the context is"),
    ("title TEXT", "another name for the session"),
    ("commands", "slash commands, such as /greet"),
    ("mode", "the mode, which is a config option"),
    ("later", "a turn that the agent starts itself"),
    ("refuse", "a refusal, which leaves the history"),
    ("tokens", "a turn cut short by the model"),
    ("requests", "a turn cut short by the agent"),
    ("fail", "a turn that fails"),
    ("wait", "a tool that runs until you cancel"),
];

/// The id of the one way to log in.
const LOGIN: &str = "tour";

struct Tour {
    /// Whether sessions are refused for now.
    is_locked: AtomicBool,
    wants_login: bool,
}

#[tokio::main]
async fn main() -> Result<()> {
    let wants_login = std::env::args().any(|argument| argument == "--login");
    serve_stdio(Tour {
        is_locked: AtomicBool::new(wants_login),
        wants_login,
    })
    .await
}

impl Agent for Tour {
    fn about(&self) -> About {
        let accepts = Accepts {
            image: true,
            audio: true,
            embedded_context: true,
        };
        let about = About::new("tour", env!("CARGO_PKG_VERSION"))
            .title("Tour")
            .accepts(accepts);
        if !self.wants_login {
            return about;
        }
        let method = v2::AuthMethodAgent::new(LOGIN, "Enter the tour").description("Lets you in.");
        about.auth_method(v2::AuthMethod::Agent(method))
    }

    async fn login(&self, _method: &v2::AuthMethodId) -> Result<()> {
        self.is_locked.store(false, Ordering::Relaxed);
        Ok(())
    }

    async fn logout(&self) -> Result<()> {
        self.is_locked.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn open(&self, session: &Session, setup: &SessionSetup) -> Result<()> {
        if self.is_locked.load(Ordering::Relaxed) {
            return Err(Error::auth_required());
        }
        // A session that is opened again still has its options, with the values it was left with.
        if setup.reopened {
            return Ok(());
        }
        session::set_up(session).await
    }

    async fn set_option(
        &self,
        session: &Session,
        option: &v2::SessionConfigId,
        value: &v2::SessionConfigOptionValue,
    ) -> Result<()> {
        session::option_changes(session, option, value).await
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let prompt = turn.prompt().text();
        let (word, rest) = prompt.split_once(' ').unwrap_or((&prompt, ""));
        match word {
            "say" => talk::say(turn).await,
            "think" => talk::think(turn).await,
            "plan" => talk::plan(turn).await,
            "history" => talk::history(turn).await,
            "look" => talk::look(turn).await,
            "tool" => tools::tool(turn).await,
            "permission" => tools::permission(turn).await,
            "choices" => tools::choices(turn).await,
            "command" => tools::command(turn).await,
            "read" => editor::read(turn, rest).await,
            "write" => editor::write(turn, rest).await,
            "run" => editor::run(turn, rest).await,
            "form" => editor::form(turn).await,
            "visit" => editor::visit(turn).await,
            "notice" => session::notice(turn).await,
            "usage" => session::usage(turn).await,
            "title" => session::title(turn, rest).await,
            "commands" => session::commands(turn).await,
            "/greet" => session::greet(turn, rest).await,
            "mode" => session::mode(turn).await,
            "later" => session::later(turn).await,
            "refuse" => ends::refuse(turn).await,
            "tokens" => ends::tokens(turn).await,
            "requests" => ends::requests(turn).await,
            "fail" => ends::fail().await,
            "wait" => ends::wait(turn).await,
            _ => talk::help(turn).await,
        }
    }
}
