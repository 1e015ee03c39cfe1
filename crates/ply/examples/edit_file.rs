//! An agent with one tool: it adds the prompt as a line to `TODO.md`, after it has shown the change and been allowed to
//! make it.
//!
//! It reads and writes through the client where the client offers that, so unsaved changes in an editor are respected.

use std::path::Path;

use ply::agent::v2::ToolKind;
use ply::agent::{Agent, Decision, Result, Stop, Turn};

struct Todo;

impl Agent for Todo {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let path = turn.session().cwd().join("TODO.md");
        let old = read(turn, &path).await;
        let line = format!("- [ ] {}\n", turn.prompt().text());
        let new = old.clone().unwrap_or_default() + &line;

        // A call that is dropped before it is finished, by `?` for example, is reported as failed.
        let call = turn.tool_call("Add a line to TODO.md");
        let call = call.kind(ToolKind::Edit).location(&path, None).await?;
        call.add_diff(&path, old.as_deref(), Some(&new)).await?;
        let decision = call.ask().await?;
        if decision.is_allowed() {
            call.start().await?;
            write(turn, &path, &new).await?;
            call.finish().await?;
            turn.say("Added.").await?;
        } else if decision == Decision::Dismissed {
            // Stop instead of trying something else.
            call.cancel().await?;
            return Ok(Stop::Cancelled);
        } else {
            call.fail("Not allowed.").await?;
            turn.say("Then I leave the file alone.").await?;
        }
        Ok(Stop::EndTurn)
    }
}

async fn read(turn: &Turn, path: &Path) -> Option<String> {
    match turn.can_read_files() {
        true => turn.read_text_file(path).await.ok(),
        false => tokio::fs::read_to_string(path).await.ok(),
    }
}

async fn write(turn: &Turn, path: &Path, text: &str) -> Result<()> {
    match turn.can_write_files() {
        true => turn.write_text_file(path, text).await,
        false => Ok(tokio::fs::write(path, text).await?),
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    ply::agent::serve_stdio(Todo).await
}
