//! Questions about a tool call that the transcript knows, and the request only names.

use super::*;

/// A question as agents ask it that said before what they will do: the id of the call alone.
fn ask_by_id(app: &mut App) {
    let subject = json!({"type": "tool_call", "toolCall": {"toolCallId": "t1"}});
    let mut question = permission("Write src/k.txt", subject);
    if let crate::app::event::Question::Permission(request) = &mut question {
        request.description = Some("It changes a file of the project.".to_owned());
    }
    tell(app, Event::Ask(TabId(1), AskId(1), question));
}

/// Returns what was told of a call that changes a line of a file.
fn edit(old: &str, new: &str) -> serde_json::Value {
    json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "t1", "title": "Write src/k.txt", "kind": "edit",
        "rawInput": {"path": "/project/src/k.txt"},
        "content": [{
            "type": "diff",
            "changes": [{"operation": "modify", "path": "/project/src/k.txt"}],
            "patch": {"format": "git_patch", "text":
                format!("--- a/src/k.txt\n+++ b/src/k.txt\n@@ -3,1 +3,1 @@\n-{old}\n+{new}\n")}
        }]
    })
}

#[test]
fn a_question_that_names_its_call_counts_the_diff_of_the_call() {
    for (columns, rows) in [(80, 9), (80, 16), (40, 9), (20, 6)] {
        let mut app = ready();
        let told = told(json!([edit("before", "after")]));
        ask_by_id(&mut app);
        let first = screen(&mut app, &told, columns, rows);
        tell(&mut app, Event::Tick(10_000));
        let is_whole = first.contains("before") && first.contains("after");
        if !is_whole {
            assert!(first.contains("PgDn"), "what is cut is marked:\n{first}");
            assert_eq!(press(&mut app, "1<tab>1<enter><tab>"), [], "{first}");
        }
        let read = read_question(&mut app, &told, columns, rows);
        for part in ["Write src/k.txt", "before", "after"] {
            assert!(read.contains(part), "{part} at {columns}×{rows}:\n{read}");
        }
        let chosen = Action::Select(AskId(1), "yes".to_owned().into());
        assert_eq!(press(&mut app, "1"), [chosen], "{columns}×{rows}");
    }
}

#[test]
fn a_diff_is_on_the_screen_once_while_it_is_asked_about() {
    let mut app = ready();
    let told = told(json!([edit("before", "after")]));
    assert!(screen(&mut app, &told, 80, 24).contains("before"));
    ask_by_id(&mut app);
    let shown = screen(&mut app, &told, 80, 24);
    assert_eq!(shown.matches("before").count(), 1, "{shown}");
    tell(&mut app, Event::AskClosed(AskId(1)));
    assert!(screen(&mut app, &told, 80, 24).contains("before"));
}

#[test]
fn a_file_that_the_title_names_is_not_named_again() {
    let mut app = ready();
    let told = told(json!([edit("before", "after")]));
    ask_by_id(&mut app);
    let shown = screen(&mut app, &told, 80, 24);
    assert!(shown.contains("│ Write src/k.txt +1 -1 "), "{shown}");
    assert!(!shown.contains("│ src/k.txt"), "{shown}");
}

#[test]
fn a_narrow_screen_says_first_that_somebody_waits_and_how_to_go_on() {
    let mut app = ready();
    press(&mut app, "go<enter>");
    let told = told(json!([edit("before", "after")]));
    ask_by_id(&mut app);
    let shown = screen(&mut app, &told, 20, 6);
    assert!(shown.contains("PgDn shows the res…"), "{shown}");
    assert!(shown.contains("needs you (1)"), "{shown}");
    press(&mut app, "1");
    let shown = screen(&mut app, &told, 20, 6);
    assert!(shown.contains("! PgDn shows the …"), "{shown}");
}

