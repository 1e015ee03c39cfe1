//! `ply check rules`: what is checked.

use std::io::Write as _;
use std::process::ExitCode;

use ply_check::{Level, Rule, Side, agent, client};
use ply_client::Version;

use super::arguments::Rules;
use crate::program::error::Error;
use crate::program::output;

/// Lists the rules.
pub(crate) fn run(arguments: &Rules) -> Result<ExitCode, Error> {
    let versions = [Version::V1, Version::V2].into_iter();
    let of_both = |version| agent::rules(version).chain(client::rules(version));
    let mut rules: Vec<Rule> = Vec::new();
    for rule in versions.flat_map(of_both) {
        let is_same = |other: &Rule| other.id == rule.id && other.side == rule.side;
        if !rules.iter().any(is_same) {
            rules.push(rule);
        }
    }
    let mut out = output::stdout();
    let written = match arguments.json {
        true => serde_json::to_string_pretty(&rules.iter().map(described).collect::<Vec<_>>())
            .map_err(std::io::Error::from)
            .and_then(|json| writeln!(out, "{json}")),
        false => rules.iter().try_for_each(|rule| {
            let level = match rule.level {
                Level::Must => "MUST",
                Level::Should => "SHOULD",
                Level::May => "MAY",
                Level::Unspecified => "-",
            };
            let side = match rule.side {
                Side::Agent => "agent",
                Side::Client => "client",
            };
            let source = rule.source().link;
            writeln!(
                out,
                "{:<14}  {side:<6}  {level:<6}  {}  {source}",
                rule.id, rule.says
            )
        }),
    };
    let written = written.and_then(|()| out.flush());
    written.map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a rule with where it is written.
fn described(rule: &Rule) -> serde_json::Value {
    let mut described = serde_json::json!(rule);
    if let Some(members) = described.as_object_mut() {
        members.insert("source".to_owned(), serde_json::json!(rule.source()));
    }
    described
}
