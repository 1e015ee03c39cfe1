//! Sessions on disk.

use super::{BENCH, Suite, USUAL_LIMIT};
use crate::bench::targets::{Better, Row, Target, against, below, row};

const DOCUMENTED: &str = "sdk-documented";
const FASTEST: &str = "sdk-fastest";

static APPEND: Row = row("append", "per_second", "events/s", Better::Higher);
static UPDATES: Row = row("updates", "per_second", "updates/s", Better::Higher);
static REPLAY: Row = row("replay", "per_second", "updates/s", Better::Higher);
static FIRST: Row = row("replay", "first_ms", "ms to the first", Better::Lower);
static LAST: Row = row("replay", "last_ms", "ms to the last", Better::Lower);
static GROWTH: Row = row("replay", "growth_mib", "MiB grown", Better::Lower);
static WORST: Row = row("replay_worst", "per_second", "updates/s", Better::Higher);
static WORST_LAST: Row = row("replay_worst", "last_ms", "ms to the last", Better::Lower);
static WORST_GROWTH: Row = row("replay_worst", "growth_mib", "MiB grown", Better::Lower);
static LIST: Row = row("list", "empty_ms", "ms, no history", Better::Lower);
static LIST_LONG: Row = row("list", "long_ms", "ms, 200 MB of it", Better::Lower);

// Updates of which no two can be joined are no session that anybody has; they are shown, not judged.
static TARGETS: [Target; 7] = [
    against(&APPEND, "each", 50.0),
    against(&UPDATES, "memory", 0.7),
    against(&REPLAY, DOCUMENTED, 5.0),
    against(&REPLAY, FASTEST, 5.0),
    below(&GROWTH, 32.0),
    below(&LIST, 10.0),
    below(&LIST_LONG, 10.0),
];

pub(in crate::bench) static JOURNAL: Suite = Suite {
    program: BENCH,
    command: "journal",
    limit: USUAL_LIMIT,
    works: &["append", "updates", "replay", "replay_worst", "list"],
    once: &[],
    peers: &[DOCUMENTED, FASTEST, "each", "memory", "disk"],
    heads: &[],
    ours: &["disk"],
    against: &[DOCUMENTED, FASTEST, "each", "memory"],
    // The official SDK keeps nothing; its live rate stands beside ours from disk.
    only: &[
        (DOCUMENTED, &["updates", "replay", "replay_worst"]),
        (FASTEST, &["updates", "replay", "replay_worst"]),
        ("each", &["append"]),
        ("memory", &["updates"]),
    ],
    rows: &[
        &APPEND,
        &UPDATES,
        &REPLAY,
        &FIRST,
        &LAST,
        &GROWTH,
        &WORST,
        &WORST_LAST,
        &WORST_GROWTH,
        &LIST,
        &LIST_LONG,
    ],
    targets: &TARGETS,
    counted: &[],
};
