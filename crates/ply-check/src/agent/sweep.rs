//! Sessions that a check has made, and their end.

use std::collections::{BTreeMap, BTreeSet};

use ply_client::Direction;
use ply_wire::negotiate::Version;
use serde_json::json;

use super::bench::{Agent, Bench};
use crate::findings::Found;
use crate::recording::{Frame, Recording};
use crate::rule::id;
use crate::verdict::Evidence;

/// Judges that no two processes of an agent that keeps sessions gave one id to two of them.
pub(super) fn judge_ids(bench: &mut Bench) {
    let rule = match bench.version {
        Version::V1 => id::V1_SESS_01,
        Version::V2 => id::V2_SESS_01,
    };
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let recordings = bench.findings.recordings.clone();
    for (place, recording) in recordings
        .iter()
        .enumerate()
        .filter(|(_, it)| keeps_sessions(it))
    {
        for (id, frame) in made(recording) {
            if known
                .insert(id, place)
                .is_some_and(|earlier| earlier != place)
            {
                let evidence = Evidence {
                    recording: place,
                    frames: vec![frame],
                };
                let saw = "a new session has the id of a session from another process";
                let findings = &mut bench.findings;
                findings.add(
                    rule,
                    Found::Broken,
                    saw,
                    evidence,
                    Some("several processes"),
                );
            }
        }
    }
}

/// Returns whether the agent of a connection has sessions that outlive it, as far as it says.
fn keeps_sessions(recording: &Recording) -> bool {
    recording.with_frames(|frames| {
        let mut hellos = frames
            .iter()
            .filter_map(|frame| frame.json.as_ref()?.get("result"));
        hellos.any(|hello| {
            let v1 = hello.get("agentCapabilities");
            let loads = v1.and_then(|it| it.get("loadSession")) == Some(&json!(true));
            let lists = v1.and_then(|it| it.pointer("/sessionCapabilities/list"));
            loads || lists.is_some() || hello.pointer("/capabilities/session").is_some()
        })
    })
}

/// Deletes the sessions that the check has made. Returns what is left of them, in one sentence; none if nothing is.
pub(super) async fn sweep(bench: &mut Bench) -> Option<String> {
    let made = bench.findings.recordings.iter().flat_map(made);
    let made: BTreeSet<String> = made.map(|(id, _)| id).collect();
    if made.is_empty() {
        return None;
    }
    let count = made.len();
    bench.begin("cleaning up");
    let mut agent = match bench.greeted_with(json!({})).await {
        Ok(agent) => agent,
        Err(stopped) => return Some(left(count, &stopped.to_string())),
    };
    if !can_delete(bench.version, &agent) {
        agent.end().await;
        return Some(left(count, "the agent offers no `session/delete`"));
    }
    let mut failed = None;
    let mut is_left = 0;
    for session in &made {
        let deleted = agent
            .ask("session/delete", json!({"sessionId": session}))
            .await;
        let why = match &deleted {
            Ok(answer) if answer.result().is_some() => continue,
            Ok(answer) => answer.error_message(),
            Err(stopped) => stopped.to_string(),
        };
        is_left += 1;
        failed.get_or_insert(why);
        if deleted.is_err() {
            break;
        }
    }
    agent.end().await;
    failed.map(|why| left(is_left, &why))
}

/// Says how many sessions are left, and why.
pub(super) fn left(count: usize, why: &str) -> String {
    let sessions = if count == 1 { "session" } else { "sessions" };
    format!("{count} {sessions} of this check remain in the agent's store: {why}")
}

/// Returns whether an agent deletes sessions.
pub(super) fn can_delete(version: Version, agent: &Agent) -> bool {
    match version {
        Version::V1 => agent.offers("/sessionCapabilities/delete"),
        Version::V2 => agent.offers("/session/delete"),
    }
}

/// Returns the sessions that were made over a connection, with the answers that name them.
fn made(recording: &Recording) -> Vec<(String, usize)> {
    recording.with_frames(|frames| {
        let asks = |frame: &&Frame| {
            frame.direction == Direction::ToAgent && frame.method() == Some("session/new")
        };
        let asked: Vec<_> = frames.iter().filter(asks).filter_map(Frame::id).collect();
        let answers = frames.iter().filter(|frame| {
            let is_theirs = frame.direction == Direction::ToClient && frame.is_answer();
            is_theirs && frame.id().is_some_and(|id| asked.contains(&id))
        });
        let ids = answers.filter_map(|frame| {
            let id = frame.json.as_ref()?.pointer("/result/sessionId")?;
            Some((id.as_str()?.to_owned(), frame.number))
        });
        ids.collect()
    })
}
