//! The shape of questions for permission.

use std::collections::BTreeSet;

use ply_client::Direction;
use ply_wire::negotiate::Version;
use serde_json::Value;

use crate::agent::bench::{Agent, Bench};
use crate::agent::tool::is_absolute;
use crate::agent::turn::{Course, word};
use crate::recording::Frame;

const KINDS: [&str; 4] = ["allow_once", "allow_always", "reject_once", "reject_always"];

/// Looks at the questions of a turn. One without its session is no question of the turn, so all that came meanwhile are looked at.
pub(in crate::agent) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    for frame in course.requests("session/request_permission") {
        let Some(params) = frame.params() else {
            continue;
        };
        match course.version {
            Version::V1 => question_v1(bench, agent, frame.number, params),
            Version::V2 => question_v2(bench, agent, frame.number, params),
        }
    }
}

fn question_v1(bench: &mut Bench, agent: &Agent, frame: usize, params: &Value) {
    let has_session = is_our_session(agent, params);
    let has_call = params
        .pointer("/toolCall/toolCallId")
        .is_some_and(Value::is_string);
    let options = params.get("options").and_then(Value::as_array);
    let is_kept = has_session && has_call && options.is_some();
    let saw = "a question has no session, no call or no options";
    bench.judge("V1-PERM-03", is_kept, agent, &[frame], saw);
    let Some(options) = options else {
        return;
    };
    let is_whole = |option: &Value| {
        let kind = word(option, "kind").unwrap_or_default();
        word(option, "name").is_some() && KINDS.contains(&kind.as_str())
    };
    let is_kept = are_distinct(options) && options.iter().all(is_whole);
    let saw = "an option has no id of its own, no name or no kind that there is";
    bench.judge("V1-PERM-04", is_kept, agent, &[frame], saw);
}

fn question_v2(bench: &mut Bench, agent: &Agent, frame: usize, params: &Value) {
    let has = |key| params.get(key).is_some_and(Value::is_string);
    let options = params.get("options").and_then(Value::as_array);
    let is_offered = options.is_some_and(|options| !options.is_empty() && are_distinct(options));
    let is_kept = is_our_session(agent, params) && has("title") && is_offered;
    let saw = "a question has no session, no title, or no options with ids of their own";
    bench.judge("V2-PERM-01", is_kept, agent, &[frame], saw);
    let subject = params
        .get("subject")
        .filter(|subject| word(subject, "type").as_deref() == Some("command"));
    if let Some(subject) = subject {
        let cwd = word(subject, "cwd").unwrap_or_default();
        let is_kept = word(subject, "command").is_some() && is_absolute(&cwd);
        let saw = "a question about a command has no command or no absolute `cwd`";
        bench.judge("V2-PERM-04", is_kept, agent, &[frame], saw);
    }
}

/// Returns whether each option has an id that no other one has.
fn are_distinct(options: &[Value]) -> bool {
    let ids: BTreeSet<_> = options
        .iter()
        .filter_map(|option| word(option, "optionId"))
        .collect();
    ids.len() == options.len()
}

/// Returns whether a question names a session that we have spoken to.
fn is_our_session(agent: &Agent, params: &Value) -> bool {
    let session = params.get("sessionId").and_then(Value::as_str);
    let is_ours =
        |frame: &Frame| frame.direction == Direction::ToAgent && frame.session() == session;
    session.is_some() && agent.seen_since(0, is_ours).is_some()
}
