//! The shape of forms and pages.

use std::collections::BTreeSet;

use ply_client::Direction;
use serde_json::Value;

use crate::agent::bench::{Agent, Bench};
use crate::agent::notices::asked;
use crate::agent::turn::{self, Course, word};
use crate::recording::Frame;

/// Words in the name of a field that mean a secret.
const SECRETS: [&str; 6] = [
    "password",
    "passwd",
    "secret",
    "apikey",
    "accesstoken",
    "privatekey",
];

/// Looks at the forms and pages of a turn.
pub(in crate::agent) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    let mut pages = BTreeSet::new();
    for frame in course.requests("elicitation/create") {
        let params = frame.params().unwrap_or(&Value::Null);
        question(bench, agent, frame.number, params);
        if let Some(id) = word(params, "elicitationId") {
            let saw = "two pages have the same id";
            both(
                bench,
                "V1-ELIC-19",
                pages.insert(id),
                agent,
                frame.number,
                saw,
            );
        }
    }
    let is_end = |frame: &&Frame| {
        frame.direction == Direction::ToClient && frame.method() == Some("elicitation/complete")
    };
    for frame in course.frames.iter().filter(is_end) {
        let id = frame
            .params()
            .and_then(|params| word(params, "elicitationId"));
        let is_known = id.is_some_and(|id| was_asked(agent, &id));
        let saw = "a page was completed that was not asked for here";
        both(bench, "V1-ELIC-20", is_known, agent, frame.number, saw);
    }
}

fn question(bench: &mut Bench, agent: &Agent, frame: usize, params: &Value) {
    let mode = word(params, "mode");
    let saw = "a question does not say its mode";
    both(bench, "V1-ELIC-03", mode.is_some(), agent, frame, saw);
    let mode = mode.unwrap_or_default();
    let saw = "a mode was used that the client does not offer";
    let is_offered = asked(agent, &format!("/elicitation/{mode}"));
    both(bench, "V1-ELIC-01", is_offered, agent, frame, saw);
    let given = |key: &str| params.get(key).is_some_and(|value| !value.is_null());
    let saw = "a question belongs to a session and a request, or to neither";
    both(
        bench,
        "V1-ELIC-04",
        given("sessionId") != given("requestId"),
        agent,
        frame,
        saw,
    );
    match mode.as_str() {
        "form" => form(bench, agent, frame, params),
        "url" => {
            let url = word(params, "url").unwrap_or_default();
            let saw = "the address of a page has credentials in it";
            both(bench, "V1-ELIC-25", is_clean(&url), agent, frame, saw);
            if !is_safe(&url) {
                let saw = "the address of a page is neither `https` nor local";
                for rule in ["V1-ELIC-25", "V2-ELIC-01"] {
                    bench.advise(rule, agent, &[frame], saw);
                }
            }
        }
        _ => {}
    }
}

fn form(bench: &mut Bench, agent: &Agent, frame: usize, params: &Value) {
    let schema = params.get("requestedSchema").unwrap_or(&Value::Null);
    let fields = schema.get("properties").and_then(Value::as_object);
    let is_flat = fields.is_some_and(|fields| fields.values().all(is_plain));
    let saw = "a form is not a flat object of texts, numbers, booleans and choices";
    both(bench, "V1-ELIC-13", is_flat, agent, frame, saw);
    let names = fields.into_iter().flat_map(|fields| fields.keys());
    let is_secret = |name: &String| {
        let letters = name.chars().filter(|c| c.is_ascii_alphanumeric());
        let name = letters.collect::<String>().to_ascii_lowercase();
        SECRETS.iter().any(|secret| name.contains(secret))
    };
    let saw = "a form asks for a secret";
    both(
        bench,
        "V1-ELIC-12",
        !names.into_iter().any(is_secret),
        agent,
        frame,
        saw,
    );
}

fn is_plain(field: &Value) -> bool {
    match word(field, "type").as_deref() {
        Some("string" | "number" | "integer" | "boolean") => true,
        // A choice of several is a list of texts.
        Some("array") => field.pointer("/items/properties").is_none(),
        _ => false,
    }
}

/// Returns the scheme and the host of an address.
fn parts(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    Some((
        scheme,
        rest.split(['/', '?', '#']).next().unwrap_or_default(),
    ))
}

fn is_clean(url: &str) -> bool {
    parts(url).is_some_and(|(_, host)| !host.contains('@'))
}

fn is_safe(url: &str) -> bool {
    parts(url).is_some_and(|(scheme, host)| {
        let mut local = ["localhost", "127.", "[::1]"].iter();
        scheme == "https" || local.any(|local| host.starts_with(local))
    })
}

fn was_asked(agent: &Agent, id: &str) -> bool {
    let asks = |frame: &Frame| {
        let is_question = frame.method() == Some("elicitation/create");
        is_question
            && frame
                .params()
                .and_then(|params| word(params, "elicitationId"))
                .as_deref()
                == Some(id)
    };
    agent.seen_since(0, asks).is_some()
}

/// Judges a rule of version 1, and the one rule of version 2 that stands for all of them.
fn both(bench: &mut Bench, rule: &str, is_kept: bool, agent: &Agent, frame: usize, saw: &str) {
    turn::judge(bench, &[rule, "V2-ELIC-01"], is_kept, agent, &[frame], saw);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_https_or_local_and_have_no_credentials() {
        for url in [
            "https://example.org/a@b",
            "http://localhost:80/",
            "http://127.0.0.1",
        ] {
            assert!(is_clean(url) && is_safe(url), "{url}");
        }
        for url in ["https://me:word@example.org", "example.org"] {
            assert!(!is_clean(url), "{url}");
        }
        // The protocol only recommends `https`.
        assert!(is_clean("http://example.org") && !is_safe("http://example.org"));
    }
}
