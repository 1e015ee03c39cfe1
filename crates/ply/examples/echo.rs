//! The smallest agent: it repeats each prompt.
//!
//! It works with clients of protocol versions 1 and 2. Sessions, history, queued prompts and cancellation come with the
//! SDK.

use ply::agent::{Agent, Result, Stop, Turn};

struct Echo;

impl Agent for Echo {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        turn.say(turn.prompt().text()).await?;
        Ok(Stop::EndTurn)
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    ply::agent::serve_stdio(Echo).await
}
