//! Input for processes in the background, and rules for MCP servers with slashes.

use ply_coder::permission::{Decision, Mode, Rule, Verdict};

use super::{A, D, Q, access, check, permissions};

#[test]
fn no_rule_allows_input_and_rules_for_commands_may_concern_it() {
    check(&[], "input rm -rf x", [D, Q, Q, A]);
    check(&["shell(*)", "shell(rm *)"], "input rm x", [D, Q, Q, A]);
    check(&["-shell(rm *)"], "input r''m x", [D, Q, Q, Q]);
    check(&["?shell(rm *)"], "input r''m x", [D, Q, Q, Q]);
    check(&["-write(src/**)"], "input x", [D, Q, Q, A]);
}

#[test]
fn a_question_about_input_names_the_command_and_the_text() {
    let asked = permissions(&[]).decide(Mode::Ask, &[access("input echo `id`\n")]);
    let Verdict::Ask(question) = asked else {
        panic!("it asks");
    };
    assert_eq!(question.title, "Send `` echo `id`⏎ `` to `p1`");
    assert!(
        question
            .description
            .starts_with("Send `` echo `id`⏎ `` to `p1`, which runs `bash -i`.")
    );
    assert!(question.remember.is_empty());
}

#[test]
fn a_server_with_a_slash_in_its_name_can_be_denied() {
    check(&["-mcp(a/b/c)"], "mcp a/b c", [D, D, D, D]);
    check(&["-mcp(a/b/c)"], "mcp a b/c", [D, D, D, D]);
    check(&["-mcp(a/b/*)"], "mcp a/b x", [D, D, D, D]);
    check(&["-mcp(a/*)"], "mcp a/b x", [D, Q, Q, A]);
    Rule::parse(Decision::Allow, "mcp(a/b/c)").unwrap_err();
}
