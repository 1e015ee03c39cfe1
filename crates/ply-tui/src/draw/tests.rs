//! Whole screens.

use std::collections::HashMap;

use ply_client::v2;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

use super::*;
use crate::app::event::{Ended, Event, Failure, Listed, Tally};
use crate::app::tests::{command, open, permission, press, ready, starting, tell};
use crate::app::{Action, AgentId, AskId};

#[derive(Default)]
struct Told(HashMap<TabId, Transcript>);

impl Transcripts for Told {
    fn with(&self, tab: TabId, look: &mut dyn FnMut(&Transcript)) {
        if let Some(transcript) = self.0.get(&tab) {
            look(transcript);
        }
    }
}

fn told(updates: serde_json::Value) -> Told {
    let updates: Vec<v2::SessionUpdate> = serde_json::from_value(updates).unwrap();
    let transcript = Transcript::fold(&updates);
    Told(HashMap::from([(TabId(1), transcript)]))
}

fn screen(app: &mut App, told: &Told, columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(app, frame, told)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| {
        let cells = (0..columns).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_owned()
    };
    (0..rows).map(row).collect::<Vec<_>>().join("\n")
}

/// Returns the screen after the time in which keys answer nothing yet.
fn show_later(app: &mut App) -> String {
    show(app);
    let later = app.now + 500;
    tell(app, Event::Tick(later));
    show(app)
}

/// Returns the screen of a question about a tool call.
fn show_call(call: serde_json::Value, rows: u16) -> String {
    let mut app = ready();
    let subject = json!({"type": "tool_call", "toolCall": call});
    tell(
        &mut app,
        Event::Ask(TabId(1), AskId(1), permission("Run it", subject)),
    );
    screen(&mut app, &Told::default(), 80, rows)
}

fn show(app: &mut App) -> String {
    screen(app, &Told::default(), 80, 20)
}

mod question;
mod start;

#[test]
fn the_start_says_what_is_started_and_for_how_long() {
    let mut app = starting();
    tell(&mut app, Event::Tick(3200));
    insta::assert_snapshot!(show(&mut app));
}

#[test]
fn a_turn_with_queued_prompts_usage_and_a_plan() {
    let mut app = ready();
    press(
        &mut app,
        "explain this<enter>then fix it<enter>and test it<enter>more",
    );
    let usage = v2::UsageUpdate::new(42_000, 200_000).cost(v2::Cost::new(0.125, "USD"));
    tell(&mut app, Event::Usage(TabId(1), usage));
    let options = json!([{
        "configId": "model", "name": "Model", "category": "model", "type": "select",
        "currentValue": "m", "options": [{"value": "m", "name": "Fast 1"}]
    }]);
    let options = serde_json::from_value(options).unwrap();
    tell(&mut app, Event::Options(TabId(1), options));
    tell(&mut app, Event::Tick(12_000));
    let told = told(json!([
        {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [
            {"content": "Read the code", "priority": "high", "status": "completed"},
            {"content": "Write it down", "priority": "high", "status": "in_progress"}
        ]}}
    ]));
    insta::assert_snapshot!(screen(&mut app, &told, 80, 20));
    let wide = screen(&mut app, &told, 120, 12);
    assert!(
        wide.matches("Plan 1/2").count() == 1 && wide.contains("✓ Read the code"),
        "{wide}"
    );
}

#[test]
fn permissions_with_a_diff_and_a_command() {
    let mut app = ready();
    press(&mut app, "go<enter>");
    let diff = json!({
        "type": "tool_call",
        "toolCall": {
            "toolCallId": "t1", "title": "Edit", "kind": "edit",
            "locations": [{"path": "/project/src/main.rs", "line": 3}],
            "content": [{
                "type": "diff",
                "changes": [{"operation": "modify", "path": "/project/src/main.rs"}],
                "patch": {"format": "git_patch", "text":
                    "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -3,1 +3,1 @@\n-let x = 1;\n+let x = 2;\n"}
            }]
        }
    });
    let edit = permission("Edit src/main.rs", diff);
    tell(&mut app, Event::Ask(TabId(1), AskId(1), edit));
    tell(
        &mut app,
        Event::Ask(TabId(1), AskId(2), command("Run \x1b[31mtests")),
    );
    insta::assert_snapshot!(show_later(&mut app));
    press(&mut app, "<tab><tab>");
    insta::assert_snapshot!(show_later(&mut app));
}

