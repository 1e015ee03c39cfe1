//! JSON-RPC over pipes.

use super::{BENCH, Suite, USUAL_LIMIT};
use crate::bench::targets::{Better, Row, Target, against, below, row};

static UPDATES: Row = row("updates", "per_second", "updates/s", Better::Higher);
static ROUNDTRIP: Row = row("roundtrip", "p50_us", "p50 µs", Better::Lower);
static ROUNDTRIP_TAIL: Row = row("roundtrip", "p99_us", "p99 µs", Better::Lower);
static INFLIGHT: Row = row("inflight", "per_second", "requests/s", Better::Higher);
static LARGE: Row = row("large", "best_ms", "ms, best of 5", Better::Lower);
static SLOW_READER: Row = row(
    "slow_reader",
    "growth_mib",
    "MiB grown",
    Better::LowerCapped,
);

static TARGETS: [Target; 10] = [
    against(&UPDATES, "sdk-documented", 25.0),
    against(&UPDATES, "sdk-fastest", 6.0),
    against(&UPDATES, "floor", 0.7),
    against(&ROUNDTRIP, "sdk-documented", 8.0),
    against(&ROUNDTRIP, "sdk-fastest", 8.0),
    against(&INFLIGHT, "sdk-documented", 25.0),
    against(&INFLIGHT, "sdk-fastest", 8.0),
    against(&LARGE, "sdk-documented", 2.0),
    against(&LARGE, "sdk-fastest", 2.0),
    below(&SLOW_READER, 8.0),
];

pub(in crate::bench) static RPC: Suite = Suite {
    program: BENCH,
    command: "run",
    limit: USUAL_LIMIT,
    works: &["updates", "roundtrip", "inflight", "large", "slow_reader"],
    once: &[],
    peers: &["floor", "sdk-documented", "sdk-fastest", "ply"],
    heads: &[],
    ours: &["ply"],
    against: &["sdk-documented", "sdk-fastest", "floor"],
    only: &[],
    rows: &[
        &UPDATES,
        &ROUNDTRIP,
        &ROUNDTRIP_TAIL,
        &INFLIGHT,
        &LARGE,
        &SLOW_READER,
    ],
    targets: &TARGETS,
    counted: &["updates", "roundtrip"],
};
