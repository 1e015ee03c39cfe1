//! What there is one of per session: plan, options, description, usage; and the updates v1 has
//! under the same name.

use super::{Down, Projector, mark, message};
use crate::{convert, transcript::MessageKind, v1, v2};

/// A plan of the session, as much of it as v1 can show.
#[derive(Debug)]
pub(super) struct ShownPlan {
    id: v2::PlanId,
    entries: Vec<v1::PlanEntry>,
    meta: Option<v2::Meta>,
}

impl Projector {
    pub(super) fn plan(&mut self, update: &v2::PlanUpdate, out: &mut Vec<Down>) {
        let (id, entries) = match &update.plan {
            v2::PlanUpdateContent::Items(items) => (
                &items.plan_id,
                Some(convert::plan::entries_down(&items.entries)),
            ),
            v2::PlanUpdateContent::Other(other) => (&other.plan_id, None),
            _ => return,
        };
        let is_items = entries.is_some();
        let shown = ShownPlan {
            id: id.clone(),
            entries: entries.unwrap_or_default(),
            meta: update.meta.clone(),
        };
        let changed = match self.plans.iter_mut().find(|known| known.id == *id) {
            Some(known) => {
                let changed = known.entries != shown.entries;
                *known = shown;
                changed
            }
            None => {
                self.plans.push(shown);
                is_items
            }
        };
        if changed || is_items {
            let shown = || self.plans.iter().filter(|plan| !plan.entries.is_empty());
            let entries = shown().flat_map(|plan| plan.entries.clone()).collect();
            // The metadata of several plans says nothing about their sum.
            let mut only = shown();
            let meta = match (only.next(), only.next()) {
                (Some(plan), None) => plan.meta.clone(),
                _ => None,
            };
            let plan = v1::Plan::new(entries).meta(meta);
            out.push(Down::Update(v1::SessionUpdate::Plan(plan)));
        }
    }

    pub(super) fn config(&mut self, update: &v2::ConfigOptionUpdate, out: &mut Vec<Down>) {
        let options = convert::config::options_down(&update.config_options, self.shows.booleans);
        let converted = v1::ConfigOptionUpdate::new(options).meta(update.meta.clone());
        out.push(Down::Update(v1::SessionUpdate::ConfigOptionUpdate(
            converted,
        )));
        self.options_answered(&update.config_options, out);
    }

    /// Shows what a client is not told by the answer with which it got the options: that the mode is another one (V1-MODE-05).
    pub fn options_answered(&mut self, options: &[v2::SessionConfigOption], out: &mut Vec<Down>) {
        let mode = convert::config::current_mode(options);
        if let Some(mode) = mode.filter(|mode| Some(mode) != self.mode.as_ref()) {
            self.mode = Some(mode.clone());
            let update = v1::CurrentModeUpdate::new(mode);
            out.push(Down::Update(v1::SessionUpdate::CurrentModeUpdate(update)));
        }
    }

    pub(super) fn session_info(&mut self, update: &v2::SessionInfoUpdate, out: &mut Vec<Down>) {
        let before = self.info.meta.clone();
        self.info.apply(update);
        // Clients may replace what they have, so all of it is sent; removed keys are named for
        // those that patch.
        let meta = (!update.meta.is_undefined()).then(|| {
            let mut merged = self.info.meta.clone();
            let removed = before
                .into_iter()
                .filter(|(key, _)| !self.info.meta.contains_key(key));
            merged.extend(removed.map(|(key, _)| (key, serde_json::Value::Null)));
            merged
        });
        let update = v1::SessionInfoUpdate::new()
            .title(update.title.clone())
            .updated_at(update.updated_at.clone())
            .meta(meta);
        out.push(Down::Update(v1::SessionUpdate::SessionInfoUpdate(update)));
    }

    pub(super) fn usage(&mut self, update: &v2::UsageUpdate, out: &mut Vec<Down>) {
        self.usage.apply(update);
        let cost = self.usage.cost.as_ref();
        let cost = cost
            .map(|cost| v1::Cost::new(cost.amount, cost.currency.clone()).meta(cost.meta.clone()));
        let cleared: &[&str] = if update.cost.is_null() {
            &["cost"]
        } else {
            &[]
        };
        let meta = mark::with_cleared(mark::without_marks(update.meta.as_ref()), cleared);
        let update = v1::UsageUpdate::new(update.used, update.size)
            .cost(cost)
            .meta(meta);
        out.push(Down::Update(v1::SessionUpdate::UsageUpdate(update)));
    }

    pub(super) fn notice(&mut self, notice: &v2::Notice, out: &mut Vec<Down>) {
        if self.shows.notices {
            let severity = match &notice.severity {
                v2::NoticeSeverity::Info => v1::NoticeSeverity::Info,
                v2::NoticeSeverity::Warning => v1::NoticeSeverity::Warning,
                v2::NoticeSeverity::Error => v1::NoticeSeverity::Error,
                v2::NoticeSeverity::Other(other) => v1::NoticeSeverity::Other(other.clone()),
                _ => return,
            };
            let notice = v1::Notice::new(severity, notice.title.clone())
                .description(notice.description.clone())
                .meta(notice.meta.clone());
            out.push(Down::Update(v1::SessionUpdate::Notice(notice)));
            return;
        }
        let label = match notice.severity {
            v2::NoticeSeverity::Warning => "Warning",
            v2::NoticeSeverity::Error => "Error",
            _ => return,
        };
        // Clients that know no ids of messages put it right behind the words before it.
        let mut text = format!("\n\n{label}: {}", notice.title);
        if let Some(description) = &notice.description {
            text.push('\n');
            text.push_str(description);
        }
        text.push_str("\n\n");
        let id = v1::MessageId::new(self.stand_in("notice"));
        let content = v1::ContentBlock::Text(v1::TextContent::new(text));
        out.push(Down::Update(message::chunk(
            MessageKind::Agent,
            content,
            id,
            None,
        )));
    }
}

pub(super) fn compaction_down(update: &v2::CompactionUpdate) -> v1::CompactionUpdate {
    let status = match &update.status {
        v2::CompactionStatus::InProgress => v1::CompactionStatus::InProgress,
        v2::CompactionStatus::Completed => v1::CompactionStatus::Completed,
        v2::CompactionStatus::Failed => v1::CompactionStatus::Failed,
        v2::CompactionStatus::Cancelled => v1::CompactionStatus::Cancelled,
        v2::CompactionStatus::Other(other) => v1::CompactionStatus::Other(other.clone()),
        _ => v1::CompactionStatus::InProgress,
    };
    let summary = update.summary.clone().map_value(|blocks| {
        blocks
            .into_iter()
            .map(convert::content::down)
            .collect::<Vec<_>>()
    });
    v1::CompactionUpdate::new(update.compaction_id.0.clone(), status)
        .summary(summary)
        .error(update.error.clone())
        .meta(update.meta.clone())
}
