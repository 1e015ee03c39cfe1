//! What agents report beside the conversation: usage, notices, compactions, facts about the session.

use serde_json::Value;

use super::Passive;
use super::message::{given, text};
use crate::rule::{Side, id};

impl Passive {
    pub(super) fn usage(&mut self, update: &Value) {
        let is_count = |name: &str| update.get(name).is_some_and(Value::is_u64);
        let is_kept = is_count("used") && is_count("size");
        let what = "`used` or `size` is not a non-negative integer";
        self.keeps(id::V1_USAGE_02, Side::Agent, is_kept, what);
        if let Some(cost) = given(update, "/cost") {
            let has_amount = cost.get("amount").is_some_and(Value::is_number);
            let is_kept = has_amount && text(cost, "/currency").is_some();
            let what = "a cost has no amount or no currency";
            self.keeps(id::V1_USAGE_03, Side::Agent, is_kept, what);
        }
    }

    pub(super) fn notice(&mut self, update: &Value) {
        let has = |at| text(update, at).is_some_and(|text| !text.is_empty());
        let is_kept = has("/severity") && has("/title");
        let what = "a notice has no severity or no title";
        self.keeps(id::V1_NOTICE_02, Side::Agent, is_kept, what);
    }

    /// Judges that a compaction ends once, and that its summary is not told later.
    pub(super) fn compaction(&mut self, session: &str, kind: &str, update: &Value) {
        let frame = self.frame;
        let compaction = text(update, "/compactionId").unwrap_or_default();
        let status = text(update, "/status").filter(|_| kind == "compaction_update");
        let is_end = status.is_some_and(|it| ["completed", "failed", "cancelled"].contains(&it));
        let is_summary = kind == "compaction_summary_chunk";
        let Some(session) = self.sessions.get_mut(session) else {
            return;
        };
        let ended = session.compactions.get(compaction).copied();
        if is_end {
            session.compactions.insert(compaction.to_owned(), frame);
            self.look(id::V1_COMPACT_02, Side::Agent);
        }
        if let Some(ended) = ended.filter(|_| is_end || is_summary) {
            let what = "a finished compaction continued";
            self.find_with(id::V1_COMPACT_02, Side::Agent, ended, what);
        }
    }

    pub(super) fn session_info(&mut self, update: &Value) {
        let fixed = ["sessionId", "cwd", "additionalDirectories"];
        let is_kept = !fixed.iter().any(|name| update.get(*name).is_some());
        let what = "the update contains members that cannot change";
        self.keeps(id::V1_INFO_03, Side::Agent, is_kept, what);
    }
}
