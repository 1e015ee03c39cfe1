//! Work that goes on beside turns.
use crate::support::Session;
use ply_session::engine::Input;
use ply_session::{Entity, Event, Outcome, Stop, TurnId};
use ply_wire::transcript::State;
use ply_wire::v2;
use v2::ToolCallStatus as Status;

fn outlive_call(session: &mut Session, turn: TurnId, id: &str) {
    let entity = Entity::ToolCall(v2::ToolCallId::new(id));
    session.step(Input::Outlive { turn, entity });
}

fn listed(session: &Session) -> Option<Vec<String>> {
    let background = session.engine.history().transcript().background()?;
    let names = background.iter().map(|work| match work {
        v2::BackgroundWork::ToolCall(call) => call.tool_call_id.to_string(),
        v2::BackgroundWork::Terminal(terminal) => terminal.terminal_id.to_string(),
        other => format!("{other:?}"),
    });
    Some(names.collect())
}

fn terminal(id: &str) -> v2::SessionUpdate {
    v2::SessionUpdate::TerminalUpdate(v2::TerminalUpdate::new(id))
}

fn exited(id: &str) -> v2::SessionUpdate {
    let update = v2::TerminalUpdate::new(id).exit_status(v2::TerminalExitStatus::new());
    v2::SessionUpdate::TerminalUpdate(update)
}

fn shows(call: &str, terminal: &str) -> v2::SessionUpdate {
    let content = v2::ToolCallContent::Terminal(v2::Terminal::new(terminal));
    v2::SessionUpdate::ToolCallContentChunk(v2::ToolCallContentChunk::new(call, content))
}

#[test]
fn v2_cancel_11_what_outlives_its_turn_is_neither_ended_by_it_nor_by_its_cancel() {
    for is_cancelled in [false, true] {
        let (mut session, turn) = Session::running();
        session.call(Some(turn), "stays", Status::InProgress);
        session.call(Some(turn), "goes", Status::InProgress);
        session.update(Some(turn), terminal("stays too"));
        outlive_call(&mut session, turn, "stays");
        session.step(Input::Outlive {
            turn,
            entity: Entity::Terminal(v2::TerminalId::new("stays too")),
        });
        if is_cancelled {
            session.step(Input::Cancel);
        }
        session.end_with(turn, Outcome::Stopped(Stop::EndTurn));
        assert_eq!(session.status("stays"), Status::InProgress);
        assert_ne!(session.status("goes"), Status::InProgress);
        assert_eq!(listed(&session).unwrap(), ["stays too", "stays"]);
        session.call(None, "stays", Status::Completed);
        session.update(None, exited("stays too"));
        assert_eq!(listed(&session).unwrap(), [""; 0]);
        assert_eq!(session.engine.history().transcript().state(), &State::Idle);
    }
}

#[test]
fn v2_bg_04_a_call_with_a_terminal_in_the_background_is_listed_as_that() {
    let mut session = Session::attached();
    session.call(None, "call", Status::InProgress);
    assert_eq!(listed(&session).unwrap(), ["call"]);
    session.update(None, terminal("t"));
    assert_eq!(listed(&session).unwrap(), ["t", "call"]);
    session.update(None, shows("call", "t"));
    assert_eq!(listed(&session).unwrap(), ["t"]);
    session.update(None, exited("t"));
    assert_eq!(listed(&session).unwrap(), ["call"]);
    session.call(None, "call", Status::Completed);
    assert_eq!(listed(&session).unwrap(), [""; 0]);
}

#[test]
fn v2_bg_02_nothing_is_said_of_the_background_before_there_was_any() {
    let (mut session, turn) = Session::running();
    session.call(Some(turn), "c", Status::InProgress);
    session.end_with(turn, Outcome::Stopped(Stop::EndTurn));
    assert_eq!(listed(&session), None);
    session.update(None, terminal("t"));
    session.update(None, exited("t"));
    session.prompt(2, "again");
    let states = session
        .journal
        .iter()
        .filter_map(|event| match event.update()? {
            v2::SessionUpdate::StateUpdate(state) => Some(state.background().map(<[_]>::len)),
            _ => None,
        });
    let expected = [None, None, Some(1), Some(0), Some(0)];
    assert_eq!(states.collect::<Vec<_>>(), expected);
}

#[test]
fn work_that_a_crash_cut_off_is_not_listed_any_more() {
    let mut session = Session::attached();
    session.call(None, "call", Status::InProgress);
    session.update(None, terminal("t"));
    let (opened, repair) = Session::open(&session.journal);
    assert_eq!(listed(&opened).unwrap(), [""; 0]);
    let last = repair.last().unwrap();
    assert!(
        matches!(last, Event::Update(v2::SessionUpdate::StateUpdate(_))),
        "{last:?}"
    );
    // Once is enough.
    let (_, again) = Session::open(&opened.journal);
    assert_eq!(again, []);
}

#[test]
fn late_wishes_to_outlive_a_turn_change_nothing() {
    let (mut session, turn) = Session::running();
    session.call(Some(turn), "c", Status::InProgress);
    session.end_with(turn, Outcome::Stopped(Stop::EndTurn));
    outlive_call(&mut session, turn, "c");
    outlive_call(&mut session, turn, "unknown");
    assert_eq!(session.status("c"), Status::Failed);
    assert_eq!(listed(&session), None);
}
