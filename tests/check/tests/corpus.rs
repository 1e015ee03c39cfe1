//! The corpus is as large as it is said to be, and has the mistakes that agents and clients in use were seen to make.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;

use check_tests::faults::{FAULTS, ODDITIES, is_known};
use ply_check::{Level, Side, rule};
use ply_wire::negotiate::Version;

#[path = "../src/bin/mutant_client/faults.rs"]
mod clients;

/// Faulty agents of version 1, faulty agents of version 2, faulty clients, and odd peers that break nothing.
const AT_LEAST: [usize; 4] = [120, 60, 40, 25];

/// Mistakes of agents that were once missed.
const SEEN_IN_AGENTS: &[&str] = &[
    "updates-without-kind",
    "talks-of-nobodys-session",
    "questions-as-notifications",
    "asks-after-the-cancel",
    "content-is-text",
    "meta-is-text",
    "comes-back-in-relative-directories",
    "session-ids-repeat-in-processes",
    "partial-option-updates",
    "contradicting-option-updates",
    "unknown-modes-in-updates",
    "completed-calls-fail",
    "talks-into-another-session",
    "close-is-not-answered",
    "options-without-name",
    "terminal-data-is-text",
    "resumes-as-running",
    "writes-before-the-answer",
    "replays-prompts-only",
    // Rules that could once not be seen to be broken.
    "swaps-versions",
    "refuses-servers",
    "never-starts-servers",
    "first-variables-count",
];

/// Mistakes of clients that were once missed.
const SEEN_IN_CLIENTS: &[&str] = &[
    "prompt-as-text",
    "creates-no-files",
    "refuses-terminals",
    "terminal-as-text",
];

/// What lawful agents do that was once blamed.
const ONCE_BLAMED: &[&str] = &[
    "odd-without-a-model",
    "odd-new-ids-in-replays",
    "odd-serves-custom-methods",
    "odd-checks-its-writes",
    "odd-empty-chunks",
    "odd-new-titles-in-replays",
    "odd-forgets-sessions",
    "odd-times-settle",
    "odd-relative-directories",
    "odd-local-times",
    "odd-slow-start",
    "odd-locked-options",
    "odd-refused-calls-stay-pending",
    "odd-silence-about-junk",
    "odd-inner-errors",
    "odd-shows-the-prompt-twice",
    "odd-answers-arrays",
    "odd-state-unknown",
    "odd-starts-with-a-question",
    "odd-usage-in-answers",
    "odd-refuses-one-mode",
];

/// Levels that were once wrong. What no text says counts for nothing.
const LEVELS: &[(&str, Level)] = &[
    ("V2-STATE-03", Level::Should),
    ("V1-CANCEL-07", Level::Must),
    ("V1-CANCEL-12", Level::Unspecified),
    ("V1-SESS-02", Level::Unspecified),
    ("V1-SESS-15", Level::Unspecified),
    ("V1-AUTH-02", Level::Unspecified),
    ("V1-MODE-02", Level::Unspecified),
    ("V1-CONF-10", Level::Unspecified),
    ("V1-RPC-10", Level::Unspecified),
    ("V1-RPC-18", Level::Unspecified),
    ("V1-PROMPT-16", Level::Unspecified),
    ("V2-INIT-16", Level::Should),
    ("V2-INIT-17", Level::Should),
    ("V2-CANCEL-14", Level::Should),
];

/// Returns how many faults break a rule of a version.
fn in_version<'a>(rules: impl Iterator<Item = &'a [&'a str]>, prefix: &str) -> usize {
    rules
        .filter(|rules| rules.iter().any(|id| id.starts_with(prefix)))
        .count()
}

#[test]
fn the_corpus_is_as_large_as_it_is_said_to_be() {
    let agents = |prefix| in_version(FAULTS.iter().map(|(_, rules, _)| *rules), prefix);
    let counts = [
        agents("V1-"),
        agents("V2-"),
        clients::FAULTS.len(),
        ODDITIES.len(),
    ];
    let is_enough = counts
        .iter()
        .zip(AT_LEAST)
        .all(|(has, wants)| *has >= wants);
    assert!(is_enough, "{counts:?}, where {AT_LEAST:?} are wanted");
}

#[test]
fn every_must_that_can_be_seen_has_a_peer_that_breaks_it() {
    let agents = FAULTS.iter().flat_map(|(_, rules, _)| rules.iter());
    let agents: BTreeSet<&str> = agents.copied().collect();
    let clients = clients::FAULTS.iter().flat_map(|(_, rules)| rules.iter());
    let clients: BTreeSet<&str> = clients.copied().collect();
    let is_broken = |it: &ply_check::Rule| match it.side {
        Side::Agent => agents.contains(it.id),
        Side::Client => clients.contains(it.id),
    };
    let visible = [Version::V1, Version::V2].into_iter().flat_map(|version| {
        let both = rule::of(Side::Agent, version).chain(rule::of(Side::Client, version));
        both.filter(|it| it.level == Level::Must && it.hidden.is_empty())
    });
    let missing: BTreeSet<_> = visible
        .filter(|it| !is_broken(it))
        .map(|it| (it.id, it.side))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_was_once_missed_or_blamed_is_in_the_corpus() {
    let is_client = |name: &str| clients::FAULTS.iter().any(|(known, _)| *known == name);
    let agents = SEEN_IN_AGENTS.iter().chain(ONCE_BLAMED);
    let unknown: Vec<_> = agents
        .filter(|name| !is_known(name))
        .chain(SEEN_IN_CLIENTS.iter().filter(|name| !is_client(name)))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn levels_are_those_of_the_texts() {
    for (id, level) in LEVELS {
        let mut rules = rule::all().filter(|it| it.id == *id && it.side == Side::Agent);
        assert_eq!(rules.next().unwrap().level, *level, "{id}");
    }
}
