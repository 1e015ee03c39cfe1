//! Agents that are killed at any moment, and disks that fail: what was told must be there afterwards.
//!
//! The agent is a real process (`process`) with a real file; whoever runs it is its client and its witness. The witness notes
//! all that the agent writes to its pipe, to the last byte before its end (`told`, `life`). A new process then opens the
//! file, shows the sessions, and what it shows is compared with what was told (`check`, `replay`); what the file holds is read
//! too (`store`).
//!
//! Agents are killed from outside at any instant (`loops`), or by a library inside of them at their Nth call on the file,
//! which can also fail that call as a full or broken disk would (`points`, `fault`); and when a tool has done what cannot be
//! undone (`effects`).

mod check;
pub mod effects;
mod failure;
pub mod fault;
mod life;
pub mod loops;
pub mod points;
mod process;
mod replay;
mod scratch;
pub mod script;
mod store;
pub mod tally;
mod told;
mod tools;
mod wire;

pub use failure::{Breach, Failure};
pub use ply_wire::negotiate::Version;
