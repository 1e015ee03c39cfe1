//! A link between a hub that says what it wants and an agent whose lines are written here.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

mod folds;

/// A link, with what it was told: lines and wishes, as a record has them.
pub(super) struct Scene {
    pub(super) link: Link,
    pub(super) record: Vec<Recorded>,
    pub(super) out: Vec<Output>,
    lines: u64,
}

#[derive(Debug, Clone)]
pub(super) enum Recorded {
    Line(u64, String),
    /// As it is written down.
    Wish(String),
}

impl Recorded {
    pub(super) fn apply(&self, link: &mut Link) {
        let mut out = Vec::new();
        match self {
            Self::Line(number, line) => link.line(*number, line.as_bytes(), &mut out),
            Self::Wish(wish) => {
                link.wish(serde_json::from_str(wish).unwrap(), &mut out);
            }
        }
    }
}

impl Scene {
    pub(super) fn new() -> Self {
        Self {
            link: Link::new(),
            record: Vec::new(),
            out: Vec::new(),
            lines: 0,
        }
    }

    /// Returns a link to an agent that has made a session.
    pub(super) fn open(version: u16) -> Self {
        let mut scene = Self::new();
        let call = scene.wish(Wish::Greet(GREETING)).unwrap();
        scene.result(call, &hello(version));
        let call = scene.wish(open(How::New)).unwrap();
        scene.result(call, &json!({"sessionId": "s"}));
        scene.out.clear();
        scene
    }

    pub(super) fn wish(&mut self, wish: Wish) -> Option<i64> {
        self.record
            .push(Recorded::Wish(serde_json::to_string(&wish).unwrap()));
        self.link.wish(wish, &mut self.out)
    }

    pub(super) fn line(&mut self, line: &str) {
        self.lines += 1;
        self.record
            .push(Recorded::Line(self.lines, line.to_owned()));
        self.link.line(self.lines, line.as_bytes(), &mut self.out);
    }

    pub(super) fn json(&mut self, message: Value) {
        let mut message = message;
        message["jsonrpc"] = json!("2.0");
        self.line(&message.to_string());
    }

    pub(super) fn result(&mut self, call: i64, result: &Value) {
        self.json(json!({"id": call, "result": result}));
    }

    fn error(&mut self, call: i64, code: i64) {
        self.json(json!({"id": call, "error": {"code": code, "message": "no"}}));
    }

    pub(super) fn update(&mut self, update: Value) {
        let params = json!({"sessionId": "s", "update": update});
        self.json(json!({"method": "session/update", "params": params}));
    }

    pub(super) fn prompt(&mut self, text: &str) -> i64 {
        let message = v2::MessageId::new(format!("m-{text}"));
        let content = vec![v2::ContentBlock::from(text)];
        self.wish(Wish::Prompt { message, content }).unwrap()
    }

    /// Returns what was put out since, in short words.
    #[track_caller]
    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.out)
            .into_iter()
            .map(short)
            .collect()
    }
}

pub(super) const GREETING: Greeting = Greeting {
    only_v1: false,
    files: true,
    terminals: true,
    elicitation: true,
};

pub(super) fn hello(version: u16) -> Value {
    match version {
        1 => json!({"protocolVersion": 1, "agentCapabilities": {}}),
        _ => {
            json!({"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {"session": {}}})
        }
    }
}

pub(super) fn open(how: How) -> Wish {
    Wish::Open(Box::new(Opening {
        how,
        session: (how != How::New).then(|| v2::SessionId::new("s")),
        cwd: "/w".into(),
        additional_directories: Vec::new(),
        prefix: "p-".to_owned(),
        mcp_servers: Vec::new(),
    }))
}

fn short(output: Output) -> String {
    match output {
        Output::Send { line, .. } => {
            let line: Value = serde_json::from_slice(&line).unwrap();
            match (&line["method"], line.get("error"), &line["result"]) {
                (Value::String(method), ..) => format!("> {method}"),
                (_, Some(error), _) => format!("> {} refused {}", line["id"], error["code"]),
                (.., result) => format!("> {} {result}", line["id"]),
            }
        }
        Output::Answered { call, outcome } => match outcome {
            Ok(Done::Opened(id)) => format!("{call} opened {}", id.0),
            Ok(_) => format!("{call} done"),
            Err(failure) => format!("{call} failed: {failure}"),
        },
        Output::Update(told) => format!("told {}", text(&told.update)),
        Output::Replayed(update) => format!("replayed {}", text(&update)),
        Output::Ask { request, question } => match question {
            Question::Permission(asked) => format!("{request}: {}?", asked.title),
            Question::Elicitation(asked) => format!("{request}: {}?", asked.message),
            _ => unreachable!("a question of another kind"),
        },
        Output::Service { request, .. } => format!("{request}: service"),
        Output::Retracted { request } => format!("{request} retracted"),
        Output::VisitOver(id) => format!("visit {} over", id.0),
        Output::Background(work) => format!("{} in the background", work.len()),
        Output::Began => "began".to_owned(),
        Output::Rested(end) => format!("rested {end:?}"),
        Output::Ended(Ok(stop)) => format!("ended {stop:?}"),
        Output::Ended(Err(error)) => format!("ended {}", error.code),
        Output::Odd(words) => format!("odd: {words}"),
    }
}

fn text(update: &v2::SessionUpdate) -> String {
    match serde_json::to_value(update).unwrap() {
        Value::Object(update) => {
            let kind = update["sessionUpdate"].as_str().unwrap().to_owned();
            match update
                .get("content")
                .and_then(|content| content.get("text"))
            {
                Some(text) => format!("{kind} {text}"),
                None => kind,
            }
        }
        _ => "?".to_owned(),
    }
}

fn chunk(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "messageId": "a", "content": {"type": "text", "text": text}})
}

