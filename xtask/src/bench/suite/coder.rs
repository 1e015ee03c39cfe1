//! The coding agent as editors start it.

use super::{BENCH, Suite, USUAL_LIMIT};
use crate::bench::targets::{Better, Row, Target, below, row};

const DOCUMENTED: &str = "sdk-documented";
const WORK: &str = "start";

static GREETED: Row = row(WORK, "greeted_p50_ms", "p50 ms, initialize", Better::Lower);
static GREETED_TAIL: Row = row(WORK, "greeted_p95_ms", "p95 ms, initialize", Better::Lower);
static OPENED: Row = row(WORK, "opened_p50_ms", "p50 ms, session/new", Better::Lower);
static OPENED_TAIL: Row = row(WORK, "opened_p95_ms", "p95 ms, session/new", Better::Lower);
static RESIDENT: Row = row(WORK, "resident_mib", "MiB resident", Better::Lower);
static PROPORTIONAL: Row = row(WORK, "proportional_mib", "MiB proportional", Better::Lower);
static OWN: Row = row(WORK, "own_mib", "MiB of its own", Better::Lower);
static COMMAND: Row = row(
    "command",
    "sandboxed_p50_ms",
    "p50 ms, turn with a command",
    Better::Lower,
);
static SANDBOX: Row = row(
    "command",
    "sandbox_ms",
    "ms of it for the sandbox",
    Better::Lower,
);
static OUTPUT: Row = row("output", "output_s", "s, 2 GB of output", Better::Lower);
static TO_CAT: Row = row(
    "output",
    "to_cat",
    "times `cat`, 2 GB of output",
    Better::Lower,
);

// The peer has no model, no tools and no store, so what it takes is shown and not judged against.
static TARGETS: [Target; 3] = [
    below(&GREETED, 10.0),
    below(&RESIDENT, 12.0),
    // What was slow took 72 s.
    below(&OUTPUT, 20.0),
];

pub(in crate::bench) static CODER: Suite = Suite {
    program: BENCH,
    command: "coder",
    limit: USUAL_LIMIT,
    works: &[WORK, "command", "output"],
    once: &["output"],
    peers: &["floor", DOCUMENTED, "ply-agent"],
    heads: &[],
    ours: &["ply-agent"],
    against: &[DOCUMENTED],
    only: &[("floor", &[WORK]), (DOCUMENTED, &[WORK])],
    rows: &[
        &GREETED,
        &GREETED_TAIL,
        &OPENED,
        &OPENED_TAIL,
        &RESIDENT,
        &PROPORTIONAL,
        &OWN,
        &COMMAND,
        &SANDBOX,
        &OUTPUT,
        &TO_CAT,
    ],
    targets: &TARGETS,
    counted: &[],
};
