mod cost;
mod scrolling;

use ply_client::v2;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::highlight;
use crate::wrap::columns_of;

/// A transcript, a view of it and a screen to draw on.
struct Screen {
    transcript: Transcript,
    view: TranscriptView,
    width: u16,
    height: u16,
    look: Look,
}

impl Screen {
    fn new(width: u16, height: u16) -> Self {
        highlight::load();
        Self {
            transcript: Transcript::new(),
            view: TranscriptView::new(),
            width,
            height,
            look: Look::default(),
        }
    }

    fn apply(&mut self, update: Value) {
        let update: v2::SessionUpdate = serde_json::from_value(update).unwrap();
        self.transcript.apply(&update);
    }

    fn say(&mut self, who: &str, id: &str, text: &str) {
        self.apply(chunk(who, id, text));
    }

    fn frame(&mut self) -> Buffer {
        let area = Rect::new(0, 0, self.width, self.height);
        let mut buf = Buffer::empty(area);
        let theme = Theme::dark();
        self.view
            .render(&self.transcript, area, &mut buf, &theme, &self.look);
        for place in self.view.rows.clone() {
            let line = self.view.store.line(&self.transcript, place).unwrap();
            assert!(
                columns_of(&line.spans) <= usize::from(self.width),
                "{line:?}"
            );
        }
        buf
    }

    /// Draws until nothing is left to be highlighted.
    fn settled(&mut self) -> Buffer {
        loop {
            let buf = self.frame();
            if !self.view.is_unfinished() {
                return buf;
            }
        }
    }

    fn text(&mut self) -> String {
        text_of(&self.settled())
    }

    fn scroll(&mut self, by: Scroll) {
        self.view.scroll(&self.transcript, by);
    }

    fn first_row(&mut self) -> String {
        self.text().lines().next().unwrap_or_default().to_owned()
    }
}

fn text_of(buf: &Buffer) -> String {
    let rows = buf.content.chunks(usize::from(buf.area.width).max(1));
    let rows = rows.map(|row| {
        let mut text = String::new();
        let mut skip = 0;
        for cell in row {
            if skip == 0 {
                text.push_str(cell.symbol());
                skip = crate::wrap::columns(cell.symbol());
            }
            skip = skip.saturating_sub(1);
        }
        text.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn chunk(who: &str, id: &str, text: &str) -> Value {
    json!({ "sessionUpdate": format!("{who}_chunk"), "messageId": id, "content": { "type": "text", "text": text } })
}

fn call(id: &str, fields: Value) -> Value {
    let mut update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id });
    let fields = fields.as_object().unwrap().clone();
    update.as_object_mut().unwrap().extend(fields);
    update
}

fn text_item(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

fn active() -> Value {
    json!({ "sessionUpdate": "state_update", "state": "running" })
}

const PATCH: &str = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,3 +1,3 @@\n fn a() {\n-    one()\n+    two()\n }\n";

fn conversation(screen: &mut Screen) {
    screen.apply(active());
    screen.say("user_message", "u", "Fix the test in src/a.rs,\nplease");
    screen.apply(
        json!({ "sessionUpdate": "user_message_chunk", "messageId": "u", "content": {
        "type": "resource_link", "name": "a.rs", "uri": "file:///work/src/a.rs" } }),
    );
    screen.apply(
        json!({ "sessionUpdate": "user_message_chunk", "messageId": "u", "content": {
        "type": "image", "mimeType": "image/png", "data": "AAAABBBB" } }),
    );
    screen.say(
        "agent_thought",
        "t",
        "**Looking** at the test first.\nThen at the code.",
    );
    for (id, kind) in [("r1", "read"), ("r2", "read"), ("s1", "search")] {
        screen.apply(call(
            id,
            json!({ "title": format!("Look {id}"), "kind": kind, "status": "completed",
            "locations": [{ "path": format!("/work/src/{id}.rs") }] }),
        ));
    }
    screen.apply(call(
        "e",
        json!({ "title": "Edit src/a.rs", "kind": "edit", "status": "completed", "content": [
        { "type": "diff", "changes": [{ "operation": "modify", "path": "/work/src/a.rs" }],
          "patch": { "format": "git_patch", "text": PATCH } } ] }),
    ));
    screen.apply(call(
        "x",
        json!({ "title": "cargo test", "kind": "execute", "status": "failed",
        "content": [text_item("running 1 test\nassertion failed: \u{1b}[31mleft\u{1b}[0m")] }),
    ));
    screen.apply(json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "planId": "p", "entries": [
        { "content": "Read the test", "priority": "high", "status": "completed" },
        { "content": "Fix the code", "priority": "high", "status": "in_progress" },
        { "content": "Run it", "priority": "low", "status": "pending" } ] } }));
    screen.say(
        "agent_message",
        "m",
        "The test is **wrong**:\n\n```rust\nassert!(false);\n```\n\nI change it. 漢字",
    );
    screen.apply(
        json!({ "sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed" }),
    );
    screen.apply(json!({ "sessionUpdate": "_acme/mood", "mood": "good" }));
    screen.apply(call(
        "run",
        json!({ "title": "cargo test --all", "kind": "execute", "status": "in_progress",
        "content": [{ "type": "terminal", "terminalId": "term" }] }),
    ));
    // "\x1b[32mok\x1b[0m 1\n…"
    screen.apply(json!({ "sessionUpdate": "terminal_update", "terminalId": "term", "command": "cargo test --all",
        "output": { "data": "G1szMm1vawobWzBtb25lCnR3bwp0aHJlZQpmb3VyCmZpdmUKc2l4Cg==" } }));
}

