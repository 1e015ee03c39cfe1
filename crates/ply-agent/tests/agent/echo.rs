//! The smallest agent, on both versions.

use ply_agent::{Agent, Result, Stop, Turn};

use crate::support::*;

struct Echo;

impl Agent for Echo {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        turn.say(turn.prompt().text()).await?;
        Ok(Stop::EndTurn)
    }
}

#[tokio::test(start_paused = true)]
async fn a_version_1_client_gets_its_echo_before_the_answer() {
    let mut client = v1(Echo).await;
    let session = client.session().await;
    let prompt = client.prompt(&session, "hello").await;
    let seen = client.answered(prompt).await;
    assert_eq!(said(&seen), "hello");
    assert_eq!(seen.last().unwrap()["result"]["stopReason"], "end_turn");
    assert!(client.leave().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_version_2_client_gets_its_echo_between_running_and_idle() {
    let mut client = v2(Echo).await;
    let session = client.session().await;
    client.prompt(&session, "hello").await;
    let seen = client.idle().await;
    assert_eq!(said(&seen), "hello");
    assert!(client.leave().await.is_empty());
}
