//! An agent that says what it is told. It speaks both versions of the protocol, keeps sessions and
//! their history, holds prompts that come early, and can be cancelled.

use ply_agent::{Agent, Result, Stop, Turn};

struct Echo;

impl Agent for Echo {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        turn.say(turn.prompt().text()).await?;
        Ok(Stop::EndTurn)
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    ply_agent::serve_stdio(Echo).await
}
