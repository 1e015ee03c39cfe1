//! The agent's code runs on the task of its session. What it says leaves, and a cancel gets through, also while it neither returns
//! nor waits.

use std::sync::Mutex;
use std::sync::mpsc;

use ply_agent::{Agent, Result, Session, Stop, Turn};
use serde_json::json;

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
async fn a_cancel_gets_through_to_code_that_is_never_done() {
    for version in [1, 2] {
        let mut client = connect(version, &ply_agent::serve(Endless)).await;
        let session = client.session().await;
        let prompt = client.prompt(&session, "go").await;
        client.until(has_said("on and on")).await;
        client.cancel(&session).await;
        assert_eq!(end(&mut client, version, prompt).await, "cancelled");
    }
}

/// Says something and blocks its thread until it is let go. Its next turn does not block.
struct Blocks {
    let_go: Mutex<Option<mpsc::Receiver<()>>>,
    /// Dropped when the code that blocked is.
    dropped: mpsc::SyncSender<&'static str>,
}

impl Blocks {
    fn new() -> (Self, mpsc::SyncSender<()>, mpsc::Receiver<&'static str>) {
        let ((let_go, wait), (dropped, is_dropped)) =
            (mpsc::sync_channel(1), mpsc::sync_channel(1));
        let agent = Self {
            let_go: Mutex::new(Some(wait)),
            dropped,
        };
        (agent, let_go, is_dropped)
    }
}

struct Dropped(mpsc::SyncSender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.send("dropped").ok();
    }
}

impl Agent for Blocks {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let wait = self.let_go.lock().unwrap().take();
        turn.say("before ").await?;
        if let Some(wait) = wait {
            let _dropped = Dropped(self.dropped.clone());
            wait.recv().ok();
            tokio::task::yield_now().await;
            turn.say("after ").await?;
        }
        Ok(Stop::EndTurn)
    }
}

fn has_said(words: &'static str) -> impl Fn(&serde_json::Value) -> bool {
    move |message| said(std::slice::from_ref(message)).contains(words)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_code_said_leaves_though_it_blocks_its_thread() {
    for version in [1, 2] {
        let (agent, let_go, dropped) = Blocks::new();
        let mut client = connect(version, &ply_agent::serve(agent)).await;
        let session = client.session().await;
        client.prompt(&session, "go").await;
        client.until(has_said("before")).await;
        // Then it goes on where it was.
        let_go.send(()).unwrap();
        client.until(has_said("after")).await;
        assert_eq!(dropped.recv().unwrap(), "dropped");
        client.prompt(&session, "again").await;
        client.until(has_said("before")).await;
    }
}

// Also: V1-CANCEL-05, V2-CANCEL-06.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_ends_a_turn_whose_code_blocks_its_thread_and_the_next_one_runs() {
    for version in [1, 2] {
        let (agent, let_go, dropped) = Blocks::new();
        let mut client = connect(version, &ply_agent::serve(agent)).await;
        let session = client.session().await;
        let prompt = client.prompt(&session, "go").await;
        client.until(has_said("before")).await;
        client.cancel(&session).await;
        assert_eq!(end(&mut client, version, prompt).await, "cancelled");
        let prompt = client.prompt(&session, "again").await;
        client.until(has_said("before")).await;
        assert_eq!(end(&mut client, version, prompt).await, "end_turn");
        // Nobody waits for the code any more, and it is dropped when its thread comes back.
        let_go.send(()).unwrap();
        let dropped = tokio::task::spawn_blocking(move || dropped.recv());
        assert_eq!(dropped.await.unwrap().unwrap(), "dropped");
    }
}

/// Fails in ways that only code can.
struct Panics;

impl Agent for Panics {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        struct Trap;
        impl Drop for Trap {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        match turn.prompt().text().as_str() {
            "trap" => {
                let _trap = Trap;
                turn.say("set ").await?;
                std::future::pending::<()>().await;
            }
            _ => turn.say("fine ").await?,
        }
        Ok(Stop::EndTurn)
    }
}

#[tokio::test(start_paused = true)]
async fn code_that_panics_when_it_is_dropped_ends_its_turn_alone() {
    for version in [1, 2] {
        let mut client = connect(version, &ply_agent::serve(Panics)).await;
        let session = client.session().await;
        let prompt = client.prompt(&session, "trap").await;
        client.until(has_said("set")).await;
        client.cancel(&session).await;
        assert_eq!(end(&mut client, version, prompt).await, "cancelled");
        client.prompt(&session, "go").await;
        client.until(has_said("fine")).await;
    }
}

async fn connect(version: u16, server: &ply_agent::Server) -> Client {
    match version {
        1 => v1_with(server, json!({})).await,
        _ => v2_with(server, json!({})).await,
    }
}

async fn end(client: &mut Client, version: u16, prompt: i64) -> String {
    let end = match version {
        1 => client.answered(prompt).await.pop().unwrap()["result"].clone(),
        _ => update(&client.idle().await.pop().unwrap()).clone(),
    };
    end["stopReason"].as_str().unwrap().to_owned()
}