#[test]
fn a_change_of_a_few_lines_is_answered_without_scrolling() {
    let mut app = ready();
    let lines = ["one", "two", "three", "four"].map(|word| format!("{word} after"));
    let edit = edit("before\n-before\n-before", &lines.join("\n+")).to_string();
    let edit = edit.replace("@@ -3,1 +3,1 @@", "@@ -3,3 +3,4 @@");
    let told = told(serde_json::from_str(&format!("[{edit}]")).unwrap());
    ask_by_id(&mut app);
    screen(&mut app, &told, 80, 24);
    tell(&mut app, Event::Tick(10_000));
    let shown = screen(&mut app, &told, 80, 24);
    assert!(shown.contains("four after"), "{shown}");
    assert!(shown.contains("1–9 answer"), "{shown}");
}

#[test]
fn a_question_that_names_its_call_shows_the_command_and_the_arguments_of_the_call() {
    let call = |input: serde_json::Value| {
        told(json!([{
            "sessionUpdate": "tool_call_update", "toolCallId": "t1", "title": "Run it", "kind": "execute",
            "rawInput": input
        }]))
    };
    let mut app = ready();
    ask_by_id(&mut app);
    let shown = screen(&mut app, &call(json!({"command": "make all"})), 80, 24);
    assert!(shown.contains("$ make all"), "{shown}");
    let shown = screen(
        &mut app,
        &call(json!({"url": "http://x", "force": true})),
        80,
        24,
    );
    assert!(
        shown.contains(r#""url": "http://x""#) && shown.contains(r#""force": true"#),
        "{shown}"
    );
}

#[test]
fn a_question_whose_call_changes_has_to_be_read_again() {
    let mut app = ready();
    let before = told(json!([edit("old line", "harmless")]));
    ask_by_id(&mut app);
    read_question(&mut app, &before, 80, 24);
    assert!(app.can_answer());
    // It changes between two frames, and the key was meant for the first.
    let after = told(json!([edit("old line", "hostile")]));
    check_question(&mut app, &after);
    assert!(!app.can_answer());
    assert_eq!(press(&mut app, "<tab>1<enter><tab>"), []);
    let shown = screen(&mut app, &after, 80, 24);
    assert!(shown.contains("hostile"), "{shown}");
    assert!(!app.can_answer(), "it has to be in sight for a while");
    read_question(&mut app, &after, 80, 24);
    // The same words are no other question.
    let mut started = edit("old line", "hostile");
    started["status"] = json!("in_progress");
    let started = told(json!([started]));
    check_question(&mut app, &started);
    screen(&mut app, &started, 80, 24);
    assert!(app.can_answer());
}

#[test]
fn what_is_added_to_a_call_has_to_be_read_before_its_question_is_answered() {
    let mut app = ready();
    let call = |lines: usize| {
        let words: Vec<String> = (0..lines).map(|line| format!("line {line}")).collect();
        told(json!([{
            "sessionUpdate": "tool_call_update", "toolCallId": "t1", "kind": "other",
            "content": [{"type": "content", "content": {"type": "text", "text": words.join("\n")}}]
        }]))
    };
    ask_by_id(&mut app);
    read_question(&mut app, &call(3), 80, 12);
    screen(&mut app, &call(60), 80, 12);
    let later = app.now + 5_000;
    tell(&mut app, Event::Tick(later));
    assert_eq!(press(&mut app, "1"), []);
    let read = read_question(&mut app, &call(60), 80, 12);
    for line in 3..60 {
        assert!(read.contains(&format!("line {line}")), "{line}:\n{read}");
    }
}

#[test]
fn a_long_line_of_a_diff_is_shown_whole_before_a_key_answers() {
    let mut app = ready();
    let told = told(json!([edit(
        "short",
        &format!("{}the_end", "x".repeat(5_000))
    )]));
    ask_by_id(&mut app);
    let read = read_question(&mut app, &told, 80, 16);
    assert!(read.contains("the_end"), "{read}");
}
