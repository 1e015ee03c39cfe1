//! Times, as they are shown.

use jiff::Timestamp;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
/// After that a date says more than a number of days.
const DAYS_MAX: i64 = 30;

/// Returns the milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Returns a time as RFC 3339, in UTC; one that no calendar knows as the number it is.
pub(crate) fn rfc3339(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(time) => format!("{time:.3}"),
        Err(_) => ms.to_string(),
    }
}

/// Returns the date, in UTC.
pub(crate) fn today() -> String {
    date(now_ms())
}

/// Returns how long ago a time was, or its date if that is long.
pub(crate) fn ago(ms: i64, now_ms: i64) -> String {
    let count = |number: i64, unit: &str| match number {
        1 => format!("1 {unit} ago"),
        _ => format!("{number} {unit}s ago"),
    };
    match now_ms.saturating_sub(ms) {
        // Clocks of two machines may differ a little.
        past if (-MINUTE_MS..MINUTE_MS).contains(&past) => "just now".to_owned(),
        past if (0..HOUR_MS).contains(&past) => count(past / MINUTE_MS, "minute"),
        past if (0..DAY_MS).contains(&past) => count(past / HOUR_MS, "hour"),
        past if (0..DAYS_MAX * DAY_MS).contains(&past) => count(past / DAY_MS, "day"),
        _ => date(ms),
    }
}

/// Returns how long ago a time (RFC 3339) was; one that is no time stays as it is.
pub(crate) fn ago_of(time: &str) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => ago(time.as_millisecond(), now_ms()),
        Err(_) => time.to_owned(),
    }
}

fn date(ms: i64) -> String {
    let time = rfc3339(ms);
    let date = time.split_once('T').map(|(date, _)| date.to_owned());
    date.unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_utc_with_milliseconds() {
        assert_eq!(rfc3339(1_784_023_200_000), "2026-07-14T10:00:00.000Z");
        assert_eq!(rfc3339(1_784_023_200_042), "2026-07-14T10:00:00.042Z");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(rfc3339(i64::MAX), i64::MAX.to_string());
    }

    #[test]
    fn ages_get_coarser_and_end_in_a_date() {
        let now = 1_784_023_200_000;
        for (age_ms, told) in [
            (0, "just now"),
            (-30_000, "just now"),
            (59_999, "just now"),
            (MINUTE_MS, "1 minute ago"),
            (HOUR_MS - 1, "59 minutes ago"),
            (HOUR_MS, "1 hour ago"),
            (DAY_MS - 1, "23 hours ago"),
            (2 * DAY_MS, "2 days ago"),
            (DAYS_MAX * DAY_MS, "2026-06-14"),
            (-DAY_MS, "2026-07-15"),
        ] {
            assert_eq!(ago(now - age_ms, now), told);
        }
        assert_eq!(ago(i64::MIN, now), i64::MIN.to_string());
    }
}
