//! The Agent Client Protocol end to end: agents and clients in a few lines.
//!
//! An agent is one method:
//!
//! ```no_run
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
//! #[tokio::main]
//! async fn main() -> Result<()> {
//!     ply::agent::serve_stdio(Echo).await
//! }
//! ```
//!
//! A client drives any agent, of version 1 or 2:
//!
//! ```no_run
//! use ply::client::Event;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = ply::client::spawn(["gemini", "--acp"]).await?;
//! let session = agent.new_session("/home/me/project").await?;
//! let mut turn = session.prompt("Fix the failing test").await?;
//! while let Some(event) = turn.next().await {
//!     match event? {
//!         Event::Message(text) => print!("{text}"),
//!         Event::Permission(ask) => ask.allow_once().await?,
//!         _ => {}
//!     }
//! }
//! println!("{:?}", turn.stop_reason());
//! # Ok(()) }
//! ```
//!
//! The [`guide`] has more, in chapters, with a table for users of the official SDK.
//!
//! # Features
//!
//! `agent` and `client` are on by default and give the module of that name. `sqlite` adds
//! `agent::journal::Sqlite`, which keeps an agent's sessions on disk. `unstable_session_fork`, `unstable_session_status`,
//! `unstable_session_set_title` and `unstable_session_archive` add methods that are not part of the protocol yet; an agent offers
//! those that its `About` names. Every type that a signature mentions can be named through
//! these modules.

#[cfg(feature = "agent")]
pub use ply_agent as agent;
#[cfg(feature = "client")]
pub use ply_client as client;
#[cfg(all(feature = "agent", feature = "client"))]
pub mod guide;
#[cfg(all(feature = "agent", feature = "client"))]
pub mod testing;
