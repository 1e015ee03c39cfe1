//! Faults that were found once, each by the smallest case that shows it.
use std::collections::BTreeSet;

use crate::support::{Session, started, updates};
use ply_session::{Event, Outcome, Stop, coalesce};
use ply_wire::v2;

#[test]
fn a_question_about_a_finished_call_does_not_open_it_again() {
    let (mut session, turn) = Session::running();
    session.call(Some(turn), "c", v2::ToolCallStatus::Failed);
    let again = v2::ToolCallUpdate::new("c").status(v2::ToolCallStatus::Pending);
    session.ask(Some(turn), Some(again));
    assert_eq!(session.status("c"), v2::ToolCallStatus::Failed);
}

#[test]
fn a_prompt_that_was_written_last_before_a_crash_ends_interrupted_and_alone() {
    let (mut session, turn) = Session::running();
    session.end(turn);
    session.prompt(2, "two");
    let is_second = |event: &Event| matches!(event.update(), Some(v2::SessionUpdate::UserMessage(m)) if m.content.value().is_some_and(|c| *c == ["two".into()]));
    let cut = session.journal.iter().position(is_second).unwrap() + 1;

    let (mut session, repair) = Session::open(&session.journal[..cut]);
    assert_eq!(repair.len(), 1, "its end is written");
    let stop = session.engine.history().transcript().stop_reason();
    assert!(matches!(stop, Some(v2::StopReason::Error(_))), "{stop:?}");
    session.attach(1);
    let turn = started(&session.prompt(3, "three")).unwrap();
    session.end_with(turn, Outcome::Stopped(Stop::Refusal));
    let history = session.engine.history();
    let counted: Vec<String> = history
        .entries()
        .filter_map(|entry| entry.as_message().map(|message| message.text()))
        .collect();
    assert_eq!(counted, ["one", "two"], "only what was refused is left out");
}

#[test]
fn ids_do_not_repeat_after_the_journal_was_written_shorter() {
    let mut seen = BTreeSet::new();
    let mut journal: Vec<Event> = Vec::new();
    for life in 0..8 {
        let (mut session, _) = Session::open_as(life + 1, &journal);
        session.attach(1);
        let turn = started(&session.prompt(1, "go")).unwrap();
        let mut ids = BTreeSet::from([format!("call-{}", session.engine.id_prefix(turn))]);
        for _ in 0..5 {
            session.say(Some(turn), "word ");
        }
        session.end(turn);
        for event in &session.journal[journal.len()..] {
            match event.update() {
                Some(v2::SessionUpdate::UserMessage(m)) => ids.insert(m.message_id.to_string()),
                Some(v2::SessionUpdate::AgentMessageChunk(c)) => {
                    ids.insert(c.message_id.to_string())
                }
                _ => false,
            };
        }
        for id in ids {
            assert!(seen.insert(id.clone()), "{id} came again in life {life}");
        }
        // Written shorter now and then, so that two lives may begin at the same length.
        journal = match life % 2 {
            0 => session.journal,
            _ => coalesce(&session.journal),
        };
    }
}

#[test]
fn ids_of_a_turn_whose_words_were_lost_in_a_crash_do_not_come_again() {
    let mut session = Session::attached();
    let turn = started(&session.begin(1)).unwrap();
    let prefix = session.engine.id_prefix(turn);
    let said = updates(&session.say(Some(turn), "lost"));
    // The words were shown and gathered for writing; the beginning of the turn was safe.
    let kept: Vec<Event> = session
        .journal
        .iter()
        .take_while(|e| e.is_durable())
        .cloned()
        .collect();
    let (mut session, _) = Session::open(&kept);
    session.attach(1);
    let turn = started(&session.begin(1)).unwrap();
    assert_ne!(session.engine.id_prefix(turn), prefix);
    assert_ne!(updates(&session.say(Some(turn), "lost")), said);
}
