//! The agent.

use ply_agent::v2::{
    ContentBlock, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption,
};
use ply_agent::{Agent, Error, Result, Session, SessionSetup, Stop, Turn};

use super::super::drive::MODES;
use super::super::task::{LAST_WORDS, Task};
use crate::allocations;
use crate::payload::{CHUNK_TEXT, LARGE_TEXT_BYTES, large_text};

/// The name of the session's one option.
pub(super) const OPTION: &str = "mode";

/// Updates of one round of work: thoughts, a tool call, words.
const ROUND: usize = 100;
/// How many of them are thoughts, and updates of the tool call.
const THOUGHTS: usize = 20;
const CALL: usize = 3;

/// Updates of one passage of thoughts or words, about a thousand tokens.
const PASSAGE: u64 = 100;

/// The agent of every work.
pub(crate) struct Worker;

/// What a model does again and again: it thinks, uses a tool and says something, all in small pieces.
async fn round(turn: &mut Turn, updates: usize) -> Result<()> {
    for _ in 0..updates.min(THOUGHTS) {
        turn.think(CHUNK_TEXT).await?;
    }
    if updates >= THOUGHTS + CALL {
        let call = turn.tool_call("Run the tests").await?;
        call.add(CHUNK_TEXT).await?;
        call.finish().await?;
    }
    for _ in (THOUGHTS + CALL)..updates {
        turn.say(CHUNK_TEXT).await?;
    }
    Ok(())
}

impl Agent for Worker {
    async fn open(&self, session: &Session, _setup: &SessionSetup) -> Result<()> {
        let [first, _] = MODES;
        let values = MODES.map(|mode| SessionConfigSelectOption::new(mode, mode));
        let mode = SessionConfigOption::select(OPTION, "Mode", first, values.to_vec())
            .category(SessionConfigOptionCategory::Mode);
        session.set_options(vec![mode]).await
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        allocations::note().map_err(|error| Error::msg(error.to_string()))?;
        let (task, length) = match turn.prompt().content().first() {
            Some(ContentBlock::Text(text)) => (Task::of(&text.text), text.text.len()),
            _ => return Err(Error::invalid_params("there is no text")),
        };
        match task {
            Task::Stream(count) => {
                for _ in 0..count {
                    turn.say(CHUNK_TEXT).await?;
                }
            }
            Task::Work(count) => {
                for begun in (0..count).step_by(ROUND) {
                    let left = usize::try_from(count - begun).unwrap_or(ROUND);
                    round(turn, left.min(ROUND)).await?;
                }
            }
            Task::Alternate(count) => {
                for update in 0..count {
                    match update % 2 {
                        0 => turn.say(CHUNK_TEXT).await?,
                        _ => turn.think(CHUNK_TEXT).await?,
                    }
                }
            }
            Task::Talk(count) => {
                for update in 0..count {
                    match update / PASSAGE % 2 {
                        0 => turn.think(CHUNK_TEXT).await?,
                        _ => turn.say(CHUNK_TEXT).await?,
                    }
                }
                turn.say(LAST_WORDS).await?;
            }
            Task::Monologue(count) => {
                for _ in 0..count {
                    turn.say(CHUNK_TEXT).await?;
                }
                turn.say(LAST_WORDS).await?;
            }
            Task::Progress(count) => {
                let call = turn.tool_call("Run the tests").await?;
                for update in 0..count {
                    let title = format!("Run the tests, {update:>9} of {count:>9}");
                    call.set_title(title).await?;
                }
                call.finish().await?;
                turn.say(LAST_WORDS).await?;
            }
            Task::Ask(count) => {
                let call = turn.tool_call("Run the tests").await?;
                for _ in 0..count {
                    if !call.ask_with("Run the tests").await?.is_allowed() {
                        return Err(Error::msg("a permission was not granted"));
                    }
                }
                call.finish().await?;
            }
            Task::Big => {
                let text = allocations::own(large_text(LARGE_TEXT_BYTES));
                turn.say(text).await?;
            }
            Task::Measure => turn.say(length.to_string()).await?,
        }
        Ok(Stop::EndTurn)
    }
}
