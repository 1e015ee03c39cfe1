//! A bridge from version 1 to version 2: `bridge COMMAND [ARGS…]` starts an agent of version 1 and is itself an agent that
//! clients of either version can use.
//!
//! Each session has one of the inner agent behind it. Updates pass as they come, questions go to the user and their answers
//! back, and a cancel is passed on. A session that is opened again shows its history but begins anew with the inner agent.

use ply::agent::{Agent, Result, Session, SessionSetup, Stop, Turn};
use ply::client::{self, Client, Event, Supported};

struct Bridge(client::Agent);

impl Agent for Bridge {
    async fn open(&self, session: &Session, setup: &SessionSetup) -> Result<()> {
        session.set_state(self.0.new_session(setup.cwd.clone()).await?);
        Ok(())
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let inner: &client::Session = turn.session().state();
        let mut work = inner.prompt(turn.prompt().content().to_vec()).await?;
        loop {
            let event = tokio::select! {
                event = work.next() => event,
                () = turn.cancelled() => {
                    work.cancel().await?;
                    return Ok(Stop::Cancelled);
                }
            };
            match event.transpose()? {
                None => break,
                Some(Event::Permission(question)) => {
                    let decision = turn.ask(question.request()).await?;
                    match decision.option_id() {
                        Some(option) => question.select(option).await?,
                        None => question.cancel().await,
                    }
                }
                // What the user said and what the session is doing is already known on this side.
                Some(Event::UserMessage(_) | Event::State(_)) => {}
                Some(event) => {
                    if let Some(update) = event.into_update() {
                        turn.update(update).await?;
                    }
                }
            }
        }
        Ok(work.stop_reason().map_or(Stop::EndTurn, Stop::from))
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let command: client::Command = std::env::args().skip(1).collect();
    let inner = Client::new().versions(Supported::V1).spawn(command).await?;
    ply::agent::serve_stdio(Bridge(inner)).await
}
