//! The corpus of command lines.
use std::path::PathBuf;

use ply_coder::permission::{Decision, Effect, Mode, Permissions, Rule, Scope, Stores, Verdict};
use ply_coder::tool::Access;

const CORPUS: &str = include_str!("permission_shell.txt");

/// How many lines the corpus has at least.
const CASES_MIN: usize = 300;

struct Case {
    number: usize,
    mode: Mode,
    expected: String,
    rules: Vec<Rule>,
    line: String,
}

fn cases() -> Vec<Case> {
    let written = |line: &&(usize, &str)| !line.1.starts_with('#') && !line.1.trim().is_empty();
    CORPUS
        .lines()
        .enumerate()
        .collect::<Vec<_>>()
        .iter()
        .filter(written)
        .map(|(number, text)| case(number + 1, text))
        .collect()
}

fn case(number: usize, text: &str) -> Case {
    let mut columns = text.splitn(3, ":: ");
    let mut next = || {
        columns
            .next()
            .unwrap_or_else(|| panic!("line {number} has too few columns"))
    };
    let (verdict, rules, line) = (next().trim(), next(), next());
    let (mode, expected) = match verdict.split_once(' ') {
        Some(("full", expected)) => (Mode::Full, expected),
        Some(("plan", expected)) => (Mode::Plan, expected),
        _ => (Mode::Ask, verdict),
    };
    let rules = rules
        .split(';')
        .map(str::trim)
        .filter(|rule| !rule.is_empty())
        .map(|rule| {
            let (decision, words) = match rule.split_at(1) {
                ("-", words) => (Decision::Deny, words),
                ("?", words) => (Decision::Ask, words),
                _ => (Decision::Allow, rule),
            };
            Rule::parse(decision, &format!("shell({words})"))
                .unwrap_or_else(|error| panic!("line {number}: {error}"))
        })
        .collect();
    Case {
        number,
        mode,
        expected: expected.to_owned(),
        rules,
        line: unescaped(line),
    }
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '␊' => out.push('\n'),
            '␍' => out.push('\r'),
            '␉' => out.push('\t'),
            '␀' => out.push('\0'),
            '⟨' => {
                let digits: String = rest.by_ref().take_while(|c| *c != '⟩').collect();
                out.push(char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap());
            }
            c => out.push(c),
        }
    }
    out
}

fn permissions(rules: Vec<Rule>) -> Permissions {
    Permissions::new(vec![PathBuf::from("/p")], rules, Stores::default())
}

fn shell(line: &str) -> [Access; 1] {
    [Access::Shell {
        command: line.to_owned(),
        cwd: PathBuf::from("/p"),
    }]
}

fn words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Allow => "allow".to_owned(),
        Verdict::Deny(_) => "deny".to_owned(),
        Verdict::Ask(question) => match question.remember.as_slice() {
            [] => "ask".to_owned(),
            [one, ..] => format!("offer {}", one.rule),
        },
    }
}

