//! The time of day, for listings; nothing waits for it or is ordered by it.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// Returns the milliseconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the time of day"
)]
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// Returns the time as RFC 3339 (V1-LIST-10, V2-LIST-04).
pub(crate) fn rfc3339(ms: i64) -> Option<String> {
    Timestamp::from_millisecond(ms)
        .ok()
        .map(|at| at.to_string())
}
