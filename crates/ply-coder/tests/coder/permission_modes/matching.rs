//! What rules match, and their texts.

use ply_coder::permission::{Decision, Mode, Rule, Verdict};

use super::{A, D, Q, access, check, permissions};

#[test]
fn rules_for_paths_match_whole_names() {
    check(&["write(src/**)"], "write /p/src/a/b.rs", [D, A, A, A]);
    check(&["write(src/**)"], "write /q/src/a.rs", [D, A, A, A]);
    check(&["write(src/*)"], "write /p/src/a/b.rs", [D, Q, A, A]);
    check(&["write(src/*.rs)"], "write /p/src/a.rs", [D, A, A, A]);
    check(&["write(src)"], "write /p/src/a.rs", [D, Q, A, A]);
    check(&["write(src/**)"], "write /p/srcs/a.rs", [D, Q, A, A]);
    check(&["write(src/**)"], "write /x/src/a.rs", [D, Q, Q, Q]);
    check(&["write(**)"], "write /etc/hosts", [D, Q, Q, Q]);
    check(&["write(/tmp/out/**)"], "write /tmp/out/a", [D, A, A, A]);
    check(&["write(/tmp/out/**)"], "write /tmp/outer/a", [D, Q, Q, Q]);
    check(&["write(src/**)"], "delete /p/src/a.rs", [D, Q, Q, A]);
    check(&["delete(target/**)"], "delete /p/target/x", [D, A, A, A]);
    check(&["delete(*)"], "delete /p/a/b", [D, A, A, A]);
    check(&["delete(*)"], "delete /p", [D, Q, Q, Q]);
    check(
        &["read(/usr/include/**)"],
        "read /usr/include/a.h",
        [D, A, A, A],
    );
    check(&["read(src/**)"], "write /p/src/a.rs", [D, Q, A, A]);
}

#[test]
fn fetch_rules_match_hosts_as_the_client_reads_them() {
    let docs = &["fetch(docs.rs)"];
    check(docs, "fetch https://docs.rs/tokio", [D, A, A, A]);
    check(docs, "fetch https://DOCS.rs", [D, A, A, A]);
    check(docs, "fetch docs.rs", [D, A, A, A]);
    check(docs, "fetch https://docs.rs:443/x", [D, A, A, A]);
    for address in [
        "http://docs.rs/x",
        "https://docs.rs:8443/x",
        "https://docs.rs@evil.example/",
        "https://docs.rs.evil.example/",
        "https://evil.example/docs.rs",
        "https://evil.example#docs.rs",
        "https://evil.example\\@docs.rs/",
        "https://user@docs.rs/",
        "https://sub.docs.rs/",
        "https://xdocs.rs/",
        "ftp://docs.rs/",
        "file:///docs.rs",
        "javascript://docs.rs/%0aalert(1)",
        "docs.rs/x",
        "https:docs.rs",
    ] {
        check(docs, &format!("fetch {address}"), [D, Q, Q, Q]);
    }
    check(
        &["fetch(*.rust-lang.org)"],
        "fetch https://doc.rust-lang.org/",
        [D, A, A, A],
    );
    check(
        &["fetch(*.rust-lang.org)"],
        "fetch https://rust-lang.org/",
        [D, Q, Q, Q],
    );
    check(
        &["fetch(*.rust-lang.org)"],
        "fetch https://evilrust-lang.org/",
        [D, Q, Q, Q],
    );
    check(
        &["fetch(localhost:3000)"],
        "fetch http://localhost:3000/x",
        [D, A, A, A],
    );
    check(
        &["fetch(localhost:3000)"],
        "fetch http://localhost:3001/x",
        [D, D, D, D],
    );
    check(
        &["fetch(*)"],
        "fetch https://anything.example/",
        [D, A, A, A],
    );
    // This machine and its network are meant only by their names.
    check(&["fetch(*)"], "fetch http://localhost:3000/", [D, D, D, D]);
    check(&["fetch(*)"], "fetch https://10.0.0.1/", [D, D, D, D]);
    check(&["fetch(nas.lan)"], "fetch http://nas.lan/x", [D, A, A, A]);
    check(&["fetch(*.lan)"], "fetch http://nas.lan/x", [D, A, A, A]);
}

#[test]
fn h6_a_rule_for_a_tool_as_it_is_described_ends_with_the_description() {
    let same = format!("mcp(github/search#{})", "0".repeat(32));
    let other = format!("mcp(github/search#{})", "1".repeat(32));
    check(&[&same], "mcp github search", [D, A, A, A]);
    check(&[&other], "mcp github search", [D, Q, Q, Q]);
}

#[test]
fn brackets_in_a_path_are_names() {
    check(
        &["write(app/[id]/page.tsx)"],
        "write /p/app/[id]/page.tsx",
        [D, A, A, A],
    );
    check(
        &["write(app/[id]/page.tsx)"],
        "write /p/app/i/page.tsx",
        [D, Q, A, A],
    );
    check(&["write(app/{a,b}.rs)"], "write /p/app/a.rs", [D, Q, A, A]);
}

