//! Modes, kinds and places; what wins over what.

use ply_coder::permission::{Mode, Verdict};
use ply_coder::tool::Access;

use super::{A, D, Q, access, check, permissions, word};

#[test]
fn every_mode_decides_about_every_kind_and_place_as_the_table_says() {
    let table = [
        ("read /p/src/a.rs", [A, A, A, A]),
        ("read /p", [A, A, A, A]),
        ("read /q/a", [A, A, A, A]),
        ("read /p/.git/config", [A, A, A, A]),
        ("read /p/.github/workflows/ci.yml", [A, A, A, A]),
        ("read /p/.env", [Q, Q, Q, Q]),
        ("read /p/a/server.pem", [Q, Q, Q, Q]),
        ("read /p/.ply/x", [Q, Q, Q, Q]),
        ("read /p/.ply/skills/x/SKILL.md", [A, A, A, A]),
        ("read /p/.ply/skills/.env", [Q, Q, Q, Q]),
        ("read /etc/hosts", [D, Q, Q, A]),
        ("read /pp/a", [D, Q, Q, A]),
        ("read /home/u/.ssh/id_rsa", [D, Q, Q, Q]),
        ("read /nowhere/ply/config.toml", [D, Q, Q, Q]),
        ("write /p/src/a.rs", [D, Q, A, A]),
        ("write /q/a", [D, Q, A, A]),
        ("write /p/.git/hooks/pre-commit", [D, Q, Q, Q]),
        ("write /p/sub/.git/config", [D, Q, Q, Q]),
        ("write /p/.env", [D, Q, Q, Q]),
        ("write /p/.ply/rules.toml", [D, Q, Q, Q]),
        ("write /p/.vscode/tasks.json", [D, Q, Q, Q]),
        ("write /p/.envrc", [D, Q, Q, Q]),
        ("write /p/.bashrc", [D, Q, Q, Q]),
        ("write /p/.github/workflows/ci.yml", [D, Q, Q, Q]),
        ("write /p/.github/dependabot.yml", [D, Q, A, A]),
        ("write /etc/hosts", [D, Q, Q, Q]),
        ("write /pp/a", [D, Q, Q, Q]),
        ("write /nowhere/ply/rules.toml", [D, Q, Q, Q]),
        ("delete /p/src/a.rs", [D, Q, Q, A]),
        ("delete /p/.git", [D, Q, Q, Q]),
        ("delete /p/.env", [D, Q, Q, Q]),
        ("delete /p", [D, Q, Q, Q]),
        ("delete /", [D, Q, Q, Q]),
        ("delete /etc/hosts", [D, Q, Q, Q]),
        ("shell cargo test", [D, Q, Q, A]),
        ("shell ls", [D, A, A, A]),
        ("shell ls .env", [D, Q, Q, A]),
        ("fetch https://docs.rs/x", [D, Q, Q, Q]),
        ("fetch http://127.0.0.1/x", [D, D, D, D]),
        ("fetch http://169.254.169.254/x", [D, D, D, D]),
        ("mcp server tool", [D, Q, Q, Q]),
    ];
    for (what, expected) in table {
        check(&[], what, expected);
    }
}

#[test]
fn deny_wins_over_ask_and_ask_over_allow() {
    check(
        &["write(**)", "-write(src/**)"],
        "write /p/src/a",
        [D, D, D, D],
    );
    check(
        &["-write(src/**)", "?write(**)", "write(src/a)"],
        "write /p/src/a",
        [D, D, D, D],
    );
    check(
        &["?write(src/**)", "write(src/a)"],
        "write /p/src/a",
        [D, Q, Q, Q],
    );
    check(&["?read(docs/**)"], "read /p/docs/a", [Q, Q, Q, Q]);
    check(&["-read(docs/**)"], "read /p/docs/a", [D, D, D, D]);
    check(
        &["-read(**/.env)", "read(**/.env)"],
        "read /p/.env",
        [D, D, D, D],
    );
    check(&["-mcp(s/*)", "mcp(s/t)"], "mcp s t", [D, D, D, D]);
    check(
        &["-fetch(evil.example)", "fetch(*)"],
        "fetch https://evil.example/x",
        [D, D, D, D],
    );
    check(&["?fetch(*)"], "fetch https://docs.rs", [D, Q, Q, Q]);
    check(&["-shell(*)"], "shell pwd", [D, D, D, D]);
}

#[test]
fn what_restricts_reaches_farther_than_what_allows() {
    // A folder stands for everything in it, and stars at the beginning for any place.
    check(&["-read(private)"], "read /p/private/a/b", [D, D, D, D]);
    check(
        &["-read(**/private)"],
        "read /elsewhere/private/a",
        [D, D, D, D],
    );
    check(&["-write(*)"], "write /etc/hosts", [D, D, D, D]);
    check(&["-read(/etc)"], "read /etc/hosts", [D, D, D, D]);
    // Who may not change a file may not delete it.
    check(&["-write(src/**)"], "delete /p/src/a", [D, D, D, D]);
    check(&["-write(src/a/b)"], "delete /p/src", [D, Q, Q, Q]);
    check(&["-write(src/a/b)"], "delete /p/srcs", [D, Q, Q, A]);
    check(
        &["-fetch(evil.example)"],
        "fetch https://sub.evil.example:8443/x",
        [D, D, D, D],
    );
    check(
        &["-fetch(evil.example)"],
        "fetch http://EVIL.example./",
        [D, D, D, D],
    );
    check(
        &["-fetch(evil.example)"],
        "fetch https://notevil.example/",
        [D, Q, Q, Q],
    );
    check(
        &["-fetch(evil.example)"],
        "fetch what is this",
        [D, Q, Q, Q],
    );
    // A command whose words may hide it is asked about, also inside a line that looks at a file.
    check(&["-read(src/**)"], "shell ls src/a", [D, Q, Q, A]);
}

#[test]
fn a_call_needs_permission_for_all_that_it_does() {
    let permissions = permissions(&["-write(locked)"]);
    let decide = |mode, all: &[&str]| {
        let all: Vec<Access> = all.iter().map(|one| access(one)).collect();
        permissions.decide(mode, &all)
    };
    assert_eq!(decide(Mode::Plan, &[]), Verdict::Allow);
    assert_eq!(
        decide(Mode::AutoEdit, &["read /p/a", "write /p/b"]),
        Verdict::Allow
    );
    assert_eq!(
        word(&decide(Mode::AutoEdit, &["write /p/b", "delete /p/a"])),
        Q
    );
    assert_eq!(
        word(&decide(Mode::AutoEdit, &["delete /p/a", "write /p/locked"])),
        D
    );
    let Verdict::Ask(question) = decide(Mode::Ask, &["write /p/a", "write /p/b"]) else {
        panic!("it asks");
    };
    assert!(
        question.remember.is_empty(),
        "one answer keeps no two rules"
    );
    assert!(question.description.contains("/p/a") && question.description.contains("/p/b"));
}

#[test]
fn modes_have_names_that_read_back() {
    for mode in Mode::ALL {
        assert_eq!(Mode::from_id(mode.id()), Some(mode));
        assert!(!mode.name().is_empty() && mode.description().ends_with('.'));
    }
    assert_eq!(
        Mode::ALL.map(Mode::id),
        ["plan", "ask", "auto-edit", "full"]
    );
    assert_eq!(Mode::from_id("Full"), None);
}
