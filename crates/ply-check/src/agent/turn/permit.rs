//! How questions for permission are answered.

use serde_json::{Value, json};

use crate::agent::bench::Agent;
use crate::peer::Reply;

/// An answer to questions for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::agent) enum Choice {
    /// Yes, this once.
    Allow,
    /// No, this once.
    Reject,
    /// The outcome `cancelled`.
    Cancelled,
    /// An option that was not offered.
    Unoffered,
    /// An outcome that does not exist.
    UnknownOutcome,
    /// This error.
    Error(i64),
    /// No answer for now.
    Hold,
}

/// Answers all further questions for permission this way.
pub(in crate::agent) fn permit(agent: &mut Agent, choice: Choice) {
    agent
        .service
        .on("session/request_permission", move |params| {
            reply(params, choice)
        });
}

/// Returns whether a question has an option of a kind that begins with this word.
pub(in crate::agent) fn offers(params: &Value, kind: &str) -> bool {
    option(params, kind).is_some()
}

fn reply(params: &Value, choice: Choice) -> Reply {
    let outcome = match choice {
        Choice::Allow => selected(option(params, "allow")),
        Choice::Reject => selected(option(params, "reject")),
        Choice::Cancelled => json!({"outcome": "cancelled"}),
        Choice::Unoffered => selected(Some("ply-check-never-offered")),
        Choice::UnknownOutcome => json!({"outcome": "_maybe"}),
        Choice::Error(code) => return Reply::Error(code, "Request cancelled"),
        Choice::Hold => return Reply::Hold,
    };
    Reply::Result(json!({ "outcome": outcome }))
}

/// Returns the answer that allows a question which was held.
pub(in crate::agent) fn allowed(params: &Value) -> Value {
    json!({"outcome": selected(option(params, "allow"))})
}

fn selected(option: Option<&str>) -> Value {
    match option {
        Some(option) => json!({"outcome": "selected", "optionId": option}),
        None => json!({"outcome": "cancelled"}),
    }
}

/// Returns an option by the beginning of its kind; one for this once is taken before one for always.
fn option<'a>(params: &'a Value, kind: &str) -> Option<&'a str> {
    let options = params.get("options")?.as_array()?;
    let of = |word: &str| {
        let fits = |option: &&Value| {
            let found = option.get("kind").and_then(Value::as_str);
            found.is_some_and(|found| found.starts_with(word))
        };
        options.iter().find(fits)?.get("optionId")?.as_str()
    };
    of(&format!("{kind}_once")).or_else(|| of(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(choice: Choice, options: Value, expected: Value) {
        let reply = reply(&json!({ "options": options }), choice);
        assert_eq!(reply, Reply::Result(json!({ "outcome": expected })));
    }

    #[test]
    fn an_option_for_once_is_taken_before_one_for_always() {
        let options = json!([
            {"optionId": "a", "kind": "allow_always"},
            {"optionId": "o", "kind": "allow_once"},
            {"optionId": "r", "kind": "reject_always"},
        ]);
        let selected = |id: &str| json!({"outcome": "selected", "optionId": id});
        check(Choice::Allow, options.clone(), selected("o"));
        check(Choice::Reject, options, selected("r"));
    }

    #[test]
    fn what_is_not_offered_cannot_be_selected() {
        check(Choice::Allow, json!([]), json!({"outcome": "cancelled"}));
    }
}
