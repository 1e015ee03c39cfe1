//! What the hub costs. A peer is what is between the client and the agent.

use super::{Program, Suite, USUAL_LIMIT};
use crate::bench::targets::{Better, Row, Target, against, at_most, at_most_more, row};

const ECHO: &str = "echo";
const UPDATES: &str = "updates";
const ATTACH: &str = "attach";
const FAN_OUT: &str = "fan-out";
const STORED: &str = "stored";

static P50: Row =
    row(ECHO, "p50_us", "µs", Better::Lower).titled("a request and its answer, median");
static P99: Row = row(ECHO, "p99_us", "µs", Better::Lower).titled("the same, 99th percentile");
static RECORDED: Row = row(ECHO, "recorded_p50_us", "µs", Better::Lower)
    .titled("the same after the first prompt, median");
static HOLDER_OWN: Row =
    row(ECHO, "holder_own_mib", "MiB", Better::Lower).titled("memory of the holder alone");
static HOLDER_RESIDENT: Row = row(ECHO, "holder_resident_mib", "MiB", Better::Lower)
    .titled("memory of the holder with shared pages");
static RATE: Row =
    row(UPDATES, "per_second", "per second", Better::Higher).titled("updates of a turn");
static ATTACHED: Row =
    row(ATTACH, "ms", "ms", Better::Lower).titled("loading a session of 100,000 updates");
static MESSAGES: Row =
    row(ATTACH, "messages", "count", Better::LowerCapped).titled("messages that shows");
static TIMES: Row = row(FAN_OUT, "times", "times as long", Better::Lower)
    .titled("a turn that 16 clients read instead of one");
static CPU_TIMES: Row = row(
    FAN_OUT,
    "cpu_times",
    "times the hub's processor time",
    Better::Lower,
)
.titled("the same");
static ALL: Row = row(STORED, "all_ms", "ms", Better::Lower).titled("all pages of it");
static PAGE: Row = row(STORED, "page_ms", "ms", Better::Lower)
    .titled("a page of the list of 10,000 stored sessions");

pub(in crate::bench) static HUB: Suite = Suite {
    program: Program("hub-tests", "hub-bench"),
    command: "hub",
    limit: USUAL_LIMIT,
    works: &[ECHO, UPDATES, ATTACH, FAN_OUT, STORED],
    once: &[STORED],
    peers: &["direct", "hub", "whole"],
    heads: &[
        ("direct", "no hub"),
        ("hub", "the hub alone"),
        ("whole", "`ply attach`, hub and holder"),
    ],
    ours: &["hub", "whole"],
    against: &["direct"],
    only: &[
        ("direct", &[ECHO, UPDATES]),
        ("hub", &[ECHO, ATTACH, FAN_OUT, STORED]),
        ("whole", &[ECHO, UPDATES, ATTACH]),
    ],
    rows: &[
        &P50,
        &P99,
        &RECORDED,
        &HOLDER_OWN,
        &HOLDER_RESIDENT,
        &RATE,
        &ATTACHED,
        &MESSAGES,
        &TIMES,
        &CPU_TIMES,
        &PAGE,
        &ALL,
    ],
    targets: &TARGETS,
    counted: &[],
};

static TARGETS: [Target; 7] = [
    at_most_more(&P50, "direct", 30.0).of("hub"),
    at_most_more(&P50, "direct", 100.0).of("whole"),
    against(&RATE, "direct", 0.35).of("whole"),
    at_most(&HOLDER_OWN, 3.0),
    at_most(&ATTACHED, 200.0),
    at_most(&CPU_TIMES, 2.0),
    at_most(&PAGE, 10.0),
];
