//! Which findings have the same cause.
//!
//! A message that cannot be read breaks every rule that is judged by it, and one observation may be told under several rules. A reader
//! has one thing to mend, so each cause is one finding.

use std::collections::{BTreeMap, BTreeSet};

use ply_client::Direction;

use crate::recording::Recording;
use crate::rule::{Side, id};
use crate::verdict::{Evidence, Outcome, Verdict};

/// Rules on the shape of one message. Whatever is judged by a message that breaks one of them follows from that.
const ROOTS: &[&str] = &[
    id::V1_STDIO_03,
    id::V1_RPC_01,
    id::V1_RPC_03,
    id::V1_RPC_05,
    id::V2_RPC_01,
    id::V2_RPC_04,
    id::V1_PROMPT_06,
    id::V2_PROMPT_07,
];

/// Rules that want -32602 for parameters of some kind. An agent that has another code for all parameters that do not fit breaks the first
/// one, and the others only with it.
const UNFIT: &[&str] = &[
    id::V2_RPC_01,
    id::V2_RPC_06,
    id::V2_CONF_04,
    id::V2_ERR_01,
    id::V2_ERR_02,
    id::V2_PROMPT_03,
    id::V2_SESS_02,
    id::V2_SESS_04,
];

/// The messages that show breaches of each rule: all of them, also those that are not kept as findings.
#[derive(Debug, Default)]
pub(super) struct Shown(BTreeMap<&'static str, BTreeSet<(usize, usize)>>);

impl Shown {
    /// Notes the messages that show a breach.
    pub(super) fn note(&mut self, rule: &'static str, evidence: &Evidence) {
        let frames = evidence.frames.iter();
        let frames = frames.map(|frame| (evidence.recording, *frame));
        self.0.entry(rule).or_default().extend(frames);
    }

    /// Returns the rule that says what is wrong with a message better than the schema does.
    fn better(
        &self,
        verdicts: &Verdicts,
        key: (usize, usize),
        recordings: &[Recording],
    ) -> Option<&'static str> {
        // Agents say the same in every process, and each rule may be told of another one.
        let line = line(key, recordings);
        let fits = |(id, frames): (&&'static str, &BTreeSet<_>)| {
            let is_it =
                |other: &(usize, usize)| *other == key || self::line(*other, recordings) == line;
            let is_other = !is_schema(id) && frames.iter().any(is_it);
            let is_found = verdicts
                .get(*id)
                .is_some_and(|it| it.outcome != Outcome::Pass);
            (is_other && is_found).then_some(*id)
        };
        self.0.iter().find_map(fits)
    }
}

/// Returns a message of a recording.
fn line((recording, frame): (usize, usize), recordings: &[Recording]) -> Option<Vec<u8>> {
    let recording = recordings.get(recording)?;
    recording.with_frames(|frames| Some(frames.get(frame)?.bytes.clone()))
}

/// Returns whether a rule is that every message fits the schema.
fn is_schema(rule: &str) -> bool {
    rule.ends_with("-SCHEMA-01")
}

type Verdicts = BTreeMap<&'static str, Verdict>;

