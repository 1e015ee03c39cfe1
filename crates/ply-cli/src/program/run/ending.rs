//! How a run ended, and what its exit code is.

use std::time::Duration;

use ply_client::v2;

use super::failure::{Failure, exit};
use super::permit::{Answered, By};
use super::signals::Signal;
use crate::program::sessions::content;

/// Why a run was ended from this side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cut {
    Signal(Signal),
    /// The time of the whole run is over.
    Timeout(Duration),
    /// The agent said nothing for too long.
    Silence(Duration),
    /// Nobody reads the output any more.
    Output,
    /// The output is read so slowly that its lines cannot be kept.
    Overflow,
}

/// How a run ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// The turn ended, for a reason that the agent may have given.
    Turn(Option<v2::StopReason>),
    /// The agent ended the turn with an error and said so by its stop reason.
    TurnFailed(v2::StopReason, Failure),
    /// It was cut off from here; whether the agent confirmed the end of its turn.
    Cut(Cut, Confirmed),
    /// It failed.
    Failed(Failure),
}

/// Whether the agent said that its turn has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Confirmed {
    /// It did, for a reason that it may have given.
    Yes(Option<v2::StopReason>),
    No,
    /// There was no turn yet.
    Before,
    /// The turn had ended by itself.
    After(Option<v2::StopReason>),
}

/// What is told of the end.
#[derive(Debug)]
pub(super) struct Conclusion {
    pub(super) outcome: &'static str,
    pub(super) stop_reason: Option<String>,
    pub(super) exit: u8,
    pub(super) failure: Option<Failure>,
    pub(super) duration_ms: u64,
}

