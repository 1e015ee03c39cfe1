//! The rules as data.

mod content;
mod handshake;
mod service;
mod sessions;
mod tool;
mod turn;
mod wire;

use ply_wire::negotiate::Version;

use crate::rule::{Rule, Side};

const TOPICS: [&[Rule]; 7] = [
    wire::RULES,
    handshake::RULES,
    sessions::RULES,
    turn::RULES,
    tool::RULES,
    content::RULES,
    service::RULES,
];

/// Requirements that version 2 has under an id of its own, and that a recording shows in the same way.
const IN_V2: &[(&str, &str)] = &[
    ("V1-SCHEMA-01", "V2-SCHEMA-01"),
    ("V1-RPC-01", "V2-RPC-01"),
    ("V1-RPC-02", "V2-RPC-01"),
    ("V1-RPC-03", "V2-RPC-01"),
    ("V1-RPC-04", "V2-RPC-01"),
    ("V1-RPC-05", "V2-RPC-01"),
    ("V1-RPC-06", "V2-RPC-02"),
    ("V1-RPC-18", "V2-BATCH-02"),
    ("V1-EXT-02", "V2-EXT-04"),
    ("V1-INIT-01", "V2-INIT-01"),
    ("V1-INIT-02", "V2-INIT-01"),
    ("V1-INIT-09", "V2-INIT-06"),
    ("V1-INIT-10", "V2-INIT-07"),
    ("V1-INIT-19", "V2-INIT-17"),
    ("V1-AUTH-07", "V2-AUTH-06"),
    ("V1-AUTH-08", "V2-AUTH-07"),
    ("V1-SESS-01", "V2-SESS-01"),
    ("V1-SESS-02", "V2-SESS-02"),
    ("V1-SESS-14", "V2-SESS-07"),
    ("V1-SESS-15", "V2-SESS-07"),
    ("V1-RESUME-03", "V2-RESUME-02"),
    ("V1-LIST-02", "V2-LIST-01"),
    ("V1-LIST-10", "V2-LIST-01"),
    ("V1-PROMPT-01", "V2-PROMPT-01"),
    ("V1-CONTENT-01", "V2-CONTENT-01"),
    ("V1-CONTENT-08", "V2-CONTENT-01"),
    ("V1-CONF-05", "V2-CONF-05"),
    ("V1-CONF-09", "V2-CONF-03"),
];

/// Returns every rule that can be judged from a recording.
pub fn rules() -> impl Iterator<Item = Rule> {
    TOPICS.iter().copied().flatten().copied()
}

/// Returns the rules that topics have for a side of a version, and those that recordings show besides. What a topic says of a rule
/// counts, so no id is there twice.
pub fn with_passive(
    own: impl Iterator<Item = Rule>,
    side: Side,
    version: Version,
) -> impl Iterator<Item = Rule> {
    let mut all: Vec<Rule> = own.filter(|rule| rule.holds_in(version)).collect();
    for rule in rules().filter(|rule| rule.side == side && rule.holds_in(version)) {
        if !all.iter().any(|other| other.id == rule.id) {
            all.push(rule);
        }
    }
    all.into_iter()
}

/// Returns the rule of a side with an id.
pub(super) fn rule(id: &str, side: Side) -> Option<Rule> {
    rules().find(|rule| rule.id == id && rule.side == side)
}

/// Returns the id that version 2 has for a requirement of version 1, if it has one of its own.
pub(super) fn in_v2(id: &str) -> Option<&'static str> {
    let pair = IN_V2.iter().find(|(v1, _)| *v1 == id);
    pair.map(|(_, v2)| *v2)
}