fn state(state: &str) -> Value {
    json!({"sessionUpdate": "state_update", "state": state})
}

fn permission(id: &str) -> Value {
    let options = json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}]);
    let params = json!({"sessionId": "s", "title": "Go", "toolCall": {"toolCallId": "c", "title": "Go"}, "options": options});
    json!({"id": id, "method": "session/request_permission", "params": params})
}

#[test]
fn a_version_1_turn_ends_with_the_answer_to_its_prompt() {
    let mut scene = Scene::open(1);
    let call = scene.prompt("hi");
    scene.update(chunk("one"));
    scene.result(call, &json!({"stopReason": "end_turn"}));
    scene.update(chunk("late"));
    assert_eq!(
        scene.told(),
        [
            "> session/prompt",
            "told agent_message_chunk \"one\"",
            "ended Some(EndTurn)",
            "told agent_message_chunk \"late\"",
        ]
    );
}

#[test]
fn a_version_2_turn_ends_when_its_work_does() {
    let mut scene = Scene::open(2);
    let call = scene.prompt("hi");
    scene.update(json!({"sessionUpdate": "user_message", "messageId": "u"}));
    scene.update(state("running"));
    scene.result(call, &json!({"messageId": "u"}));
    scene.update(chunk("one"));
    scene.update(
        json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}),
    );
    assert_eq!(
        scene.told(),
        [
            "> session/prompt",
            "told agent_message_chunk \"one\"",
            "ended Some(EndTurn)",
        ]
    );
    assert!(!scene.link.is_working());
}

#[test]
fn an_idle_of_work_before_the_prompt_does_not_end_its_turn() {
    let mut scene = Scene::open(2);
    scene.update(state("running"));
    let call = scene.prompt("hi");
    scene.update(state("idle"));
    scene.result(call, &json!({"messageId": "u"}));
    assert!(scene.link.has_prompt());
    scene.update(json!({"sessionUpdate": "user_message", "messageId": "u"}));
    scene.update(state("running"));
    scene.update(state("idle"));
    assert_eq!(
        scene.told(),
        ["began", "> session/prompt", "rested Ok(None)", "ended None"]
    );
}

#[test]
fn an_end_that_overtakes_the_answer_to_the_prompt_counts() {
    let mut scene = Scene::open(2);
    let call = scene.prompt("hi");
    scene.update(json!({"sessionUpdate": "user_message", "messageId": "u"}));
    scene.update(state("running"));
    scene.update(state("idle"));
    scene.result(call, &json!({"messageId": "u"}));
    assert_eq!(scene.told(), ["> session/prompt", "ended None"]);
}

#[test]
fn a_cancel_answers_what_was_asked_and_what_is_asked_after_it() {
    for version in [1, 2] {
        let mut scene = Scene::open(version);
        scene.prompt("hi");
        scene.json(permission("q1"));
        scene.told();
        scene.wish(Wish::Cancel);
        let outcome = r#"{"outcome":{"outcome":"cancelled"}}"#;
        let told: Vec<_> = scene
            .told()
            .into_iter()
            .filter(|it| !it.starts_with("told"))
            .collect();
        assert_eq!(
            told,
            [
                "> session/cancel".to_owned(),
                format!("> \"q1\" {outcome}"),
                "1 retracted".to_owned()
            ]
        );
        scene.json(permission("q2"));
        let told: Vec<_> = scene
            .told()
            .into_iter()
            .filter(|it| !it.starts_with("told"))
            .collect();
        assert_eq!(told, [format!("> \"q2\" {outcome}")]);
        // An answer that comes late is told and sent nowhere.
        let answer = Answer::Selected(v2::PermissionOptionId::new("y"));
        scene.wish(Wish::Answer { request: 1, answer });
        assert_eq!(scene.told(), ["odd: a question was answered twice"]);
    }
}

#[test]
fn a_question_is_answered_with_one_of_its_options() {
    let mut scene = Scene::open(1);
    scene.prompt("hi");
    scene.json(permission("q"));
    let told = scene.told();
    assert_eq!(told.last().unwrap(), "1: Allow: Go?");
    let answer = |id: &str| Wish::Answer {
        request: 1,
        answer: Answer::Selected(v2::PermissionOptionId::new(id)),
    };
    scene.wish(answer("n"));
    assert_eq!(scene.told(), ["odd: an answer was not among the options"]);
    scene.wish(answer("y"));
    let told = scene.told();
    assert_eq!(told.len(), 1);
    assert!(
        told[0].contains("selected") && told[0].contains("\"y\""),
        "{told:?}"
    );
}

