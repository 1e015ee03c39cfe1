//! The agent SDK on the wire: clients that write and read lines by hand, one file per behaviour.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod actor;
mod fold;
mod journals;
mod script;
mod shapes;
mod support;

mod echo;

mod cancel;
mod content;
mod diffs;
mod elicitation;
mod entities;
mod own_turns;
mod permission;
mod plan;
mod questions;
mod queue;
mod services;
mod states;
mod steering;
mod stop;
mod stubborn;
mod terminals;
mod tool_calls;
mod turns;

mod advertised;
mod auth;
mod background;
mod backpressure;
mod close;
mod cursors;
mod delete;
mod durable;
mod extension;
mod initialize;
mod isolation;
mod journal_faults;
mod list;
mod load;
mod options;
mod own_methods;
mod own_thread;
mod regression;
mod resume;
mod sessions;
mod several_clients;
mod told;
mod unstable;
mod wire;
