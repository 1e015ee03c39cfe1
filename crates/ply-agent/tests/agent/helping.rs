//! Code that reports more than there is room for does the work of its session meanwhile, on whatever thread it runs.

use std::time::Duration;

use ply_agent::{Agent, Result, Session, Stop, Turn};
use serde_json::json;

use crate::actor::Actor;
use crate::support::*;

/// Words of each reporter: together far more than there is room for.
const WORDS: usize = 4_000;

async fn talk(session: &Session, name: char) -> Result<()> {
    for number in 0..WORDS {
        session.say(format!("{name}{number} ")).await?;
    }
    Ok(())
}

/// Has its words said by several tasks at once.
struct Choir;

impl Agent for Choir {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let session = turn.session().clone();
        let voices = ['b', 'c'].map(|name| {
            let session = session.clone();
            tokio::spawn(async move { talk(&session, name).await })
        });
        for number in 0..WORDS {
            turn.say(format!("a{number} ")).await?;
        }
        for voice in voices {
            voice.await.unwrap()?;
        }
        turn.say("end ").await?;
        Ok(Stop::EndTurn)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn reports_made_side_by_side_stay_in_the_order_of_each_reporter() {
    for version in [1, 2] {
        let server = ply_agent::serve(Choir);
        let mut client = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = client.session().await;
        client.prompt(&session, "sing").await;
        let is_end =
            |message: &serde_json::Value| said(std::slice::from_ref(message)).ends_with("end ");
        let heard = said(&client.until(is_end).await);
        for name in ['a', 'b', 'c'] {
            let words = heard.split(' ').filter_map(|word| word.strip_prefix(name));
            let numbers: Vec<usize> = words.map(|number| number.parse().unwrap()).collect();
            assert_eq!(numbers, (0..WORDS).collect::<Vec<_>>(), "version {version}");
        }
    }
}

/// Talks without end and waits for nothing but room for its words.
struct Endless;

impl Agent for Endless {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        loop {
            turn.say("on and on ").await?;
        }
    }
}

// Also: V1-CANCEL-02, V2-CANCEL-01.
#[tokio::test]
async fn a_cancel_gets_through_to_code_that_does_the_work_of_its_session() {
    for version in [1, 2] {
        let server = ply_agent::serve(Endless);
        let mut client = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = client.session().await;
        let prompt = client.prompt(&session, "go").await;
        client
            .until(|message| !said(std::slice::from_ref(message)).is_empty())
            .await;
        client.cancel(&session).await;
        let end = match version {
            1 => client.answered(prompt).await.pop().unwrap()["result"].clone(),
            _ => update(&client.idle().await.pop().unwrap()).clone(),
        };
        assert_eq!(end["stopReason"], "cancelled");
    }
}

#[tokio::test]
async fn a_turn_that_begins_while_code_of_another_runtime_does_the_work_outlives_that_runtime() {
    let actor = Actor::new();
    let mut client = v2_with(&actor.serve(), json!({})).await;
    let id = client.session().await;
    // From now on the journal has it, and nothing takes time that happens in it.
    crate::actor::run(&mut client, &id, "say hello").await;
    let session = actor.last_session();
    let elsewhere = std::thread::spawn(move || {
        // It has no clock either.
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(async {
            let turn = session.start_turn(async |turn: Turn| {
                tokio::time::sleep(Duration::from_millis(20)).await;
                turn.say("of its own").await?;
                Ok(Stop::EndTurn)
            });
            let flood = async {
                let much = "x".repeat(1024);
                for _ in 0..100 {
                    session.say(much.as_str()).await.unwrap();
                }
            };
            // It is asked for, and its end is not waited for.
            tokio::select! {
                biased;
                ended = turn => panic!("{ended:?}"),
                () = flood => {}
            }
        });
    });
    // The session's own thread can do nothing meanwhile.
    elsewhere.join().unwrap();
    let is_end =
        |message: &serde_json::Value| said(std::slice::from_ref(message)).ends_with("of its own");
    client.until(is_end).await;
}
