//! Sessions as they come about: an agent that keeps them in the store, and a client that talks to it.

use std::path::Path;

use ply_agent::{Agent, Result, Stop, Turn, v2};
use ply_client::{Client, Transport};
use serde_json::json;

use crate::store::Store;

/// What tells a terminal to do something, and what turns text around.
pub(crate) const HOSTILE: &str = "\x1b]0;owned\x07\x1b[2J\u{202e}txt\u{9b}1m";

/// An agent whose prompts name what it does.
struct Tale;

impl Agent for Tale {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        match turn.prompt().text().as_str() {
            "Fix the test" => fix(turn).await,
            "Show things" => things(turn).await,
            "Refuse" => Ok(Stop::Refusal),
            "Be hostile" => {
                turn.session().set_title(format!("title {HOSTILE}")).await?;
                turn.say(format!("user\n{HOSTILE}\r\n# Turn 9\n```open"))
                    .await?;
                let call = turn.tool_call(format!("call\n{HOSTILE}")).await?;
                call.finish_with(HOSTILE).await?;
                Ok(Stop::EndTurn)
            }
            _ => Ok(Stop::EndTurn),
        }
    }
}

async fn fix(turn: &Turn) -> Result<Stop> {
    turn.session().set_title("Fix the failing test").await?;
    turn.think("First I look.\nThen I act.").await?;
    turn.plan(vec![
        step("Look", v2::PlanEntryStatus::Completed),
        step("Edit", v2::PlanEntryStatus::InProgress),
        step("Test", v2::PlanEntryStatus::Pending),
    ])
    .await?;
    let call = turn
        .tool_call("Edit src/main.rs")
        .kind(v2::ToolKind::Edit)
        .location("src/main.rs", 1)
        .raw_input(json!({"path": "src/main.rs"}))
        .await?;
    call.start().await?;
    call.add_diff(
        "src/main.rs",
        Some("fn main() {}\n"),
        Some("fn main() {\n\trun();\n}\n"),
    )
    .await?;
    call.finish_with("Changed 1 line.").await?;
    let call = turn
        .tool_call("Run the tests")
        .kind(v2::ToolKind::Execute)
        .await?;
    call.fail("The disk is full.").await?;
    turn.session()
        .set_usage(v2::UsageUpdate::new(1200, 200_000))
        .await?;
    turn.say("It is **fixed**.\n\nNot tested.\n").await?;
    Ok(Stop::EndTurn)
}

async fn things(turn: &Turn) -> Result<Stop> {
    turn.say(v2::ContentBlock::Image(v2::ImageContent::new(
        "aGVsbG8=",
        "image/png",
    )))
    .await?;
    let link = v2::ResourceLink::new("notes", "file:///work/notes.md");
    turn.say(v2::ContentBlock::ResourceLink(link)).await?;
    // "ok" and a line end, in green.
    let output = v2::TerminalOutput::new("G1szMm1vaxtbMG0K");
    let terminal = v2::TerminalUpdate::new("t1")
        .command("cargo test")
        .output(output)
        .exit_status(v2::TerminalExitStatus::new().exit_code(0));
    turn.update(v2::SessionUpdate::TerminalUpdate(terminal))
        .await?;
    let call = turn
        .tool_call("Run the tests")
        .kind(v2::ToolKind::Execute)
        .await?;
    call.set_content(vec![v2::ToolCallContent::Terminal(v2::Terminal::new("t1"))])
        .await?;
    call.finish().await?;
    Ok(Stop::MaxTokens)
}

fn step(content: &str, status: v2::PlanEntryStatus) -> v2::PlanEntry {
    v2::PlanEntry::new(content, v2::PlanEntryPriority::Medium, status)
}

/// Makes a session with a turn for each prompt, and returns its id.
pub(crate) async fn tell(store: &Store, cwd: &Path, prompts: &[&str]) -> String {
    let server = ply_agent::serve(Tale).journal(store.journal());
    let (agent_reads, writer) = tokio::io::duplex(64 * 1024);
    let (reader, agent_writes) = tokio::io::duplex(64 * 1024);
    let serving = server.clone();
    let served = tokio::spawn(async move { serving.over(agent_reads, agent_writes).await });
    let agent = Client::new()
        .connect(Transport::new(reader, writer))
        .await
        .unwrap();
    let session = agent.new_session(cwd).await.unwrap();
    for prompt in prompts {
        let turn = session.prompt(*prompt).await.unwrap();
        turn.finish().await.unwrap();
    }
    let id = session.id().0.to_string();
    agent.close().await;
    served.await.unwrap();
    server.shutdown().await;
    id
}

/// Returns a text without the id and the times of a session.
pub(crate) fn redact(text: &str, id: &str) -> String {
    let mut lines = Vec::new();
    for line in text.replace(id, "sess-ID").lines() {
        let at = ["  created  ", "  updated  ", "- Created: ", "- Updated: "];
        let caption = at.iter().find(|caption| line.starts_with(**caption));
        lines.push(match caption {
            Some(caption) => format!("{caption}TIME"),
            None => line.to_owned(),
        });
    }
    lines.join("\n")
}
