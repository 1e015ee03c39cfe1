//! Tool calls, and questions whether something may be done.

use ply_agent::v2::{PermissionOptionKind, ToolKind};
use ply_agent::{Decision, Permission, Result, Stop, Turn};
use serde_json::json;

/// A tool call is announced, reports as it goes, and is finished or failed. One that is dropped on
/// the way, by `?` say, counts as failed.
pub(crate) async fn tool(turn: &Turn) -> Result<Stop> {
    let call = turn
        .tool_call("Edit a file")
        .name("edit_file")
        .kind(ToolKind::Edit)
        .location("src/main.rs", 3)
        .raw_input(json!({ "path": "src/main.rs", "line": 3 }))
        .await?;
    call.start().await?;
    call.add("Found the line.").await?;
    call.set_title("Edit src/main.rs").await?;
    call.set_locations([("src/main.rs", Some(3)), ("src/lib.rs", None)])
        .await?;
    let (old, new) = ("fn main() {}\n", "fn main() {\n    run();\n}\n");
    call.add_diff("src/main.rs", Some(old), Some(new)).await?;
    call.add_diff("src/lib.rs", None, Some("pub fn run() {}\n"))
        .await?;
    call.set_raw_output(json!({ "edited": 2 })).await?;
    call.finish_with("Edited two files.").await?;
    turn.say("Nothing was really edited.").await?;
    Ok(Stop::EndTurn)
}

/// A question about a tool call, with the usual four options.
pub(crate) async fn permission(turn: &Turn) -> Result<Stop> {
    let call = turn
        .tool_call("Delete the cache")
        .kind(ToolKind::Delete)
        .await?;
    let decision = call.ask().await?;
    if decision.is_allowed() {
        call.start().await?;
        call.finish_with("It was empty anyway.").await?;
        turn.say("Done.").await?;
        return Ok(Stop::EndTurn);
    }
    match decision {
        // Whoever dismisses the question wants the turn to end, not another attempt.
        Decision::Dismissed => {
            call.cancel().await?;
            return Ok(Stop::Cancelled);
        }
        Decision::Unanswered => call.fail("Nobody could be asked.").await?,
        _ => call.fail("You said no.").await?,
    }
    turn.say("The cache stays.").await?;
    Ok(Stop::EndTurn)
}

/// Options of the agent's own. The kind only tells the client how to show one.
pub(crate) async fn choices(turn: &Turn) -> Result<Stop> {
    let call = turn.tool_call("Publish").kind(ToolKind::Other).await?;
    let question = Permission::new("Where to publish?")
        .description("A dry run shows what would happen.")
        .option("dry", "Dry run", PermissionOptionKind::AllowOnce)
        .option("live", "For everyone", PermissionOptionKind::AllowOnce)
        .option("no", "Nowhere", PermissionOptionKind::RejectOnce);
    let decision = call.ask_with(question).await?;
    match decision.option_id().map(|id| &*id.0) {
        Some("dry") => call.finish_with("It would work.").await?,
        Some("live") => call.finish_with("Everyone can see it.").await?,
        _ => call.fail("Not published.").await?,
    }
    Ok(Stop::EndTurn)
}

/// A question about a command, with no tool call. Clients of version 1, which knows only questions
/// about tool calls, are shown one.
pub(crate) async fn command(turn: &Turn) -> Result<Stop> {
    let question = Permission::new("Run the tests?").command("cargo test");
    let answer = match turn.ask(question).await? {
        decision if decision.is_allowed() => "I would run them now.",
        _ => "Then not.",
    };
    turn.say(answer).await?;
    Ok(Stop::EndTurn)
}
