//! The SDK for client authors: any agent, one event stream.
//!
//! [`spawn`] starts an agent, [`Client`] does it with settings. Whether the agent speaks version 1 or 2 of the Agent Client
//! Protocol makes no difference: everything is told in the words of version 2.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use ply_client::Event;
//!
//! let agent = ply_client::spawn(["gemini", "--acp"]).await?;
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
//! # Ok(())
//! # }
//! ```
//!
//! # What it takes care of
//!
//! - **One meaning.** [`Session::transcript`] is what all updates add up to, also those of an old session that was loaded.
//! - **Rules.** What the agent does not offer is refused here, with a reason, and never sent.
//! - **Rule breakers.** Updates too early or too late, unknown or malformed messages and noise are survived and told in
//!   [`Agent::reports`].
//! - **Questions.** A question stays open until somebody answers it, its turn ends or the agent takes it back. One that the
//!   program lets go of is left to other clients of the session; silence never answers for them.
//! - **Dropped futures.** A request whose future is dropped before the answer is cancelled at the agent, and a session that was made
//!   for nobody is closed. Requests that end something stand, and so does a prompt once there is a [`Turn`].
//! - **Ends.** A dead agent ends its turns at once and is started again when it is next needed,
//!   and its whole process tree ends with it. A program that is itself killed cannot do that: call [`end_leftovers`] at its
//!   start to end what the one before it left running.
//! - **Slow readers.** Events wait in bounded queues. When one is full its events are dropped and its reader goes on with
//!   [`Event::Lagged`] and the transcript; nobody else has to wait.
//!
//! Everything runs inside a tokio runtime with its IO and time enabled; outside of one, requests fail with
//! [`Error::NoRuntime`].

mod agent;
mod ask;
mod client;
mod command;
mod connection;
mod error;
mod event;
mod events;
mod extension;
mod fate;
mod handler;
mod hello;
pub mod limits;
mod lock;
mod policy;
mod prompt;
mod recent;
mod report;
mod restart;
mod routes;
mod services;
mod session;
mod setup;
mod tap;
pub mod text;
mod turn;
mod visit;

pub use agent::{Agent, SessionFilter, TerminalLogin};
pub use ask::{Elicitation, Permission};
pub use client::Client;
pub use command::Command;
pub use error::{Error, PostMortem, StartFailure, TurnError};
pub use event::{Event, Message, SessionEvent, Terminal, ToolCall, TurnId};
pub use events::Events;
pub use extension::{Extension, Extensions};
pub use policy::{AllowAll, AskUser, Decision, LeaveToOthers, Permissions, RejectAll};
pub use prompt::Prompt;
pub use recent::{Recent, RecentSession};
pub use report::{Report, ReportKind};
pub use services::{
    Buffers, ElicitationDecision, ElicitationService, Elicitations, FileService, Files, Scope,
    TerminalService, Terminals,
};
pub use session::Session;
pub use setup::SessionSetup;
pub use tap::Direction;
pub use turn::{Turn, TurnEnd};
pub use visit::Visit;

pub use ply_rpc::transport::Transport;
pub use ply_rpc::transport::child::{Grace, SpawnError, end_leftovers};
pub use ply_rpc::{CallError, Closed, Garbage, Limits, Noise, Options, RpcError};
pub use ply_wire::attachment::{file_uri, image_type};
pub use ply_wire::method::DecodeError;
pub use ply_wire::negotiate::{AnswerError, Supported, Version};
pub use ply_wire::transcript::{self, Transcript};
pub use ply_wire::{MaybeUndefined, ProtocolVersion, v1, v2};
pub use serde_json::{self, Value};

/// Starts an agent with a client as it comes: both versions, every permission asked, no services.
///
/// # Errors
///
/// As for [`Client::spawn`].
///
/// # Cancel safety
///
/// As for [`Client::spawn`].
pub async fn spawn(command: impl Into<Command>) -> Result<Agent, Error> {
    Client::new().spawn(command).await
}
