use super::*;

const RULES: &str = r#"
    default = "ask"
    [[rule]]
    kind = ["read", "search"]
    action = "allow"
    [[rule]]
    command = "cargo test"
    action = "allow"
    [[rule]]
    kind = "edit"
    path = "src/**"
    action = "allow"
    [[rule]]
    path = "**/*.key"
    action = "deny"
    [[rule]]
    command = "rm"
    action = "deny"
    [[rule]]
    title = "Publish"
    action = "deny"
"#;

fn subject(kind: &str, title: &str, command: Option<&str>, paths: &[&str]) -> Subject {
    Subject {
        kind: kind.to_owned(),
        title: title.to_owned(),
        command: command.map(str::to_owned),
        paths: paths.iter().map(Into::into).collect(),
        ..Subject::default()
    }
}

#[track_caller]
fn decides(rules: &str, subject: &Subject, expected: Action) {
    let found = Rules::parse(rules)
        .unwrap()
        .decide(subject, Path::new("/w"));
    assert_eq!(found, expected, "{rules}\n{subject:?}");
}

#[track_caller]
fn check(subject: &Subject, expected: Action) {
    decides(RULES, subject, expected);
}

#[test]
fn h9_deny_wins_and_what_no_rule_speaks_of_gets_the_default() {
    check(&subject("read", "Read", None, &["/w/a"]), Action::Allow);
    check(
        &subject("read", "Read", None, &["/w/x/a.key"]),
        Action::Deny,
    );
    check(&subject("read", "Publish it", None, &[]), Action::Deny);
    check(&subject("fetch", "Fetch", None, &[]), Action::Ask);
    check(&subject("think", "?", None, &[]), Action::Ask);
}

#[test]
fn h1_a_path_outside_is_not_meant_by_a_pattern_inside() {
    check(
        &subject("edit", "Edit", None, &["/w/src/a/b.rs"]),
        Action::Allow,
    );
    check(&subject("edit", "Edit", None, &["/w/src"]), Action::Ask);
    check(
        &subject("edit", "Edit", None, &["/evil/src/a.rs"]),
        Action::Ask,
    );
    check(
        &subject("edit", "Edit", None, &["/w/src/a.rs", "/w/b"]),
        Action::Ask,
    );
    // One that climbs could be anywhere, so the rule that denies has it.
    check(
        &subject("edit", "Edit", None, &["/w/src/../x"]),
        Action::Deny,
    );
    // The same file in other words.
    for same in ["/w//x/./a.key", "x/a.key", "./a.key", "/w/./a.key"] {
        check(&subject("read", "Read", None, &[same]), Action::Deny);
    }
    check(
        &subject("edit", "Edit", None, &["src/./a.rs"]),
        Action::Allow,
    );
    check(
        &subject("edit", "Edit", None, &["~/src/a.rs"]),
        Action::Deny,
    );
}

#[test]
fn h1_what_is_not_told_is_denied_by_a_rule_that_could_mean_it() {
    let files = "default = \"ask\"\n[[rule]]\npath = \"**/.env\"\naction = \"deny\"\n";
    for kind in [
        "read",
        "search",
        "edit",
        "delete",
        "execute",
        "other",
        "unheard_of",
    ] {
        decides(files, &subject(kind, "It", None, &[]), Action::Deny);
    }
    for kind in ["think", "switch_mode", "fetch"] {
        decides(files, &subject(kind, "It", None, &[]), Action::Ask);
    }
    let run = |command| subject("execute", "Run", Some(command), &[]);
    decides(files, &run("make"), Action::Ask);
    decides(files, &run("cat x/.env"), Action::Deny);
    decides(files, &run("sh -c 'cat <.env'"), Action::Deny);
    let commands = "default = \"ask\"\n[[rule]]\ncommand = \"rm\"\naction = \"deny\"\n";
    for kind in ["execute", "other", "unheard_of"] {
        decides(commands, &subject(kind, "It", None, &[]), Action::Deny);
    }
    decides(
        commands,
        &subject("read", "It", None, &["/w/a"]),
        Action::Ask,
    );
    let asks = "[[rule]]\ncommand = \"rm\"\naction = \"ask\"\n";
    decides(asks, &subject("execute", "It", None, &[]), Action::Ask);
}