#[test]
fn the_answers_stay_in_sight_however_long_the_diff_is() {
    let mut app = ready();
    let long = "+line\n".repeat(5000);
    let diff = json!({
        "type": "tool_call",
        "toolCall": {"toolCallId": "t1", "content": [{
            "type": "diff", "changes": [{"operation": "modify", "path": "/project/a"}],
            "patch": {"format": "git_patch", "text": format!("--- a/a\n+++ b/a\n@@ -0,0 +1,5000 @@\n{long}")}
        }]}
    });
    tell(
        &mut app,
        Event::Ask(TabId(1), AskId(1), permission("Edit a", diff)),
    );
    for rows in [8, 12, 40] {
        let shown = screen(&mut app, &Told::default(), 80, rows);
        assert!(
            shown.contains("Allow once") && shown.contains("Reject"),
            "{shown}"
        );
    }
}

#[test]
fn what_belongs_to_a_command_is_shown_with_it() {
    let alone = show_call(
        json!({"toolCallId": "t", "rawInput": {"command": "ls -l"}}),
        24,
    );
    assert!(alone.contains("$ ls -l"), "{alone}");
    let call = json!({
        "toolCallId": "t",
        "rawInput": {"command": "ls", "args": ["; rm -rf /"], "env": {"A": "b"}},
        "content": [{"type": "content", "content": {"type": "text", "text": "harmless"}}]
    });
    let more = show_call(call, 40);
    assert!(
        more.contains("rm -rf /") && more.contains("\"A\": \"b\""),
        "{more}"
    );
    assert!(
        !more.contains("$ ls") && more.contains("harmless"),
        "{more}"
    );
}

#[test]
fn the_end_of_a_long_command_can_be_read_or_is_said_to_be_missing() {
    let mut app = ready();
    let long = |bytes: usize| format!("echo {}; rm -rf /", "x".repeat(bytes));
    let ask = |bytes: usize| {
        let subject = json!({"type": "command", "command": long(bytes), "cwd": "/project"});
        permission("Run it", subject)
    };
    tell(&mut app, Event::Ask(TabId(1), AskId(1), ask(20_000)));
    press(&mut app, "<tab>");
    let mut shown = show_later(&mut app);
    for _ in 0..100 {
        press(&mut app, "<pgdn>");
        shown = show(&mut app);
    }
    assert!(shown.contains("rm -rf /"), "{shown}");
    tell(&mut app, Event::AskClosed(AskId(1)));
    tell(&mut app, Event::Ask(TabId(1), AskId(2), ask(1_000_000)));
    press(&mut app, "<tab>");
    for _ in 0..600 {
        press(&mut app, "<pgdn>");
        shown = show(&mut app);
    }
    assert!(shown.contains("too long to show"), "{shown}");
}

#[test]
fn answers_that_do_not_fit_on_the_screen_cannot_be_given() {
    let mut app = ready();
    tell(&mut app, Event::Ask(TabId(1), AskId(1), command("Run?")));
    for (columns, rows) in [(80, 5), (4, 8)] {
        screen(&mut app, &Told::default(), columns, rows);
        assert!(app.tab().unwrap().asks[0].drawn_at.is_none());
    }
    screen(&mut app, &Told::default(), 80, 20);
    assert!(app.tab().unwrap().asks[0].drawn_at.is_some());
    press(&mut app, "<f1>");
    show(&mut app);
    assert!(app.tab().unwrap().asks[0].drawn_at.is_none());
}

#[test]
fn a_session_that_is_opened_again_shows_its_own_transcript() {
    let said = |text: &str| {
        told(json!([{
            "sessionUpdate": "agent_message_chunk", "messageId": "m",
            "content": {"type": "text", "text": text}
        }]))
    };
    let mut app = ready();
    assert!(screen(&mut app, &said("before"), 80, 20).contains("before"));
    open(&mut app, 1);
    let shown = screen(&mut app, &said("after"), 80, 20);
    assert!(
        shown.contains("after") && !shown.contains("before"),
        "{shown}"
    );
}

