//! The rules for agents and the probes fit each other.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};

use ply_check::rule::Text;
use ply_check::{Level, Rule, Selection, Side, agent, passive};
use ply_wire::negotiate::Version;

fn rules() -> Vec<Rule> {
    let both = [Version::V1, Version::V2];
    both.into_iter().flat_map(agent::rules).collect()
}

#[test]
fn every_rule_is_there_once() {
    // A few hold in both versions under one id.
    for version in [Version::V1, Version::V2] {
        let mut counts = BTreeMap::new();
        for rule in agent::rules(version) {
            *counts.entry(rule.id).or_insert(0) += 1;
        }
        let twice: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}

#[test]
fn every_rule_binds_agents_and_has_an_id_of_its_version() {
    for rule in rules() {
        assert_eq!(rule.side, Side::Agent, "{}", rule.id);
        let parts: Vec<_> = rule.id.split('-').collect();
        let number = parts[2];
        assert!(matches!(parts[0], "V1" | "V2"), "{}", rule.id);
        assert!(
            number.len() == 2 && number.parse::<u8>().is_ok(),
            "{}",
            rule.id
        );
        assert_eq!(parts.len(), 3, "{}", rule.id);
    }
}

#[test]
fn every_rule_says_what_it_expects_why_it_matters_and_what_to_change() {
    for rule in rules() {
        for text in [rule.says, rule.matters, rule.fix] {
            let is_sentence = text.ends_with('.') && text.len() > 10;
            assert!(is_sentence, "{}: {text:?}", rule.id);
        }
        assert_ne!(rule.gate, Some(""), "{}", rule.id);
    }
}

#[test]
fn every_rule_is_named_by_a_probe_or_found_out_about_from_recordings() {
    let named: BTreeSet<_> = agent::probes()
        .flat_map(|(_, rules)| rules)
        .copied()
        .collect();
    let rules = rules().into_iter().map(|rule| rule.id);
    let unnamed: Vec<_> = rules
        .filter(|id| !named.contains(id) && passive::rules().all(|rule| rule.id != *id))
        .collect();
    assert!(unnamed.is_empty(), "{unnamed:?}");
}

#[test]
fn every_probe_names_rules_that_exist_each_of_them_once() {
    let ids: BTreeSet<_> = rules().into_iter().map(|rule| rule.id).collect();
    for (name, rules) in agent::probes() {
        assert!(!rules.is_empty(), "{name}");
        let unknown: Vec<_> = rules.iter().filter(|id| !ids.contains(*id)).collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
        let distinct: BTreeSet<_> = rules.iter().collect();
        assert_eq!(distinct.len(), rules.len(), "{name}");
    }
}

#[test]
fn every_probe_has_a_name_of_its_own() {
    let names: Vec<_> = agent::probes().map(|(name, _)| name).collect();
    let distinct: BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
}

#[test]
fn every_topic_can_be_selected() {
    let rules = rules();
    for rule in &rules {
        let selection = Selection {
            only: vec![rule.topic().to_lowercase()],
            skip: Vec::new(),
        };
        assert!(selection.takes(rule), "{}", rule.id);
        assert!(selection.unknown(&rules).is_empty(), "{}", rule.id);
    }
}

#[test]
fn every_rule_says_where_it_is_written_and_none_without_a_text_counts() {
    for rule in rules() {
        let source = rule.source();
        assert!(source.link.starts_with("https://"), "{}", rule.id);
        let is_silent = source.text == Text::Silent;
        let is_uncounted = rule.level == Level::Unspecified;
        assert_eq!(is_silent, is_uncounted, "{}", rule.id);
        let is_behaviour = source.text == Text::Sdk;
        assert!(!is_behaviour || rule.level != Level::Must, "{}", rule.id);
    }
}
