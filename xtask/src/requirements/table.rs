//! The page that shows which rules are covered.

use std::fmt::Write as _;

use super::checks::Checks;
use super::coverage::{Coverage, State};
use super::rules::{LEVELS, Rule, Rules};

/// Tests shown per rule; more are counted.
const TESTS_SHOWN_MAX: usize = 3;

const HEAD: &str = "\
# Requirements

Which rules of the protocol have a test that names them. Written by `cargo xtask requirements` from `requirements.toml` and the
tests; do not edit. Ids begin with the protocol version, or with `TX` for remote transports. A rule marked *seed* has to be covered,
unless it does not bind a library. A test covers a rule if its name holds the id, or a comment in it or right above it does. *Checked*
says on which side `ply check` looks at the rule, or why it cannot be seen from outside.
";

type Row<'a> = (&'a Rule, State<'a>);

/// Returns the whole page.
pub(crate) fn write(coverage: &Coverage<'_>, checks: &Checks, rules: &Rules) -> String {
    let mut page = HEAD.to_owned();
    page.push_str("\n## Summary\n");
    for (title, seed_only) in [("Seed rules", true), ("All rules", false)] {
        let rows: Vec<_> = coverage
            .rows()
            .iter()
            .filter(|(rule, _)| rule.seed || !seed_only)
            .collect();
        summary(&mut page, title, &rows);
    }
    for group in coverage
        .rows()
        .chunk_by(|(a, _), (b, _)| a.id.group() == b.id.group())
    {
        table(&mut page, group, checks, rules);
    }
    page
}

fn summary(page: &mut String, title: &str, rows: &[&Row<'_>]) {
    lines(
        page,
        &format!(
            "\n### {title}\n\n| Side | Level | Rules | Covered | Not applicable | Not covered |\n|---|---|---|---|---|---|"
        ),
    );
    for side in ["agent", "client", "both"] {
        for level in LEVELS {
            counts(page, side, level, rows, |rule| {
                rule.side == side && rule.level == level
            });
        }
    }
    counts(page, "all", "all", rows, |_| true);
}

fn counts(
    page: &mut String,
    side: &str,
    level: &str,
    rows: &[&Row<'_>],
    belongs: impl Fn(&Rule) -> bool,
) {
    let (mut covered, mut not_applicable, mut not_covered) = (0, 0, 0);
    for (_, state) in rows.iter().filter(|(rule, _)| belongs(rule)) {
        match state {
            State::Covered(_) => covered += 1,
            State::NotApplicable(_) => not_applicable += 1,
            State::NotCovered => not_covered += 1,
        }
    }
    let all = covered + not_applicable + not_covered;
    lines(
        page,
        &format!("| {side} | {level} | {all} | {covered} | {not_applicable} | {not_covered} |"),
    );
}

fn table(page: &mut String, group: &[Row<'_>], checks: &Checks, rules: &Rules) {
    let name = group.first().map_or("", |(rule, _)| rule.id.group());
    lines(
        page,
        &format!(
            "\n## {name}\n\n| Id | Level | Side | Seed | Checked | Covered by |\n|---|---|---|---|---|---|"
        ),
    );
    for (rule, state) in group {
        let seed = if rule.seed { "seed" } else { "" };
        lines(
            page,
            &format!(
                "| {} | {} | {} | {seed} | {} | {} |",
                rule.id,
                rule.level,
                rule.side,
                checked(rule, checks, rules),
                shown(state)
            ),
        );
    }
}

fn checked(rule: &Rule, checks: &Checks, rules: &Rules) -> String {
    let sides: Vec<_> = checks.sides(&rule.id).collect();
    match rules.unseen.get(&rule.id) {
        Some(reason) if sides.is_empty() => format!("not visible: {reason}"),
        _ => sides.join(", "),
    }
}

fn shown(state: &State<'_>) -> String {
    match state {
        State::Covered(tests) => {
            let mut shown = String::new();
            for test in tests.iter().take(TESTS_SHOWN_MAX) {
                if !shown.is_empty() {
                    shown.push_str(", ");
                }
                write!(shown, "`{}` ({})", test.name, test.path).expect("a string takes all text");
            }
            match tests.len().saturating_sub(TESTS_SHOWN_MAX) {
                0 => shown,
                more => format!("{shown}, +{more}"),
            }
        }
        State::NotApplicable(reason) => format!("not applicable: {reason}"),
        State::NotCovered => "not covered".to_owned(),
    }
}

fn lines(page: &mut String, text: &str) {
    page.push_str(text);
    page.push('\n');
}
