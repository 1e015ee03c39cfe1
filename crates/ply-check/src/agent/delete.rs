//! Deleting sessions.

use ply_wire::negotiate::Version;
use serde_json::json;

use super::bench::Bench;
use super::judging::tell;
use super::list::entries;
use super::sessions::can_list;
use super::talk::talk;
use crate::peer::Stopped;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-DEL-02", "A deleted session is not listed any more.")
            .gate("sessionCapabilities.delete")
            .matters("What the user deleted is still there.")
            .fix("Leave deleted sessions out of listings before answering."),
        Rule::agent(
            "V1-DEL-03",
            "Deleting a session that is not there succeeds.",
        )
        .should()
        .gate("sessionCapabilities.delete")
        .matters("Two clients that delete the same session show an error to one user.")
        .fix("Answer `{}`."),
        Rule::agent(
            "V2-DEL-01",
            "A deleted session is not listed any more, and deleting it again succeeds.",
        )
        .gate("session.delete")
        .matters("What the user deleted is still there.")
        .fix("Leave deleted sessions out of listings before answering."),
    ],
    probes: &[Probe {
        name: "deleting a session",
        rules: &["V1-DEL-02", "V1-DEL-03", "V2-DEL-01"],
        run: |bench| Box::pin(deleting(bench)),
    }],
};

async fn deleting(bench: &mut Bench) -> Result<(), Stopped> {
    let rules = ["V1-DEL-02", "V1-DEL-03", "V2-DEL-01"];
    let mut agent = bench.greeted().await?;
    let capability = match bench.version {
        Version::V1 => "/sessionCapabilities/delete",
        Version::V2 => "/session/delete",
    };
    if !agent.offers(capability) {
        bench.none_offered(&rules, "deleting sessions");
        bench.give_back(agent);
        return Ok(());
    }
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
        &["V1-DEL-02", "V2-DEL-01"],
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
        bench.judge_all(&["V1-DEL-02", "V2-DEL-01"], is_kept, &agent, &frames, saw);
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
            "V1-DEL-03",
            again.result().is_some(),
            &agent,
            &again.frames(),
            saw,
        );
    }
    Ok(())
}
