//! What an agent may use on the client's machine: files and terminals, bounded to the session's directories.

mod files;
mod refusal;
mod roots;
mod terminals;

pub use files::{Buffers, Files};
pub use terminals::Terminals;

pub(crate) use roots::Roots;

#[cfg(test)]
mod scratch;