#[test]
fn a_conversation_is_shown_with_all_that_belongs_to_it() {
    let mut screen = Screen::new(60, 60);
    conversation(&mut screen);
    insta::assert_snapshot!(screen.text());
}

#[test]
fn a_narrow_screen_shows_the_end_of_it() {
    let mut screen = Screen::new(24, 12);
    conversation(&mut screen);
    insta::assert_snapshot!(screen.text());
}

#[test]
fn opened_cards_and_thoughts_show_all_they_have() {
    let mut screen = Screen::new(60, 100);
    conversation(&mut screen);
    screen.apply(call(
        "x",
        json!({ "rawInput": { "command": "cargo test" }, "rawOutput": { "code": 101 } }),
    ));
    screen.frame();
    for mark in ["∴", "Explored", "cargo test", "Made room"] {
        let text = screen.text();
        let row = text.lines().position(|line| line.contains(mark)).unwrap();
        let row = u16::try_from(row).unwrap();
        assert!(
            screen.view.toggle_fold_at(&screen.transcript, row),
            "{mark}"
        );
    }
    insta::assert_snapshot!(screen.text());
    let text = screen.text();
    let row = text
        .lines()
        .position(|line| line.contains("The test is"))
        .unwrap();
    assert!(
        !screen
            .view
            .toggle_fold_at(&screen.transcript, u16::try_from(row).unwrap())
    );
}

#[test]
fn calls_of_sub_agents_are_marked_and_kept_apart() {
    let mut screen = Screen::new(40, 12);
    let look = |id: &str, parent: Option<&str>| {
        let mut fields = json!({ "title": id, "kind": "read", "status": "completed" });
        if let Some(parent) = parent {
            fields["_meta"] = json!({ "parentToolCallId": parent });
        }
        call(id, fields)
    };
    screen.apply(call("sub", json!({ "title": "Sub-agent: look" })));
    screen.apply(look("a", Some("sub")));
    screen.apply(look("b", Some("sub")));
    screen.apply(look("own", None));
    let fields = json!({
        "title": "make", "kind": "execute", "status": "in_progress",
        "_meta": { "parentToolCallId": "sub" },
    });
    screen.apply(call("c", fields));
    insta::assert_snapshot!(screen.text(), @r"
    ○ • Sub-agent: look
    ✓ ↳ ◎ Explored 2 files · a, b
    ✓ ◎ own
    ⠋ ↳ $ make
    ");
}

#[test]
fn all_of_a_kind_open_and_close_together() {
    let mut screen = Screen::new(40, 20);
    for id in ["a", "b"] {
        screen.say("agent_thought", id, "first line\nsecond line");
        screen.say("agent_message", id, "answer");
    }
    let closed = screen.text();
    assert!(!closed.contains("second line"), "{closed}");
    screen.view.toggle_folds(&screen.transcript);
    assert_eq!(screen.text().matches("│ first line second line").count(), 2);
    screen.view.toggle_folds(&screen.transcript);
    assert_eq!(screen.text(), closed);
}

#[test]
fn a_thought_shows_what_it_is_at_while_it_grows() {
    let mut screen = Screen::new(40, 5);
    screen.apply(active());
    screen.say("agent_thought", "t", "first line\nsecond li");
    assert_eq!(screen.text(), "⠋ second li");
    screen.look.tick = 100;
    assert_eq!(screen.text(), "⠙ second li");
    screen.say("agent_message", "m", "x");
    assert_eq!(screen.text(), "∴ first line …\n\nx");
    screen.look.show_thoughts = false;
    assert_eq!(screen.text(), "\nx");
}

#[test]
fn a_terminal_is_shown_once_by_the_call_that_uses_it() {
    let mut screen = Screen::new(40, 12);
    screen
        .apply(json!({ "sessionUpdate": "terminal_update", "terminalId": "t", "command": "make" }));
    assert_eq!(screen.text(), "⠋ $ make");
    screen.apply(call(
        "c",
        json!({ "title": "Build", "kind": "execute", "status": "in_progress",
        "content": [{ "type": "terminal", "terminalId": "t" }] }),
    ));
    assert_eq!(screen.text(), "⠋ $ Build\n  $ make");
    screen.apply(
        json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "aGkK" }),
    );
    assert_eq!(screen.text(), "⠋ $ Build\n  $ make\n  hi");
    screen.apply(json!({ "sessionUpdate": "terminal_update", "terminalId": "t", "exitStatus": { "exitCode": 2 } }));
    assert_eq!(screen.text(), "⠋ $ Build · exit 2\n  $ make\n  hi");
}

