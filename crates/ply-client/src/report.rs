//! What the agent did against the rules: survived, counted and told.

use std::sync::Mutex;

use crate::limits::REPORTS_MAX;
use crate::lock::lock;

/// Characters kept of a detail.
const DETAIL_CHARS_MAX: usize = 100;

/// A rule that the agent broke, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Which rule.
    pub kind: ReportKind,
    /// What it was about the first time, such as the name of an unknown update; cut and made harmless to show.
    pub detail: String,
    /// How often it happened.
    pub count: u64,
}

/// Ways in which agents break the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReportKind {
    /// An update for a session came before the answer that names the session. It was kept.
    EarlyUpdate,
    /// More early updates came than are kept. They were dropped.
    EarlyUpdatesDropped,
    /// Words or thoughts came after the turn had ended. They were shown.
    LateUpdate,
    /// An update or a request named a session that is not open here.
    UnknownSession,
    /// A new session was given the id of one that is open. It was not opened.
    SessionIdReused,
    /// An update of a kind the protocol does not know.
    UnknownUpdate,
    /// An update that does not fit its kind. It was dropped.
    MalformedUpdate,
    /// A stop reason that the protocol does not know. It was kept.
    UnknownStopReason,
    /// An answer to a prompt that does not fit its method.
    BadPromptAnswer,
    /// A turn ended and the agent did not say why.
    NoStopReason,
    /// A permission request that cannot be asked: no options, or none that can be read.
    BogusPermission,
    /// A request that does not fit its method.
    MalformedRequest,
    /// A request for a method that this client does not offer.
    UnknownMethod,
    /// Notifications of an extension came faster than this client served them. Some were dropped.
    NotificationsDropped,
    /// The agent closed its output and lived on.
    ClosedOutput,
    /// The agent ended while a turn ran.
    DiedInTurn,
    /// The agent sent back what it was given.
    Echo,
    /// The agent answered `initialize` with version 2 because it was asked for it, in the shape of version 1. It was asked again, for
    /// version 1.
    VersionEchoed,
}

/// The reports of an agent, shared by all its lives.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<Vec<Report>>);

impl Reports {
    pub(crate) fn add(&self, kind: ReportKind, detail: &str) {
        let detail = ply_rpc::clean::for_display(detail.as_bytes(), DETAIL_CHARS_MAX);
        tracing::debug!(?kind, detail, "the agent broke a rule");
        let mut reports = lock(&self.0);
        let same = |report: &Report| report.kind == kind && report.detail == detail;
        // When the list is full, at least the kind is counted.
        let is_full = reports.len() >= REPORTS_MAX;
        let place = reports.iter().position(same).or_else(|| {
            reports
                .iter()
                .position(|report| is_full && report.kind == kind)
        });
        if let Some(report) = place.and_then(|place| reports.get_mut(place)) {
            report.count += 1;
        } else if !is_full {
            reports.push(Report {
                kind,
                detail,
                count: 1,
            });
        }
    }

    pub(crate) fn list(&self) -> Vec<Report> {
        lock(&self.0).clone()
    }
}
