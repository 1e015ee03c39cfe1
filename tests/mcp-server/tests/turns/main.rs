//! MCP in whole turns: a scripted model, the agent, a client, and real servers.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod ask;
mod calls;
mod configured;
mod ends;
mod login;
mod refused;
mod rich;

use coder_tests::{Setup, User, World};
use ply_agent::v2;
use ply_client::{Event, Session, SessionSetup, Supported, Turn};
use ply_coder::permission::Mode;
use ply_mcp_server::{soon, stdio};

const SERVER: &str = env!("CARGO_BIN_EXE_mcp-server");

/// The versions of the protocol, one at a time.
const VERSIONS: [Supported; 2] = [Supported::V1, Supported::V2];

/// Names the test server.
fn server(name: &str) -> v2::McpServer {
    v2::McpServer::Stdio(stdio(name, SERVER, &[]))
}

/// Returns a world with full rights, whose user allows what is asked in spite of that: tools of servers run outside the sandbox.
fn full(versions: Supported) -> Setup {
    Setup {
        versions,
        mode: Mode::Full,
        user: User::Allows,
        ..Setup::default()
    }
}

/// Opens a session with servers.
async fn open(world: &World, servers: impl IntoIterator<Item = v2::McpServer>) -> Session {
    let setup = SessionSetup::new(world.path());
    let setup = servers.into_iter().fold(setup, SessionSetup::mcp_server);
    soon(world.agent.new_session(setup)).await.unwrap()
}

/// Reads a turn until the card of a call shows some words.
async fn shows(turn: &mut Turn, words: &str) {
    soon(async {
        while let Some(event) = turn.next().await {
            if let Ok(Event::ToolCall(call)) = event
                && format!("{:?}", call.snapshot()).contains(words)
            {
                return;
            }
        }
        panic!("the turn ended before it showed {words}");
    })
    .await;
}
