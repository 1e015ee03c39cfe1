//! Work in the background, and cancels of single pieces of work: both of version 2 only.

use std::collections::BTreeSet;

use ply_client::Direction;
use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::turn::{self, Choice, Course, permit, state, word};
use crate::peer::Stopped;
use crate::recording::Frame;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent(
            "V2-BG-02",
            "An agent that lists work in the background does so with every state.",
        )
        .matters("Clients cannot tell whether the work ended or was left out.")
        .fix("Send `background` with each `state_update` of the session, `[]` if there is none."),
        Rule::agent(
            "V2-BG-03",
            "Work in the background is announced before it is listed.",
        )
        .matters("Clients list something that they cannot name.")
        .fix("Send the first update of a call or terminal before a state that lists it."),
        Rule::agent("V2-BG-04", "No work is listed twice.")
            .matters("Users see two pieces of work where there is one.")
            .fix("List a call that a process backs by its terminal only."),
        Rule::agent(
            "V2-ECANCEL-03",
            "A cancel of a call that is unknown or over is refused with -32602.",
        )
        .matters("Clients wait for the end of something that is not there.")
        .fix("Answer `tool_call/cancel` with -32602 unless the call runs and can be cancelled."),
    ],
    probes: &[Probe {
        name: "cancels of calls that do not run",
        rules: &["V2-ECANCEL-03"],
        run: |bench| Box::pin(not_running(bench)),
    }],
};

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
            Some(code) => format!("a cancel of a call that does not run was answered with {code}"),
            None => "a cancel of a call that does not run was accepted".to_owned(),
        };
        bench.judge("V2-ECANCEL-03", is_kept, &agent, &answer.frames(), saw);
    }
    Ok(())
}

/// Looks at the lists of background work that came with the states of a session.
pub(super) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    if course.version == Version::V1 {
        return;
    }
    let frames: Vec<Frame> = agent.recording().with_frames(|frames| {
        let told = frames.iter().take(course.end + 1);
        let ours = |frame: &&Frame| {
            frame.direction == Direction::ToClient
                && frame.session() == Some(course.session.as_str())
        };
        told.filter(ours).cloned().collect()
    });
    let mut known = BTreeSet::new();
    let mut listing = None;
    for frame in &frames {
        let Some(update) = frame.update() else {
            continue;
        };
        if state(frame).is_none() {
            known.extend(names(update));
            continue;
        }
        let list = update.get("background").and_then(Value::as_array);
        if let Some(first) = listing {
            let saw = "a state came without the list of background work that an earlier one had";
            bench.judge(
                "V2-BG-02",
                list.is_some(),
                agent,
                &[first, frame.number],
                saw,
            );
        }
        let Some(list) = list else {
            continue;
        };
        listing.get_or_insert(frame.number);
        let listed: Vec<_> = list.iter().flat_map(names).collect();
        let is_known = listed.iter().all(|name| known.contains(name));
        let saw = "work was listed before it was announced";
        bench.judge("V2-BG-03", is_known, agent, &[frame.number], saw);
        let once: BTreeSet<_> = listed.iter().collect();
        let saw = "work was listed twice";
        bench.judge(
            "V2-BG-04",
            once.len() == listed.len(),
            agent,
            &[frame.number],
            saw,
        );
    }
}

/// Returns the ids of the call and of the terminal that something is about.
fn names(value: &Value) -> Vec<(&'static str, String)> {
    let named = ["toolCallId", "terminalId"].into_iter();
    named
        .filter_map(|key| Some((key, word(value, key)?)))
        .collect()
}