#[test]
fn the_popup_of_commands() {
    let mut app = ready();
    press(&mut app, ":t");
    insta::assert_snapshot!(show(&mut app));
}

#[test]
fn the_popup_goes_on_behind_its_last_row() {
    let mut app = ready();
    press(&mut app, ":");
    let shown = show(&mut app);
    assert!(
        shown.contains("› :help") && shown.contains("… 10 more"),
        "{shown}"
    );
    press(&mut app, "<down><down><down><down><down><down><down><down>");
    let shown = show(&mut app);
    assert!(shown.contains("› :log"), "{shown}");
    assert!(!shown.contains(":help"), "{shown}");
}

#[test]
fn the_help_is_whole_on_a_narrow_screen() {
    let mut app = ready();
    press(&mut app, "<f1>");
    let shown = screen(&mut app, &Told::default(), 60, 30);
    assert!(
        shown.contains("Alt-I") && shown.contains("Ctrl-Enter"),
        "{shown}"
    );
    let words: Vec<_> = shown
        .split(['│', ' ', '\n'])
        .filter(|word| !word.is_empty())
        .collect();
    let end = ["where", "the", "terminal", "reports", "it)"];
    assert_eq!(
        words.windows(5).filter(|words| **words == end).count(),
        2,
        "{shown}"
    );
}

#[test]
fn the_list_of_sessions() {
    let mut app = ready();
    press(&mut app, "<c-s>");
    let sessions = ["Fix the parser", "Write the guide"].map(|title| Listed {
        id: title.to_lowercase(),
        title: title.to_owned(),
        cwd: "/project".into(),
        updated_at: "2025-06-01T12:30:00Z".to_owned(),
    });
    tell(&mut app, Event::Sessions(AgentId(0), Ok(sessions.into())));
    press(&mut app, "gui");
    insta::assert_snapshot!(show(&mut app));
}

#[test]
fn a_wide_screen_has_the_wire_log_beside_the_transcript() {
    let mut app = ready();
    let (to, from) = (
        ply_client::Direction::ToAgent,
        ply_client::Direction::ToClient,
    );
    app.log
        .push(10, AgentId(0), to, br#"{"id":3,"method":"session/prompt"}"#);
    app.log.push(
        1260,
        AgentId(0),
        from,
        br#"{"id":3,"result":{"stopReason":"end_turn"}}"#,
    );
    press(&mut app, "<a-l>");
    let told = told(json!([
        {"sessionUpdate": "agent_message", "messageId": "m", "content": [{"type": "text", "text": "Hello"}]}
    ]));
    insta::assert_snapshot!(screen(&mut app, &told, 140, 14));
}

#[test]
fn the_output_of_a_command_is_above_the_composer() {
    use crate::app::shell::{ShellEnd, ShellId, ShellNews};
    let mut app = ready();
    press(&mut app, "!seq 40<enter>");
    let output: String = (1..=40).map(|line| format!("{line}\n")).collect();
    let news = ShellNews::Output(output.into_bytes());
    tell(&mut app, Event::Shell(ShellId(1), news));
    tell(&mut app, Event::Tick(2300));
    let end = ShellNews::Ended(ShellEnd::Exit(0));
    tell(&mut app, Event::Shell(ShellId(1), end));
    insta::assert_snapshot!(show(&mut app));
    press(&mut app, "<pgup>");
    let back = show(&mut app);
    assert!(back.contains("   35") && !back.contains("   40"), "{back}");
}

#[test]
fn the_wire_log_says_what_its_lines_are_and_shows_one_whole() {
    let mut app = ready();
    let long = "word ".repeat(30);
    let update = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1",
        "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": long}}}});
    let lines = [
        (
            true,
            json!({"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": {}}),
        ),
        (false, update),
        (
            false,
            json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}),
        ),
        (false, json!("noise \u{1b}[2J")),
    ];
    for (at, (is_sent, line)) in (1..).zip(lines) {
        let direction = match is_sent {
            true => ply_client::Direction::ToAgent,
            false => ply_client::Direction::ToClient,
        };
        let line = line.to_string();
        app.log.push(at, AgentId(0), direction, line.as_bytes());
    }
    press(&mut app, "<a-l>");
    insta::assert_snapshot!(screen(&mut app, &Told::default(), 70, 20));
    press(&mut app, "<up><up><up><enter>");
    insta::assert_snapshot!(screen(&mut app, &Told::default(), 70, 30));
}

