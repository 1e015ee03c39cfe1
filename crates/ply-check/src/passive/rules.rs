//! Which rules a recording can show, and under which id.

use ply_wire::negotiate::Version;

use crate::rule::{self, Rule, Side, id};

/// Requirements that version 2 has under an id of its own, and that a recording shows in the same way.
const IN_V2: &[(&str, &str)] = &[
    (id::V1_SCHEMA_01, id::V2_SCHEMA_01),
    (id::V1_RPC_01, id::V2_RPC_01),
    (id::V1_RPC_02, id::V2_RPC_01),
    (id::V1_RPC_03, id::V2_RPC_01),
    (id::V1_RPC_04, id::V2_RPC_01),
    (id::V1_RPC_05, id::V2_RPC_01),
    (id::V1_RPC_12, id::V2_RPC_01),
    (id::V1_RPC_13, id::V2_RPC_01),
    (id::V1_STDIO_02, id::V2_RPC_01),
    (id::V1_STDIO_03, id::V2_RPC_01),
    (id::V1_STDIO_04, id::V2_RPC_01),
    (id::V1_RPC_06, id::V2_RPC_02),
    (id::V1_RPC_18, id::V2_BATCH_02),
    (id::V1_EXT_01, id::V2_EXT_04),
    (id::V1_EXT_02, id::V2_EXT_04),
    (id::V1_CANCEL_01, id::V2_CANCEL_01),
    (id::V1_LIST_04, id::V2_LIST_02),
    (id::V1_ELIC_01, id::V2_ELIC_01),
    (id::V1_ELIC_03, id::V2_ELIC_01),
    (id::V1_ELIC_04, id::V2_ELIC_01),
    (id::V1_ELIC_12, id::V2_ELIC_01),
    (id::V1_ELIC_13, id::V2_ELIC_01),
    (id::V1_ELIC_16, id::V2_ELIC_01),
    (id::V1_ELIC_19, id::V2_ELIC_01),
    (id::V1_ELIC_20, id::V2_ELIC_01),
    (id::V1_INIT_01, id::V2_INIT_01),
    (id::V1_INIT_02, id::V2_INIT_01),
    (id::V1_INIT_09, id::V2_INIT_06),
    (id::V1_INIT_10, id::V2_INIT_07),
    (id::V1_INIT_19, id::V2_INIT_17),
    (id::V1_AUTH_07, id::V2_AUTH_06),
    (id::V1_AUTH_08, id::V2_AUTH_07),
    (id::V1_SESS_01, id::V2_SESS_01),
    (id::V1_SESS_02, id::V2_SESS_02),
    (id::V1_SESS_14, id::V2_SESS_07),
    (id::V1_SESS_15, id::V2_SESS_07),
    (id::V1_RESUME_03, id::V2_RESUME_02),
    (id::V1_LIST_02, id::V2_LIST_01),
    (id::V1_LIST_10, id::V2_LIST_01),
    (id::V1_PROMPT_01, id::V2_PROMPT_01),
    (id::V1_CONTENT_01, id::V2_CONTENT_01),
    (id::V1_CONTENT_08, id::V2_CONTENT_01),
    (id::V1_CONF_01, id::V2_CONF_01),
    (id::V1_CONF_05, id::V2_CONF_05),
    (id::V1_CONF_09, id::V2_CONF_03),
];

/// Returns every rule that can be judged from a recording.
pub fn rules() -> impl Iterator<Item = Rule> {
    rule::all().filter(|rule| rule.is_recorded)
}

/// Returns the rule of a side with an id, if recordings show it.
pub(super) fn rule(id: &str, side: Side) -> Option<&'static Rule> {
    rule::find(id, side).filter(|rule| rule.is_recorded)
}

/// Returns the id under which a version has a requirement for a side; none if it has none that recordings show.
pub(super) fn named(id: &str, side: Side, version: Version) -> Option<&'static str> {
    let own = IN_V2.iter().find(|(v1, _)| *v1 == id);
    let id = match own {
        Some((_, v2)) if version == Version::V2 => v2,
        _ => id,
    };
    let rule = rule(id, side)?;
    rule.holds_in(version).then_some(rule.id)
}
