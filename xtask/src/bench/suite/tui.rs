//! The terminal client.

use super::{BENCH, Suite, USUAL_LIMIT};
use crate::bench::targets::{Better, Row, Target, at_most, below, row};

const FRAME: &str = "frame";
const OPEN: &str = "open";
const KEYS: &str = "keys";

static FOLD: Row = row(
    FRAME,
    "fold_ms",
    "ms, fold of 100,000 updates",
    Better::Lower,
);
static FIRST: Row = row(
    FRAME,
    "first_frame_ms",
    "ms, first frame after it",
    Better::Lower,
);
static NEXT: Row = row(
    FRAME,
    "next_frame_ms",
    "ms, frame without change",
    Better::Lower,
);
static OPENED: Row = row(OPEN, "opened_ms", "ms, start to last update", Better::Lower);
static OPENED_SIZE: Row = row(OPEN, "resident_mib", "MiB resident after it", Better::Lower);
static P50: Row = row(KEYS, "key_p50_ms", "p50 ms, key to screen", Better::Lower);
static P95: Row = row(KEYS, "key_p95_ms", "p95 ms, key to screen", Better::Lower);
static MAX: Row = row(KEYS, "key_max_ms", "max ms, key to screen", Better::Lower);
static TALKED_SIZE: Row = row(KEYS, "resident_mib", "MiB resident after it", Better::Lower);

static TARGETS: [Target; 3] = [
    below(&FIRST, 200.0),
    at_most(&OPENED, 200.0),
    below(&P95, 50.0),
];

pub(in crate::bench) static TUI: Suite = Suite {
    program: BENCH,
    command: "tui",
    limit: USUAL_LIMIT,
    works: &[FRAME, OPEN, KEYS],
    once: &[],
    peers: &["ply"],
    heads: &[],
    ours: &["ply"],
    against: &[],
    only: &[],
    rows: &[
        &FOLD,
        &FIRST,
        &NEXT,
        &OPENED,
        &OPENED_SIZE,
        &P50,
        &P95,
        &MAX,
        &TALKED_SIZE,
    ],
    targets: &TARGETS,
    counted: &[],
};
