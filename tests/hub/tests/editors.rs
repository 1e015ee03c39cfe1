//! Several editors share a session: one of version 1, one of version 2, one that does not read, and one that answers.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout};

use hub_tests::world::{World, said, say_yes};
use ply_client::Supported;
use serde_json::{Value, json};

const PEER: &str = env!("CARGO_BIN_EXE_hub-peer");

/// Words of the turn: far more than the streams between the hub and an editor hold.
const WORDS: usize = 400;
const WORD_BYTES: usize = 2_000;

/// An editor of version 1 that reads when it likes.
struct Slow {
    to: ChildStdin,
    from: std::io::Lines<BufReader<ChildStdout>>,
}

impl Slow {
    /// Greets and loads a session.
    fn load(world: &World, process: &mut std::process::Child, session: &str) -> Self {
        let (to, from) = (process.stdin.take(), process.stdout.take());
        let from = BufReader::new(from.unwrap()).lines();
        let mut slow = Self {
            to: to.unwrap(),
            from,
        };
        slow.call(1, "initialize", &json!({"protocolVersion": 1}));
        let params = json!({"sessionId": session, "cwd": world.project(), "mcpServers": []});
        slow.call(2, "session/load", &params);
        slow
    }

    fn call(&mut self, id: u64, method: &str, params: &Value) {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.to, "{call}").unwrap();
        while self.read()["id"] != id {}
    }

    fn read(&mut self) -> Value {
        let line = self.from.next().expect("the editor is still served");
        serde_json::from_str(&line.unwrap()).unwrap()
    }

    /// Returns what the agent said, up to some words.
    fn hear(&mut self, last: &str) -> String {
        let mut heard = String::new();
        while !heard.ends_with(last) {
            let update = self.read()["params"]["update"].take();
            if update["sessionUpdate"] == "agent_message_chunk" {
                heard += update["content"]["text"].as_str().unwrap_or_default();
            }
        }
        heard
    }
}

#[tokio::test]
async fn editors_of_both_versions_share_a_turn_with_one_that_does_not_read() {
    for version in [1, 2] {
        let world = World::new(PEER, version).unwrap();
        let first = world.attach(Supported::V1).await.unwrap();
        let session = first.new_session(world.project()).await.unwrap();
        let id = session.id().clone();
        let second = world.attach(Supported::Both).await.unwrap();
        let beside = second.load_session(id.clone(), world.project());
        let beside = beside.await.unwrap();
        let mut process = world.attach_raw().unwrap();
        let mut slow = Slow::load(&world, &mut process, &id.0);
        let word = format!("say:{}", "w".repeat(WORD_BYTES));
        let words = vec![word; WORDS].join(" ");
        let prompt = format!("{words} ask:it say:done");
        let turn = session.prompt(prompt.as_str()).await.unwrap();
        let turn = tokio::spawn(turn.finish());
        let is_asked = async || {
            let open = world.sessions().await;
            open.first().is_some_and(|live| live.questions.len() == 1)
        };
        world.until("the question", is_asked).await.unwrap();
        // Neither of those who see the question answers it, and one has not even come so far.
        let third = world.attach(Supported::Both).await.unwrap();
        let answers = third.load_session(id, world.project()).await.unwrap();
        let answering = tokio::spawn(say_yes(answers.clone()));
        turn.await.unwrap().unwrap();
        let all = said(&session).concat();
        assert!(all.ends_with("it=yes done "), "{version}");
        assert_eq!(all.len(), WORDS * (WORD_BYTES + 1) + "it=yes done ".len());
        assert_eq!(world.got("optionId").unwrap().len(), 1, "one answer");
        let others = [&beside, &answers];
        let has_all = async || others.iter().all(|other| said(other).concat() == all);
        world.until("the end for everybody", has_all).await.unwrap();
        let heard = tokio::task::spawn_blocking(move || slow.hear("it=yes done "));
        assert!(heard.await.unwrap() == all, "{version}: the slow one too");
        answering.abort();
        for editor in [first, second, third] {
            editor.close().await;
        }
        process.wait().unwrap();
        world.stop().await;
    }
}