#[test]
fn a_question_that_is_taken_back_is_retracted() {
    let mut scene = Scene::open(2);
    scene.prompt("hi");
    scene.json(permission("q"));
    scene.told();
    scene.json(json!({"method": "$/cancel_request", "params": {"requestId": "q"}}));
    assert_eq!(scene.told(), ["> \"q\" refused -32800", "1 retracted"]);
}

#[test]
fn updates_wait_for_the_id_of_a_new_session() {
    let mut scene = Scene::new();
    let call = scene.wish(Wish::Greet(GREETING)).unwrap();
    scene.result(call, &hello(1));
    let call = scene.wish(open(How::New)).unwrap();
    scene.told();
    scene.update(json!({"sessionUpdate": "available_commands_update", "availableCommands": []}));
    assert!(scene.told().is_empty());
    scene.result(call, &json!({"sessionId": "s"}));
    assert_eq!(
        scene.told(),
        ["told available_commands_update", "2 opened s"]
    );
}

#[test]
fn the_past_that_a_loaded_session_tells_is_kept_apart() {
    for version in [1, 2] {
        let mut scene = Scene::new();
        let call = scene.wish(Wish::Greet(GREETING)).unwrap();
        scene.result(call, &hello(version));
        let call = scene.wish(open(How::Load)).unwrap();
        scene.told();
        scene.update(chunk("old"));
        scene.update(json!({"sessionUpdate": "session_info_update", "title": "t"}));
        scene.result(call, &json!({}));
        scene.update(chunk("new"));
        assert_eq!(
            scene.told(),
            [
                "replayed agent_message_chunk \"old\"",
                "told session_info_update",
                "2 opened s",
                "told agent_message_chunk \"new\"",
            ]
        );
    }
}

#[test]
fn what_no_agent_should_send_is_tolerated_and_told() {
    let mut scene = Scene::open(1);
    for line in [
        "Loading model...",
        "\u{1b}[2J",
        "[]",
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"x","result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"plan","entries":[]}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan"}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":7}"#,
        r#"{"jsonrpc":"2.0","method":"nobody/knows"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"nobody/knows"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"session/request_permission","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"fs/read_text_file","params":[]}"#,
    ] {
        scene.line(line);
    }
    let told = scene.told();
    let odd = told.iter().filter(|it| it.starts_with("odd")).count();
    assert_eq!(odd, 11, "{told:#?}");
    let refused = told.iter().filter(|it| it.contains("refused")).count();
    assert_eq!(refused, 3, "{told:#?}");
    // It works as before.
    let call = scene.prompt("hi");
    scene.error(call, -32001);
    assert_eq!(scene.told(), ["> session/prompt", "ended -32001"]);
}

#[test]
fn a_line_that_was_taken_before_changes_nothing_and_a_gap_is_told() {
    let mut scene = Scene::open(1);
    let before = scene.link.clone();
    scene.link.line(1, b"{}", &mut scene.out);
    assert_eq!(scene.link, before);
    assert!(scene.out.is_empty());
    let next = before.last_in() + 3;
    scene.link.line(next, b"", &mut scene.out);
    assert_eq!(scene.told(), ["odd: 2 lines of the agent are missing"]);
}

#[test]
fn a_program_that_repeats_its_input_is_no_agent() {
    let mut scene = Scene::new();
    scene.wish(Wish::Greet(GREETING));
    let Some(Output::Send { line, .. }) = scene.out.pop() else {
        panic!("nothing was sent");
    };
    scene.line(str::from_utf8(&line).unwrap());
    let told = scene.told();
    assert!(
        told.contains(&"1 failed: the program repeats its input and is no agent".to_owned()),
        "{told:?}"
    );
}

#[test]
fn a_version_that_is_only_repeated_is_told_apart() {
    let mut scene = Scene::new();
    let call = scene.wish(Wish::Greet(GREETING)).unwrap();
    scene.told();
    scene.result(
        call,
        &json!({"protocolVersion": 2, "agentCapabilities": {"loadSession": true}}),
    );
    let told = scene.told();
    assert_eq!(
        told,
        ["1 failed: the agent answered protocol version 2 in the shape of version 1"]
    );
}

#[test]
fn whole_texts_of_edited_files_come_with_the_update_that_shows_them() {
    let mut scene = Scene::open(1);
    scene.prompt("hi");
    let diff = json!({"type": "diff", "path": "/w/a", "oldText": "x", "newText": "y"});
    scene.told();
    scene.update(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Edit", "content": [diff]}));
    let edits = scene.out.iter().find_map(|output| match output {
        Output::Update(told) if !told.edits.is_empty() => Some(told.edits.clone()),
        _ => None,
    });
    let expected = ply_session::Edit {
        path: "/w/a".into(),
        old: Some("x".into()),
        new: Some("y".into()),
    };
    assert_eq!(edits, Some(vec![expected]));
}