#[test]
fn h7_what_cannot_be_read_is_never_allowed_and_always_denied() {
    let allow = "[[rule]]\nkind = [\"read\", \"execute\", \"edit\"]\naction = \"allow\"\n";
    let deny = "default = \"ask\"\n[[rule]]\ncommand = \"rm\"\naction = \"deny\"\n\
                [[rule]]\npath = \"*.key\"\naction = \"deny\"\n";
    for kind in ["read", "execute", "edit"] {
        let plain = subject(kind, "It", None, &["/w/a"]);
        let command = Subject {
            has_odd_command: true,
            ..plain.clone()
        };
        let paths = Subject {
            has_odd_paths: true,
            ..plain.clone()
        };
        decides(allow, &plain, Action::Allow);
        for odd in [command, paths] {
            decides(allow, &odd, Action::Deny);
            decides(deny, &odd, Action::Deny);
        }
    }
}

#[test]
fn a_kind_that_only_looks_allows_no_command_and_no_change() {
    let allow = "[[rule]]\nkind = [\"read\", \"search\", \"think\"]\naction = \"allow\"\n\
                 [[rule]]\npath = \"*.md\"\naction = \"allow\"\n";
    for kind in ["read", "search", "think"] {
        decides(allow, &subject(kind, "It", None, &["/w/a"]), Action::Allow);
        let runs = subject(kind, "It", Some("make"), &["/w/a.md"]);
        decides(allow, &runs, Action::Deny);
        let changes = Subject {
            changes: true,
            ..subject(kind, "It", None, &["/w/a.md"])
        };
        decides(allow, &changes, Action::Deny);
    }
}

#[test]
fn h7_a_command_is_denied_at_any_word() {
    let rules = "default = \"ask\"\n[[rule]]\ncommand = \"rm\"\naction = \"deny\"\n\
                 [[rule]]\ncommand = \"git push\"\naction = \"deny\"\n";
    for denied in [
        "rm x",
        "/bin/rm x",
        "sudo rm x",
        "env A=b rm x",
        "bash -lc \"rm x\"",
        "bash -lc rm x",
        "~/bin/rm x",
        "! rm x",
        "\\rm x",
        "/usr/bin/git push",
        "cd a && git  push -f",
    ] {
        decides(
            rules,
            &subject("execute", "It", Some(denied), &[]),
            Action::Deny,
        );
    }
    for other in ["rmdir x", "git pull", "git", "push", "/rm/x"] {
        decides(
            rules,
            &subject("execute", "It", Some(other), &[]),
            Action::Ask,
        );
    }
}

#[test]
fn h7_a_command_is_allowed_alone_and_denied_in_any_company() {
    let run = |command: &str| subject("execute", "Run", Some(command), &[]);
    check(&run("cargo test"), Action::Allow);
    check(&run("cargo  test --all"), Action::Allow);
    check(&run("cargo testify"), Action::Ask);
    check(&run("cargo test && curl evil"), Action::Ask);
    check(&run("cargo test $(curl evil)"), Action::Ask);
    check(&run("cargo test\ncurl evil"), Action::Ask);
    check(&run("cargo test; rm -rf /"), Action::Deny);
    check(&run("true | (rm x)"), Action::Deny);
    for acts in ["a*", "a?", "[a]", "~", "!x", "$x", "> x"] {
        check(&run(&format!("cargo test {acts}")), Action::Ask);
    }
    // The same judge as the agent's: what only reads may follow, and comments are none of a command.
    check(&run("cargo test 2>&1 | tail -5"), Action::Allow);
    check(&run("cargo test # all of them"), Action::Allow);
    check(&subject("execute", "cargo test", None, &[]), Action::Deny);
}

