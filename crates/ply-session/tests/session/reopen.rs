//! Opening a session from its journal, cut anywhere, and what the journal keeps.
use std::collections::BTreeSet;

use crate::support::{Session, started, user_texts, yes};
use ply_session::engine::Input;
use ply_session::{Answer, Edit, Event, History, Outcome, Reply, Stop, coalesce};
use ply_wire::transcript::{State, Transcript};
use ply_wire::v2;
use v2::ToolCallStatus as Status;

/// Returns the journal of a session in which everything happens that can be cut off.
fn eventful() -> Vec<Event> {
    let (mut session, turn) = Session::running();
    session.say(Some(turn), "Hello, ");
    session.say(Some(turn), "world");
    session.call(Some(turn), "a", Status::InProgress);
    let ask = session.ask(
        Some(turn),
        Some(v2::ToolCallUpdate::new("b").title("Write")),
    );
    session.call(None, "background", Status::InProgress);
    session.answer(ask, 1, yes());
    session.step(Input::Update {
        turn: Some(turn),
        update: crate::support::call("b", Status::Completed),
        edits: vec![Edit {
            path: "/x".into(),
            old: None,
            new: Some("text".into()),
        }],
    });
    session.prompt(2, "two");
    let turn = started(&session.end(turn)).unwrap();
    session.ask(Some(turn), None);
    session.ask(None, None);
    session.step(Input::Say {
        turn: Some(turn),
        thought: true,
        content: "hm".into(),
    });
    session.end_with(turn, Outcome::Stopped(Stop::Refusal));
    session.begin(3);
    session.journal
}

// Also: D12, D17, E1.
#[test]
fn invariant_7_a_journal_cut_at_any_event_opens_at_rest() {
    let journal = eventful();
    for cut in 0..=journal.len() {
        // The ledger looks for open calls and questions.
        let (session, repair) = Session::open(&journal[..cut]);
        let history = session.engine.history();
        assert_eq!(*history.transcript().state(), State::Idle, "cut at {cut}");
        let asked = journal[..cut].iter().chain(&repair);
        let asked = asked.fold(BTreeSet::new(), |mut open, event| {
            match event {
                Event::Asked { ask, .. } => open.insert(*ask),
                Event::Answered { ask, .. } => open.remove(ask),
                _ => false,
            };
            open
        });
        assert!(asked.is_empty(), "a question is open, cut at {cut}");
        let (_, again) = Session::open(&session.journal);
        assert_eq!(again, [], "opening it again changes it, cut at {cut}");
    }
}

#[test]
fn d17_what_was_cut_off_is_failed_its_questions_are_cancelled_and_its_end_is_told() {
    let (mut session, turn) = Session::running();
    session.call(Some(turn), "c", Status::InProgress);
    let ask = session.ask(Some(turn), None);
    let (session, repair) = Session::open(&session.journal);
    assert_eq!(session.status("c"), Status::Failed);
    let answer = Answer::Cancelled;
    assert_eq!(
        repair[0],
        Event::Answered {
            ask,
            answer,
            by: None
        }
    );
    let stop = session.engine.history().transcript().stop_reason();
    assert!(matches!(stop, Some(v2::StopReason::Error(_))));
}

#[test]
fn a_session_that_was_opened_goes_on_as_usual() {
    let journal = eventful();
    for cut in 0..=journal.len() {
        let (mut session, _) = Session::open(&journal[..cut]);
        session.attach(1);
        let turn = started(&session.prompt(1, "again")).unwrap();
        session.say(Some(turn), "yes");
        session.end(turn);
        session.assert_at_rest();
        let texts = user_texts(session.engine.history());
        assert_eq!(texts.last().map(String::as_str), Some("again"));
    }
}

// Also: V1-TOOL-02.
#[test]
fn ids_never_repeat_over_many_lives_cut_anywhere() {
    let mut journal = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for life in 0..30 {
        let (mut session, _) = Session::open_as(life + 1, &journal);
        let before = session.journal.len();
        session.attach(1);
        let turn = started(&session.prompt(1, "go")).unwrap();
        assert!(seen.insert(format!("prefix {}", session.engine.id_prefix(turn))));
        session.say(Some(turn), "one ");
        session.say(Some(turn), "two ");
        session.end(turn);
        let mut ids = BTreeSet::new();
        for event in &session.journal[before..] {
            match event.update() {
                Some(v2::SessionUpdate::UserMessage(m)) => ids.insert(m.message_id.to_string()),
                Some(v2::SessionUpdate::AgentMessageChunk(m)) => {
                    ids.insert(m.message_id.to_string())
                }
                _ => false,
            };
        }
        for id in ids {
            assert!(seen.insert(id.clone()), "{id} again in life {life}");
        }
        // The prompt was safe; of the rest some was lost.
        let kept = before + 1 + life as usize % 4;
        journal = session.journal[..kept].to_vec();
        if life % 3 == 0 {
            journal = coalesce(&journal);
        }
    }
}

