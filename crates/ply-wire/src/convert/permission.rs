//! Permission options and outcomes. Requests need memory; see [`crate::project`] and
//! [`crate::lift`].

use crate::{v1, v2};

/// The member of `_meta` by which a client says that it chose an option because nobody was there to choose.
const UNATTENDED: &str = "ply.unattended";

/// Returns the outcome of a client that rejects because nobody is there to decide. Agents that do not know
/// of it take it as any other rejection.
#[must_use]
pub fn unattended(option: v2::PermissionOptionId) -> v2::SelectedPermissionOutcome {
    let meta = [(UNATTENDED.to_owned(), true.into())];
    v2::SelectedPermissionOutcome::new(option).meta(v2::Meta::from_iter(meta))
}

/// Returns whether the `_meta` of an outcome says that nobody was there to decide.
#[must_use]
pub fn is_unattended(meta: Option<&v2::Meta>) -> bool {
    meta.and_then(|meta| meta.get(UNATTENDED))
        .is_some_and(|unattended| unattended == true)
}

/// Returns the v1 form of the options.
///
/// Options of an unknown kind are left out: v1 kinds are closed and v1 clients choose by kind under
/// their automatic policies, so a guessed kind could approve what nobody approved.
#[must_use]
pub fn options_down(options: &[v2::PermissionOption]) -> Vec<v1::PermissionOption> {
    options
        .iter()
        .filter_map(|option| {
            let kind = match option.kind {
                v2::PermissionOptionKind::AllowOnce => v1::PermissionOptionKind::AllowOnce,
                v2::PermissionOptionKind::AllowAlways => v1::PermissionOptionKind::AllowAlways,
                v2::PermissionOptionKind::RejectOnce => v1::PermissionOptionKind::RejectOnce,
                v2::PermissionOptionKind::RejectAlways => v1::PermissionOptionKind::RejectAlways,
                _ => return None,
            };
            let id = option.option_id.0.clone();
            Some(v1::PermissionOption::new(id, option.name.clone(), kind).meta(option.meta.clone()))
        })
        .collect()
}

/// Returns the v2 form of the options.
#[must_use]
pub fn options_up(options: &[v1::PermissionOption]) -> Vec<v2::PermissionOption> {
    options
        .iter()
        .filter_map(|option| {
            let kind = match option.kind {
                v1::PermissionOptionKind::AllowOnce => v2::PermissionOptionKind::AllowOnce,
                v1::PermissionOptionKind::AllowAlways => v2::PermissionOptionKind::AllowAlways,
                v1::PermissionOptionKind::RejectOnce => v2::PermissionOptionKind::RejectOnce,
                v1::PermissionOptionKind::RejectAlways => v2::PermissionOptionKind::RejectAlways,
                _ => return None,
            };
            let id = option.option_id.0.clone();
            Some(v2::PermissionOption::new(id, option.name.clone(), kind).meta(option.meta.clone()))
        })
        .collect()
}

/// Returns the v1 outcome for a v2 client's answer; an outcome v1 does not know is no approval.
#[must_use]
pub fn outcome_down(outcome: &v2::RequestPermissionOutcome) -> v1::RequestPermissionOutcome {
    match outcome {
        v2::RequestPermissionOutcome::Selected(selected) => v1::RequestPermissionOutcome::Selected(
            v1::SelectedPermissionOutcome::new(selected.option_id.0.clone())
                .meta(selected.meta.clone()),
        ),
        _ => v1::RequestPermissionOutcome::Cancelled,
    }
}

/// Returns the v2 outcome for a v1 client's answer.
#[must_use]
pub fn outcome_up(outcome: &v1::RequestPermissionOutcome) -> v2::RequestPermissionOutcome {
    match outcome {
        v1::RequestPermissionOutcome::Selected(selected) => v2::RequestPermissionOutcome::Selected(
            v2::SelectedPermissionOutcome::new(selected.option_id.0.clone())
                .meta(selected.meta.clone()),
        ),
        _ => v2::RequestPermissionOutcome::Cancelled(v2::CancelledPermissionOutcome::new()),
    }
}
