//! The rows of the table.

use crate::bench::targets::{Better, Row, row};

pub(super) static UPDATES: Row =
    row("updates", "per_second", "per second", Better::Higher).titled("a turn of 200,000 updates");
pub(super) static ROUNDTRIP: Row = row("roundtrip", "p50_us", "p50 µs", Better::Lower)
    .titled("`session/list` one after the other, one core");
pub(super) static OPTION: Row = row("option", "p50_us", "p50 µs", Better::Lower)
    .titled("`session/set_config_option` one after the other, one core");
pub(super) static INFLIGHT: Row = row("inflight", "per_second", "per second", Better::Higher)
    .titled("`session/list`, 64 in flight");
pub(super) static SET_MODE: Row = row("set_mode", "p50_us", "p50 µs", Better::Lower)
    .titled("the client sets a mode, one after the other, one core");
pub(super) static SET_MODE_RAW: Row = row("set_mode_raw", "p50_us", "p50 µs", Better::Lower)
    .titled("`session/set_mode` itself, one after the other, one core")
    .compared_with("set_mode");
pub(super) static SET_MODE_64: Row = row("set_mode64", "per_second", "per second", Better::Higher)
    .titled("the client sets a mode, 64 in flight");
pub(super) static SET_MODE_RAW_64: Row =
    row("set_mode_raw64", "per_second", "per second", Better::Higher)
        .titled("`session/set_mode` itself, 64 in flight")
        .compared_with("set_mode64");
pub(super) static PERMISSION: Row = row("permission", "per_second", "per second", Better::Higher)
    .titled("permission requests, one core");
pub(super) static SESSIONS_10: Row = row("sessions10", "per_second", "per second", Better::Higher)
    .titled("10 sessions × 20,000 updates");
pub(super) static SESSIONS_1000: Row =
    row("sessions1000", "per_second", "per second", Better::Higher)
        .titled("1,000 sessions × 200 updates");
pub(super) static OPENING: Row =
    row("sessions1000", "opening_ms", "ms", Better::Lower).titled("1,000 sessions opened");
pub(super) static FAIR_ALONE: Row =
    row("fair", "alone_per_second", "per second", Better::Higher).titled("updates of 98 sessions");
pub(super) static FAIR: Row = row("fair", "per_second", "per second", Better::Higher)
    .titled("the same beside an unread and a slow session");
pub(super) static FAIR_KEPT: Row =
    row("fair", "kept", "of the rate alone", Better::Higher).titled("the same");
pub(super) static START: Row = row("start", "p50_ms", "p50 ms", Better::Lower)
    .titled("from exec to the answer to `initialize`");
pub(super) static PROMPT: Row =
    row("large", "prompt_ms", "ms", Better::Lower).titled("a prompt of 16 MiB");
pub(super) static UPDATE: Row =
    row("large", "update_ms", "ms", Better::Lower).titled("an update of 16 MiB");
pub(super) static AGENT_PROMPT: Row =
    row("allocated", "agent_prompt", "times its size", Better::Lower)
        .titled("the agent allocates for a prompt of 16 MiB");
pub(super) static AGENT_UPDATE: Row =
    row("allocated", "agent_update", "times its size", Better::Lower)
        .titled("the agent allocates for an update of 16 MiB");
pub(super) static CLIENT_PROMPT: Row = row(
    "allocated",
    "client_prompt",
    "times its size",
    Better::Lower,
)
.titled("the client allocates for a prompt of 16 MiB");
pub(super) static CLIENT_UPDATE: Row = row(
    "allocated",
    "client_update",
    "times its size",
    Better::Lower,
)
.titled("the client allocates for an update of 16 MiB");
pub(super) static GROWTH: Row = row("slow_reader", "growth_mib", "MiB", Better::LowerCapped)
    .titled("the agent's memory grown while nobody reads");
pub(super) static COMPLETED: Row = row(
    "slow_reader",
    "completed",
    "1 if it does",
    Better::HigherCapped,
)
.titled("that turn completes once somebody reads");
pub(super) static IDLE: Row = row("idle", "resident_mib", "MiB resident", Better::Lower)
    .titled("an agent with 10,000 idle sessions on disk");
pub(super) static IDLE_EACH: Row = row("idle", "session_kib", "KiB for each", Better::Lower)
    .titled("the same without what it had before them");
pub(super) static PING: Row = row("interrupt", "ping_p50_ms", "p50 ms", Better::Lower)
    .titled("a request in a turn at full speed");
pub(super) static PING_WORST: Row = row("interrupt", "ping_worst_ms", "worst ms", Better::Lower)
    .titled("a request in a turn at full speed");
pub(super) static CANCEL: Row = row("interrupt", "cancel_p50_ms", "p50 ms", Better::Lower)
    .titled("a cancel in a turn at full speed");
pub(super) static CANCEL_WORST: Row =
    row("interrupt", "cancel_worst_ms", "worst ms", Better::Lower)
        .titled("a cancel in a turn at full speed");

/// The table, top down.
pub(super) static ALL: &[&Row] = &[
    &UPDATES,
    &ROUNDTRIP,
    &OPTION,
    &INFLIGHT,
    &SET_MODE,
    &SET_MODE_RAW,
    &SET_MODE_64,
    &SET_MODE_RAW_64,
    &PERMISSION,
    &SESSIONS_10,
    &SESSIONS_1000,
    &OPENING,
    &FAIR_ALONE,
    &FAIR,
    &FAIR_KEPT,
    &START,
    &PROMPT,
    &UPDATE,
    &AGENT_PROMPT,
    &CLIENT_PROMPT,
    &AGENT_UPDATE,
    &CLIENT_UPDATE,
    &GROWTH,
    &COMPLETED,
    &IDLE,
    &IDLE_EACH,
    &PING,
    &PING_WORST,
    &CANCEL,
    &CANCEL_WORST,
];
