//! Every rule with a recording that keeps it and one that breaks it.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod cases;
mod said;

use std::collections::BTreeSet;

use ply_check::passive::rules;

use crate::cases::cases;
use crate::said::judge;

#[test]
fn every_bad_recording_breaks_its_rule_and_every_good_one_keeps_it() {
    let mut wrong = Vec::new();
    let mut kept = BTreeSet::new();
    let cases = cases();
    for case in &cases {
        if let Some(bad) = &case.bad {
            let found = judge(bad.iter().map(String::as_str)).findings;
            if !found.iter().any(|finding| finding.rule == case.rule) {
                wrong.push(format!("{}: bad one not found: {found:#?}", case.rule));
            }
        }
        let judged = judge(case.good.iter().map(String::as_str));
        kept.extend(judged.looked_at.iter().map(|(rule, _)| *rule));
        let found: Vec<_> = judged.findings.iter().collect();
        let is_blamed = |side| found.iter().any(|finding| finding.side == side);
        // A client that breaks a rule on purpose shows what the agent does about it.
        if is_blamed(ply_check::Side::Agent) || (!found.is_empty() && !case.good_is_foul()) {
            wrong.push(format!("{}: good one found: {found:#?}", case.rule));
        }
    }
    for case in cases
        .iter()
        .filter(|case| !kept.contains(case.rule.as_str()))
    {
        wrong.push(format!("{}: no good one looked at it", case.rule));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_case_and_every_case_a_rule() {
    let ruled: BTreeSet<&str> = rules().map(|rule| rule.id).collect();
    let cases = cases();
    let tried: BTreeSet<&str> = cases.iter().map(|case| case.rule.as_str()).collect();
    let missing: Vec<&&str> = ruled.difference(&tried).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let unknown: Vec<&&str> = tried.difference(&ruled).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_rule_is_there_once_for_each_side_and_says_what_to_do() {
    let mut seen = BTreeSet::new();
    for rule in rules() {
        assert!(seen.insert((rule.id, rule.side)), "{rule:?}");
        let texts = [rule.says, rule.matters, rule.fix];
        assert!(texts.iter().all(|text| text.ends_with('.')), "{rule:?}");
    }
}

#[test]
fn findings_blame_whom_the_rule_binds_and_name_frames_that_exist() {
    for case in cases() {
        for lines in case.bad.iter().chain([&case.good]) {
            let judged = judge(lines.iter().map(String::as_str));
            for (id, side) in judged.looked_at {
                let is_bound = rules().any(|rule| rule.id == id && rule.side == side);
                assert!(is_bound, "{id} {side:?}");
            }
            for finding in judged.findings {
                let bound = rules().find(|it| it.id == finding.rule && it.side == finding.side);
                assert_eq!(bound.unwrap().level, finding.level);
                let frames = 1..=lines.len();
                assert!(finding.frames.iter().all(|frame| frames.contains(frame)));
            }
        }
    }
}

#[test]
fn only_rules_of_the_version_that_is_spoken_are_looked_at() {
    use ply_client::Version;
    for case in cases() {
        for lines in case.bad.iter().chain([&case.good]) {
            let joined = lines.join("\n");
            let (is_v1, is_v2) = (
                joined.contains(r#"{"protocolVersion":1,"agent"#),
                joined.contains(r#"{"protocolVersion":2,"info":{"name":"a""#),
            );
            let version = match (is_v1, is_v2) {
                (true, false) => Version::V1,
                (false, true) => Version::V2,
                _ => continue,
            };
            let judged = judge(lines.iter().map(String::as_str));
            for (id, side) in judged.looked_at {
                let rule = rules().find(|rule| rule.id == id && rule.side == side);
                assert!(rule.unwrap().holds_in(version), "{id}: {joined}");
            }
        }
    }
}

#[test]
fn an_agent_owes_nothing_for_requests_that_it_did_not_invite() {
    let bare = [
        r#"> 1 initialize {"protocolVersion":1,"clientInfo":{"name":"c","version":"1"}}"#,
        r#"<= 1 {"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"a","version":"1"}}"#,
        r#"> 2 session/new {"cwd":"/w","mcpServers":[]}"#,
        r#"<= 2 {"sessionId":"s"}"#,
    ];
    for asked in [
        "> 3 session/list",
        r#"> 3 session/set_config_option {"sessionId":"s","configId":"x","value":"a"}"#,
    ] {
        let lines = bare.into_iter().chain([asked, "<= 3 {}"]);
        let found = judge(lines).findings;
        let is_blamed = |side| found.iter().any(|finding| finding.side == side);
        assert!(!is_blamed(ply_check::Side::Agent), "{asked}: {found:#?}");
    }
}

#[test]
fn an_agent_may_tell_the_mode_that_its_client_made_up() {
    let lines = [
        r#"> 1 initialize {"protocolVersion":1,"clientInfo":{"name":"c","version":"1"}}"#,
        r#"<= 1 {"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"a","version":"1"}}"#,
        r#"> 2 session/new {"cwd":"/w","mcpServers":[]}"#,
        r#"<= 2 {"sessionId":"s","modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"}]}}"#,
        r#"> 3 session/set_mode {"sessionId":"s","modeId":"made-up"}"#,
        r#"< session/update {"sessionId":"s","update":{"sessionUpdate":"current_mode_update","currentModeId":"made-up"}}"#,
        "<= 3 {}",
    ];
    let found = judge(lines).findings;
    let rules: Vec<_> = found
        .iter()
        .map(|finding| (finding.rule, finding.side))
        .collect();
    assert_eq!(rules, [("V1-MODE-02", ply_check::Side::Client)]);
}

#[test]
fn nothing_is_judged_after_a_gap() {
    use ply_check::trace::{Direction, Entry, Event, Lost};
    let mut passive = ply_check::passive::Passive::new();
    passive.observe(&Entry::new(0.0, Event::Lost(Lost::new(1, 10, "gone"))));
    passive.observe(&Entry::line(0.1, Direction::ToClient, b"nonsense"));
    assert_eq!(passive.finish().findings, []);
}

#[test]
fn words_of_peers_are_harmless_in_findings() {
    let found = judge([r#"> 1 session/new {"cwd":"\u001b[31mred\u202e","mcpServers":[]}"#]);
    let what: String = found
        .findings
        .iter()
        .map(|finding| finding.what.as_str())
        .collect();
    assert!(
        what.contains("red") && !what.contains('\x1b') && !what.contains('\u{202e}'),
        "{what}"
    );
}

#[test]
fn a_rule_broken_very_often_is_counted() {
    let lines = std::iter::repeat_n("<raw oops", 1000);
    let found = judge(lines).findings;
    assert_eq!(found.len(), 51);
    assert!(found.last().unwrap().what.contains("950"));
}
