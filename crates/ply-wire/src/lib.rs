//! ACP on a JSON-RPC peer: the official schema types, typed method tables, version negotiation,
//! and the translation between protocol versions 1 and 2.
//!
//! Everything is plain data and pure functions: no IO, no clock, no runtime. The feature `link` adds
//! the module `link`, typed calls on a `ply-rpc` peer, which does need a runtime.

pub use agent_client_protocol_schema::{MaybeUndefined, ProtocolVersion, v1, v2};

pub mod attachment;
pub mod convert;
pub mod direct;
pub mod encode;
pub mod handshake;
pub mod lift;
#[cfg(feature = "link")]
pub mod link;
pub mod method;
pub mod negotiate;
pub mod project;
pub mod transcript;