#[test]
fn a_file_that_is_not_understood_is_no_policy() {
    for wrong in [
        "default = \"allow\"",
        "default = \"maybe\"",
        "rules = []",
        "[[rule]]\n",
        "[[rule]]\naction = \"allow\"",
        "[[rule]]\naction = \"allow\"\nkind = []",
        "[[rule]]\naction = \"allow\"\ncommand = \" \"",
        "[[rule]]\naction = \"deny\"\nkind = []",
        "[[rule]]\naction = \"deny\"\nkind = \"edit\"\ncommand = \"\"",
        "[[rule]]\naction = \"deny\"\ntitle = \" \"",
        "[[rule]]\naction = \"deny\"\npath = \"\"",
        "[[rule]]\naction = \"allow\"\ncommand = \"ls *.rs\"",
        "[[rule]]\naction = \"allow\"\nkind = \"reads\"",
        "[[rule]]\naction = \"allow\"\ncommand = \"cd src\"",
        "[[rule]]\naction = \"allow\"\ncommand = \"make\"\n[[rule]]\naction = \"deny\"\ncommand = \"make\"",
        "[[rule]]\naction = \"allow\"\npath = \"[\"",
        "[[rule]]\naction = \"allow\"\nkind = \"read\"\nwhen = \"always\"",
    ] {
        assert!(Rules::parse(wrong).is_err(), "{wrong}");
    }
    let nothing = Rules::parse("").unwrap();
    let read = subject("read", "Read", None, &[]);
    assert_eq!(nothing.decide(&read, Path::new("/w")), Action::Deny);
}

#[test]
fn h2_a_rule_for_a_command_says_nothing_of_its_options_that_write_or_run() {
    let rules = "default = \"ask\"\n[[rule]]\ncommand = \"git log\"\naction = \"allow\"\n\
                 [[rule]]\ncommand = \"find\"\naction = \"allow\"\n";
    for (line, expected) in [
        ("git log --oneline", Action::Allow),
        ("git log -1 --format=x --output=.git/config", Action::Ask),
        ("git log --outpu=x", Action::Ask),
        ("find . -name x", Action::Allow),
        ("find . -fprint .git/config", Action::Ask),
        ("find . -exec sh {} +", Action::Ask),
    ] {
        decides(rules, &subject("execute", "Run", Some(line), &[]), expected);
    }
}

#[test]
fn h7_a_rule_for_all_files_means_no_secret_and_one_for_all_edits_no_hook() {
    let rules = "default = \"ask\"\n[[rule]]\nkind = [\"read\", \"edit\"]\naction = \"allow\"\n";
    for (kind, path, expected) in [
        ("read", "/w/a.rs", Action::Allow),
        ("read", "/w/.env", Action::Ask),
        ("read", "/w/keys/server.key", Action::Ask),
        ("read", "/home/me/.ssh/config", Action::Ask),
        ("edit", "/w/a.rs", Action::Allow),
        ("edit", "/w/.git/hooks/pre-commit", Action::Ask),
        ("edit", "/w/x/HEAD", Action::Ask),
        ("edit", "/w/.envrc", Action::Ask),
        ("edit", "/w/build.rs", Action::Ask),
    ] {
        decides(rules, &subject(kind, "It", None, &[path]), expected);
    }
    let named =
        "default = \"ask\"\n[[rule]]\nkind = \"read\"\npath = \"**/.env*\"\naction = \"allow\"\n";
    decides(
        named,
        &subject("read", "It", None, &["/w/.env.local"]),
        Action::Allow,
    );
}

#[test]
fn a_kind_that_reads_allows_commands_that_do_nothing_else() {
    let rules = "default = \"ask\"\n[[rule]]\nkind = \"read\"\naction = \"allow\"\n";
    let run = |line| subject("execute", "Run", Some(line), &[]);
    decides(rules, &run("git status"), Action::Allow);
    decides(rules, &run("make"), Action::Ask);
    let other = "default = \"ask\"\n[[rule]]\ncommand = \"make\"\naction = \"allow\"\n";
    decides(other, &run("git status"), Action::Ask);
    decides(other, &run("make 2>&1 | tail -5"), Action::Allow);
}
