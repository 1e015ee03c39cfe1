//! How long tool calls took, as far as this client saw them begin and end.

use std::collections::BTreeMap;

use ply_client::v2::ToolCallStatus;

/// Calls whose times are kept.
const TIMES_MAX: usize = 1_000;

/// The times of calls, by their places in the transcript.
#[derive(Debug, Default)]
pub(super) struct Times(BTreeMap<usize, Time>);

#[derive(Debug)]
struct Time {
    began_ms: u64,
    took_ms: Option<u64>,
}

impl Times {
    /// Notes how far a call is now.
    pub(super) fn note(&mut self, place: usize, status: &ToolCallStatus, now_ms: u64) {
        match status {
            // What waits for its turn or for an answer takes no time yet.
            ToolCallStatus::Pending => {}
            ToolCallStatus::InProgress => {
                self.0.entry(place).or_insert(Time {
                    began_ms: now_ms,
                    took_ms: None,
                });
                while self.0.len() > TIMES_MAX {
                    self.0.pop_first();
                }
            }
            _ => {
                if let Some(time) = self.0.get_mut(&place) {
                    let took_ms = now_ms.saturating_sub(time.began_ms);
                    time.took_ms.get_or_insert(took_ms);
                }
            }
        }
    }

    /// Returns how long a call took, if it was seen to begin and to end.
    pub(super) fn took_ms(&self, place: usize) -> Option<u64> {
        self.0.get(&place)?.took_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_what_lies_between_its_begin_and_its_first_end() {
        let mut times = Times::default();
        times.note(3, &ToolCallStatus::Pending, 0);
        times.note(3, &ToolCallStatus::InProgress, 1_000);
        times.note(3, &ToolCallStatus::InProgress, 2_000);
        assert_eq!(times.took_ms(3), None);
        times.note(3, &ToolCallStatus::Completed, 5_000);
        times.note(3, &ToolCallStatus::Completed, 9_000);
        assert_eq!(times.took_ms(3), Some(4_000));
    }

    #[test]
    fn a_call_of_the_past_has_no_time() {
        let mut times = Times::default();
        times.note(0, &ToolCallStatus::Completed, 5_000);
        assert_eq!(times.took_ms(0), None);
    }
}
