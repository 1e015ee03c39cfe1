//! What each mode allows, where.
mod guards;
mod input;
mod matching;
mod offers;
mod table;
mod walks;

use std::path::PathBuf;

use ply_coder::permission::{Decision, Mode, Permissions, Rule, Stores, Verdict};
use ply_coder::tool::Access;

const A: &str = "allow";
const Q: &str = "ask";
const D: &str = "deny";

fn rules(texts: &[&str]) -> Vec<Rule> {
    texts
        .iter()
        .map(|text| match text.split_at(1) {
            ("-", rest) => Rule::parse(Decision::Deny, rest).unwrap(),
            ("?", rest) => Rule::parse(Decision::Ask, rest).unwrap(),
            _ => Rule::parse(Decision::Allow, text).unwrap(),
        })
        .collect()
}

fn permissions(texts: &[&str]) -> Permissions {
    // The folder is not there, so there is nothing in it that could be read.
    let stores = Stores {
        user: Some(PathBuf::from("/nowhere/ply/rules.toml")),
        project: Some(PathBuf::from("/p")),
        ..Stores::default()
    };
    Permissions::new(
        vec![PathBuf::from("/p"), PathBuf::from("/q")],
        rules(texts),
        stores,
    )
}

fn access(text: &str) -> Access {
    let (kind, what) = text.split_once(' ').unwrap();
    match kind {
        "read" => Access::Read(what.into()),
        "write" => Access::Write(what.into()),
        "delete" => Access::Delete(what.into()),
        "fetch" => Access::Fetch(what.to_owned()),
        "shell" => Access::Shell {
            command: what.to_owned(),
            cwd: "/p".into(),
        },
        "input" | "beyond" => Access::Input {
            beyond: kind == "beyond",
            process: "p1".to_owned(),
            command: "bash -i".to_owned(),
            text: what.to_owned(),
        },
        "mcp" => {
            let (server, tool) = what.split_once(' ').unwrap();
            Access::Mcp {
                server: server.to_owned(),
                tool: tool.to_owned(),
                arguments: "{}".to_owned(),
                version: "0".repeat(32),
            }
        }
        kind => panic!("{kind} is no access"),
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => A,
        Verdict::Ask(_) => Q,
        Verdict::Deny(_) => D,
    }
}

/// Checks an access in plan, ask, auto-edit and full mode.
#[track_caller]
fn check(rules: &[&str], what: &str, expected: [&str; 4]) {
    let permissions = permissions(rules);
    let found = Mode::ALL.map(|mode| word(&permissions.decide(mode, &[access(what)])));
    assert_eq!(found, expected, "{what} with {rules:?}");
}
