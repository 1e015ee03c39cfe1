//! Whole SDKs: agent and client.

use super::{Suite, USUAL_LIMIT};
use crate::bench::targets::{Better, Row, Target, against, at_least, at_most_more, below, row};

const DOCUMENTED: &str = "sdk-documented";
const FASTEST: &str = "sdk-fastest";

static UPDATES: Row = row("updates", "per_second", "updates/s", Better::Higher);
static ROUNDTRIP: Row = row("roundtrip", "p50_us", "p50 µs", Better::Lower);
static OPTION: Row = row("option", "p50_us", "p50 µs", Better::Lower);
static INFLIGHT: Row = row("inflight", "per_second", "requests/s", Better::Higher);
static PERMISSION: Row = row("permission", "per_second", "asks/s", Better::Higher);
static SESSIONS_10: Row = row("sessions10", "per_second", "updates/s", Better::Higher);
static SESSIONS_1000: Row = row("sessions1000", "per_second", "updates/s", Better::Higher);
static OPENING: Row = row("sessions1000", "opening_ms", "ms to open", Better::Lower);
static FAIR_ALONE: Row = row(
    "fair",
    "alone_per_second",
    "updates/s, 98 sessions",
    Better::Higher,
);
static FAIR: Row = row(
    "fair",
    "per_second",
    "updates/s, beside an unread and a slow one",
    Better::Higher,
);
static FAIR_KEPT: Row = row("fair", "kept", "of the rate alone", Better::Higher);
static START: Row = row("start", "p50_ms", "p50 ms", Better::Lower);
static PROMPT: Row = row("large", "prompt_ms", "ms, prompt", Better::Lower);
static UPDATE: Row = row("large", "update_ms", "ms, update", Better::Lower);
static GROWTH: Row = row(
    "slow_reader",
    "growth_mib",
    "MiB grown",
    Better::LowerCapped,
);
static COMPLETED: Row = row(
    "slow_reader",
    "completed",
    "turn completed",
    Better::HigherCapped,
);
static PING: Row = row("interrupt", "ping_p50_ms", "p50 ms, request", Better::Lower);
static PING_WORST: Row = row(
    "interrupt",
    "ping_worst_ms",
    "worst ms, request",
    Better::Lower,
);
static CANCEL: Row = row(
    "interrupt",
    "cancel_p50_ms",
    "p50 ms, cancel",
    Better::Lower,
);
static CANCEL_WORST: Row = row(
    "interrupt",
    "cancel_worst_ms",
    "worst ms, cancel",
    Better::Lower,
);

static TARGETS: [Target; 21] = [
    against(&UPDATES, DOCUMENTED, 20.0),
    against(&UPDATES, FASTEST, 5.0),
    against(&UPDATES, "floor", 0.6),
    against(&ROUNDTRIP, DOCUMENTED, 7.0),
    against(&ROUNDTRIP, FASTEST, 7.0),
    against(&INFLIGHT, DOCUMENTED, 20.0),
    against(&INFLIGHT, FASTEST, 6.0),
    against(&PERMISSION, DOCUMENTED, 10.0),
    against(&PERMISSION, FASTEST, 10.0),
    against(&SESSIONS_1000, DOCUMENTED, 30.0),
    at_least(&FAIR_KEPT, 0.9),
    at_most_more(&START, DOCUMENTED, 1.0),
    at_most_more(&START, FASTEST, 1.0),
    against(&PROMPT, DOCUMENTED, 2.0),
    against(&PROMPT, FASTEST, 2.0),
    against(&UPDATE, DOCUMENTED, 2.0),
    against(&UPDATE, FASTEST, 2.0),
    below(&GROWTH, 8.0),
    at_least(&COMPLETED, 1.0),
    below(&PING_WORST, 5.0),
    below(&CANCEL_WORST, 5.0),
];

/// What every SDK does. One session that is not read is ours to compare with ours.
const OTHERS: &[&str] = &[
    "updates",
    "roundtrip",
    "option",
    "inflight",
    "permission",
    "sessions10",
    "sessions1000",
    "start",
    "large",
    "slow_reader",
    "interrupt",
];

pub(in crate::bench) static SDK: Suite = Suite {
    command: "sdk",
    limit: USUAL_LIMIT,
    works: &[
        "updates",
        "roundtrip",
        "option",
        "inflight",
        "permission",
        "sessions10",
        "sessions1000",
        "fair",
        "start",
        "large",
        "slow_reader",
        "interrupt",
    ],
    peers: &["floor", DOCUMENTED, FASTEST, "ply-documented", "ply"],
    ours: &["ply", "ply-documented"],
    against: &[
        (DOCUMENTED, "ply:documented"),
        (FASTEST, "ply:fastest"),
        ("floor", "ply:floor"),
    ],
    only: &[
        ("floor", &["updates", "roundtrip", "inflight"]),
        (DOCUMENTED, OTHERS),
        (FASTEST, OTHERS),
    ],
    rows: &[
        &UPDATES,
        &ROUNDTRIP,
        &OPTION,
        &INFLIGHT,
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
        &GROWTH,
        &COMPLETED,
        &PING,
        &PING_WORST,
        &CANCEL,
        &CANCEL_WORST,
    ],
    targets: &TARGETS,
    counted: &["updates", "roundtrip", "permission"],
};

/// The works that a letter stands for on the command line.
pub(in crate::bench) fn letters(letter: &str) -> &'static [&'static str] {
    match letter {
        "a" => &["updates"],
        "b" => &["roundtrip", "option", "inflight"],
        "c" => &["permission"],
        "d" => &["sessions10", "sessions1000", "fair"],
        "e" => &["start"],
        "f" => &["large"],
        "g" => &["slow_reader"],
        "h" => &["interrupt"],
        _ => &[],
    }
}
