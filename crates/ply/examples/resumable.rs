//! An agent whose sessions survive it: `resumable FILE` keeps them in a database, and any later process lists, loads and
//! resumes them. Kill it at any moment: everything it acknowledged is there when it is started again.
//!
//! It tells how often it was prompted, which it reads from the history instead of counting.

use ply::agent::transcript::MessageKind;
use ply::agent::{Agent, Error, Result, Stop, Turn};

struct Counter;

impl Agent for Counter {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let history = turn.history().await?;
        let messages = history.transcript().messages();
        let prompts = messages.filter(|message| message.kind == MessageKind::User);
        let said: Vec<_> = prompts.map(|message| message.text()).collect();
        let text = format!("Prompt {}. So far: {}", said.len(), said.join(", "));
        turn.say(text).await?;
        Ok(Stop::EndTurn)
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let file = std::env::args().nth(1);
    let file = file.ok_or_else(|| Error::msg("usage: resumable FILE"))?;
    ply::agent::serve(Counter)
        .journal(file.as_str())
        .stdio()
        .await
}