#[test]
fn ten_megabytes_of_output_are_shown_by_their_ends() {
    let mut screen = Screen::new(40, 1_000);
    let line = "all work and no play\n";
    let text = format!("first\n{}last\n", line.repeat(10_000_000 / line.len()));
    screen.apply(call("c", json!({ "title": "yes", "kind": "execute", "status": "in_progress", "content": [text_item(&text)] })));
    let shown = screen.text();
    assert!(
        shown.lines().count() <= 8 && shown.ends_with("last"),
        "{shown}"
    );
    assert!(screen.view.toggle_fold_at(&screen.transcript, 0));
    let shown = screen.text();
    assert!(shown.contains("first") && shown.ends_with("last"));
    assert!(shown.contains("MB left out"), "{shown}");
    assert!(shown.lines().count() < 500);
}

#[test]
fn rows_can_be_copied() {
    let mut screen = Screen::new(20, 10);
    screen.say("agent_message", "m", "one two three four five six");
    screen.frame();
    let text = screen.view.text_between(&screen.transcript, 1, 0);
    assert_eq!(text, "one two three four\nfive six\n");
}

#[test]
fn any_size_is_survived() {
    for (width, height) in [(0, 0), (1, 1), (1, 40), (200, 1), (2, 3), (3, 2)] {
        let mut screen = Screen::new(width, height);
        conversation(&mut screen);
        screen.frame();
        screen.scroll(Scroll::Lines(-3));
        screen.frame();
        screen.view.toggle_folds(&screen.transcript);
        screen.frame();
    }
}

/// Updates as an agent might send them, most of them chunks.
fn updates() -> impl Strategy<Value = Vec<Value>> {
    let id = prop_oneof![Just("1"), Just("2"), Just("3")];
    let text = prop_oneof![
        Just("word "),
        Just("\n\n"),
        Just("\n```rust\nlet a = 1;\n"),
        Just("```\n"),
        Just("- item\n"),
        Just("漢字 \x1b "),
        Just(""),
    ];
    let update = prop_oneof![
        4 => (id.clone(), text.clone()).prop_map(|(id, text)| chunk("agent_message", id, text)),
        2 => (id.clone(), text.clone()).prop_map(|(id, text)| chunk("agent_thought", id, text)),
        1 => (id.clone(), text.clone()).prop_map(|(id, text)| chunk("user_message", id, text)),
        1 => (id.clone(), text.clone()).prop_map(|(id, text)| json!({
            "sessionUpdate": "agent_message", "messageId": id, "content": [{ "type": "text", "text": text }] })),
        3 => ("[a-f]", prop_oneof![Just("read"), Just("search"), Just("execute")],
              prop_oneof![Just("in_progress"), Just("completed"), Just("failed")])
            .prop_map(|(id, kind, status)| call(&id, json!({ "title": format!("Call {id}"), "kind": kind, "status": status }))),
        2 => ("[a-f]", text).prop_map(|(id, text)| json!({
            "sessionUpdate": "tool_call_content_chunk", "toolCallId": id, "content": text_item(text) })),
        1 => Just(active()),
        1 => Just(json!({ "sessionUpdate": "state_update", "state": "idle" })),
    ];
    proptest::collection::vec(update, 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_view_that_followed_shows_what_a_new_one_does(
        updates in updates(),
        every in 1_usize..6,
        width in 1_u16..60,
        height in 1_u16..30,
    ) {
        let mut screen = Screen::new(width, height);
        for (place, update) in updates.into_iter().enumerate() {
            screen.apply(update);
            if place % every == 0 {
                screen.frame();
            }
        }
        let followed = screen.settled();
        prop_assert!(screen.view.is_at_end());
        screen.view = TranscriptView::new();
        prop_assert_eq!(text_of(&screen.settled()), text_of(&followed));
        prop_assert_eq!(screen.settled(), followed);
    }
}
