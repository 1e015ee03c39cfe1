//! The agent of the tour: it knows its own lines and says so.

use std::process::ExitCode;
use std::time::Duration;

use ply_agent::v2::{PlanEntry, PlanEntryPriority, PlanEntryStatus, ToolKind};
use ply_agent::{About, Agent, Result, Stop, Turn};

use super::script::{COUNT, EDIT, KETTLE, TEST, TIDY};
use crate::program::error::Error;

/// How long a step of the script takes.
const STEP: Duration = Duration::from_millis(900);
/// How long a line of output takes.
const LINE: Duration = Duration::from_millis(350);
/// Where the script stops counting, should nobody cancel it.
const COUNT_MAX: u32 = 400;

struct Script;

/// Serves the agent until its client leaves.
pub(super) async fn serve() -> Result<ExitCode, Error> {
    let served = ply_agent::serve_stdio(Script).await;
    served.map_err(|error| Error::Start(std::io::Error::other(error)))?;
    Ok(ExitCode::SUCCESS)
}

impl Agent for Script {
    fn about(&self) -> About {
        About::new("ply-demo", env!("CARGO_PKG_VERSION")).title("A script, no model")
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        match turn.prompt().text().trim() {
            EDIT => edit(turn).await,
            TEST => test(turn).await,
            COUNT => count(turn).await,
            TIDY => tidy(turn).await,
            _ => {
                turn.say("I am a script and know only the lines of the tour. For a real agent, quit and run `ply`.")
                    .await?;
                Ok(Stop::EndTurn)
            }
        }
    }
}

async fn pause(turn: &Turn, time: Duration) -> Result<()> {
    turn.unless_cancelled(tokio::time::sleep(time)).await
}

fn plan(done: usize) -> Vec<PlanEntry> {
    let steps = [
        "Find where the water is poured",
        "Change it",
        "Say what changed",
    ];
    let entry = |(place, step): (usize, &str)| {
        let status = match place.cmp(&done) {
            std::cmp::Ordering::Less => PlanEntryStatus::Completed,
            std::cmp::Ordering::Equal => PlanEntryStatus::InProgress,
            std::cmp::Ordering::Greater => PlanEntryStatus::Pending,
        };
        PlanEntry::new(step, PlanEntryPriority::Medium, status)
    };
    steps.into_iter().enumerate().map(entry).collect()
}

async fn edit(turn: &Turn) -> Result<Stop> {
    let path = turn.session().cwd().join("src/kettle.rs");
    turn.plan(plan(0)).await?;
    let search = turn.tool_call("Search `POUR_AT`").kind(ToolKind::Search);
    let search = search.await?;
    search.start().await?;
    pause(turn, STEP).await?;
    search
        .finish_with(
            "src/kettle.rs:2: const POUR_AT: u8 = 60;\nsrc/kettle.rs:12: self.degrees >= POUR_AT",
        )
        .await?;
    let read = turn.tool_call("Read `src/kettle.rs`").kind(ToolKind::Read);
    let read = read.location(&path, 1).await?;
    read.start().await?;
    pause(turn, STEP).await?;
    read.finish_with(KETTLE).await?;
    turn.plan(plan(1)).await?;
    let hotter = KETTLE.replace("= 60;", "= 95;");
    let call = turn.tool_call("Edit `src/kettle.rs`").kind(ToolKind::Edit);
    let call = call.location(&path, 2).await?;
    call.add_diff(&path, Some(KETTLE), Some(hotter.as_str()))
        .await?;
    if !call.ask().await?.is_allowed() {
        call.fail("You said no.").await?;
        turn.say("Then the tea stays cold.").await?;
        return Ok(Stop::EndTurn);
    }
    call.start().await?;
    match std::fs::write(&path, &hotter) {
        Ok(()) => call.finish().await?,
        Err(error) => call.fail(error.to_string()).await?,
    }
    turn.plan(plan(2)).await?;
    pause(turn, STEP).await?;
    turn.plan(plan(3)).await?;
    say_slowly(
        turn,
        "Done: the water is poured at **95 degrees** now.\n\n```rust\nconst POUR_AT: u8 = 95;\n```\n",
    )
    .await?;
    Ok(Stop::EndTurn)
}

async fn test(turn: &Turn) -> Result<Stop> {
    let call = turn.tool_call("`cargo test`").kind(ToolKind::Execute);
    let call = call.await?;
    call.start().await?;
    for line in [
        "running 3 tests (the script says so)",
        "test kettle::is_hot ... ok",
        "test pot::holds_four_cups ... ok",
        "test cups::are_clean ... ok",
    ] {
        pause(turn, LINE).await?;
        call.add(line).await?;
    }
    call.finish_with("test result: ok. 3 passed; 0 failed")
        .await?;
    say_slowly(
        turn,
        "All three pass, or so my script says: nothing was run.",
    )
    .await?;
    Ok(Stop::EndTurn)
}

async fn count(turn: &Turn) -> Result<Stop> {
    for number in 1..=COUNT_MAX {
        turn.say(format!("{number} ")).await?;
        pause(turn, Duration::from_millis(60)).await?;
    }
    Ok(Stop::EndTurn)
}

async fn tidy(turn: &Turn) -> Result<Stop> {
    let path = turn.session().cwd().join("notes.tmp");
    let call = turn.tool_call("Delete `notes.tmp`").kind(ToolKind::Delete);
    let call = call.location(&path, 1).await?;
    if !call.ask().await?.is_allowed() {
        call.fail("Somebody said no.").await?;
        return Ok(Stop::EndTurn);
    }
    call.start().await?;
    match std::fs::remove_file(&path) {
        Ok(()) => call.finish().await?,
        Err(error) => call.fail(error.to_string()).await?,
    }
    turn.say("Somebody else allowed it, and `notes.tmp` is gone.")
        .await?;
    Ok(Stop::EndTurn)
}

async fn say_slowly(turn: &Turn, text: &str) -> Result<()> {
    for word in text.split_inclusive(' ') {
        turn.say(word).await?;
        pause(turn, Duration::from_millis(50)).await?;
    }
    Ok(())
}
