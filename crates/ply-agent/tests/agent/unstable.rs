//! Session methods that the schema calls unstable, over both stores and in both versions.

mod archive;
mod behind;
mod fork;
mod offered;
mod status;
mod title;
mod withdrawn;

use ply_agent::journal::{Memory, Sqlite};
use ply_agent::{About, Server};
use serde_json::{Value, json};

use crate::actor::Actor;
use crate::durable::Scratch;
use crate::script::{BOTH, Version};
use crate::support::{Client, v1_with, v2_with};

const NOT_FOUND: i64 = -32002;
const INVALID_PARAMS: i64 = -32602;

/// Where sessions are kept when their server ends.
enum Store {
    Memory(Memory),
    Disk(Scratch),
}

/// An agent that offers everything, its sessions, and the version that its clients speak.
struct Stage {
    actor: Actor,
    store: Store,
    version: Version,
}

/// Returns an agent for each store and each version.
fn stages() -> Vec<Stage> {
    let both = BOTH.into_iter().flat_map(|version| {
        [Store::Memory(Memory::new()), Store::Disk(Scratch::new())]
            .into_iter()
            .map(move |store| Stage {
                actor: actor(),
                store,
                version,
            })
    });
    both.collect()
}

fn actor() -> Actor {
    let about = About::new("actor", "1")
        .session_fork()
        .session_status()
        .session_set_title()
        .session_archive();
    Actor::about_itself(about)
}

impl Stage {
    /// Serves the agent; once more, after the server before was shut down.
    fn serve(&self) -> Server {
        let server = self.actor.serve();
        match &self.store {
            Store::Memory(memory) => server.journal(memory.clone()),
            Store::Disk(scratch) => server.journal(Sqlite::new(scratch.store())),
        }
    }

    async fn connect(&self, server: &Server) -> Client {
        match self.version {
            Version::V1 => v1_with(server, json!({})).await,
            Version::V2 => v2_with(server, json!({})).await,
        }
    }

    /// Opens a session with its history, and returns what the client is shown of it.
    async fn load(&self, client: &mut Client, session: &str) -> Vec<Value> {
        let method = match self.version {
            Version::V1 => "session/load",
            Version::V2 => "session/resume",
        };
        let mut params = of(session);
        params["replayFrom"] = json!({"type": "start"});
        let load = client.ask(method, params).await;
        let seen = client.answered(load).await;
        assert!(seen.last().unwrap()["result"].is_object(), "{seen:#?}");
        seen
    }

    /// Returns how often the agent prepared a session.
    fn openings(&self) -> usize {
        self.actor.setups.lock().unwrap().len()
    }
}

fn of(session: &str) -> Value {
    json!({"sessionId": session, "cwd": "/work", "mcpServers": []})
}

async fn listed(client: &mut Client, params: Value) -> Vec<Value> {
    let answer = client.ok("session/list", params).await;
    answer["sessions"].as_array().unwrap().clone()
}

/// Asks, and returns the error.
async fn error(client: &mut Client, method: &str, params: Value) -> Value {
    let id = client.ask(method, params).await;
    let answer = client.answered(id).await.pop().unwrap();
    assert!(answer.get("error").is_some(), "{method} worked: {answer}");
    answer["error"].clone()
}

/// Returns what the agent says in these messages, also in those that replay it whole.
fn replayed(messages: &[Value]) -> String {
    let told = crate::support::updates(messages).into_iter();
    let texts = told.filter_map(|update| match update["sessionUpdate"].as_str()? {
        "agent_message" => update["content"][0]["text"].as_str(),
        "agent_message_chunk" => update["content"]["text"].as_str(),
        _ => None,
    });
    texts.collect()
}

/// Reads until the agent has said this.
async fn hears(client: &mut Client, words: &str) {
    let is_it = |message: &Value| crate::support::said(std::slice::from_ref(message)) == words;
    client.until(is_it).await;
}
