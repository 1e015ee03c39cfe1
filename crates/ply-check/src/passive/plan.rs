//! Plans: their members, and that every update is whole.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Passive;
use super::message::{is_listed, list, text};
use crate::rule::{Side, id};

const PRIORITIES: &[&str] = &["high", "medium", "low"];
const STATUSES_V1: &[&str] = &["pending", "in_progress", "completed"];
const STATUSES_V2: &[&str] = &["pending", "in_progress", "completed", "cancelled"];
/// Plans that are tracked in a session.
const PLANS_MAX: usize = 1_000;

/// What is known of a plan.
#[derive(Debug, Default)]
pub(super) struct Plan {
    frames: Vec<usize>,
    /// The entries of the last update.
    now: BTreeSet<String>,
    /// Entries of earlier updates that were left out since.
    gone: BTreeSet<String>,
}

impl Passive {
    /// Judges a plan of version 1.
    pub(super) fn plan(&mut self, session: &str, update: &Value) {
        self.look(id::V1_PLAN_01, Side::Agent);
        let is_entry = |entry: &Value| {
            let fits = |at, listed| text(entry, at).is_some_and(|it| is_listed(it, listed, false));
            text(entry, "/content").is_some()
                && fits("/priority", PRIORITIES)
                && fits("/status", STATUSES_V1)
        };
        let entries = update.get("entries").and_then(Value::as_array);
        let is_kept = entries.is_some_and(|entries| entries.iter().all(is_entry));
        let what = "an entry of a plan lacks a member or has an unknown value";
        self.keeps(id::V1_PLAN_02, Side::Agent, is_kept, what);
        self.whole(session, "", list(update, "/entries"));
    }

    /// Judges a plan of version 2.
    pub(super) fn plan_update(&mut self, session: &str, plan: &Value) {
        let id = text(plan, "/planId");
        self.keeps(
            id::V2_PLAN_02,
            Side::Agent,
            id.is_some(),
            "a plan lacks `planId`",
        );
        let kind = text(plan, "/type");
        let has_entries = plan.get("entries").is_some_and(Value::is_array);
        let is_kept = kind.is_some_and(|kind| kind != "items" || has_entries);
        let what = "a plan is neither a list of items nor of another type";
        self.keeps(id::V2_PLAN_01, Side::Agent, is_kept, what);
        for entry in list(plan, "/entries") {
            let status = text(entry, "/status").unwrap_or_default();
            let what = "the status of an entry of a plan is unknown";
            let is_kept = is_listed(status, STATUSES_V2, true);
            self.keeps(id::V2_PLAN_04, Side::Agent, is_kept, what);
        }
        if let Some(id) = id.filter(|_| has_entries) {
            self.whole(session, id, list(plan, "/entries"));
        }
    }

    /// Judges that the updates of a plan are whole. Plans may shrink; an entry that vanishes and comes back was only left out.
    fn whole(&mut self, session: &str, plan: &str, entries: &[Value]) {
        let frame = self.frame;
        let Some(session) = self.sessions.get_mut(session) else {
            return;
        };
        if session.plans.len() >= PLANS_MAX && !session.plans.contains_key(plan) {
            return;
        }
        let plan = session.plans.entry(plan.to_owned()).or_default();
        let now = entries.iter().filter_map(|entry| text(entry, "/content"));
        let now: BTreeSet<String> = now.map(str::to_owned).collect();
        let is_back = now.iter().any(|content| plan.gone.contains(content));
        let left = plan.now.difference(&now).cloned();
        plan.gone.extend(left.collect::<Vec<_>>());
        plan.now = now;
        plan.frames.push(frame);
        let frames = plan.frames.clone();
        for rule in [id::V1_PLAN_04, id::V2_PLAN_03] {
            self.look(rule, Side::Agent);
            if is_back {
                let what = "entries were omitted from a plan and came back later";
                self.find_at(rule, Side::Agent, frames.clone(), what);
            }
        }
        if frames.len() > 1 {
            self.look(id::V1_PLAN_03, Side::Agent);
        }
    }
}
