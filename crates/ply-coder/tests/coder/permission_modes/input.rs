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
fn input_for_a_process_that_may_do_more_is_asked_about_in_every_mode() {
    check(&[], "beyond rm -rf x", [D, Q, Q, Q]);
    check(&["shell(*)"], "beyond rm x", [D, Q, Q, Q]);
}

#[test]
fn a_question_about_input_names_the_command_and_the_text() {
    let asked = permissions(&[]).decide(Mode::Ask, &[access("input echo `id`\n")]);
    let Verdict::Ask(question) = asked else {
        panic!("it asks");
    };
    assert_eq!(question.title, "Send `` echo `id`⏎ `` to `p1`");
    assert!(question.description.starts_with("`p1` runs `bash -i`.\n"));
    assert!(question.remember.is_empty());
}

#[test]
fn a_server_with_a_slash_in_its_name_can_be_denied() {
    check(&["-mcp(a/b/c)"], "mcp a/b c", [D, D, D, D]);
    check(&["-mcp(a/b/c)"], "mcp a b/c", [D, D, D, D]);
    check(&["-mcp(a/b/*)"], "mcp a/b x", [D, D, D, D]);
    check(&["-mcp(a/*)"], "mcp a/b x", [D, Q, Q, Q]);
    Rule::parse(Decision::Allow, "mcp(a/b/c)").unwrap_err();
}

#[test]
fn h6_a_question_about_a_tool_shows_all_that_it_is_called_with() {
    let call = ply_coder::tool::Access::Mcp {
        server: "files".to_owned(),
        tool: "send".to_owned(),
        arguments: format!(
            "{{\n  \"to\": \"x\u{202e}``` y\",\n  \"body\": \"{}\"\n}}",
            "a".repeat(5000)
        ),
        version: "0".repeat(32),
    };
    let Verdict::Ask(question) = permissions(&[]).decide(Mode::Ask, &[call]) else {
        panic!("it asks");
    };
    assert_eq!(question.title, "Call `files/send`");
    assert!(question.description.contains(&"a".repeat(5000)));
    assert!(
        question.description.contains("\"to\": \"x\\u{202e}``` y\""),
        "{}",
        question.description
    );
    assert!(question.description.starts_with("With:\n````\n{\n"));
    let labels: Vec<&str> = question
        .remember
        .iter()
        .map(|it| it.label.as_str())
        .collect();
    assert_eq!(
        labels[0],
        "Always allow `send` of `files`, as it is now, in this session"
    );
}

#[test]
fn a_question_says_things_once() {
    for (what, description) in [
        (
            "shell make",
            "It runs other programs or code of the project.",
        ),
        ("write /p/a", "It changes a file of the project."),
        ("delete /p/a", "It takes a file away."),
    ] {
        let Verdict::Ask(question) = permissions(&[]).decide(Mode::Ask, &[access(what)]) else {
            panic!("it asks");
        };
        assert_eq!(question.description, description, "{what}");
    }
    let both = [access("delete /p/a"), access("delete /p/b")];
    let Verdict::Ask(question) = permissions(&[]).decide(Mode::Ask, &both) else {
        panic!("it asks");
    };
    let expected = "Delete `/p/a`.\nDelete `/p/b`.\nIt takes a file away.";
    assert_eq!(question.description, expected);
}
