//! The tests of the crate, in one program: linking one is quicker than linking many.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod auth;
mod cancel;
mod config;
mod crowd;
mod dropped;
mod elicitation;
mod elicitation_service;
mod entities;
mod extensions;
mod frames;
mod lag;
mod pace;
mod permission;
mod process_life;
mod prompt;
mod regression;
mod restore;
mod rule_breakers;
mod services;
mod sessions;
mod setup;
mod silence;
mod start;
mod support;
mod terminal_login;
mod told;
mod tools;
mod turns_v2;
mod unstable;
mod visits;
