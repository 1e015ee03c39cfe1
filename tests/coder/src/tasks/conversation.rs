//! What the model service was sent, against what the task says about it.

use ply_model_server::Seen;

use super::Script;

/// Bytes of a result that are shown where it is not as expected.
const SHOWN_BYTES_MAX: usize = 2 * 1024;

/// Returns what is wrong with the requests that the model got.
pub(super) fn problems(script: &Script, requests: &[Seen]) -> Vec<String> {
    let mut problems = Vec::new();
    if requests.len() != script.replies.len() {
        problems.push(format!(
            "the model has {} replies and got {} requests",
            script.replies.len(),
            requests.len()
        ));
    }
    let mut calls = 0;
    for (place, (said, seen)) in script.replies.iter().zip(requests).enumerate() {
        let results: Vec<_> = seen
            .tool_results()
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        // The newest ones are those of the reply before.
        let results = &results[results.len().saturating_sub(calls)..];
        let number = place + 1;
        for words in &said.expects {
            if !results.iter().any(|result| result.contains(words)) {
                problems.push(format!(
                    "request {number}: no result holds {words:?}; they are:\n{}",
                    shown(results)
                ));
            }
        }
        let body = seen.body.to_string();
        for words in &said.sees {
            // As it is written inside a JSON string.
            let quoted = serde_json::Value::from(words.as_str()).to_string();
            if !body.contains(&quoted[1..quoted.len() - 1]) {
                problems.push(format!("request {number} does not hold {words:?}"));
            }
        }
        calls = said.calls.len();
    }
    problems
}

fn shown(results: &[String]) -> String {
    let cut = results.iter().map(|result| {
        let end = result.floor_char_boundary(SHOWN_BYTES_MAX);
        let (text, rest) = result.split_at(end);
        let more = if rest.is_empty() { "" } else { " […]" };
        format!("> {}{more}", text.replace('\n', "\n  "))
    });
    cut.collect::<Vec<_>>().join("\n")
}