#[test]
fn a_login_that_is_needed_with_every_way_to_do_it() {
    let mut app = starting();
    let methods = json!([
        {"type": "agent", "methodId": "oauth", "name": "Sign in", "description": "opens a browser"},
        {"type": "terminal", "methodId": "cli", "name": "By hand", "args": ["login"]},
        {"type": "env_var", "methodId": "key", "name": "API key", "vars": [{"name": "API_KEY"}]}
    ]);
    let methods = serde_json::from_value(methods).unwrap();
    tell(
        &mut app,
        Event::OpenFailed(TabId(1), Failure::Auth(methods, None)),
    );
    insta::assert_snapshot!(show(&mut app));
}

#[test]
fn an_agent_that_died_and_one_that_is_missing() {
    let mut app = ready();
    press(&mut app, "go<enter>");
    let words = "the agent stopped during the turn (exit status: 3); it last wrote to standard error:\nout of cheese";
    let failure = Ended::Failed(Failure::Died(words.into()));
    tell(&mut app, Event::TurnEnded(TabId(1), failure));
    press(&mut app, "again");
    insta::assert_snapshot!(show(&mut app));
    press(&mut app, ":<back><c-u>:new claude<enter>");
    let failure = Failure::Missing("the program `claude` was not found".into());
    tell(&mut app, Event::OpenFailed(TabId(2), failure));
    insta::assert_snapshot!(show(&mut app));
}

#[test]
fn every_key_and_command_is_in_the_help_and_in_the_guide() {
    let mut app = ready();
    press(&mut app, "<f1>");
    let help = screen(&mut app, &Told::default(), 120, 80);
    let guide = include_str!("../../../../docs/CHAT.md");
    for (key, _) in crate::help::KEYS.iter().flat_map(|(_, keys)| *keys) {
        assert!(help.contains(key), "{key} is not in the help");
        assert!(guide.contains(key), "{key} is not in the guide");
    }
    for command in crate::help::COMMANDS {
        let name = format!("/{}", command.name);
        assert!(help.contains(&name) && guide.contains(&name), "{name}");
    }
}

#[test]
fn no_size_of_the_screen_breaks_anything() {
    let told = told(json!([
        {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [
            {"content": "Read", "priority": "high", "status": "in_progress"}
        ]}}
    ]));
    let mut busy = ready();
    press(
        &mut busy,
        "go<enter>漢字 and\nmore text that is long<enter>",
    );
    tell(&mut busy, Event::Ask(TabId(1), AskId(1), command("Run?")));
    press(&mut busy, "@x<a-l>");
    let mut help = ready();
    press(&mut help, "<f1>");
    let mut picker = ready();
    press(&mut picker, "<c-n><c-s>");
    open(&mut picker, 2);
    for app in [&mut busy, &mut help, &mut picker] {
        for columns in [0, 1, 2, 3, 5, 10, 39, 110, 300] {
            for rows in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 24, 100] {
                let _ = screen(app, &told, columns, rows);
            }
        }
    }
}

#[test]
fn nothing_hostile_reaches_the_terminal() {
    let mut app = ready();
    let hostile = "\x1b]52;c;eA==\x07\u{202e}\u{200b}\n\r";
    tell(&mut app, Event::Title(TabId(1), hostile.into()));
    tell(
        &mut app,
        Event::Notice(v2::Notice::new(v2::NoticeSeverity::Error, hostile)),
    );
    tell(&mut app, Event::Ask(TabId(1), AskId(1), command(hostile)));
    tell(&mut app, Event::AgentDied(AgentId(0), hostile.into()));
    tell(&mut app, Event::Paste(hostile.into()));
    press(&mut app, "<c-n>");
    let failure = Failure::Other(hostile.into());
    tell(&mut app, Event::OpenFailed(TabId(2), failure));
    for _ in 0..2 {
        press(&mut app, "<c-p>");
        let shown = show(&mut app) + &app.title();
        let is_harmless = |char: char| char == '\n' || ply_client::text::is_harmless(char);
        assert!(shown.chars().all(is_harmless), "{shown:?}");
    }
}

