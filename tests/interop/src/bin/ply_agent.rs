//! An agent made with `ply-agent`, on stdio. It does what `sdk_agent` does, in whichever version the client asks for.
//! With the argument `unstable` it also offers what the schema calls so.

use std::path::Path;

use ply_agent::{
    About, Agent, Decision, Error, Result, Session, SessionSetup, Stop, ToolCall, Turn, v2,
};
use serde_json::json;

struct PlyAgent;

#[tokio::main]
async fn main() -> Result<()> {
    ply_agent::serve_stdio(PlyAgent).await
}

impl Agent for PlyAgent {
    fn about(&self) -> About {
        let about = About::new("ply-agent", env!("CARGO_PKG_VERSION"));
        if !std::env::args().any(|arg| arg == "unstable") {
            return about;
        }
        about
            .session_fork()
            .session_status()
            .session_set_title()
            .session_archive()
    }

    async fn open(&self, session: &Session, setup: &SessionSetup) -> Result<()> {
        if setup.reopened {
            return Ok(());
        }
        let values = [("ask", "Ask first"), ("code", "Write code")];
        let values = values.map(|(id, name)| v2::SessionConfigSelectOption::new(id, name));
        let mode = v2::SessionConfigOption::select("mode", "Mode", "ask", values.to_vec())
            .category(v2::SessionConfigOptionCategory::Mode);
        session.set_options(vec![mode]).await
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let prompt = turn.prompt().text();
        name_session(turn, &prompt).await?;
        let (word, rest) = prompt.split_once(' ').unwrap_or((&prompt, ""));
        match word {
            "hello" => {
                turn.think("A greeting.").await?;
                turn.say("Hello, ").await?;
                turn.say("world.").await?;
            }
            "tool" => return edit(turn).await,
            "wait" => {
                let call = announce(turn).await?;
                call.start().await?;
                turn.say("waiting").await?;
                turn.cancelled().await;
                call.cancel().await?;
                return Ok(Stop::Cancelled);
            }
            "plan" => {
                turn.plan(plan(0)).await?;
                turn.plan(plan(2)).await?;
            }
            "fail" => return Err(Error::msg("the model is gone")),
            "refuse" => return Ok(Stop::Refusal),
            "tokens" => return Ok(Stop::MaxTokens),
            "requests" => return Ok(Stop::MaxTurnRequests),
            "read" => read(turn, Path::new(rest)).await?,
            "term" => run(turn, rest).await?,
            _ => turn.say(prompt).await?,
        }
        Ok(Stop::EndTurn)
    }
}

/// Names the session after its first prompt.
async fn name_session(turn: &Turn, prompt: &str) -> Result<()> {
    let history = turn.history().await?;
    match history.transcript().info().title {
        Some(_) => Ok(()),
        None => turn.session().set_title(prompt).await,
    }
}

async fn announce(turn: &Turn) -> Result<ToolCall> {
    turn.tool_call("Edit notes.txt")
        .kind(v2::ToolKind::Edit)
        .location("notes.txt", 1)
        .raw_input(json!({"path": "notes.txt", "text": "new\n"}))
        .await
}

async fn edit(turn: &Turn) -> Result<Stop> {
    let call = announce(turn).await?;
    match call.ask_with("Edit notes.txt?").await? {
        decision if decision.is_allowed() => {
            call.start().await?;
            call.add("edited one line").await?;
            call.add_diff("notes.txt", Some("old\n"), Some("new\n"))
                .await?;
            call.finish().await?;
            turn.say("done").await?;
            Ok(Stop::EndTurn)
        }
        Decision::Dismissed => {
            call.cancel().await?;
            Ok(Stop::Cancelled)
        }
        _ => {
            call.fail("rejected").await?;
            turn.say("rejected").await?;
            Ok(Stop::EndTurn)
        }
    }
}

/// Returns the plan of three entries, of which the first `done` are completed.
fn plan(done: usize) -> Vec<v2::PlanEntry> {
    let entry = |(index, content): (usize, &str)| {
        let status = match index < done {
            true => v2::PlanEntryStatus::Completed,
            false => v2::PlanEntryStatus::Pending,
        };
        v2::PlanEntry::new(content, v2::PlanEntryPriority::Medium, status)
    };
    let entries = ["Read", "Write", "Check"].into_iter().enumerate();
    entries.map(entry).collect()
}

async fn read(turn: &Turn, path: &Path) -> Result<()> {
    if !turn.can_read_files() {
        return turn.say("no files").await;
    }
    match turn.read_text_file(path).await {
        Ok(content) => turn.say(content).await,
        Err(error) => turn.say(format!("read failed: {error}")).await,
    }
}

async fn run(turn: &Turn, command: &str) -> Result<()> {
    let mut words = command.split_whitespace();
    let Some(program) = words.next().filter(|_| turn.has_terminals()) else {
        return turn.say("no terminal").await;
    };
    let command_line = turn.terminal(program).cwd(turn.session().cwd());
    let terminal = words
        .fold(command_line, |line, word| line.arg(word))
        .await?;
    let call = turn.tool_call(command).kind(v2::ToolKind::Execute).await?;
    call.start().await?;
    call.add_terminal(&terminal).await?;
    let exit = terminal.wait().await?;
    let output = terminal.output().await?.output;
    terminal.release().await?;
    call.finish().await?;
    let code = exit.exit_code.unwrap_or(u32::MAX);
    turn.say(format!("{code}: {output}")).await
}
