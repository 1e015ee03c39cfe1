//! What an agent may use on the client's machine: files and terminals, bounded to the session's directories.

mod files;
mod refusal;
mod terminals;

pub use files::{Buffers, Files};
pub use terminals::Terminals;

pub(crate) use ply_roots::Roots;

#[cfg(test)]
mod scratch;
