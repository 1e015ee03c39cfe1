//! What an agent may use on the client's machine: files and terminals, bounded to the session's directories.

mod erased;
mod files;
mod refusal;
mod service;
mod terminals;

pub use files::{Buffers, Files};
pub use service::{FileService, Scope, TerminalService};
pub use terminals::Terminals;

pub(crate) use erased::{DynFiles, DynTerminals, Erased};

pub(crate) use ply_roots::Roots;
pub(crate) use terminals::Scene;

#[cfg(test)]
mod scratch;
