//! What an agent may use on the client's side: files and terminals, bounded to the session's directories, and its user.

mod elicitation;
mod erased;
mod files;
mod refusal;
mod service;
mod terminals;

pub use elicitation::{ElicitationDecision, ElicitationService, Elicitations};
pub use files::{Buffers, Files};
pub use service::{FileService, Scope, TerminalService};
pub use terminals::Terminals;

pub(crate) use erased::{DynElicitations, DynFiles, DynTerminals, Erased, Work};

pub(crate) use ply_roots::Roots;
pub(crate) use terminals::{Scene, Show};

#[cfg(test)]
mod scratch;
