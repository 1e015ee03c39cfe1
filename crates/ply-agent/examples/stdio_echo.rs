//! The echo agent of `tests/stdio.rs`. The one to read is in the examples of the crate `ply`.

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
