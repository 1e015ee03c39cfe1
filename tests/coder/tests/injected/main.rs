//! Documents that strangers wrote, and a model that does whatever they say: nothing gets out, nothing
//! guarded changes, and nothing is allowed that the user did not allow.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod case;
mod checks;
mod documents;
mod rules;
mod secrets;
mod snapshot;
mod stage;