/// Returns the rules whose findings follow from that of another, with that other.
pub(super) fn of(
    verdicts: &Verdicts,
    shown: &Shown,
    recordings: &[Recording],
) -> Vec<(&'static str, &'static str)> {
    let mut found: Vec<_> = verdicts.values().filter(|it| is_finding(it)).collect();
    found.sort_by_key(|verdict| verdict.order);
    let mut caused: BTreeMap<&'static str, &'static str> = BTreeMap::new();
    for verdict in &found {
        let root = ROOTS.iter().find(|root| {
            let is_other = **root != verdict.rule.id && !caused.contains_key(**root);
            is_other && follows(verdict, shown, root, recordings)
        });
        let better = || {
            let mut sights = verdict.sights().map(|(_, evidence)| {
                let frame = *evidence.frames.first()?;
                shown.better(verdicts, (evidence.recording, frame), recordings)
            });
            let first = sights.next()??;
            (is_schema(verdict.rule.id) && sights.all(|better| better.is_some())).then_some(first)
        };
        let twin = || {
            let earlier = found.iter().filter(|other| other.order < verdict.order);
            let earlier = earlier.filter(|other| other.outcome == verdict.outcome);
            let mut earlier = earlier.filter(|other| !caused.contains_key(other.rule.id));
            earlier.find(|other| is_same(verdict, other))
        };
        let unfit = || {
            let (first, rest) = UNFIT.split_first()?;
            let root = verdicts.get(*first).filter(|it| is_finding(it))?;
            let known = errors(root, recordings);
            let theirs = errors(verdict, recordings);
            let is_one = theirs
                .iter()
                .all(|code| code.is_some() && known.contains(code));
            (rest.contains(&verdict.rule.id) && is_one).then_some(*first)
        };
        let cause = root.copied().or_else(better).or_else(unfit);
        let cause = cause.or_else(|| twin().map(|twin| twin.rule.id));
        if let Some(cause) = cause {
            caused.insert(verdict.rule.id, cause);
        }
    }
    caused.into_iter().collect()
}

fn is_finding(verdict: &Verdict) -> bool {
    matches!(verdict.outcome, Outcome::Fail | Outcome::Warn)
}

/// Returns whether everything that shows a finding are messages which break a rule of shape.
fn follows(verdict: &Verdict, shown: &Shown, root: &str, recordings: &[Recording]) -> bool {
    let Some(broken) = shown.0.get(root) else {
        return false;
    };
    // Two rules of shape that one message breaks are two findings, but for the first.
    let place = |id: &str| ROOTS.iter().position(|known| *known == id);
    if place(verdict.rule.id).is_some_and(|own| Some(own) < place(root)) {
        return false;
    }
    verdict.sights().all(|(_, evidence)| {
        let theirs = sent(evidence, verdict.rule.side, recordings);
        let mut keys = theirs.iter().map(|frame| (evidence.recording, *frame));
        !theirs.is_empty() && keys.all(|key| broken.contains(&key))
    })
}

/// Returns the messages of the side that is judged, out of those that show something.
fn sent(evidence: &Evidence, side: Side, recordings: &[Recording]) -> Vec<usize> {
    let direction = match side {
        Side::Agent => Direction::ToClient,
        Side::Client => Direction::ToAgent,
    };
    let Some(recording) = recordings.get(evidence.recording) else {
        return Vec::new();
    };
    recording.with_frames(|frames| {
        let numbers = evidence.frames.iter().copied();
        let is_theirs = |number: &usize| {
            let frame = frames.get(*number);
            frame.is_some_and(|frame| frame.direction == direction)
        };
        numbers.filter(is_theirs).collect()
    })
}

/// Returns the codes of the errors that show a finding, none for what is shown by anything else.
fn errors(verdict: &Verdict, recordings: &[Recording]) -> BTreeSet<Option<i64>> {
    let code = |evidence: &Evidence| {
        let frame = *sent(evidence, verdict.rule.side, recordings).last()?;
        recordings.get(evidence.recording)?.with_frames(|frames| {
            let message = frames.get(frame)?.json.as_ref()?;
            message.pointer("/error/code")?.as_i64()
        })
    };
    verdict
        .sights()
        .map(|(_, evidence)| code(evidence))
        .collect()
}

