//! Plan entries. Plans themselves need memory, since v1 has one plan and v2 has many; see
//! [`crate::project`].

use crate::{v1, v2};

/// The plan id that stands for the one plan of a v1 agent.
pub const MAIN_PLAN_ID: &str = "main";

/// Returns the v1 form of the entries; cancelled ones are left out, since v1 could only show them
/// as open.
#[must_use]
pub fn entries_down(entries: &[v2::PlanEntry]) -> Vec<v1::PlanEntry> {
    entries.iter().filter_map(entry_down).collect()
}

/// Returns the v2 form of the entries.
#[must_use]
pub fn entries_up(entries: &[v1::PlanEntry]) -> Vec<v2::PlanEntry> {
    entries.iter().map(entry_up).collect()
}

fn entry_down(entry: &v2::PlanEntry) -> Option<v1::PlanEntry> {
    let priority = match entry.priority {
        v2::PlanEntryPriority::High => v1::PlanEntryPriority::High,
        v2::PlanEntryPriority::Low => v1::PlanEntryPriority::Low,
        _ => v1::PlanEntryPriority::Medium,
    };
    let status = match entry.status {
        v2::PlanEntryStatus::Pending => v1::PlanEntryStatus::Pending,
        v2::PlanEntryStatus::Completed => v1::PlanEntryStatus::Completed,
        v2::PlanEntryStatus::Cancelled => return None,
        _ => v1::PlanEntryStatus::InProgress,
    };
    Some(v1::PlanEntry::new(entry.content.clone(), priority, status).meta(entry.meta.clone()))
}

fn entry_up(entry: &v1::PlanEntry) -> v2::PlanEntry {
    let priority = match entry.priority {
        v1::PlanEntryPriority::High => v2::PlanEntryPriority::High,
        v1::PlanEntryPriority::Low => v2::PlanEntryPriority::Low,
        _ => v2::PlanEntryPriority::Medium,
    };
    let status = match entry.status {
        v1::PlanEntryStatus::Pending => v2::PlanEntryStatus::Pending,
        v1::PlanEntryStatus::Completed => v2::PlanEntryStatus::Completed,
        _ => v2::PlanEntryStatus::InProgress,
    };
    v2::PlanEntry::new(entry.content.clone(), priority, status).meta(entry.meta.clone())
}
