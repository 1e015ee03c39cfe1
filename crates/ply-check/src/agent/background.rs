//! Work in the background, and cancels of single pieces of work: both of version 2 only.

use serde_json::json;

use super::bench::Bench;
use super::turn::{self, Choice, permit};
use crate::peer::Stopped;
use crate::recording::Frame;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[Probe {
    name: "cancels of calls that do not run",
    rules: &[id::V2_ECANCEL_03],
    run: |bench| Box::pin(not_running(bench)),
}];

/// Cancels a call that never was and one that is over. An agent that lets none be cancelled need not know the method.
async fn not_running(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    let look = bench.subject.prompts.look.clone();
    let course = turn::run(bench, &mut agent, &session, &look).await?;
    let calls = course.calls(&agent);
    let over = calls.iter().find(|life| life.is_final());
    let over = over.map(|life| life.id.clone());
    let offers = |frame: &Frame| {
        let cancel = frame
            .update()
            .and_then(|update| update.pointer("/capabilities/cancel"));
        cancel.is_some_and(|cancel| !cancel.is_null())
    };
    let is_offered = agent.seen_since(0, offers).is_some();
    // Only calls that offer it may be cancelled.
    agent.recording().play_foul();
    for call in ["ply-check-unknown".to_owned()].into_iter().chain(over) {
        let params = json!({"sessionId": session, "toolCallId": call});
        let answer = agent.ask("tool_call/cancel", params).await?;
        let code = answer.error_code();
        let is_kept = code == Some(-32602) || (!is_offered && code == Some(-32601));
        let saw = match code {
            Some(code) => format!("cancelling a call that does not run returned error {code}"),
            None => "a cancel of a call that does not run was accepted".to_owned(),
        };
        bench.judge(id::V2_ECANCEL_03, is_kept, &agent, &answer.frames(), saw);
    }
    Ok(())
}
