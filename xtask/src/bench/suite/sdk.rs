//! Whole SDKs: agent and client.

mod rows;

use self::rows::{
    AGENT_PROMPT, AGENT_UPDATE, CANCEL_WORST, CLIENT_PROMPT, CLIENT_UPDATE, COMPLETED, FAIR_KEPT,
    GROWTH, IDLE, OPTION, PERMISSION, PING_WORST, PROMPT, ROUNDTRIP, SESSIONS_10, SESSIONS_1000,
    SET_MODE, SET_MODE_64, SET_MODE_RAW, SET_MODE_RAW_64, START, UPDATE, UPDATES,
};
use super::{BENCH, Suite, USUAL_LIMIT};
use crate::bench::targets::{
    Target, against, at_least, at_most, at_most_more, at_most_of, below, of_row,
};

const DOCUMENTED: &str = "sdk-documented";
const FASTEST: &str = "sdk-fastest";
const FLOOR: &str = "floor";
/// Ours as documented, and on one thread.
const OURS: &str = "ply-documented";
const ONE_THREAD: &str = "ply";

/// What `ply-documented` has to reach, beside what is on one thread.
static TARGETS: &[Target] = &[
    against(&UPDATES, DOCUMENTED, 35.0),
    against(&UPDATES, FASTEST, 5.0),
    against(&UPDATES, FLOOR, 0.65),
    against(&UPDATES, ONE_THREAD, 0.9),
    against(&ROUNDTRIP, ONE_THREAD, 0.75),
    against(&OPTION, ONE_THREAD, 0.75),
    against(&SET_MODE, DOCUMENTED, 6.0),
    against(&SET_MODE, FASTEST, 4.0),
    against(&SET_MODE, ONE_THREAD, 0.75),
    against(&SET_MODE_RAW, DOCUMENTED, 6.0),
    against(&SET_MODE_RAW, FASTEST, 4.0),
    against(&SET_MODE_RAW, ONE_THREAD, 0.75),
    against(&SET_MODE_64, DOCUMENTED, 15.0),
    against(&SET_MODE_64, FASTEST, 5.0),
    against(&SET_MODE_RAW_64, DOCUMENTED, 15.0),
    against(&SET_MODE_RAW_64, FASTEST, 5.0),
    against(&PERMISSION, DOCUMENTED, 4.0),
    against(&PERMISSION, FASTEST, 3.0),
    against(&PERMISSION, ONE_THREAD, 0.75),
    against(&SESSIONS_10, ONE_THREAD, 0.9),
    against(&SESSIONS_1000, DOCUMENTED, 25.0),
    of_row(&SESSIONS_1000, &SESSIONS_10, 0.9),
    against(&SESSIONS_1000, ONE_THREAD, 0.9),
    at_least(&FAIR_KEPT, 0.9),
    at_most_more(&START, DOCUMENTED, 1.0),
    at_most_more(&START, FASTEST, 1.0),
    at_most_of(&PROMPT, DOCUMENTED, 0.7),
    at_most_of(&PROMPT, FASTEST, 0.7),
    at_most_of(&UPDATE, DOCUMENTED, 0.7),
    at_most_of(&UPDATE, FASTEST, 0.7),
    at_most(&AGENT_PROMPT, 3.0),
    at_most(&AGENT_UPDATE, 3.0),
    at_most(&CLIENT_PROMPT, 3.0),
    at_most(&CLIENT_UPDATE, 3.0),
    below(&GROWTH, 8.0),
    at_most(&IDLE, 256.0),
    at_least(&COMPLETED, 1.0),
    below(&PING_WORST, 5.0),
    below(&CANCEL_WORST, 5.0),
];

/// What every SDK does. The rest is of ours alone.
const OTHERS: &[&str] = &[
    "large_prompt",
    "large_update",
    "updates",
    "roundtrip",
    "option",
    "inflight",
    "set_mode",
    "set_mode64",
    "permission",
    "sessions10",
    "sessions1000",
    "start",
    "large",
    "allocated",
    "slow_reader",
    "interrupt",
];

pub(in crate::bench) static SDK: Suite = Suite {
    program: BENCH,
    command: "sdk",
    limit: USUAL_LIMIT,
    works: &[
        "updates",
        "roundtrip",
        "option",
        "inflight",
        "set_mode",
        "set_mode_raw",
        "set_mode64",
        "set_mode_raw64",
        "permission",
        "sessions10",
        "sessions1000",
        "fair",
        "start",
        "large",
        "allocated",
        "slow_reader",
        "idle",
        "interrupt",
    ],
    once: &["fair", "allocated", "slow_reader", "idle", "interrupt"],
    peers: &[OURS, ONE_THREAD, DOCUMENTED, FASTEST, FLOOR],
    heads: &[
        (OURS, "Ply, as documented"),
        (ONE_THREAD, "Ply, one thread"),
        (DOCUMENTED, "SDK, documented"),
        (FASTEST, "SDK, fastest"),
        (FLOOR, "Floor"),
    ],
    ours: &[OURS],
    against: &[ONE_THREAD, DOCUMENTED, FASTEST, FLOOR],
    only: &[
        (
            FLOOR,
            &[
                "updates",
                "set_mode",
                "set_mode64",
                "permission",
                "sessions10",
                "sessions1000",
                "large",
            ],
        ),
        (DOCUMENTED, OTHERS),
        (FASTEST, OTHERS),
    ],
    rows: rows::ALL,
    targets: TARGETS,
    counted: &[
        "updates",
        "roundtrip",
        "option",
        "inflight",
        "set_mode",
        "set_mode_raw",
        "set_mode64",
        "set_mode_raw64",
        "permission",
        "large_prompt",
        "large_update",
    ],
};

/// Letters on the command line, and the works that they stand for.
const LETTERS: &[(&str, &[&str])] = &[
    ("a", &["updates"]),
    (
        "b",
        &[
            "roundtrip",
            "option",
            "inflight",
            "set_mode",
            "set_mode_raw",
            "set_mode64",
            "set_mode_raw64",
        ],
    ),
    ("c", &["permission"]),
    ("d", &["sessions10", "sessions1000", "fair"]),
    ("e", &["start"]),
    ("f", &["large", "allocated"]),
    ("g", &["slow_reader", "idle"]),
    ("h", &["interrupt"]),
];

/// Everything that chooses works on the command line: letters and names.
pub(in crate::bench) fn works() -> impl Iterator<Item = &'static str> {
    let letters = LETTERS.iter().map(|(letter, _)| *letter);
    letters.chain(SDK.works.iter().copied())
}

/// The works that a letter or a name stands for.
pub(in crate::bench) fn chosen(letter_or_name: &str) -> Vec<&'static str> {
    let of_letter = LETTERS.iter().find(|(letter, _)| *letter == letter_or_name);
    match of_letter {
        Some((_, works)) => works.to_vec(),
        None => {
            let works = SDK.works.iter().copied();
            works.filter(|work| *work == letter_or_name).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_work_has_a_letter_and_a_row() {
        for work in SDK.works {
            let lettered = LETTERS.iter().filter(|(_, works)| works.contains(work));
            assert_eq!(lettered.count(), 1, "{work}");
            assert!(SDK.rows.iter().any(|row| row.work == *work), "{work}");
        }
    }
}
