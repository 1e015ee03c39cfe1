//! Where the bytes of a link come from and go to: standard streams, a child process, memory, any stream.

#[cfg(target_os = "linux")]
pub mod child;
pub mod memory;
pub mod stdio;
mod stream;
#[cfg(target_os = "linux")]
pub mod tail;
#[cfg(target_os = "linux")]
pub mod tree;

pub use stream::Transport;
