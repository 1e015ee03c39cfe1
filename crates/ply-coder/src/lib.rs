//! The coding agent: models, tools, permission, MCP, on the agent SDK.
//!
//! [`Coder`] implements [`ply_agent::Agent`]; a program gives it a [`Config`] and serves it. The
//! library reads no environment and no home directory: the program does, and passes in what it found.

mod checkpoint;
mod coder;
mod commands;
pub mod config;
mod context;
pub mod diagnostics;
mod git;
pub mod hooks;
mod ledger;
pub mod mcp;
pub mod model;
mod options;
pub mod permission;
mod playbook;
mod session;
pub mod shell;
mod skills;
mod text;
pub mod tool;
mod turn;
mod web;
pub mod workspace;

use std::future::Future;
use std::pin::Pin;

pub use self::coder::Coder;
pub use self::config::Config;

/// A future that is chosen at run time.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
