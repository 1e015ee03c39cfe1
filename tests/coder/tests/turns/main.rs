//! Whole turns of the coding agent against a scripted model.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod apis;
mod cancel;
mod commands;
mod context;
mod cost;
mod diagnostics;
mod failures;
mod fork;
mod hooks;
mod long;
mod models;
mod order;
mod patches;
mod permission;
mod sessions;
mod skills;
mod steering;
mod sub_agents;
mod tools;
mod undo;
mod web;
mod written_commands;
