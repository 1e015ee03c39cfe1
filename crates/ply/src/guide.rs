//! How to write agents and clients, in chapters.
//!
//! - [`agents`]: from the smallest agent to tools, permission, history and sessions on disk.
//! - [`clients`]: start an agent, read its events, answer its questions, serve it files.
//! - [`moving`]: for users of the official Rust SDK, which name became which.
//!
//! All code in these pages is compiled, and run where it needs nothing from outside. Complete programs are in the
//! `examples` directory of this crate: `echo`, `edit_file`, `streaming_model`, `resumable`, `one_shot`, `policy`,
//! `unsaved_buffers`, `bridge` and `recorder`. The tests run each of them.
//!
//! # The protocol in five sentences
//!
//! An editor or another client starts an agent as a child process and talks to it in JSON-RPC 2.0, one JSON object per
//! line. It opens a *session* in a directory and sends *prompts*. The agent works on a prompt in a *turn*: it reports
//! messages, thoughts, plans and tool calls as *updates*, asks for permission where it needs some, and ends with a *stop
//! reason*. Version 1 is stable; version 2 is a draft with message ids, states and updates outside of turns. Ply speaks
//! both and tells everything in the terms of version 2, so neither agents nor clients have to know which one is spoken.

pub mod agents;
pub mod clients;
pub mod moving;
