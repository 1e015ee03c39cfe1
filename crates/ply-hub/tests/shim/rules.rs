//! What the shim does with single lines.

use ply_hub::shim::{HELD_BYTES_MAX, Line, Shim};
use serde_json::{Value, json};

struct Between {
    shim: Shim,
    editor: Vec<Value>,
    hub: Vec<Value>,
}

impl Between {
    /// An editor of version 1 that has one session.
    fn up() -> Self {
        let mut between = Self {
            shim: Shim::new("x"),
            editor: Vec::new(),
            hub: Vec::new(),
        };
        between.connected();
        between.editor(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": 1}}));
        between.answer(json!({"protocolVersion": 1}));
        between.editor(&json!({"jsonrpc": "2.0", "id": 2, "method": "session/new",
            "params": {"cwd": "/work", "mcpServers": []}}));
        between.answer(json!({"sessionId": "s", "_meta": {"acp/cursor": "c0"}}));
        (between.editor, between.hub) = (Vec::new(), Vec::new());
        between
    }

    fn take(&mut self, out: Vec<Line>) {
        for line in out {
            match line {
                Line::Editor(line) => self.editor.push(serde_json::from_slice(&line).unwrap()),
                Line::Hub(line) => self.hub.push(serde_json::from_slice(&line).unwrap()),
            }
        }
    }

    fn connected(&mut self) {
        let mut out = Vec::new();
        self.shim.connected(&mut out);
        self.take(out);
    }

    fn lost(&mut self) {
        let mut out = Vec::new();
        self.shim.lost(&mut out);
        self.take(out);
    }

    fn editor(&mut self, message: &Value) {
        let mut out = Vec::new();
        self.shim
            .from_editor(message.to_string().as_bytes(), &mut out);
        self.take(out);
    }

    fn hub(&mut self, message: &Value) {
        let mut out = Vec::new();
        self.shim.from_hub(message.to_string().as_bytes(), &mut out);
        self.take(out);
    }

    /// Has the hub answer the last line that it was sent.
    fn answer(&mut self, result: Value) {
        let id = self.hub.last().unwrap()["id"].clone();
        self.hub(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn ask(&mut self, id: u64, question: &str) {
        let meta = json!({"acp/cursor": format!("c{id}"), "ply/question": question});
        self.hub(
            &json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
            "params": {"sessionId": "s", "_meta": meta}}),
        );
    }

    /// Loses the connection and comes back up to where sessions are opened again.
    fn again(&mut self) {
        self.lost();
        self.hub.clear();
        self.connected();
        assert_eq!(self.hub.last().unwrap()["method"], "initialize");
        self.answer(json!({"protocolVersion": 1}));
        assert_eq!(self.hub.last().unwrap()["method"], "session/resume");
    }
}

#[test]
fn the_editor_is_sent_no_cursor_and_the_hub_is_told_the_last_one() {
    let mut between = Between::up();
    between.hub(&json!({"jsonrpc": "2.0", "method": "session/update",
        "params": {"sessionId": "s", "update": {"a": 1}, "_meta": {"acp/cursor": "c1"}}}));
    assert_eq!(
        between.editor,
        [json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": "s", "update": {"a": 1}}})]
    );
    between.again();
    let resume = &between.hub.last().unwrap()["params"];
    assert_eq!(resume["sessionId"], "s");
    assert_eq!(resume["cwd"], "/work");
    assert_eq!(resume["_meta"]["ply/after"], "c1");
}

#[test]
fn a_question_keeps_the_id_that_the_editor_knows_and_is_shown_once() {
    let mut between = Between::up();
    between.ask(7, "q1");
    assert_eq!(between.editor.len(), 1);
    let id = between.editor[0]["id"].clone();
    between.again();
    // The next hub counts anew, and asks something else under the old number.
    between.ask(1, "q1");
    between.ask(7, "q2");
    assert_eq!(between.editor.len(), 2);
    assert_ne!(between.editor[1]["id"], id);
    between.answer_to(&id);
    assert_eq!(between.hub.last().unwrap()["id"], 1);
}

#[test]
fn an_answer_given_while_the_hub_was_away_is_not_lost_and_not_asked_for_again() {
    let mut between = Between::up();
    between.ask(7, "q1");
    let id = between.editor[0]["id"].clone();
    between.lost();
    between.answer_to(&id);
    between.again();
    between.ask(3, "q1");
    assert_eq!(between.editor.len(), 1);
    let answer = between.hub.last().unwrap();
    assert_eq!((&answer["id"], &answer["result"]), (&json!(3), &json!({})));
}

#[test]
fn an_answer_that_the_hub_did_not_hear_is_sent_again() {
    let mut between = Between::up();
    between.ask(7, "q1");
    let id = between.editor[0]["id"].clone();
    between.answer_to(&id);
    assert_eq!(between.hub.last().unwrap()["id"], 7);
    between.again();
    between.ask(3, "q1");
    assert_eq!(between.editor.len(), 1);
    assert_eq!(between.hub.last().unwrap()["id"], 3);
}

#[test]
fn a_question_that_the_hub_does_not_ask_again_is_taken_back() {
    let mut between = Between::up();
    between.ask(7, "q1");
    let id = between.editor[0]["id"].clone();
    between.again();
    assert_eq!(between.editor.len(), 1);
    between.answer(json!({"_meta": {"acp/cursor": "c9"}}));
    let told = between.editor.last().unwrap();
    assert_eq!(told["method"], "$/cancel_request");
    assert_eq!(told["params"]["requestId"], id);
    let before = between.hub.len();
    between.answer_to(&id);
    assert_eq!(between.hub.len(), before, "the hub does not know it");
}

impl Between {
    fn answer_to(&mut self, id: &Value) {
        self.editor(&json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }
}

#[test]
fn what_the_editor_says_while_the_hub_is_away_comes_after_what_was_not_answered() {
    let mut between = Between::up();
    let prompt = |id: u64| {
        json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt",
            "params": {"sessionId": "s", "prompt": []}})
    };
    between.editor(&prompt(3));
    let key = between.hub[0]["params"]["_meta"]["ply/operation"].clone();
    assert!(key.is_string());
    between.lost();
    between.editor(&prompt(4));
    between.again();
    let resume = &between.hub.last().unwrap()["params"];
    assert_eq!(resume["_meta"]["ply/operations"], json!([key]));
    between.hub.clear();
    between.resumed();
    let ids: Vec<&Value> = between.hub.iter().map(|line| &line["id"]).collect();
    assert_eq!(ids, [&json!(3), &json!(4)]);
    let again = &between.hub[0]["params"]["_meta"]["ply/operation"];
    assert_eq!(*again, key, "it is the same prompt");
    assert_ne!(between.hub[1]["params"]["_meta"]["ply/operation"], key);
}

impl Between {
    /// Answers whatever opens the session again.
    fn resumed(&mut self) {
        for number in 0..20 {
            let id = format!("x-{number}");
            self.hub(&json!({"jsonrpc": "2.0", "id": id, "result": {"_meta": {}}}));
        }
        // What is an answer to nothing is for the editor, which ignores it.
        self.editor.clear();
    }
}

#[test]
fn a_session_that_the_hub_did_not_keep_is_made_again_under_its_key() {
    let mut between = Between::up();
    between.again();
    let id = between.hub.last().unwrap()["id"].clone();
    let error = json!({"code": -32002, "message": "no"});
    between.hub(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    let made = between.hub.last().unwrap();
    assert_eq!(made["method"], "session/new");
    assert!(made["params"]["_meta"]["ply/operation"].is_string());
    assert!(between.editor.is_empty());
    between.answer(json!({"sessionId": "s"}));
    assert!(between.shim.is_up());
}

#[test]
fn a_hub_that_does_not_know_the_cursor_goes_on_and_the_user_hears_of_it() {
    let mut between = Between::up();
    between.again();
    let id = between.hub.last().unwrap()["id"].clone();
    let error = json!({"code": -32602, "message": "no"});
    between.hub(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    let resume = between.hub.last().unwrap();
    assert_eq!(resume["method"], "session/resume");
    assert!(resume["params"]["_meta"].is_null());
    between.answer(json!({}));
    let told = between.editor.last().unwrap().to_string();
    assert!(told.contains("Load the session again"), "{told}");
}

#[test]
fn an_editor_that_says_too_much_while_the_hub_is_away_is_not_read() {
    let mut between = Between::up();
    between.lost();
    let note = json!({"jsonrpc": "2.0", "method": "_x/y", "params": {"text": "x".repeat(100_000)}});
    let mut said = 0;
    while between.shim.has_room() {
        between.editor(&note);
        said += 1;
    }
    assert!(said > 10 && said * 100_000 < 2 * HELD_BYTES_MAX);
    between.again();
    between.hub.clear();
    between.resumed();
    assert_eq!(between.hub.len(), said, "nothing is lost");
    assert!(between.shim.has_room());
}

#[test]
fn a_prompt_that_a_hub_cancels_as_it_ends_is_sent_again() {
    let mut between = Between::up();
    between.editor(
        &json!({"jsonrpc": "2.0", "id": 3, "method": "session/prompt",
        "params": {"sessionId": "s", "prompt": []}}),
    );
    let error = json!({"code": -32800, "message": "The request was cancelled."});
    let cancelled = json!({"jsonrpc": "2.0", "id": 3, "error": error});
    between.hub(&cancelled);
    assert!(between.editor.is_empty());
    between.again();
    between.hub.clear();
    between.resumed();
    assert_eq!(between.hub.last().unwrap()["id"], 3);
    // A hub that goes on means it.
    between.hub(&cancelled);
    between.hub(&json!({"jsonrpc": "2.0", "method": "_x/y"}));
    assert_eq!(between.editor[0], cancelled);
}
