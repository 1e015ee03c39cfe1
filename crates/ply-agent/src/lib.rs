//! The SDK for agent authors: one trait, both protocol versions.
//!
//! ```no_run
//! use ply_agent::{Agent, Result, Stop, Turn};
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
//!     ply_agent::serve_stdio(Echo).await
//! }
//! ```

mod agent;
mod asker;
mod asking;
mod cancel;
mod client;
mod clock;
mod connection;
mod error;
mod extension;
mod host;
mod prompt;
mod server;
mod session;
mod turn;

/// What the records of a [`journal`] hold, for code that reads them or folds a [`History`] from them.
pub mod event {
    pub use ply_session::{Answer, AskId, Edit, Event, Question, QueueChange, Runner, TurnId};
}

pub use ply_journal as journal;
pub use ply_rpc::{CallError, Closed, RpcError};
pub use ply_session::{Accepts, History, Stop};
pub use ply_wire::attachment::image_type;
pub use ply_wire::negotiate::Version;
pub use ply_wire::{MaybeUndefined, transcript, v1, v2};
pub use serde_json::{self, Value};

pub use self::agent::{About, Agent, Mcp, SessionSetup};
pub use self::asker::Asker;
pub use self::error::{Error, Result};
pub use self::extension::{Client, Extension};
pub use self::host::{is_partial, read_history};
pub use self::prompt::Prompt;
pub use self::server::{Server, serve, serve_stdio};
pub use self::session::Session;
pub use self::turn::{
    Decision, Elicited, NewOwnTerminal, NewTerminal, NewToolCall, OwnTerminal, Permission,
    ReadFile, Terminal, ToolCall, Turn,
};
