//! Several clients of one session. A peer is the version of the clients and what the agent sends them.

use std::time::Duration;

use super::{BENCH, Suite};
use crate::bench::targets::{Better, Row, Target, at_least, below, row};

const SLOW: &str = "slow";
const MANY: &str = "many";

static ALONE: Row = row(SLOW, "alone_per_second", "updates/s, alone", Better::Higher);
static BESIDE: Row = row(
    SLOW,
    "beside_per_second",
    "updates/s, beside a slow client",
    Better::Higher,
);
static KEPT: Row = row(SLOW, "kept", "of the rate alone", Better::Higher);
static LONG_ALONE: Row = row(
    SLOW,
    "long_alone_per_second",
    "updates/s, a minute alone",
    Better::Higher,
);
static LONG_BESIDE: Row = row(
    SLOW,
    "long_beside_per_second",
    "updates/s, a minute beside one",
    Better::Higher,
);
static LONG_KEPT: Row = row(
    SLOW,
    "long_kept",
    "of the minute's rate alone",
    Better::Higher,
);
static CPU_ALONE: Row = row(SLOW, "alone_cpu_us", "CPU µs/update, alone", Better::Lower);
static CPU_BESIDE: Row = row(
    SLOW,
    "beside_cpu_us",
    "CPU µs/update, beside one",
    Better::Lower,
);
static SECONDS: Row = row(SLOW, "seconds", "s, the minute", Better::Lower);
static TEXT: Row = row(SLOW, "text_mib", "MiB of text in it", Better::HigherCapped);
static SLOW_BYTES: Row = row(
    SLOW,
    "slow_bytes",
    "bytes the slow client read in it",
    Better::LowerCapped,
);
static CAUGHT_UP: Row = row(
    SLOW,
    "caught_up_s",
    "s until it had the rest",
    Better::Lower,
);
static START: Row = row(SLOW, "start_mib", "MiB resident, start", Better::Lower);
static PEAK: Row = row(SLOW, "peak_mib", "MiB resident, most", Better::Lower);
static END: Row = row(SLOW, "end_mib", "MiB resident, end", Better::Lower);
static PEAK_ALONE: Row = row(
    SLOW,
    "alone_peak_mib",
    "MiB resident, most, alone",
    Better::Lower,
);
static GROWTH: Row = row(
    SLOW,
    "growth_mib",
    "MiB grown in the second half of the turn",
    Better::Lower,
);
static MORE: Row = row(
    SLOW,
    "more_than_alone_mib",
    "MiB more than alone",
    Better::Lower,
);
static SAME: Row = row(
    SLOW,
    "same_transcript",
    "same transcript",
    Better::HigherCapped,
);

static ONE_RATE: Row = row(
    MANY,
    "one_per_second",
    "updates/s, 1 client",
    Better::Higher,
);
static ALL_RATE: Row = row(MANY, "per_second", "updates/s, 64 clients", Better::Higher);
static ONE_CPU: Row = row(MANY, "one_cpu_s", "CPU s, 1 client", Better::Lower);
static ALL_CPU: Row = row(MANY, "cpu_s", "CPU s, 64 clients", Better::Lower);
static ONE_EACH: Row = row(
    MANY,
    "one_cpu_us_each",
    "CPU µs/update, 1 client",
    Better::Lower,
);
static ALL_EACH: Row = row(
    MANY,
    "cpu_us_each",
    "CPU µs/update, 64 clients",
    Better::Lower,
);
static ONE_PEAK: Row = row(
    MANY,
    "one_peak_mib",
    "MiB resident, 1 client",
    Better::Lower,
);
static ALL_START: Row = row(
    MANY,
    "start_mib",
    "MiB resident, 64 clients, start",
    Better::Lower,
);
static ALL_PEAK: Row = row(MANY, "peak_mib", "MiB resident, 64 clients", Better::Lower);
static ALL_END: Row = row(
    MANY,
    "end_mib",
    "MiB resident, 64 clients, end",
    Better::Lower,
);
static CLIENT: Row = row(MANY, "client_mib", "MiB for each client", Better::Lower);
static ALL_SAME: Row = row(
    MANY,
    "same_transcript",
    "same transcript",
    Better::HigherCapped,
);

// How much many clients cost is shown and not judged: nobody else serves several.
static TARGETS: [Target; 4] = [
    at_least(&KEPT, 0.9),
    at_least(&LONG_KEPT, 0.9),
    below(&GROWTH, 4.0),
    below(&MORE, 8.0),
];

const ALL: &[&str] = &[
    "v1",
    "v2",
    "v1-message",
    "v2-message",
    "v1-progress",
    "v2-progress",
];

pub(in crate::bench) static CLIENTS: Suite = Suite {
    program: BENCH,
    command: "clients",
    // Seven short turns and two of a minute.
    limit: Duration::from_secs(400),
    works: &[SLOW, MANY],
    once: &[],
    peers: ALL,
    heads: &[],
    ours: ALL,
    against: &[],
    only: &[
        ("v1-message", &[SLOW]),
        ("v2-message", &[SLOW]),
        ("v1-progress", &[SLOW]),
        ("v2-progress", &[SLOW]),
    ],
    rows: &[
        &ALONE,
        &BESIDE,
        &KEPT,
        &LONG_ALONE,
        &LONG_BESIDE,
        &LONG_KEPT,
        &CPU_ALONE,
        &CPU_BESIDE,
        &SECONDS,
        &TEXT,
        &SLOW_BYTES,
        &CAUGHT_UP,
        &START,
        &PEAK,
        &END,
        &PEAK_ALONE,
        &GROWTH,
        &MORE,
        &SAME,
        &ONE_RATE,
        &ALL_RATE,
        &ONE_CPU,
        &ALL_CPU,
        &ONE_EACH,
        &ALL_EACH,
        &ONE_PEAK,
        &ALL_START,
        &ALL_PEAK,
        &ALL_END,
        &CLIENT,
        &ALL_SAME,
    ],
    targets: &TARGETS,
    counted: &[],
};