/// Returns whether all that was seen about a rule was seen about another too.
fn is_same(verdict: &Verdict, other: &Verdict) -> bool {
    let is_known = |saw: &str, evidence: &Evidence| {
        let mut sights = other.sights();
        sights.any(|(known, shown)| known == saw && shown == evidence)
    };
    verdict.uncounted == 0
        && verdict
            .sights()
            .all(|(saw, evidence)| !saw.is_empty() && is_known(saw, evidence))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::findings::{Findings, Found};

    const RULES: [&str; 7] = [
        id::V1_RPC_03,
        id::V1_RPC_08,
        id::V1_EXT_03,
        id::V1_LIST_02,
        id::V2_RPC_01,
        id::V2_SESS_02,
        id::V2_ERR_02,
    ];

    /// Returns findings with one recording of four answers.
    fn findings() -> Findings {
        let rules =
            crate::rule::all().filter(|rule| rule.side == Side::Agent && RULES.contains(&rule.id));
        let mut findings = Findings::new(rules);
        let recording = Recording::new("test");
        for (direction, line) in [
            (
                Direction::ToAgent,
                r#"{"jsonrpc":"2.0","id":1,"method":"_x"}"#,
            ),
            (
                Direction::ToClient,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#,
            ),
            (
                Direction::ToClient,
                r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
            ),
            (
                Direction::ToClient,
                r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no"}}"#,
            ),
            (
                Direction::ToClient,
                r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"no"}}"#,
            ),
        ] {
            recording.add(Duration::ZERO, direction, line.as_bytes());
        }
        findings.recordings.push(recording);
        findings
    }

    fn add(findings: &mut Findings, rule: &str, frames: &[usize], saw: &str) {
        let evidence = Evidence {
            recording: 0,
            frames: frames.to_vec(),
        };
        findings.add(rule, Found::Broken, saw, evidence, None);
    }

    fn causes(findings: &Findings) -> Vec<(&'static str, Option<&'static str>)> {
        let broken = findings.verdicts().filter(|it| it.outcome > Outcome::Pass);
        broken.map(|it| (it.rule.id, it.because)).collect()
    }

    #[test]
    fn what_is_judged_by_a_message_that_cannot_be_read_follows_from_that() {
        let mut findings = findings();
        add(&mut findings, id::V1_RPC_08, &[0, 1], "no -32601 came");
        add(&mut findings, id::V1_LIST_02, &[2], "no list came");
        add(&mut findings, id::V1_RPC_03, &[1], "a code is no number");
        findings.settle();
        let expected = [
            (id::V1_LIST_02, None),
            (id::V1_RPC_03, None),
            (id::V1_RPC_08, Some(id::V1_RPC_03)),
        ];
        assert_eq!(causes(&findings), expected);
        assert_eq!(findings.caused_by(id::V1_RPC_03).count(), 1);
    }

    #[test]
    fn one_observation_under_two_rules_is_one_finding() {
        let mut findings = findings();
        add(&mut findings, id::V1_RPC_08, &[0, 2], "a result came");
        add(&mut findings, id::V1_EXT_03, &[0, 2], "a result came");
        findings.settle();
        let expected = [(id::V1_EXT_03, Some(id::V1_RPC_08)), (id::V1_RPC_08, None)];
        assert_eq!(causes(&findings), expected);
    }

    #[test]
    fn another_code_for_all_that_does_not_fit_is_one_finding() {
        let mut findings = findings();
        add(&mut findings, id::V2_RPC_01, &[3], "error -32603");
        add(
            &mut findings,
            id::V2_SESS_02,
            &[4],
            "error -32603, in `src`",
        );
        add(
            &mut findings,
            id::V2_ERR_02,
            &[4],
            "error -32603, of a kind",
        );
        add(&mut findings, id::V2_ERR_02, &[2], "a result");
        findings.settle();
        let expected = [
            (id::V2_ERR_02, None),
            (id::V2_RPC_01, None),
            (id::V2_SESS_02, Some(id::V2_RPC_01)),
        ];
        assert_eq!(causes(&findings), expected);
    }

    #[test]
    fn every_different_finding_of_a_rule_is_kept() {
        let mut findings = findings();
        for saw in ["one", "two", "one", "three"] {
            add(&mut findings, id::V1_LIST_02, &[2], saw);
        }
        let verdict = findings.verdict(id::V1_LIST_02).unwrap();
        let saw: Vec<_> = verdict.sights().map(|(saw, _)| saw).collect();
        assert_eq!(saw, ["one", "two", "three"]);
    }
}
