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
mod caller;
mod cancel;
mod client;
mod clock;
mod connection;
mod error;
mod extension;
mod host;
mod overview;
mod passing;
mod prompt;
mod server;
mod session;
mod turn;

/// What the records of a [`journal`] hold, for code that reads them or folds a [`History`] from them.
pub mod event {
    pub use ply_session::{
        Answer, AskId, Connection, Edit, Entity, Event, Handover, PassedOn, Question, QueueChange,
        QueuedPrompt, Runner, Told, TurnId,
    };
}

/// What a program that hosts sessions may decide about them; see [`Server::settings`].
pub mod settings {
    pub use ply_session::{
        CancelScope, CloseEffect, LastClient, Level, Limits, Pace, Questions, QueuedPrompts,
        Settings,
    };
}

pub use ply_journal as journal;
pub use ply_rpc::{CallError, Closed, RpcError};
pub use ply_session::{Accepts, History, Rights, Stop};
pub use ply_wire::attachment::image_type;
pub use ply_wire::negotiate::Version;
pub use ply_wire::{MaybeUndefined, transcript, v1, v2};
pub use serde_json::{self, Value};

pub use self::agent::{About, Agent, Mcp, SessionSetup};
pub use self::asker::Asker;
pub use self::caller::Caller;
pub use self::error::{Error, Result};
pub use self::extension::{Client, Extension};
pub use self::host::{is_partial, read_history};
pub use self::overview::{OpenQuestion, Overview};
pub use self::passing::{Inquiry, Line};
pub use self::prompt::Prompt;
pub use self::server::{NewPrompts, Server, serve, serve_stdio};
pub use self::session::Session;
pub use self::session::steering::Steered;
pub use self::turn::{
    Decision, Elicited, NewOwnTerminal, NewTerminal, NewToolCall, OwnTerminal, Permission,
    ReadFile, Terminal, ToolCall, Turn,
};
