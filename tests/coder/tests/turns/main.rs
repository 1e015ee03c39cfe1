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
mod failures;
mod hooks;
mod fork;
mod models;
mod order;
mod permission;
mod patches;
mod sessions;
mod skills;
mod steering;
mod sub_agents;
mod tools;
mod undo;
mod web;
mod written_commands;
