//! Deleting sessions.

use serde_json::json;

use super::bench::Bench;
use super::judging::tell;
use super::list::entries;
use super::sessions::can_list;
use super::talk::talk;
use crate::peer::Stopped;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[Probe {
    name: "deleting a session",
    rules: &[id::V1_DEL_02, id::V1_DEL_03, id::V2_DEL_01],
    run: |bench| Box::pin(deleting(bench)),
}];

async fn deleting(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let session = agent.new_session().await?;
    if let Err(stopped) = talk(&bench.subject, bench.version, &mut agent, &session).await {
        tracing::debug!(%stopped, "a session is deleted without a turn");
    }
    let params = json!({"sessionId": session});
    let deleted = agent.ask("session/delete", params.clone()).await?;
    // Deleting a session in use is the agent's choice; a closed one is not in use.
    let deleted = match deleted.error_code() {
        Some(_) => {
            agent.ask("session/close", params.clone()).await?;
            agent.ask("session/delete", params.clone()).await?
        }
        None => deleted,
    };
    let saw = tell("session/delete", &deleted);
    let is_kept = deleted.result().is_some();
    bench.judge_all(
        &[id::V1_DEL_02, id::V2_DEL_01],
        is_kept,
        &agent,
        &deleted.frames(),
        saw,
    );
    if can_list(&agent) {
        let here = json!({"cwd": agent.cwd});
        let answer = agent.ask("session/list", here).await?;
        let listed = entries(&answer).into_iter().flatten();
        let mut ids = listed.filter_map(|entry| entry.get("sessionId")?.as_str());
        let is_kept = !ids.any(|id| id == session);
        let frames = [deleted.frames(), answer.frames()].concat();
        let saw = "a deleted session is still listed";
        bench.judge_all(
            &[id::V1_DEL_02, id::V2_DEL_01],
            is_kept,
            &agent,
            &frames,
            saw,
        );
    }
    for id in [session.as_str(), "ply-check-no-such-session"] {
        let again = agent
            .ask("session/delete", json!({"sessionId": id}))
            .await?;
        let saw = format!(
            "{}, for a session that is not there",
            tell("session/delete", &again)
        );
        bench.judge(
            id::V1_DEL_03,
            again.result().is_some(),
            &agent,
            &again.frames(),
            saw,
        );
    }
    Ok(())
}
