//! Where the bytes of a link come from and go to: standard streams, a child process, memory.

#[cfg(target_os = "linux")]
pub mod child;
pub mod memory;
pub mod stdio;
#[cfg(target_os = "linux")]
mod tail;
#[cfg(target_os = "linux")]
mod tree;