#[test]
fn silence_is_told_and_forgotten_when_something_is_heard() {
    let mut app = ready();
    press(&mut app, "go<enter>");
    tell(&mut app, Event::Tick(40_000));
    tell(&mut app, Event::Quiet(TabId(1), 30));
    let words = "Nothing heard from ply for 30 s; Esc cancels.";
    assert!(show(&mut app).contains(words));
    tell(&mut app, Event::Tick(45_000));
    let words = "Nothing heard from ply for 35 s; Esc cancels.";
    assert!(show(&mut app).contains(words));
    tell(&mut app, Event::Changed(TabId(1)));
    assert!(!show(&mut app).contains(words));
}

/// Reads the open question to its end, as somebody does who wants to answer it, and returns all that was on the screen.
fn read_question(app: &mut App, told: &Told, columns: u16, rows: u16) -> String {
    let mut read = String::new();
    for _ in 0..200 {
        read.push_str(&screen(app, told, columns, rows));
        read.push('\n');
        let later = app.now + 500;
        tell(app, Event::Tick(later));
        if app.can_answer() {
            return read;
        }
        press(app, "<pgdn>");
    }
    panic!("it cannot be answered at {columns}×{rows}:\n{read}");
}

#[test]
fn no_key_answers_before_all_of_a_question_could_be_seen() {
    for (columns, rows) in [(80, 9), (20, 6), (24, 8), (80, 24), (200, 60)] {
        let mut app = ready();
        let parts: Vec<String> = (0..120).map(|part| format!("part{part:03}")).collect();
        let subject = json!({"type": "command", "command": parts.join("\n"), "cwd": "/project"});
        let question = permission("Run it", subject);
        tell(&mut app, Event::Ask(TabId(1), AskId(1), question));
        let first = screen(&mut app, &Told::default(), columns, rows);
        tell(&mut app, Event::Tick(10_000));
        if !first.contains("part119") {
            assert_eq!(press(&mut app, "1<tab>1<enter><tab>"), [], "{first}");
            assert_eq!(app.tab().unwrap().composer.text(), "", "{first}");
            assert!(first.contains("PgDn"), "what is cut is marked:\n{first}");
        }
        let read = read_question(&mut app, &Told::default(), columns, rows);
        for part in &parts {
            assert!(read.contains(part.as_str()), "{part} at {columns}×{rows}");
        }
        let chosen = Action::Select(AskId(1), "yes".to_owned().into());
        assert_eq!(press(&mut app, "1"), [chosen], "{columns}×{rows}");
    }
}

#[test]
fn a_question_that_is_laid_out_anew_is_read_anew_unless_it_was_read() {
    let mut app = ready();
    let parts: Vec<String> = (0..60).map(|part| format!("part{part}")).collect();
    let subject = json!({"type": "command", "command": parts.join("\n"), "cwd": "/project"});
    tell(
        &mut app,
        Event::Ask(TabId(1), AskId(1), permission("Run it", subject)),
    );
    screen(&mut app, &Told::default(), 80, 20);
    press(&mut app, "<pgdn>");
    screen(&mut app, &Told::default(), 80, 20);
    screen(&mut app, &Told::default(), 40, 20);
    // Keys that come faster than the screen is drawn jump over nothing.
    press(&mut app, &"<pgdn>".repeat(50));
    screen(&mut app, &Told::default(), 40, 20);
    assert!(!app.tab().unwrap().asks[0].is_seen);
    read_question(&mut app, &Told::default(), 40, 20);
    let shown = screen(&mut app, &Told::default(), 60, 20);
    assert!(app.tab().unwrap().asks[0].drawn_at.is_some(), "{shown}");
}

#[test]
fn a_command_in_an_agents_json_is_shown_as_a_command() {
    let call = json!({
        "toolCallId": "t",
        "rawInput": {
            "command": ["bash", "-lc", "echo 'a b' && ls"], "cwd": "/project/src",
            "reason": "to look"
        }
    });
    let shown = show_call(call, 40);
    assert!(
        shown.contains(r"$ bash -lc 'echo '\''a b'\'' && ls'"),
        "{shown}"
    );
    assert!(shown.contains("in src"), "{shown}");
    assert!(
        !shown.contains("\"command\"") && shown.contains("to look"),
        "{shown}"
    );
}

