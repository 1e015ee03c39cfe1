//! What of a session's journal makes up a fork of it.

use ply_wire::{MaybeUndefined, v2};

use crate::Event;
use crate::core::Record;

/// Finds the end of the last turn that is over. A fork ends there: what a turn that runs, or was cut off, has said so far is the
/// source's alone.
#[derive(Debug, Default)]
pub struct Forking {
    seen: u64,
    is_in_turn: bool,
    title: Option<String>,
    point: ForkPoint,
}

/// Where a fork ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForkPoint {
    /// How many records of the source there are before it.
    pub records: u64,
    /// The title that the source has there.
    pub title: Option<String>,
}

impl Forking {
    /// Takes the next record of the source.
    pub fn record(&mut self, record: &[u8]) {
        self.seen += 1;
        if let Ok(event) = serde_json::from_slice::<Event>(record) {
            self.event(&event);
        }
        if !self.is_in_turn {
            self.point.records = self.seen;
            self.point.title.clone_from(&self.title);
        }
    }

    /// Notes records that the journal could not read.
    pub fn missing(&mut self, records: u64) {
        self.seen += records;
    }

    fn event(&mut self, event: &Event) {
        match event.update() {
            Some(
                v2::SessionUpdate::UserMessage(_)
                | v2::SessionUpdate::StateUpdate(
                    v2::StateUpdate::Running(_) | v2::StateUpdate::RequiresAction(_),
                ),
            ) => self.is_in_turn = true,
            Some(v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(_))) => {
                self.is_in_turn = false;
            }
            Some(v2::SessionUpdate::SessionInfoUpdate(info)) => match &info.title {
                MaybeUndefined::Undefined => {}
                MaybeUndefined::Null => self.title = None,
                MaybeUndefined::Value(title) => self.title = Some(title.clone()),
            },
            _ => {}
        }
    }

    /// Returns where the fork ends.
    #[must_use]
    pub fn point(self) -> ForkPoint {
        self.point
    }
}

/// Returns whether a record is part of a fork. Queued prompts, keys of prompts and the program that runs the turns are the
/// source's alone; a record that this version cannot read is copied.
#[must_use]
pub fn is_forked(record: &[u8]) -> bool {
    !matches!(
        serde_json::from_slice::<Event>(record),
        Ok(Event::Queued { .. }
            | Event::Queue(_)
            | Event::Operation { .. }
            | Event::Runner(_)
            | Event::Begun { .. }
            | Event::Lines { .. }
            | Event::Connection(_))
    )
}

/// Returns the record that a fork begins with, before those that are copied.
#[must_use]
pub fn fork_record(from: &v2::SessionId) -> Vec<u8> {
    let from = from.clone();
    Record::new(&Event::Forked { from }).bytes().into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn bytes(event: &Event) -> Vec<u8> {
        serde_json::to_vec(event).unwrap()
    }

    fn state(state: v2::StateUpdate) -> Event {
        Event::Update(v2::SessionUpdate::StateUpdate(state))
    }

    fn title(title: &str) -> Event {
        let info = v2::SessionInfoUpdate::new().title(title.to_owned());
        Event::Update(v2::SessionUpdate::SessionInfoUpdate(info))
    }

    #[track_caller]
    fn check(events: &[Event], records: u64, title: Option<&str>) {
        let mut forking = Forking::default();
        events
            .iter()
            .for_each(|event| forking.record(&bytes(event)));
        let title = title.map(str::to_owned);
        assert_eq!(forking.point(), ForkPoint { records, title });
    }

    #[test]
    fn a_fork_ends_with_the_last_turn_that_is_over() {
        let prompt = Event::Update(v2::SessionUpdate::UserMessage(v2::UserMessage::new("m")));
        let running = state(v2::StateUpdate::Running(v2::RunningStateUpdate::new()));
        let asks = v2::RequiresActionStateUpdate::new();
        let asks = state(v2::StateUpdate::RequiresAction(asks));
        let idle = state(v2::StateUpdate::Idle(v2::IdleStateUpdate::new()));
        check(&[], 0, None);
        check(&[title("a")], 1, Some("a"));
        check(std::slice::from_ref(&prompt), 0, None);
        let turn = [title("a"), prompt.clone(), running.clone(), idle.clone()];
        check(&turn, 4, Some("a"));
        let next = [prompt, running, asks, title("b")];
        let both = [&turn[..], &next[..]].concat();
        check(&both, 4, Some("a"));
        check(&[&both[..], &[idle]].concat(), 9, Some("b"));
    }

    #[test]
    fn what_belongs_to_the_source_alone_is_not_copied() {
        let operation = Event::Operation {
            key: "k".into(),
            message: v2::MessageId::new("m"),
        };
        assert!(!is_forked(&bytes(&operation)));
        assert!(!is_forked(&bytes(&Event::Lines { upto: 1 })));
        assert!(is_forked(&bytes(&title("t"))));
        assert!(is_forked(b"{\"of a later version\":1}"));
        assert_eq!(
            fork_record(&v2::SessionId::new("s")),
            br#"{"forked":{"from":"s"}}"#
        );
    }
}