impl Conclusion {
    pub(super) fn new(ended: Ended, permissions: &[Answered], took: Duration) -> Self {
        let (outcome, stop, failure) = match ended {
            Ended::Turn(stop) => of_stop(stop, permissions),
            Ended::TurnFailed(stop, failure) => ("failed", Some(stop_name(&stop)), Some(failure)),
            Ended::Cut(cut, confirmed) => of_cut(&cut, &confirmed),
            Ended::Failed(failure) => {
                let outcome = match failure.exit {
                    exit::UNKNOWN => "unknown",
                    _ => "failed",
                };
                (outcome, None, Some(failure))
            }
        };
        Self {
            outcome,
            stop_reason: stop,
            exit: failure.as_ref().map_or(0, |failure| failure.exit),
            failure,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Returns how a run ended whose last words were cut off.
    pub(super) fn unwritten(cut: &Cut) -> Option<Failure> {
        let (_, _, failure) = of_cut(cut, &Confirmed::After(None));
        let said = |failure: Failure| Failure {
            detail: format!(
                "{}, and its output was not written to the end",
                failure.detail
            ),
            ..failure
        };
        failure.map(said)
    }

    /// Whether the end needs words of its own, beside those of the output.
    pub(super) fn is_good(&self) -> bool {
        self.failure.is_none()
    }
}

type Parts = (&'static str, Option<String>, Option<Failure>);

fn of_stop(stop: Option<v2::StopReason>, permissions: &[Answered]) -> Parts {
    let Some(reason) = stop else {
        return ("failed", None, Some(Failure::no_stop_reason()));
    };
    let name = Some(stop_name(&reason));
    let is_allowed = permissions.iter().any(Answered::is_allowed);
    let unasked = |it: &Answered| !it.is_allowed() && it.by != By::User;
    let is_cancelled = reason == v2::StopReason::Cancelled;
    // The user who said no knows that; only if the agent gave up by it is it how the run ended.
    let is_refused = match is_cancelled {
        true => !permissions.iter().all(Answered::is_allowed),
        false => permissions.iter().any(unasked) && !is_allowed,
    };
    let (outcome, failure) = match &reason {
        v2::StopReason::EndTurn | v2::StopReason::Cancelled if is_refused => {
            let detail = "the agent ended its turn without a permission that it asked for";
            let failure = Failure::new(exit::REFUSED_PERMISSION, "permission_refused", detail);
            let hint = "`--permit reads`, `all` or `policy:FILE` says what is allowed";
            ("permission_refused", Some(failure.hint(hint)))
        }
        v2::StopReason::EndTurn => ("completed", None),
        v2::StopReason::Cancelled => {
            let detail = "the agent ended the turn as cancelled, but nobody cancelled it";
            let failure = Failure::new(exit::FAILED, "cancelled_by_agent", detail);
            ("cancelled", Some(failure))
        }
        v2::StopReason::Refusal => {
            let failure = Failure::new(exit::REFUSAL, "refusal", "the agent refused to go on");
            let hint = "the agent dropped this prompt; rephrase it";
            ("refused", Some(failure.hint(hint)))
        }
        v2::StopReason::MaxTokens => {
            let detail = "the model reached its limit of tokens";
            let failure = Failure::new(exit::LIMIT, "max_tokens", detail);
            (
                "limit",
                Some(failure.hint("`--continue` goes on from there")),
            )
        }
        v2::StopReason::MaxTurnRequests => {
            let detail = "the agent reached its limit of requests in one turn";
            let failure = Failure::new(exit::LIMIT, "max_turn_requests", detail);
            (
                "limit",
                Some(failure.hint("`--continue` goes on from there")),
            )
        }
        _ => {
            let detail = "the turn ended for a reason that is not known here";
            let failure = Failure::new(exit::FAILED, "unknown_stop_reason", detail);
            ("failed", Some(failure))
        }
    };
    (outcome, name, failure)
}

fn stop_name(reason: &v2::StopReason) -> String {
    if let v2::StopReason::Other(other) = reason {
        return other.stop_reason.clone();
    }
    // Written as an object or as a word, by the kind of reason.
    match serde_json::to_value(reason) {
        Ok(serde_json::Value::Object(object)) => {
            let name = object.get("stopReason").and_then(|name| name.as_str());
            name.unwrap_or("unknown").to_owned()
        }
        _ => content::name(reason),
    }
}

fn of_cut(cut: &Cut, confirmed: &Confirmed) -> Parts {
    let stop = match confirmed {
        Confirmed::Yes(stop) | Confirmed::After(stop) => stop.as_ref().map(stop_name),
        Confirmed::No | Confirmed::Before => None,
    };
    let how = match confirmed {
        Confirmed::Yes(_) => "; the turn was cancelled",
        Confirmed::After(_) => "; the turn had ended",
        Confirmed::No => "; the agent did not end its turn and was stopped",
        Confirmed::Before => "; nothing had been sent to the agent",
    };
    let seconds = |time: &Duration| format!("{} s", time.as_secs_f64());
    let (outcome, failure) = match cut {
        Cut::Signal(signal) => {
            let detail = format!("interrupted by {}{how}", signal.name());
            let failure = Failure::new(signal.exit_code(), "interrupted", detail);
            ("cancelled", Some(failure))
        }
        Cut::Timeout(limit) => {
            let detail = format!("the time limit of {} is over{how}", seconds(limit));
            let failure = Failure::new(exit::TIME, "timeout", detail);
            (
                "timeout",
                Some(failure.hint("`--timeout` gives it more time")),
            )
        }
        Cut::Silence(limit) => {
            let detail = format!("the agent was silent for {}{how}", seconds(limit));
            let failure = Failure::new(exit::TIME, "idle_timeout", detail);
            let hint = "`--idle-timeout` says how long is too long";
            ("timeout", Some(failure.hint(hint)))
        }
        // Whoever read it has seen enough.
        Cut::Output => ("cancelled", None),
        Cut::Overflow => {
            let detail = "the output is read too slowly to keep every line of the protocol";
            let failure = Failure::new(exit::FAILED, "output", detail);
            ("failed", Some(failure))
        }
    };
    (outcome, stop, failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(answer: &str, by: By) -> Answered {
        Answered {
            title: "It".to_owned(),
            kind: "edit".to_owned(),
            command: None,
            answer: answer.to_owned(),
            option_id: None,
            by,
        }
    }

    #[track_caller]
    fn check(stop: v2::StopReason, permissions: &[Answered], exit: u8, outcome: &str) {
        let ended = Ended::Turn(Some(stop));
        let conclusion = Conclusion::new(ended, permissions, Duration::ZERO);
        assert_eq!((conclusion.exit, conclusion.outcome), (exit, outcome));
    }

    #[test]
    fn every_stop_reason_has_its_exit_code() {
        use v2::StopReason::{Cancelled, EndTurn, MaxTokens, MaxTurnRequests, Refusal};
        check(EndTurn, &[], 0, "completed");
        check(Refusal, &[], 8, "refused");
        check(MaxTokens, &[], 9, "limit");
        check(MaxTurnRequests, &[], 9, "limit");
        check(Cancelled, &[], 1, "cancelled");
        let unsaid = Conclusion::new(Ended::Turn(None), &[], Duration::ZERO);
        assert_eq!((unsaid.exit, unsaid.stop_reason.as_deref()), (1, None));
    }

    #[test]
    fn a_permission_that_nobody_gave_is_the_end_only_if_none_was_given() {
        use v2::StopReason::{Cancelled, EndTurn, Refusal};
        let denied = answered("reject_once", By::Policy);
        let nobody = answered("cancelled", By::Nobody);
        let said_no = answered("reject_once", By::User);
        let allowed = answered("allow_once", By::Policy);
        check(
            EndTurn,
            std::slice::from_ref(&denied),
            5,
            "permission_refused",
        );
        check(Cancelled, &[nobody], 5, "permission_refused");
        check(
            Cancelled,
            std::slice::from_ref(&said_no),
            5,
            "permission_refused",
        );
        let both = [said_no.clone(), allowed.clone()];
        check(Cancelled, &both, 5, "permission_refused");
        check(Cancelled, std::slice::from_ref(&allowed), 1, "cancelled");
        check(EndTurn, &[said_no], 0, "completed");
        check(EndTurn, &[denied.clone(), allowed], 0, "completed");
        check(Refusal, &[denied], 8, "refused");
    }

    #[test]
    fn a_time_limit_is_never_a_success() {
        for cut in [
            Cut::Timeout(Duration::from_secs(1)),
            Cut::Silence(Duration::from_secs(1)),
        ] {
            let cancelled = || Some(v2::StopReason::Cancelled);
            for confirmed in [
                Confirmed::Yes(cancelled()),
                Confirmed::Yes(None),
                Confirmed::After(None),
                Confirmed::No,
                Confirmed::Before,
            ] {
                let ended = Ended::Cut(cut.clone(), confirmed);
                let conclusion = Conclusion::new(ended, &[], Duration::ZERO);
                assert_eq!((conclusion.exit, conclusion.outcome), (3, "timeout"));
            }
        }
    }

    #[test]
    fn the_stop_reason_is_what_the_agent_said_and_no_other() {
        let stop = |confirmed| {
            let ended = Ended::Cut(Cut::Timeout(Duration::from_secs(1)), confirmed);
            Conclusion::new(ended, &[], Duration::ZERO).stop_reason
        };
        let said = |reason| stop(Confirmed::Yes(Some(reason)));
        assert_eq!(said(v2::StopReason::Cancelled).unwrap(), "cancelled");
        assert_eq!(said(v2::StopReason::EndTurn).unwrap(), "end_turn");
        assert_eq!(stop(Confirmed::Yes(None)), None);
        assert_eq!(stop(Confirmed::No), None);
    }

    #[test]
    fn output_that_was_cut_off_by_a_signal_has_the_code_of_the_signal() {
        let failure = Conclusion::unwritten(&Cut::Signal(Signal::Terminate)).unwrap();
        assert_eq!(failure.exit, 143);
        assert!(
            failure.detail.contains("not written to the end"),
            "{}",
            failure.detail
        );
    }
}
