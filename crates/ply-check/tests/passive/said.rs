//! Recordings written as short lines.
//!
//! `> 1 METHOD PARAMS` is a request of the client, `> METHOD PARAMS` a notification, `>= 1 RESULT` an
//! answer and `>! 1 CODE` an error of it; `<` is the agent. `>raw TEXT` is any line, `wait` lets time
//! pass, `<bytes` is no UTF-8, `eof` closes the client's end, `exit` ends the agent.

use ply_check::passive::{Judgement, Passive};
use ply_check::trace::{Direction, Entry, Event, Exit};
use serde_json::{Value, json};

/// How long nothing happens at `wait`.
const WAIT_S: f64 = 5.0;

/// Judges a recording.
#[track_caller]
pub(crate) fn judge<'a>(lines: impl IntoIterator<Item = &'a str>) -> Judgement {
    let mut passive = Passive::new();
    let mut t = 0.0;
    for line in lines {
        t += 0.001;
        match line {
            "<bytes" => passive.observe(&Entry::line(t, Direction::ToClient, b"\xff")),
            "wait" => t += WAIT_S,
            "eof" => passive.observe(&Entry::new(t, Event::Closed(Direction::ToAgent))),
            "exit" => passive.observe(&Entry::new(t, Event::Exit(Exit::new(Some(0), None)))),
            line => passive.observe(&entry(t, line)),
        }
    }
    passive.finish()
}

#[track_caller]
fn entry(t: f64, line: &str) -> Entry {
    let dir = match line.as_bytes()[0] {
        b'>' => Direction::ToAgent,
        b'<' => Direction::ToClient,
        _ => panic!("neither > nor <: {line}"),
    };
    let rest = &line[1..];
    if let Some(raw) = rest.strip_prefix("raw") {
        return Entry::line(t, dir, raw.trim().as_bytes());
    }
    let message = message(rest);
    Entry::line(t, dir, message.to_string().as_bytes())
}

#[track_caller]
fn message(line: &str) -> Value {
    let parse = |text: &str| -> Value {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    if let Some(rest) = line.strip_prefix("= ") {
        let (id, result) = rest.split_once(' ').unwrap();
        return json!({ "jsonrpc": "2.0", "id": parse(id), "result": parse(result) });
    }
    if let Some(rest) = line.strip_prefix("! ") {
        let (id, code) = rest.split_once(' ').unwrap();
        let error = json!({ "code": parse(code), "message": "no" });
        return json!({ "jsonrpc": "2.0", "id": parse(id), "error": error });
    }
    let line = line.trim_start();
    let is_id = |word: &str| word.parse::<f64>().is_ok() || word == "null" || word.starts_with('"');
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (id, method, params) = match is_id(first) {
        true => {
            let (method, params) = rest.split_once(' ').unwrap_or((rest, "{}"));
            (Some(parse(first)), method, params)
        }
        false => (None, first, if rest.is_empty() { "{}" } else { rest }),
    };
    let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": parse(params) });
    if let Some(id) = id {
        message["id"] = id;
    }
    message
}
