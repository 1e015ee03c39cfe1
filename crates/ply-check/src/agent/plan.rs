//! Plans.

use std::collections::{BTreeMap, BTreeSet};

use ply_wire::negotiate::Version;
use serde_json::Value;

use super::bench::{Agent, Bench};
use super::turn::{self, Choice, Course, permit, word};
use crate::peer::Stopped;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-PLAN-01", "A plan that the model makes is reported with `plan`.")
            .should()
            .matters("Users do not see what the agent is up to.")
            .fix("Send a `plan` update when the model writes or changes its plan."),
        Rule::agent("V1-PLAN-02", "Entries of a plan have content, a priority and a status that there are.")
            .matters("Typed clients cannot read the plan and show none.")
            .fix("Give `content`, `priority` (high, medium, low) and `status` (pending, in_progress, completed)."),
        Rule::agent("V1-PLAN-03", "Progress is reported with further `plan` updates.")
            .should()
            .matters("The plan stands still while the work goes on.")
            .fix("Send the plan again whenever a status changes."),
        Rule::agent("V1-PLAN-04", "Every `plan` is the whole plan.")
            .matters("Clients replace the plan with what they get, so entries that were left out vanish.")
            .fix("Send all entries each time, also those that did not change."),
        Rule::agent("V1-PLAN-07", "`plan_update` and `plan_removed` are not sent to a client that did not ask for them.")
            .matters("Clients of version 1 do not know these updates and show no plan.")
            .fix("Send `plan` unless the client has the capability `plan`."),
        Rule::agent("V2-PLAN-01", "Plans are sent as `plan_update` with items.")
            .should()
            .matters("Clients of version 2 do not know `plan` and show none.")
            .fix("Send `plan_update` with `plan: {type: \"items\", planId, entries}`."),
        Rule::agent("V2-PLAN-02", "Every plan has a `planId`.")
            .matters("Clients cannot tell one plan from another.")
            .fix("Give each plan an id and keep it for its updates."),
        Rule::agent("V2-PLAN-03", "Every update of a plan is the whole plan.")
            .matters("Clients replace the plan with what they get, so entries that were left out vanish.")
            .fix("Send all entries each time, also those that did not change."),
        Rule::agent("V2-PLAN-04", "Statuses of entries are known ones, or begin with `_`.")
            .matters("Unknown words without the mark may come to mean something else later.")
            .fix("Use `pending`, `in_progress`, `completed` or `cancelled`."),
    ],
    probes: &[Probe {
        name: "a turn with a plan",
        rules: &[
            "V1-PLAN-01", "V1-PLAN-02", "V1-PLAN-03", "V1-PLAN-04", "V1-PLAN-07", "V2-PLAN-01",
            "V2-PLAN-02", "V2-PLAN-03", "V2-PLAN-04",
        ],
        run: |bench| Box::pin(with_a_plan(bench)),
    }],
};

async fn with_a_plan(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    let plan = bench.subject.prompts.plan.clone();
    turn::run(bench, &mut agent, &session, &plan).await?;
    bench.give_back(agent);
    Ok(())
}

/// Looks at the plans of a turn.
pub(super) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    let mut seen: BTreeMap<String, Vec<(usize, &[Value])>> = BTreeMap::new();
    for (frame, update) in course.updates() {
        match (course.version, word(update, "sessionUpdate").as_deref()) {
            (Version::V1, Some("plan")) => {
                bench.judge("V1-PLAN-01", true, agent, &[frame], "");
                bench.judge("V1-PLAN-07", true, agent, &[frame], "");
                let entries = entries(update);
                let is_kept = entries.is_some_and(|entries| entries.iter().all(is_entry_v1));
                let saw = "a plan has no entries, or one without content, priority or status";
                bench.judge("V1-PLAN-02", is_kept, agent, &[frame], saw);
                let plan = seen.entry(String::new()).or_default();
                plan.extend(entries.map(|entries| (frame, entries)));
            }
            (Version::V1, Some("plan_update" | "plan_removed")) => {
                let saw = "an update of version 2 about a plan was sent unasked";
                bench.judge("V1-PLAN-07", false, agent, &[frame], saw);
            }
            (Version::V2, Some("plan")) => {
                let saw = "`plan` was sent, which version 2 does not have";
                bench.judge("V2-PLAN-01", false, agent, &[frame], saw);
            }
            (Version::V2, Some("plan_update")) => {
                let plan = update.get("plan").unwrap_or(&Value::Null);
                plan_v2(bench, agent, frame, plan);
                if let (Some(id), Some(entries)) = (word(plan, "planId"), entries(plan)) {
                    seen.entry(id).or_default().push((frame, entries));
                }
            }
            _ => {}
        }
    }
    for plan in seen.values() {
        whole(bench, agent, plan);
    }
}

fn plan_v2(bench: &mut Bench, agent: &Agent, frame: usize, plan: &Value) {
    let kind = word(plan, "type");
    let is_items = kind.as_deref() == Some("items") && entries(plan).is_some();
    let is_custom = kind.is_some_and(|kind| kind.starts_with('_') || kind != "items");
    let saw = "a plan is neither a list of items nor of another type";
    bench.judge("V2-PLAN-01", is_items || is_custom, agent, &[frame], saw);
    let saw = "a plan has no `planId`";
    bench.judge(
        "V2-PLAN-02",
        word(plan, "planId").is_some(),
        agent,
        &[frame],
        saw,
    );
    for entry in entries(plan).unwrap_or_default() {
        let status = word(entry, "status").unwrap_or_default();
        let is_known = matches!(
            status.as_str(),
            "pending" | "in_progress" | "completed" | "cancelled"
        );
        let saw = "the status of an entry is none that there is";
        bench.judge(
            "V2-PLAN-04",
            is_known || status.starts_with('_'),
            agent,
            &[frame],
            saw,
        );
    }
}

/// Judges that the updates of a plan were whole. Plans may shrink; an entry that vanishes and comes back was only left out.
fn whole(bench: &mut Bench, agent: &Agent, plan: &[(usize, &[Value])]) {
    let mut gone = BTreeSet::new();
    let mut before = BTreeSet::new();
    let mut back = None;
    for (frame, entries) in plan {
        let now: BTreeSet<_> = entries
            .iter()
            .filter_map(|entry| word(entry, "content"))
            .collect();
        if now.iter().any(|content| gone.contains(content)) {
            back = Some(*frame);
        }
        gone.extend(before.difference(&now).cloned());
        before = now;
    }
    let frames: Vec<_> = plan.iter().map(|(frame, _)| *frame).collect();
    let saw = "entries were left out of a plan and came back later";
    turn::judge(
        bench,
        &["V1-PLAN-04", "V2-PLAN-03"],
        back.is_none(),
        agent,
        &frames,
        saw,
    );
    if plan.len() > 1 {
        bench.judge("V1-PLAN-03", true, agent, &frames, "");
    }
}

fn entries(holder: &Value) -> Option<&[Value]> {
    holder.get("entries")?.as_array().map(Vec::as_slice)
}

fn is_entry_v1(entry: &Value) -> bool {
    let is_one_of = |key: &str, words: &[&str]| {
        word(entry, key).is_some_and(|found| words.contains(&found.as_str()))
    };
    word(entry, "content").is_some()
        && is_one_of("priority", &["high", "medium", "low"])
        && is_one_of("status", &["pending", "in_progress", "completed"])
}
