//! A bridge from version 1 to version 2: `bridge COMMAND [ARGS…]` starts an agent of version 1 and is itself an agent that
//! clients of either version can use.
//!
//! Each session has one of the inner agent behind it. Updates pass as they come, questions go to the user and their answers
//! back, and a cancel is passed on. A session that is opened again shows its history but begins anew with the inner agent.

use ply::agent::v2::StopReason;
use ply::agent::{Agent, Error, Permission, Result, Session, SessionSetup, Stop, Turn};
use ply::client::{self, Client, Event, Supported};

struct Bridge(client::Agent);

fn failed(error: impl std::error::Error) -> Error {
    Error::msg(error.to_string())
}

impl Agent for Bridge {
    async fn open(&self, session: &Session, setup: &SessionSetup) -> Result<()> {
        let inner = self.0.new_session(setup.cwd.clone()).await;
        session.set_state(inner.map_err(failed)?);
        Ok(())
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let inner: &client::Session = turn.session().state();
        let blocks = turn.prompt().content().iter().cloned();
        let prompt = blocks.fold(client::Prompt::default(), client::Prompt::block);
        let mut work = inner.prompt(prompt).await.map_err(failed)?;
        loop {
            let event = tokio::select! {
                event = work.next() => event,
                () = turn.cancelled() => {
                    work.cancel().await.map_err(failed)?;
                    return Ok(Stop::Cancelled);
                }
            };
            match event.transpose().map_err(failed)? {
                None => break,
                Some(Event::Permission(question)) => ask(turn, &question).await?,
                // What the user said and what the session is doing is already known on this side.
                Some(Event::UserMessage(_) | Event::State(_)) => {}
                Some(event) => {
                    if let Some(update) = event.into_update() {
                        turn.update(update).await?;
                    }
                }
            }
        }
        Ok(match work.stop_reason() {
            Some(StopReason::MaxTokens) => Stop::MaxTokens,
            Some(StopReason::MaxTurnRequests) => Stop::MaxTurnRequests,
            Some(StopReason::Refusal) => Stop::Refusal,
            Some(StopReason::Cancelled) => Stop::Cancelled,
            _ => Stop::EndTurn,
        })
    }
}

async fn ask(turn: &Turn, question: &client::Permission) -> Result<()> {
    let mut permission = Permission::new(question.request().title.clone());
    for option in question.options() {
        let (id, name) = (option.option_id.clone(), option.name.clone());
        permission = permission.option(id, name, option.kind.clone());
    }
    match turn.ask(permission).await?.option_id() {
        Some(option) => question.select(option).await.map_err(failed),
        None => {
            question.cancel().await;
            Ok(())
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let command: client::Command = std::env::args().skip(1).collect();
    let client = Client::new().versions(Supported::V1);
    let inner = client.spawn(command).await.map_err(failed)?;
    ply::agent::serve_stdio(Bridge(inner)).await
}
