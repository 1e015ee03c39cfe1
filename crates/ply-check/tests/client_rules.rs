//! The rules and scenes for clients fit together.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::collections::BTreeSet;

use ply_check::rule::Text;
use ply_check::{Level, Side, client};
use ply_wire::negotiate::Version;

const VERSIONS: [Version; 2] = [Version::V1, Version::V2];

#[test]
fn every_rule_stands_once_and_has_all_its_words() {
    let mut seen = BTreeSet::new();
    for (version, rule) in VERSIONS
        .map(|it| client::rules(it).map(move |rule| (it, rule)))
        .into_iter()
        .flatten()
    {
        assert!(
            seen.insert((version as u8, rule.id)),
            "{} stands twice",
            rule.id
        );
        assert_eq!(rule.side, Side::Client, "{}", rule.id);
        for words in [rule.says, rule.matters, rule.fix] {
            assert!(
                words.ends_with('.') && words.len() > 8,
                "{}: {words}",
                rule.id
            );
        }
    }
}

#[test]
fn every_rule_is_found_out_about_in_a_scene() {
    for version in VERSIONS {
        let named: BTreeSet<_> = client::scenes(version)
            .flat_map(|(_, rules)| rules.iter().copied())
            .collect();
        // What messages show, every scene shows.
        for rule in client::rules(version).filter(|rule| !rule.is_recorded) {
            assert!(named.contains(rule.id), "no scene names {}", rule.id);
        }
    }
}

#[test]
fn scenes_name_only_rules_that_exist() {
    let rules: BTreeSet<_> = VERSIONS
        .into_iter()
        .flat_map(client::rules)
        .map(|rule| rule.id)
        .collect();
    for (scene, named) in VERSIONS.into_iter().flat_map(client::scenes) {
        for rule in named {
            assert!(rules.contains(rule), "{scene} names {rule}");
        }
    }
}

#[test]
fn scenes_have_different_names() {
    for version in VERSIONS {
        let mut seen = BTreeSet::new();
        for (scene, _) in client::scenes(version) {
            assert!(seen.insert(scene), "{scene} stands twice");
        }
    }
}

#[test]
fn there_are_many_rules_for_both_versions() {
    assert!(client::rules(Version::V1).count() >= 65);
    assert!(client::rules(Version::V2).count() >= 45);
}

#[test]
fn every_rule_says_where_it_is_written_and_none_without_a_text_counts() {
    for rule in VERSIONS.into_iter().flat_map(client::rules) {
        let source = rule.source();
        assert!(source.link.starts_with("https://"), "{}", rule.id);
        let is_silent = source.text == Text::Silent;
        let is_uncounted = rule.level == Level::Unspecified;
        assert_eq!(is_silent, is_uncounted, "{}", rule.id);
        let is_behaviour = source.text == Text::Sdk;
        assert!(!is_behaviour || rule.level != Level::Must, "{}", rule.id);
    }
}
