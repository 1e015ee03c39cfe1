//! An agent and a client in one process, to test either of them.
//!
//! ```
//! use ply::agent::{Agent, Result, Stop, Turn};
//!
//! struct Echo;
//!
//! impl Agent for Echo {
//!     async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
//!         turn.say(turn.prompt().text()).await?;
//!         Ok(Stop::EndTurn)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
//! let agent = ply::testing::pair(Echo).await?;
//! let session = agent.new_session("/work").await?;
//! session.prompt("Hello").await?.finish().await?;
//! assert_eq!(session.transcript().last_agent_text(), "Hello");
//! # Ok(()) }
//! ```
//!
//! Everything between the two is as between processes: the handshake, the JSON and the order. With paused time
//! (`#[tokio::test(start_paused = true)]`) no test waits for a clock.

use crate::agent::{self, Server};
use crate::client::{self, Client};

/// Bytes that wait between the two before a sender waits, about as many as a pipe holds.
const PIPE_BYTES: usize = 64 * 1024;

/// Connects a client as it comes to an agent that keeps its sessions in memory.
///
/// The agent is served until the returned handle, its sessions and its turns are dropped.
///
/// # Errors
///
/// The agent panicked in [`about`](agent::Agent::about).
///
/// # Cancel safety
///
/// Dropped before it is done, the connection ends.
pub async fn pair(agent: impl agent::Agent) -> Result<client::Agent, client::Error> {
    pair_with(&agent::serve(agent), Client::new()).await
}

/// Connects a client with settings of its own, such as a version of the protocol, to a server: one with a journal, or one that
/// has other clients already.
///
/// ```
/// # use ply::agent::{Agent, Result, Stop, Turn};
/// # struct Echo;
/// # impl Agent for Echo {
/// #     async fn prompt(&self, _: &mut Turn) -> Result<Stop> { Ok(Stop::EndTurn) }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// use ply::client::{Client, Supported, Version};
///
/// let server = ply::agent::serve(Echo);
/// let old = ply::testing::pair_with(&server, Client::new().versions(Supported::V1)).await?;
/// let new = ply::testing::pair_with(&server, Client::new()).await?;
/// assert_eq!((old.version(), new.version()), (Version::V1, Version::V2));
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// As for [`Client::connect`].
///
/// # Cancel safety
///
/// Dropped before it is done, the connection ends.
pub async fn pair_with(server: &Server, client: Client) -> Result<client::Agent, client::Error> {
    let (here, there) = tokio::io::duplex(PIPE_BYTES);
    let server = server.clone();
    tokio::spawn(async move {
        let (reader, writer) = tokio::io::split(there);
        server.over(reader, writer).await;
    });
    client.connect(here).await
}
