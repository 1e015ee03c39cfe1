//! One import path is enough: what a signature of the SDKs mentions can be named through `ply`.

use ply::{agent, client};

/// Compiles if the type can be named and used as a value.
fn is_named<T: ?Sized>() {}

#[test]
fn what_agents_meet_is_named_through_ply_agent() {
    is_named::<agent::Accepts>();
    is_named::<agent::CallError>();
    is_named::<agent::Client>();
    is_named::<agent::Closed>();
    is_named::<agent::Extension>();
    is_named::<agent::MaybeUndefined<String>>();
    is_named::<agent::RpcError>();
    is_named::<agent::Value>();
    is_named::<agent::Version>();
    is_named::<agent::event::Event>();
    is_named::<agent::event::Question>();
    is_named::<agent::journal::Memory>();
    is_named::<agent::serde_json::value::RawValue>();
    is_named::<agent::transcript::Transcript>();
    is_named::<agent::v1::Meta>();
    is_named::<agent::v2::Meta>();
}

#[test]
fn what_clients_meet_is_named_through_ply_client() {
    is_named::<client::AnswerError>();
    is_named::<client::CallError>();
    is_named::<client::Closed>();
    is_named::<client::DecodeError>();
    is_named::<client::Garbage>();
    is_named::<client::Grace>();
    is_named::<client::Limits>();
    is_named::<client::MaybeUndefined<String>>();
    is_named::<client::Noise>();
    is_named::<client::Options>();
    is_named::<client::ProtocolVersion>();
    is_named::<client::RpcError>();
    is_named::<client::SpawnError>();
    is_named::<client::Supported>();
    is_named::<client::Value>();
    is_named::<client::Version>();
    is_named::<client::serde_json::value::RawValue>();
    is_named::<client::transcript::MessageKind>();
    is_named::<client::v1::TerminalId>();
    is_named::<client::v2::Meta>();
}
