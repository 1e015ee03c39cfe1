//! Joined records, for any order of chunks and other events; `PROPTEST_CASES` sets how many are tried.

use ply_wire::v2;
use proptest::prelude::*;

use super::*;
use crate::RECORD_TEXT_BYTES_MAX;
use crate::{AskId, History, Opening};

#[derive(Debug, Clone)]
enum Op {
    /// A chunk of one of two messages.
    Chunk(bool, bool, String),
    /// A chunk with something that plain text does not have.
    Marked(bool, String),
    Other,
    Told,
    /// Hands over what there is, at a level.
    HandOver(u8),
    /// Lets go of everything that can go.
    Evict,
}

fn op() -> impl Strategy<Value = Op> {
    let text = prop_oneof![
        4 => "[a-z \"\\\\\n\u{1}ä😀]{0,6}",
        1 => (0..3usize).prop_map(|size| "x".repeat(size * RECORD_TEXT_BYTES_MAX / 2)),
    ];
    prop_oneof![
        12 => (any::<bool>(), any::<bool>(), text).prop_map(|(one, thought, text)| Op::Chunk(one, thought, text)),
        1 => (any::<bool>(), "[a-z]{0,3}").prop_map(|(one, text)| Op::Marked(one, text)),
        1 => Just(Op::Other),
        1 => Just(Op::Told),
        3 => (0..3u8).prop_map(Op::HandOver),
        1 => Just(Op::Evict),
    ]
}

fn chunk(one: bool, text: &str) -> v2::ContentChunk {
    let message = if one { "m1" } else { "m2" };
    v2::ContentChunk::new(text.to_owned().into(), message)
}

fn event(op: &Op) -> Option<Event> {
    let update = match op {
        Op::Chunk(one, true, text) => v2::SessionUpdate::AgentThoughtChunk(chunk(*one, text)),
        Op::Chunk(one, false, text) => v2::SessionUpdate::AgentMessageChunk(chunk(*one, text)),
        Op::Marked(one, text) => {
            let chunk = chunk(*one, text).meta(v2::Meta::new());
            v2::SessionUpdate::AgentMessageChunk(chunk)
        }
        Op::Other => {
            return Some(Event::Answered {
                ask: AskId(1),
                answer: crate::Answer::Cancelled,
                by: None,
            });
        }
        Op::Told | Op::HandOver(_) | Op::Evict => return None,
    };
    Some(Event::Update(update))
}

/// A window and the journal it is handed to.
struct Run {
    window: Window,
    events: Vec<Event>,
    records: Vec<Vec<u8>>,
    /// The place of each event.
    places: Vec<u64>,
    /// What went out of the window: place, and how many records end before or with it.
    gone: Vec<(u64, u64)>,
}

impl Run {
    fn of(ops: &[Op]) -> Self {
        let mut run = Self {
            window: Window::new(0, RECORD_TEXT_BYTES_MAX),
            events: Vec::new(),
            records: Vec::new(),
            places: Vec::new(),
            gone: Vec::new(),
        };
        for op in ops {
            run.op(op);
        }
        run.op(&Op::HandOver(2));
        run
    }

    fn op(&mut self, op: &Op) {
        if let Some(event) = event(op) {
            self.places.push(self.window.head());
            self.events.push(event.clone());
            self.window.push(event, &Settings::default());
        }
        match op {
            Op::Told => {
                let notice = v2::Notice::new(v2::NoticeSeverity::Info, "hm");
                self.window.tell(v2::SessionUpdate::Notice(notice));
            }
            Op::HandOver(level) => {
                let level = [Level::Accepted, Level::Written, Level::Durable][usize::from(*level)];
                if let Some(handed) = self.window.hand_over() {
                    self.records
                        .extend(handed.records.into_iter().map(Vec::from));
                    self.window
                        .persisted(self.window.handed(), level.max(handed.level));
                }
            }
            Op::Evict => {
                let gone = &mut self.gone;
                self.window
                    .evict(u64::MAX, |place, slot| gone.push((place, slot.records)));
            }
            _ => {}
        }
    }
}

fn fold(records: &[Vec<u8>]) -> History {
    let mut opening = Opening::default();
    for record in records {
        opening.record(record);
    }
    assert_eq!(opening.damaged(), 0);
    opening.into_history()
}

proptest! {
    #[test]
    fn joined_records_fold_to_what_the_events_do(ops in proptest::collection::vec(op(), 0..40)) {
        let run = Run::of(&ops);
        prop_assert!(run.records.len() <= run.events.len());
        prop_assert_eq!(run.records.len() as u64, run.window.records());
        let events = History::fold(&run.events);
        prop_assert_eq!(fold(&run.records).transcript().normalized(), events.transcript().normalized());
    }

    /// Whoever has read any number of records goes on in the window with what is left, if the window has it.
    #[test]
    fn a_reader_goes_on_where_its_records_end(ops in proptest::collection::vec(op(), 0..40)) {
        let run = Run::of(&ops);
        for read in 0..=run.records.len() {
            let Some(place) = run.window.place_of(read as u64) else {
                prop_assert!(run.gone.iter().any(|(_, records)| *records > read as u64));
                continue;
            };
            let mut history = History::default();
            let mut apply = |record: &[u8]| {
                let event: Event = serde_json::from_slice(record).unwrap();
                history.apply(&event);
            };
            run.records[..read].iter().for_each(|record| apply(record));
            let kept = run.places.iter().zip(&run.events).filter(|(at, _)| **at >= place);
            for (at, event) in kept {
                prop_assert!(run.window.get(*at).is_some());
                history.apply(event);
            }
            let events = History::fold(&run.events);
            prop_assert_eq!(history.transcript().normalized(), events.transcript().normalized());
        }
    }

    /// What was handed over can be told apart record by record, as it was handed over.
    #[test]
    fn handed_records_can_be_made_again(ops in proptest::collection::vec(op(), 0..40)) {
        let run = Run::of(&ops);
        let start = run.window.start();
        let again = run.window.handed_from(start);
        let records = run.records.len() - again.len();
        let made: Vec<&[u8]> = again.iter().map(|(record, _)| &**record).collect();
        let expected: Vec<&[u8]> = run.records[records..].iter().map(Vec::as_slice).collect();
        prop_assert_eq!(made, expected);
        for (number, (_, after)) in again.iter().enumerate() {
            let place = run.window.place_of((records + number + 1) as u64);
            let next = run.places.iter().find(|place| *place >= after);
            let next_of_reader = run.places.iter().find(|at| Some(**at) >= place);
            prop_assert_eq!(next, next_of_reader);
        }
    }
}

/// What was shown while the journal was away stands before what the journal turned out to have: a view that has not passed it
/// when it goes reads on there, and not from the beginning.
#[test]
fn what_was_shown_before_restored_records_has_its_place_among_them() {
    let settings = Settings::default();
    let mut window = Window::new(0, RECORD_TEXT_BYTES_MAX);
    let other = || event(&Op::Other).unwrap();
    window.push(other(), &settings);
    window.hand_over().unwrap();
    window.persisted(1, Level::Durable);
    let notice = v2::Notice::new(v2::NoticeSeverity::Info, "told");
    window.tell(v2::SessionUpdate::Notice(notice));
    window.restore(other(), 2, &settings);
    window.rewind(window.head(), 2);
    window.persisted(window.head(), Level::Durable);
    let mut gone = Vec::new();
    window.evict(u64::MAX, |place, slot| gone.push((place, slot.records)));
    assert_eq!(gone, [(0, 1), (1, 1), (2, 2)]);
}
