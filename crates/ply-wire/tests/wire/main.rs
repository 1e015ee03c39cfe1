//! The tests of the crate, in one program: linking one is quicker than linking many.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod carried_by_value;
mod convert_elicitation;
mod convert_initialize;
mod convert_samples;
mod convert_session;
mod lift;
mod lift_turn;
mod methods;
mod negotiate;
mod patches;
mod project;
mod project_permission;
mod samples;
mod transcript;
mod typed_link;