#[test]
fn mcp_rules_match_server_and_tool() {
    check(&["mcp(github/search)"], "mcp github search", [D, A, A, A]);
    check(&["mcp(github/search)"], "mcp github delete", [D, Q, Q, Q]);
    check(&["mcp(github/*)"], "mcp github delete", [D, A, A, A]);
    check(&["mcp(github/*)"], "mcp github2 delete", [D, Q, Q, Q]);
    check(&["mcp(*)"], "mcp any tool", [D, A, A, A]);
}

#[test]
fn texts_that_are_no_rules_say_what_is_wrong() {
    let wrong = [
        ("", "a rule looks like"),
        ("shell", "a rule looks like"),
        ("shell()", "a rule looks like"),
        ("shell(ls", "a rule looks like"),
        ("run(ls)", "no such kind"),
        ("Shell(ls)", "no such kind"),
        ("shell(a && b)", "one plain command"),
        ("shell(a; b)", "one plain command"),
        ("shell(a > b)", "one plain command"),
        ("shell(a $(b))", "one plain command"),
        ("shell(a $B)", "one plain command"),
        ("shell(A=b c)", "one plain command"),
        ("shell(a # b)", "one plain command"),
        ("shell(a 'b)", "one plain command"),
        ("shell(if)", "one plain command"),
        ("shell(a &)", "one plain command"),
        ("shell(a * b)", "stands alone and last"),
        ("shell(a b*)", "stands alone and last"),
        ("shell(*a)", "stands alone and last"),
        ("read(~/x)", "without `..` and `~`"),
        ("read(../x)", "without `..` and `~`"),
        ("write(a**/b)", "between slashes"),
        ("fetch(https://docs.rs)", "a host"),
        ("fetch(docs.rs/x)", "a host"),
        ("fetch(*docs.rs)", "a host"),
        ("fetch(*.)", "a host"),
        ("mcp(server)", "a server"),
        ("mcp(/tool)", "a server"),
        ("mcp(server/)", "a server"),
        (
            "mcp(server/*#00112233445566778899aabbccddeeff)",
            "only a rule that allows one tool",
        ),
        ("shell(cd *)", "cannot allow `cd`"),
        ("shell(/bin/pushd x)", "cannot allow `cd`"),
        ("write(src/)", "allows no file"),
        ("shell(ls \u{202e})", "deceive"),
        ("shell(ls\nrm)", "deceive"),
    ];
    for (text, words) in wrong {
        let error = Rule::parse(Decision::Allow, text).unwrap_err().to_string();
        assert!(error.contains(words), "{text:?}: {error}");
    }
    assert!(Rule::parse(Decision::Allow, &format!("shell({})", "x".repeat(2000))).is_err());
}

#[test]
fn rules_are_shown_as_they_are_written() {
    for text in [
        "shell(cargo test *)",
        "shell(git status)",
        "shell(*)",
        "shell(git commit -m 'a b')",
        "shell(rg '*')",
        "write(src/**)",
        "read(**/.env)",
        "delete(*)",
        "fetch(docs.rs)",
        "fetch(*.rust-lang.org)",
        "mcp(server/tool)",
        "mcp(server/*)",
        "mcp(server/tool#00112233445566778899aabbccddeeff)",
        "write(app/[id]/{page}.tsx)",
    ] {
        assert_eq!(
            Rule::parse(Decision::Allow, text).unwrap().to_string(),
            text
        );
    }
}

#[test]
fn a_question_names_the_rules_behind_it_and_always_one_that_may_deny() {
    #[track_caller]
    fn check(rules: &[&str], expected: &[&str]) {
        let access = [access("shell $X push; git log")];
        let verdict = permissions(rules).decide(Mode::Full, &access);
        let Verdict::Ask(question) = verdict else {
            panic!("{verdict:?} with {rules:?}");
        };
        let reason = question.description.lines().last().unwrap_or_default();
        let named: Vec<&str> = reason.split_inclusive(". ").map(str::trim).collect();
        assert_eq!(named, expected, "{rules:?}");
    }
    let asks = "Your rule to ask about `shell(git log)` applies.";
    let may_deny = "Your rule that denies `shell(rm *)` may apply.";
    let may_ask = "Your rule to ask about `shell(curl *)` may apply.";
    check(&["?shell(git log)"], &[asks]);
    check(&["?shell(curl *)"], &[may_ask]);
    check(&["?shell(curl *)", "-shell(rm *)"], &[may_deny]);
    check(&["-shell(rm *)", "?shell(git log)"], &[asks, may_deny]);
    check(&["?shell(curl *)", "?shell(git log)"], &[asks]);
}
