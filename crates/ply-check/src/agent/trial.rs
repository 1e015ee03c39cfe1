//! Whether an agent can prompt at all: one without a key, or with a model that is down, breaks no rule.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::Bench;
use super::subject::Subject;
use super::sweep;
use super::talk::is_state;
use crate::findings::Findings;
use crate::peer::{Answer, Stopped};
use crate::recording::Frame;

/// How often a prompt may fail before it counts: a model may be overloaded for a moment.
const ATTEMPTS: usize = 2;

/// What is tried.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub(super) subject: Subject,
    pub(super) version: Version,
}

impl Trial {
    /// Says the short prompt in a process of its own. Returns why the agent cannot prompt; none if it can, or if it is not known.
    pub(super) async fn run(&self) -> Option<String> {
        let mut why = None;
        for _ in 0..ATTEMPTS {
            // Whatever else goes wrong is for the probes to tell.
            why = self.prompt().await.ok().flatten();
            why.as_ref()?;
        }
        why.map(|why| format!("the agent cannot prompt: {why}"))
    }

    async fn prompt(&self) -> Result<Option<String>, Stopped> {
        let mut bench = Bench::new(self.subject.clone(), self.version, Findings::default());
        let mut agent = bench.greeted_with(json!({})).await?;
        let session = agent.new_session().await?;
        agent.patience = self.subject.turn_patience;
        let blocks = json!([{"type": "text", "text": self.subject.prompts.short}]);
        let params = json!({"sessionId": session, "prompt": blocks});
        let answer = agent.ask("session/prompt", params).await?;
        let mut why = failure(&answer);
        if why.is_none() && self.version == Version::V2 && answer.result().is_some() {
            let is_end =
                |frame: &Frame| is_state(frame, &session, "idle") && stop_of(frame).is_some();
            let end = match agent.seen_since(answer.request, is_end) {
                Some(end) => Some(end),
                None => agent.until(self.subject.turn_patience, is_end).await?,
            };
            let failed = end.filter(|frame| stop_of(frame) == Some("error"));
            why = failed.map(|frame| {
                let words = frame
                    .update()
                    .and_then(|update| update.pointer("/error/message"));
                let words = words.and_then(Value::as_str);
                shown(words.unwrap_or("the turn ended with `error`"))
            });
        }
        if sweep::can_delete(self.version, &agent) {
            let deleted = agent
                .ask("session/delete", json!({"sessionId": session}))
                .await;
            tracing::debug!(is_deleted = deleted.is_ok(), "the session of the trial");
        }
        agent.end().await;
        Ok(why)
    }
}

/// Returns the stop reason of an update.
fn stop_of(frame: &Frame) -> Option<&str> {
    frame.update()?.get("stopReason")?.as_str()
}

/// Returns the words of an error that is not about the request: codes of JSON-RPC say that the request does not fit. An agent without
/// the method cannot prompt either.
fn failure(answer: &Answer) -> Option<String> {
    let error = answer.message.get("error")?;
    let code = error.get("code").and_then(Value::as_i64)?;
    let is_about_request = matches!(code, -32700 | -32600 | -32602);
    let words = answer.error_message();
    (!is_about_request).then(|| match words.is_empty() {
        true => format!("prompts return error {code}"),
        false => shown(&words),
    })
}

fn shown(words: &str) -> String {
    ply_rpc::clean::for_display(words.as_bytes(), 200)
}