#[test]
fn a_key_that_was_refused_is_told_in_the_words_of_who_refused_it() {
    let mut app = ready();
    press(&mut app, "hello<enter>");
    let words = "Anthropic does not accept the key: invalid x-api-key; set ANTHROPIC_API_KEY.";
    let failure = Failure::Auth(Vec::new(), Some(words.to_owned()));
    tell(&mut app, Event::TurnEnded(TabId(1), Ended::Failed(failure)));
    let shown = show(&mut app);
    assert!(shown.contains("invalid x-api-key"), "{shown}");
    assert!(shown.contains("set ANTHROPIC_API_KEY"), "{shown}");
    assert!(!shown.contains("see its own help"), "{shown}");
}

#[test]
fn the_end_of_a_turn_leaves_a_trace_where_it_ended() {
    let mut app = ready();
    press(&mut app, "one<enter>");
    tell(&mut app, Event::Tick(12_300));
    let tally = Tally {
        entries: 2,
        tools: 4,
    };
    tell(&mut app, Event::Tally(TabId(1), tally));
    let ended = Ended::Done(Some(v2::StopReason::EndTurn));
    tell(&mut app, Event::TurnEnded(TabId(1), ended));
    let message = |role: &str, id: &str, text: &str| {
        json!({
            "sessionUpdate": format!("{role}_message_chunk"), "messageId": id,
            "content": {"type": "text", "text": text}
        })
    };
    let mut updates = vec![message("user", "a", "one"), message("agent", "b", "done")];
    let shown = screen(&mut app, &told(json!(updates)), 80, 20);
    assert!(shown.contains("✓ 12 s · 4 tools"), "{shown}");
    press(&mut app, "two<enter>");
    updates.push(message("user", "c", "two"));
    let shown = screen(&mut app, &told(json!(updates)), 80, 20);
    let at = |words: &str| {
        shown
            .find(words)
            .unwrap_or_else(|| panic!("{words}:\n{shown}"))
    };
    assert!(
        at("done") < at("✓ 12 s · 4 tools") && at("✓ 12 s") < at("▌ two"),
        "{shown}"
    );
    tell(
        &mut app,
        Event::TurnEnded(TabId(1), Ended::Done(Some(v2::StopReason::Cancelled))),
    );
    assert!(show(&mut app).contains("✗ cancelled"));
}

/// A terminal as it is written to, which shows every character of a sequence by itself.
struct Written(std::rc::Rc<std::cell::RefCell<vt100::Parser>>);

impl std::io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().process(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn sequences_of_emoji_leave_no_ghosts() {
    use ratatui::backend::CrosstermBackend;
    use ratatui::{TerminalOptions, Viewport};
    let say = |text: &str| {
        told(json!([{
            "sessionUpdate": "agent_message_chunk", "messageId": "m",
            "content": {"type": "text", "text": text}
        }]))
    };
    let family = "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦";
    let texts = [
        family.to_owned(),
        format!("ab {family}"),
        "plain".to_owned(),
    ];
    let new = || {
        let (rows, columns) = (12.try_into().unwrap(), 60.try_into().unwrap());
        let screen = std::rc::Rc::new(std::cell::RefCell::new(vt100::Parser::new(
            rows, columns, 0,
        )));
        let options = TerminalOptions {
            viewport: Viewport::Fixed(Rect::new(0, 0, 60, 12)),
        };
        let backend = CrosstermBackend::new(Written(std::rc::Rc::clone(&screen)));
        (Terminal::with_options(backend, options).unwrap(), screen)
    };
    let trimmed = |screen: &vt100::Parser| {
        let text = screen.screen().contents();
        let lines = text.lines().map(|line| line.trim_end().to_owned());
        lines.collect::<Vec<_>>()
    };
    let (mut kept, shown) = new();
    let mut app = ready();
    for text in texts {
        kept.draw(|frame| draw(&mut app, frame, &say(&text)))
            .unwrap();
        let (mut fresh, expected) = new();
        fresh
            .draw(|frame| draw(&mut app, frame, &say(&text)))
            .unwrap();
        let (shown, expected) = (shown.borrow(), expected.borrow());
        assert_eq!(trimmed(&shown), trimmed(&expected));
    }
}
