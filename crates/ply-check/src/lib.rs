//! The conformance checker: rules as data, a scripted peer for either side, verdicts with evidence.
//!
//! [`agent::check`] starts an agent and plays its client; [`client`] plays an agent for a client to start. Both send what the
//! rules allow and what they do not, and judge what comes back. A rule is a [`Rule`], what was found about it a [`Verdict`].

pub mod agent;
pub mod client;
pub mod findings;
pub mod model;
pub mod passive;
pub mod peer;
pub mod recording;
pub mod report;
pub mod rule;
mod schema;
pub mod selection;
mod topic;
pub mod trace;
pub mod verdict;

pub use findings::{Findings, Found};
pub use recording::{Frame, Recording};
pub use report::Report;
pub use rule::{Level, Rule, Side};
pub use selection::Selection;
pub use verdict::{Evidence, Outcome, Verdict};
