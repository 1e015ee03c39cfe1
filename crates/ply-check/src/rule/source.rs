//! Where each rule is written.

use serde::Serialize;

use super::{Rule, Side};

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

/// Topics with their page, and a letter for each of their rules in the order of their numbers: `D` documentation, `J` JSON schema,
/// `N` schema crate, `P` draft page, `R` proposal, `S` SDK, `-` no text.
const TOPICS: &[(&str, &str, &str)] = &[
    ("V1-RPC", "overview", "DDDDJJJDD-JDDDDDN-"),
    ("V1-STDIO", "transports", "DDDDDDDDD"),
    ("V1-INIT", "initialization", "DDDDDDDDDDDDDDDDDJSSSDD"),
    ("V1-AUTH", "authentication", "DDDDDDDDDDDDDDJ"),
    ("V1-SESS", "session-setup", "DDDDDDDDDD--DDDDD-"),
    (
        "V1-LOAD",
        "session-setup#loading-sessions",
        "DDDDDDDDDDDDRJ",
    ),
    ("V1-RESUME", "session-setup#resuming-sessions", "DDDD"),
    ("V1-CLOSE", "session-setup#closing-active-sessions", "DDDD"),
    ("V1-LIST", "session-list", "DDDDDDDDDD"),
    ("V1-DEL", "session-delete", "DDDD"),
    ("V1-INFO", "session-list", "DDD"),
    ("V1-PROMPT", "prompt-turn", "DDDDDDDDDD-DDDD-D-"),
    ("V1-STOP", "prompt-turn#stop-reasons", "DDDDDDD"),
    ("V1-CANCEL", "prompt-turn#cancellation", "DDDDDDDDDD--D-"),
    ("V1-CREQ", "cancellation", "DDDDDDDND"),
    ("V1-TOOL", "tool-calls", "DDDDDDDJDDDDDDD-JJNDD"),
    (
        "V1-PERM",
        "tool-calls#requesting-permission",
        "DDDDDDDDDDD-",
    ),
    ("V1-PLAN", "agent-plan", "DDDDDDP"),
    ("V1-CONTENT", "content", "DDDDDDDDDD--"),
    ("V1-MSGID", "prompt-turn", "DD-"),
    ("V1-FS", "file-system", "DDDDDDDDJ-PN"),
    ("V1-TERM", "terminals", "DDDDDDDDDDDDJD-"),
    ("V1-MODE", "session-modes", "DDDJDDDD"),
    ("V1-CONF", "session-config-options", "DDDDDDDDDDDDDD"),
    ("V1-CMD", "slash-commands", "DDDDD"),
    ("V1-USAGE", "prompt-turn", "DDD"),
    ("V1-NOTICE", "schema", "NN"),
    ("V1-COMPACT", "schema", "NN"),
    ("V1-ELIC", "elicitation", "DDDDDDDDDDDDDDDDDDDDDDDDDDNN"),
    ("V1-MCP", "session-setup#mcp-servers", "DDDDDN"),
    ("V1-EXT", "extensibility", "DDDDDD-"),
    ("V1-ERR", "overview#error-handling", "DJJ"),
    ("V1-SCHEMA", "schema", "J"),
    ("V2-SCHEMA", "schema", "N"),
    ("V2-RPC", "overview", "DNNNJD"),
    ("V2-BATCH", "transports#json-rpc-batch-messages", "NNDDD"),
    ("V2-INIT", "initialization", "DDDNNDDDDDDDDDNSSSDJD"),
    ("V2-AUTH", "authentication", "DDDDDDDDDDDD"),
    ("V2-SESS", "session-setup", "DNDNNNDDNND"),
    (
        "V2-RESUME",
        "session-setup#resuming-sessions",
        "DDDDNDDDNNNDDD-D",
    ),
    (
        "V2-CLOSE",
        "session-setup#closing-active-sessions",
        "DNNNNNS",
    ),
    ("V2-LIST", "session-list", "DNND"),
    ("V2-DEL", "session-delete", "D"),
    ("V2-INFO", "session-list", "D"),
    ("V2-PROMPT", "prompt-lifecycle", "DDNNDND-DNDDNDDNDDDDND"),
    (
        "V2-STATE",
        "prompt-lifecycle#session-states",
        "DDNDNNDNNNNNN-D",
    ),
    ("V2-BG", "prompt-lifecycle", "NNNNN"),
    ("V2-STOP", "prompt-lifecycle#stop-reasons", "DNNDD"),
    (
        "V2-CANCEL",
        "prompt-lifecycle#cancellation",
        "DDDNDDDDDNNNNS",
    ),
    ("V2-CREQ", "cancellation", "NNNNND"),
    ("V2-ECANCEL", "cancellation", "NNNNNN"),
    ("V2-MSG", "prompt-lifecycle#message-ids", "DDDDNDNDD"),
    ("V2-TOOL", "tool-calls", "DDDNDDNDDDDNN"),
    ("V2-TERM", "tool-calls", "DDDDDDDDDDDR"),
    ("V2-DIFF", "tool-calls", "DDNDDD"),
    (
        "V2-PERM",
        "tool-calls#requesting-permission",
        "DDNDDDDNDDDD",
    ),
    ("V2-PLAN", "agent-plan", "DDDDNP"),
    ("V2-CONTENT", "content", "DDDN"),
    ("V2-CONF", "session-config-options", "DDDNNDD"),
    ("V2-CMD", "slash-commands", "NDND"),
    ("V2-USAGE", "schema", "N"),
    ("V2-NOTICE", "schema", "N"),
    ("V2-COMPACT", "schema", "N"),
    ("V2-ELIC", "elicitation", "DNNN"),
    ("V2-MCP", "session-setup#mcp-servers", "DDNDN"),
    ("V2-EXT", "extensibility", "DDDDD"),
    ("V2-ERR", "error", "NN"),
];

/// Rules whose text tells one side what to send, and not the other what to do about anything else.
const BINDS_THE_SENDER: &[(&str, Side)] = &[
    ("V1-AUTH-02", Side::Agent),
    ("V1-CONF-10", Side::Agent),
    ("V1-MODE-02", Side::Agent),
    ("V1-SESS-02", Side::Agent),
    ("V1-SESS-15", Side::Agent),
];

/// Returns where a rule is written; none if its topic or its number is not in the table.
pub(super) fn of(rule: &Rule) -> Option<Source> {
    let (topic, number) = rule.id.rsplit_once('-')?;
    let (_, page, letters) = TOPICS.iter().find(|(known, ..)| *known == topic)?;
    let place = number.parse::<usize>().ok()?.checked_sub(1)?;
    let version = if topic.starts_with("V2") { "v2" } else { "v1" };
    let is_silent = BINDS_THE_SENDER.contains(&(rule.id, rule.side));
    let letter = if is_silent {
        b'-'
    } else {
        *letters.as_bytes().get(place)?
    };
    let (text, link) = match letter {
        b'D' => (
            Text::Documentation,
            format!("{SITE}/protocol/{version}/{page}"),
        ),
        b'J' => (Text::Schema, format!("{SITE}/protocol/{version}/schema")),
        b'N' => (Text::Crate, format!("{CRATE}/{version}/index.html")),
        b'P' => (
            Text::Draft,
            format!("{SITE}/protocol/{version}/draft/{page}"),
        ),
        b'R' => (Text::Proposal, format!("{SITE}/rfds")),
        b'S' => (Text::Sdk, SDK.to_owned()),
        _ => (Text::Silent, format!("{SITE}/protocol/{version}/{page}")),
    };
    Some(Source { text, link })
}
