//! Where the bytes of a link come from and go to: standard streams, a child process, memory.

pub mod child;
pub mod memory;
pub mod stdio;
mod tail;
mod tree;
