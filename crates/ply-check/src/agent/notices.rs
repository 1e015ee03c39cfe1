//! Usage, notices and compaction.

use std::collections::BTreeMap;

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::turn::{self, Choice, Course, permit, word};
use crate::peer::Stopped;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent(
            "V1-USAGE-02",
            "`usage_update` has the counts `used` and `size`.",
        )
        .matters("Clients cannot show how full the context is.")
        .fix("Send both as whole numbers, and no update while the size is not known."),
        Rule::agent("V1-USAGE-03", "A cost has an amount and a currency.")
            .matters("Users cannot tell cents from euros.")
            .fix("Give `amount` as a number and `currency` as a code such as `USD`."),
        Rule::agent(
            "V1-NOTICE-01",
            "`notice` goes only to clients that asked for notices.",
        )
        .matters("Clients of version 1 do not know the update.")
        .fix("Send it only if the client has `session.notices`; else say it in a message."),
        Rule::agent("V1-NOTICE-02", "A notice has a severity and a title.")
            .matters("Clients show an empty box.")
            .fix("Give `severity` and a `title` that is not empty."),
        Rule::agent(
            "V1-COMPACT-01",
            "Updates about compaction go only to clients that asked for them.",
        )
        .matters("Clients of version 1 do not know the updates.")
        .fix("Send them only if the client has `session.compaction`."),
        Rule::agent(
            "V1-COMPACT-02",
            "A compaction has one final status, and its summary comes before it.",
        )
        .matters("Clients show a compaction that never ends, or a summary out of place.")
        .fix("Report `in_progress`, then chunks of the summary, then one final status."),
    ],
    probes: &[Probe {
        name: "turns of a client that takes notices",
        rules: &[
            "V1-NOTICE-01",
            "V1-NOTICE-02",
            "V1-USAGE-02",
            "V1-USAGE-03",
            "V1-COMPACT-01",
            "V1-COMPACT-02",
        ],
        run: |bench| Box::pin(with_notices(bench)),
    }],
};

/// Sends the prompts that are said to bring usage, notices and a compaction, to an agent that was offered both and to one that was not.
async fn with_notices(bench: &mut Bench) -> Result<(), Stopped> {
    if bench.version == Version::V2 {
        return Ok(());
    }
    let prompts = bench.subject.prompts.clone();
    let said = [prompts.notice, prompts.usage, prompts.compact];
    let said: Vec<_> = said.into_iter().flatten().collect();
    if said.is_empty() {
        return Ok(());
    }
    let offered = json!({"session": {"notices": {}, "compaction": {}}});
    for capabilities in [json!({}), offered] {
        let mut agent = bench.greeted_with(capabilities).await?;
        let session = agent.new_session().await?;
        permit(&mut agent, Choice::Allow);
        let short = bench.subject.prompts.short.clone();
        turn::run(bench, &mut agent, &session, &short).await?;
        for prompt in &said {
            turn::run(bench, &mut agent, &session, prompt).await?;
        }
    }
    Ok(())
}

/// Looks at what a turn told besides its words and tools.
pub(super) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    if course.version == Version::V2 {
        return;
    }
    let mut compactions: BTreeMap<String, Vec<(usize, Option<String>)>> = BTreeMap::new();
    for (frame, update) in course.updates() {
        match word(update, "sessionUpdate").as_deref() {
            Some("usage_update") => usage(bench, agent, frame, update),
            Some("notice") => {
                let saw = "a notice was sent to a client that did not ask for notices";
                let is_asked = asked(agent, "/session/notices");
                bench.judge("V1-NOTICE-01", is_asked, agent, &[frame], saw);
                let has = |key| word(update, key).is_some_and(|text| !text.is_empty());
                let saw = "a notice has no severity or no title";
                bench.judge(
                    "V1-NOTICE-02",
                    has("severity") && has("title"),
                    agent,
                    &[frame],
                    saw,
                );
            }
            Some(kind @ ("compaction_update" | "compaction_summary_chunk")) => {
                let saw = "a compaction was reported to a client that did not ask for it";
                let is_asked = asked(agent, "/session/compaction");
                bench.judge("V1-COMPACT-01", is_asked, agent, &[frame], saw);
                let id = word(update, "compactionId").unwrap_or_default();
                let status = match kind {
                    "compaction_update" => word(update, "status"),
                    _ => Some("chunk".to_owned()),
                };
                compactions.entry(id).or_default().push((frame, status));
            }
            _ => {}
        }
    }
    for reports in compactions.values() {
        compaction(bench, agent, reports);
    }
}

fn usage(bench: &mut Bench, agent: &Agent, frame: usize, update: &Value) {
    let counts = ["used", "size"].map(|key| update.get(key).is_some_and(Value::is_u64));
    let saw = "`used` or `size` is no count";
    bench.judge("V1-USAGE-02", counts == [true, true], agent, &[frame], saw);
    if let Some(cost) = update.get("cost").filter(|cost| !cost.is_null()) {
        let is_kept =
            cost.get("amount").is_some_and(Value::is_number) && word(cost, "currency").is_some();
        let saw = "a cost has no amount or no currency";
        bench.judge("V1-USAGE-03", is_kept, agent, &[frame], saw);
    }
}

fn compaction(bench: &mut Bench, agent: &Agent, reports: &[(usize, Option<String>)]) {
    let is_final = |status: &&Option<String>| {
        matches!(
            status.as_deref(),
            Some("completed" | "failed" | "cancelled")
        )
    };
    let finals = reports
        .iter()
        .filter(|(_, status)| is_final(&status))
        .count();
    let end = reports.iter().position(|(_, status)| is_final(&status));
    let mut after = reports
        .iter()
        .skip(end.map_or(reports.len(), |end| end + 1));
    let is_late = after.any(|(_, status)| status.as_deref() == Some("chunk"));
    let frames: Vec<_> = reports.iter().map(|(frame, _)| *frame).collect();
    let saw = format!("a compaction has {finals} final statuses, or a summary after its end");
    bench.judge(
        "V1-COMPACT-02",
        finals == 1 && !is_late,
        agent,
        &frames,
        saw,
    );
}

/// Returns whether our side announced a capability on this connection.
pub(super) fn asked(agent: &Agent, pointer: &str) -> bool {
    agent.recording().with_frames(|frames| {
        let hello = frames
            .iter()
            .find(|frame| frame.method() == Some("initialize"));
        let params = hello.and_then(|frame| frame.params());
        let root = params.and_then(|params| {
            params
                .get("clientCapabilities")
                .or_else(|| params.get("capabilities"))
        });
        let found = root.and_then(|root| root.pointer(pointer));
        found.is_some_and(|found| !matches!(found, Value::Null | Value::Bool(false)))
    })
}
