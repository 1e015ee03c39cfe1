//! The plain fields of tool calls: kind, status and locations.

use crate::{v1, v2};

/// Returns the v1 kind; an unknown one is `other`.
#[must_use]
pub fn kind_down(kind: &v2::ToolKind) -> v1::ToolKind {
    match kind {
        v2::ToolKind::Read => v1::ToolKind::Read,
        v2::ToolKind::Edit => v1::ToolKind::Edit,
        v2::ToolKind::Delete => v1::ToolKind::Delete,
        v2::ToolKind::Move => v1::ToolKind::Move,
        v2::ToolKind::Search => v1::ToolKind::Search,
        v2::ToolKind::Execute => v1::ToolKind::Execute,
        v2::ToolKind::Think => v1::ToolKind::Think,
        v2::ToolKind::Fetch => v1::ToolKind::Fetch,
        v2::ToolKind::SwitchMode => v1::ToolKind::SwitchMode,
        _ => v1::ToolKind::Other,
    }
}

/// Returns the v2 kind.
#[must_use]
pub fn kind_up(kind: v1::ToolKind) -> v2::ToolKind {
    match kind {
        v1::ToolKind::Read => v2::ToolKind::Read,
        v1::ToolKind::Edit => v2::ToolKind::Edit,
        v1::ToolKind::Delete => v2::ToolKind::Delete,
        v1::ToolKind::Move => v2::ToolKind::Move,
        v1::ToolKind::Search => v2::ToolKind::Search,
        v1::ToolKind::Execute => v2::ToolKind::Execute,
        v1::ToolKind::Think => v2::ToolKind::Think,
        v1::ToolKind::Fetch => v2::ToolKind::Fetch,
        v1::ToolKind::SwitchMode => v2::ToolKind::SwitchMode,
        _ => v2::ToolKind::Other,
    }
}

/// Returns the v1 status: `cancelled` is `failed`, `paused` and unknown ones are still in progress.
#[must_use]
pub fn status_down(status: &v2::ToolCallStatus) -> v1::ToolCallStatus {
    match status {
        v2::ToolCallStatus::Pending => v1::ToolCallStatus::Pending,
        v2::ToolCallStatus::Completed => v1::ToolCallStatus::Completed,
        v2::ToolCallStatus::Failed | v2::ToolCallStatus::Cancelled => v1::ToolCallStatus::Failed,
        _ => v1::ToolCallStatus::InProgress,
    }
}

/// Returns the v2 status.
#[must_use]
pub fn status_up(status: v1::ToolCallStatus) -> v2::ToolCallStatus {
    match status {
        v1::ToolCallStatus::Pending => v2::ToolCallStatus::Pending,
        v1::ToolCallStatus::Completed => v2::ToolCallStatus::Completed,
        v1::ToolCallStatus::Failed => v2::ToolCallStatus::Failed,
        _ => v2::ToolCallStatus::InProgress,
    }
}

/// Returns the v1 form of the locations.
#[must_use]
pub fn locations_down(locations: &[v2::ToolCallLocation]) -> Vec<v1::ToolCallLocation> {
    locations
        .iter()
        .map(|location| {
            v1::ToolCallLocation::new(location.path.0.clone())
                .line(location.line.map(std::num::NonZeroU32::get))
                .meta(location.meta.clone())
        })
        .collect()
}

/// Returns the v2 form of the locations; line 0, which v2 forbids, becomes no line.
#[must_use]
pub fn locations_up(locations: &[v1::ToolCallLocation]) -> Vec<v2::ToolCallLocation> {
    locations
        .iter()
        .map(|location| {
            v2::ToolCallLocation::new(location.path.clone())
                .line(location.line)
                .meta(location.meta.clone())
        })
        .collect()
}

/// Returns the title a v1 client is shown, since v1 calls always have one.
pub(crate) fn shown_title(title: Option<&str>, name: Option<&str>, kind: &v2::ToolKind) -> String {
    let kind = match kind {
        v2::ToolKind::Read => "Read",
        v2::ToolKind::Edit => "Edit",
        v2::ToolKind::Delete => "Delete",
        v2::ToolKind::Move => "Move",
        v2::ToolKind::Search => "Search",
        v2::ToolKind::Execute => "Execute",
        v2::ToolKind::Think => "Think",
        v2::ToolKind::Fetch => "Fetch",
        v2::ToolKind::SwitchMode => "Switch mode",
        _ => "Tool call",
    };
    title.or(name).unwrap_or(kind).to_owned()
}
