//! Stateless conversions between protocol versions 1 and 2, one file per message family.
//!
//! `down` goes from version 2 to version 1, `up` from 1 to 2.

pub mod auth;
pub mod commands;
pub mod config;
pub mod content;
pub mod diff;
pub mod elicitation;
pub mod error;
pub mod initialize;
pub mod mcp;
pub(crate) mod path;
pub mod permission;
pub mod plan;
pub mod session;
pub mod tool_call;
#[cfg(any(
    feature = "unstable_session_fork",
    feature = "unstable_session_status",
    feature = "unstable_session_set_title",
    feature = "unstable_session_archive"
))]
pub mod unstable;