// Also: V1-STOP-05.
#[test]
fn v1_stop_05_a_refused_turn_leaves_the_entries_and_stays_in_the_transcript() {
    let (mut session, turn) = Session::running();
    session.say(Some(turn), "fine");
    session.end(turn);
    let turn = started(&session.prompt(2, "bad")).unwrap();
    session.say(Some(turn), "no");
    session.end_with(turn, Outcome::Stopped(Stop::Refusal));
    let turn = started(&session.prompt(3, "good")).unwrap();
    session.end(turn);
    let texts = |history: &History| -> Vec<String> {
        let entries = history.entries();
        entries
            .filter_map(|entry| entry.as_message().map(|message| message.text()))
            .collect()
    };
    let (reopened, _) = Session::open(&session.journal);
    let joined = coalesce(&session.journal);
    let (shorter, _) = Session::open(&joined);
    for session in [&session, &reopened, &shorter] {
        let history = session.engine.history();
        assert_eq!(texts(history), ["one", "fine", "good"]);
        assert_eq!(history.transcript().messages().count(), 5);
        assert!(history.is_refused(2) && history.is_refused(3) && !history.is_refused(4));
    }
}

#[test]
fn a_journal_written_shorter_folds_to_the_same_wherever_it_is_cut() {
    let journal = eventful();
    for cut in 0..=journal.len() {
        let part = &journal[..cut];
        let joined = coalesce(part);
        assert!(joined.len() <= part.len());
        let (long, short) = (History::fold(part), History::fold(&joined));
        assert_eq!(
            long.transcript().normalized(),
            short.transcript().normalized()
        );
        assert_eq!(coalesce(&joined), joined, "twice gives the same");
    }
    let joined = coalesce(&journal);
    assert_eq!(joined.len() + 1, journal.len(), "two chunks became one");
}

#[test]
fn only_plain_chunks_of_one_message_are_joined() {
    let chunk = |id: &str, text: &str| v2::ContentChunk::new(text.into(), id.to_owned());
    let agent = |chunk| Event::Update(v2::SessionUpdate::AgentMessageChunk(chunk));
    let thought = |chunk| Event::Update(v2::SessionUpdate::AgentThoughtChunk(chunk));
    let meta = chunk("m", "b").meta(v2::Meta::new());
    let image = v2::ContentBlock::Image(v2::ImageContent::new("aGk=", "image/png"));
    for (one, two, count) in [
        (agent(chunk("m", "a")), agent(chunk("m", "b")), 1),
        (thought(chunk("m", "a")), thought(chunk("m", "b")), 1),
        (agent(chunk("m", "a")), agent(chunk("n", "b")), 2),
        (agent(chunk("m", "a")), thought(chunk("m", "b")), 2),
        (agent(chunk("m", "a")), agent(meta), 2),
        (
            agent(chunk("m", "a")),
            agent(v2::ContentChunk::new(image, "m")),
            2,
        ),
    ] {
        assert_eq!(coalesce([&one, &two]).len(), count, "{one:?} {two:?}");
    }
}

// Also: E6.
#[test]
fn e6_events_read_as_they_were_written_and_a_replay_adds_nothing() {
    let journal = eventful();
    for event in &journal {
        let line = serde_json::to_string(event).unwrap();
        let read: Event = serde_json::from_str(&line).unwrap();
        assert_eq!(read, *event);
        assert!(!line.contains('\n'));
    }
    let transcript = Transcript::fold(journal.iter().filter_map(Event::update));
    let updates = transcript.to_updates();
    let twice = Transcript::fold(updates.iter().chain(&updates));
    assert_eq!(twice.entries().len(), transcript.entries().len());
}

// Also: E2.
#[test]
fn e5_attaching_appends_nothing_and_a_replay_is_what_an_attached_client_saw() {
    let (mut session, turn) = Session::running();
    session.say(Some(turn), "Hello");
    session.call(Some(turn), "c", Status::InProgress);
    let ask = session.ask(Some(turn), Some(v2::ToolCallUpdate::new("c")));
    let before = session.journal.len();
    let out = session.attach(2);
    assert_eq!(crate::support::offers(&out), [(ask, 2)]);
    assert_eq!(session.journal.len(), before);
    assert_eq!(session.attach(2), [], "it is attached already");
    let live = session.engine.history().transcript();
    let replayed = Transcript::fold(&live.to_updates());
    assert_eq!(replayed.normalized(), live.normalized());
}

#[test]
fn answers_and_questions_of_earlier_lives_are_over() {
    let (mut session, turn) = Session::running();
    let ask = session.ask(Some(turn), None);
    let (mut session, _) = Session::open(&session.journal);
    assert_eq!(crate::support::offers(&session.attach(1)), []);
    assert_eq!(session.answer(ask, 1, Reply::Dismissed), []);
    assert_eq!(session.engine.question(ask), None);
}