#[test]
fn h7_every_line_of_the_corpus_gets_its_verdict() {
    let mut wrong = Vec::new();
    for case in cases() {
        let verdict = permissions(case.rules).decide(case.mode, &shell(&case.line));
        let found = words(&verdict);
        if found != case.expected {
            wrong.push(format!(
                "line {}: {:?} is {found}, not {}",
                case.number, case.line, case.expected
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn h7_the_corpus_is_large_and_has_all_sides() {
    let cases = cases();
    let count = |verdict: &str| {
        cases
            .iter()
            .filter(|case| case.expected.starts_with(verdict))
            .count()
    };
    assert!(cases.len() >= CASES_MIN, "{} cases", cases.len());
    assert!(count("allow") >= 80, "{} allowed", count("allow"));
    assert!(count("deny") >= 20, "{} denied", count("deny"));
    assert!(count("offer") >= 30, "{} offered", count("offer"));
}

#[test]
fn a_kept_offer_spares_the_same_question() {
    for case in cases() {
        let permissions = permissions(case.rules);
        let access = shell(&case.line);
        let Verdict::Ask(question) = permissions.decide(case.mode, &access) else {
            continue;
        };
        let Some(one) = question.remember.first() else {
            continue;
        };
        assert_eq!(one.scope, Scope::Session);
        permissions.remember(one.scope, one.rule.clone()).unwrap();
        let verdict = permissions.decide(case.mode, &access);
        assert_eq!(
            verdict,
            Verdict::Allow,
            "line {}: {:?}",
            case.number,
            case.line
        );
    }
}

#[test]
fn h7_no_line_is_allowed_in_ask_mode_without_rules_unless_it_only_looks() {
    for case in cases() {
        let verdict = permissions(Vec::new()).decide(Mode::Ask, &shell(&case.line));
        if verdict == Verdict::Allow {
            let rest = case
                .line
                .split_once("cd ")
                .and_then(|(_, rest)| rest.split_once("&&"));
            let line = rest.map_or(case.line.as_str(), |(_, rest)| rest);
            let effect = Effect::of(line);
            assert_eq!(effect, Ok(Effect::Reads), "line {}: {line:?}", case.number);
        }
    }
}

#[test]
fn long_and_deep_lines_are_asked_about() {
    let rules = || vec![Rule::parse(Decision::Allow, "shell(cargo test *)").unwrap()];
    let lines = [
        format!("cargo test {}", "x".repeat(20_000)),
        format!("cargo test {}", "x ".repeat(9_000)),
        format!("{}cargo test{}", "(".repeat(5_000), ")".repeat(5_000)),
        format!("cargo test {}{}", "$(".repeat(5_000), ")".repeat(5_000)),
        format!("cargo test \"{}\"", "${".repeat(5_000)),
        "cargo test;".repeat(100),
    ];
    for line in lines {
        let verdict = permissions(rules()).decide(Mode::Ask, &shell(&line));
        assert_eq!(words(&verdict), "ask", "{}", &line[..40]);
    }
}

#[test]
fn j2_a_question_shows_the_whole_line_and_nothing_that_deceives() {
    let line = format!("echo {} \u{202e}; rm -rf / `x`\n", "a".repeat(300));
    let Verdict::Ask(question) = permissions(Vec::new()).decide(Mode::Ask, &shell(&line)) else {
        panic!("it asks");
    };
    assert!(question.description.contains("\\u{202e}; rm -rf / `x`⏎"));
    assert!(!question.description.contains('\u{202e}'));
    assert!(question.title.chars().count() < 120);
    assert!(question.title.ends_with("…`"));
}

#[test]
fn a_choice_says_what_it_keeps() {
    let stores = Stores {
        user: Some(PathBuf::from("/nowhere/rules.toml")),
        project: Some(PathBuf::from("/p")),
        ..Stores::default()
    };
    let permissions = Permissions::new(vec![PathBuf::from("/p")], Vec::new(), stores);
    let Verdict::Ask(question) = permissions.decide(Mode::Ask, &shell("cargo test --lib")) else {
        panic!("it asks");
    };
    let labels: Vec<&str> = question
        .remember
        .iter()
        .map(|one| one.label.as_str())
        .collect();
    assert_eq!(
        labels,
        [
            "Always allow `cargo test …` in this session",
            "Always allow `cargo test …` in this project"
        ]
    );
}

#[test]
fn a_command_outside_of_the_roots_is_asked_about_whatever_is_allowed() {
    let rules = vec![Rule::parse(Decision::Allow, "shell(cargo test *)").unwrap()];
    let access = [Access::Shell {
        command: "cargo test".to_owned(),
        cwd: PathBuf::from("/elsewhere"),
    }];
    assert_eq!(words(&permissions(rules).decide(Mode::Ask, &access)), "ask");
}
