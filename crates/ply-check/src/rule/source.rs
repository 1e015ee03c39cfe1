//! Where a rule is written.

use serde::Serialize;

/// The pages of the protocol's documentation.
const SITE: &str = "https://agentclientprotocol.com";
/// The type documentation of the schema crate, which is newer than the pages.
const CRATE: &str =
    "https://docs.rs/agent-client-protocol-schema/1.15.1/agent_client_protocol_schema";
/// The official Rust SDK whose behaviour stands in where no text exists.
const SDK: &str = "https://docs.rs/agent-client-protocol/5.0.0/agent_client_protocol";

/// What kind of text a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Text {
    /// The protocol's documentation.
    Documentation,
    /// The JSON schema.
    Schema,
    /// The type documentation of the schema crate.
    Crate,
    /// A page marked as a draft.
    Draft,
    /// A proposal that was accepted.
    Proposal,
    /// The behaviour of the official SDK: no text says it.
    Sdk,
    /// Nothing: no text says what this side has to do.
    Silent,
}

/// Where a rule is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Source {
    /// What kind of text it is.
    pub text: Text,
    /// The page.
    pub link: String,
}

impl Source {
    /// Returns the source of a rule by its text, the version under which it is numbered, and the page.
    pub(super) fn new(text: Text, version: &str, page: &str) -> Self {
        let link = match text {
            Text::Documentation | Text::Silent => format!("{SITE}/protocol/{version}/{page}"),
            Text::Draft => format!("{SITE}/protocol/{version}/draft/{page}"),
            Text::Schema => format!("{SITE}/protocol/{version}/schema"),
            Text::Crate => format!("{CRATE}/{version}/index.html"),
            Text::Proposal => format!("{SITE}/rfds"),
            Text::Sdk => SDK.to_owned(),
        };
        Self { text, link }
    }

    /// Returns the kind of text in words.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self.text {
            Text::Documentation => "protocol documentation",
            Text::Schema => "JSON schema",
            Text::Crate => "schema crate 1.15.1",
            Text::Draft => "draft page",
            Text::Proposal => "proposal",
            Text::Sdk => "behaviour of the official Rust SDK 5.0.0, not in any text",
            Text::Silent => "no text says what this side has to do; the closest page is",
        }
    }
}
