//! The line that a turn leaves behind.

use ply_client::v2;

use super::{Usage, told};
use crate::app::Tick;
use crate::app::event::{Ended, Failure, Tally};
use crate::transcript_view::End;
use crate::wrap::clean;

/// The least amount of money that is not shown as nothing.
const LEAST: f64 = 0.005;

/// How much of the name of a currency is shown, in characters.
const CURRENCY_CHARS_MAX: usize = 12;

/// Returns how a turn ended; none if it never began.
pub(super) fn end(ended: &Ended, took: &str) -> Option<End> {
    use v2::StopReason as Reason;
    let (is_good, words) = match ended {
        Ended::Unsent => return None,
        Ended::Done(None | Some(Reason::EndTurn)) => (true, took.to_owned()),
        Ended::Done(Some(Reason::Cancelled)) => (false, format!("cancelled · {took}")),
        Ended::Done(reason @ Some(Reason::Error(_))) => (false, told(reason.as_ref())),
        Ended::Done(reason) => (false, format!("{} · {took}", told(reason.as_ref()))),
        // What it last wrote is told beside it.
        Ended::Failed(Failure::Died(_)) => (false, "failed: the agent stopped".to_owned()),
        Ended::Failed(failure) => {
            let words = failure.words();
            let line = words.lines().next().unwrap_or_default();
            let line = line.strip_prefix("the turn failed: ").unwrap_or(line);
            (false, format!("failed: {line}"))
        }
    };
    Some(End { is_good, words })
}

/// Returns time, tool calls and context as people say them: `12 s · 4 tools · 1.5k tokens`.
///
/// The session had cost so much when the turn began.
pub(super) fn took(ms: Tick, tally: Option<Tally>, usage: Option<&Usage>, before: f64) -> String {
    let mut parts = vec![time(ms)];
    match tally.map_or(0, |tally| tally.tools) {
        0 => {}
        1 => parts.push("1 tool".to_owned()),
        tools => parts.push(format!("{tools} tools")),
    }
    if let Some(usage) = usage.filter(|usage| usage.used > 0) {
        parts.push(format!("{} tokens", count(usage.used)));
    }
    let cost = usage.and_then(|usage| usage.cost.as_ref());
    let cost = cost.map(|(amount, currency)| (amount - before, currency));
    if let Some((amount, currency)) = cost.filter(|(amount, _)| *amount >= LEAST) {
        parts.push(money(amount, currency));
    }
    parts.join(" · ")
}

/// Returns an amount of money as it is shown everywhere.
pub(crate) fn money(amount: f64, currency: &str) -> String {
    match currency {
        "USD" => format!("${amount:.2}"),
        currency => {
            let currency: String = currency.chars().take(CURRENCY_CHARS_MAX).collect();
            format!("{amount:.2} {}", clean(&currency))
        }
    }
}

fn time(ms: Tick) -> String {
    match ms / 1000 {
        0 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        seconds @ 1..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_ended_well_says_what_it_took() {
        let tally = Tally {
            entries: 9,
            tools: 4,
        };
        let usage = Usage {
            used: 1_520,
            size: 200_000,
            cost: None,
        };
        let took = took(12_400, Some(tally), Some(&usage), 0.0);
        assert_eq!(took, "12 s · 4 tools · 1.5k tokens");
        let end = end(&Ended::Done(Some(v2::StopReason::EndTurn)), &took).unwrap();
        assert!(end.is_good && end.words == took);
        let usage = |cost: f64, currency: &str| Usage {
            cost: Some((cost, currency.to_owned())),
            ..Usage::default()
        };
        let took = |usage: &Usage, before: f64| super::took(1_000, None, Some(usage), before);
        assert_eq!(took(&usage(0.5, "USD"), 0.25), "1 s · $0.25");
        assert_eq!(took(&usage(0.5, "EUR"), 0.0), "1 s · 0.50 EUR");
        assert_eq!(took(&usage(0.5, "USD"), 0.5), "1 s");
    }

    #[test]
    fn times_and_numbers_are_as_long_as_they_need_to_be() {
        let times = [0, 240, 1_000, 61_000, 3_725_000].map(time);
        assert_eq!(times, ["0.0 s", "0.2 s", "1 s", "1 min 1 s", "1 h 2 min"]);
        assert_eq!([999, 1_000, 2_345_678].map(count), ["999", "1.0k", "2.3M"]);
    }

    #[test]
    fn a_turn_that_did_not_end_well_says_why() {
        let of = |ended| end(&ended, "1 s").map(|end| (end.is_good, end.words));
        let cancelled = Ended::Done(Some(v2::StopReason::Cancelled));
        assert_eq!(of(cancelled), Some((false, "cancelled · 1 s".to_owned())));
        let failed = Ended::Failed(Failure::Other("the turn failed: no credit\nmore".into()));
        assert_eq!(of(failed), Some((false, "failed: no credit".to_owned())));
        assert_eq!(of(Ended::Unsent), None);
    }
}
