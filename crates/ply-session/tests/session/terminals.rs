//! Terminals: none is shown as running when nothing runs it any more.
use crate::support::{Session, error, started, states};
use ply_session::engine::Action;
use ply_session::{Outcome, Stop, TurnId};
use ply_wire::transcript::Entry;
use ply_wire::v2;

fn terminal(id: &str) -> v2::SessionUpdate {
    v2::SessionUpdate::TerminalUpdate(v2::TerminalUpdate::new(id.to_owned()).command("make"))
}

fn exited(id: &str) -> v2::SessionUpdate {
    let status = v2::TerminalExitStatus::new().exit_code(0);
    let update = v2::TerminalUpdate::new(id.to_owned()).exit_status(status);
    v2::SessionUpdate::TerminalUpdate(update)
}

fn output(id: &str) -> v2::SessionUpdate {
    v2::SessionUpdate::TerminalOutputChunk(v2::TerminalOutputChunk::new(id.to_owned(), "aGk="))
}

/// Returns the terminals whose end was not reported.
fn open(session: &Session) -> Vec<String> {
    let transcript = session.engine.history().transcript();
    let open = transcript.entries().filter_map(|entry| match entry {
        Entry::Terminal(terminal) if terminal.exit_status.is_none() => {
            Some(terminal.id.to_string())
        }
        _ => None,
    });
    open.collect()
}

/// Returns a session whose turn has one terminal that ended and two that did not; one belongs to no turn.
fn busy() -> (Session, TurnId) {
    let (mut session, turn) = Session::running();
    session.update(Some(turn), terminal("done"));
    session.update(Some(turn), exited("done"));
    session.update(Some(turn), terminal("runs"));
    session.update(Some(turn), output("unannounced"));
    session.update(None, terminal("background"));
    (session, turn)
}

#[test]
fn c8_a_turn_that_is_cancelled_or_fails_ends_its_terminals() {
    let (mut session, turn) = busy();
    session.cancel();
    let out = session.end(turn);
    assert_eq!(open(&session), ["background"]);
    assert_eq!(states(&out), ["idle"]);
    assert!(matches!(out.last(), Some(Action::Settle { .. })));

    let (mut session, turn) = busy();
    session.cancel();
    session.overdue(turn);
    assert_eq!(open(&session), ["background"], "the code hangs");

    let (mut session, turn) = busy();
    session.end_with(turn, error());
    assert_eq!(open(&session), ["background"]);
}

#[test]
fn a_terminal_goes_on_after_a_turn_that_came_to_its_own_end() {
    for stop in [Stop::EndTurn, Stop::MaxTokens, Stop::Refusal] {
        let (mut session, turn) = busy();
        session.end_with(turn, Outcome::Stopped(stop));
        assert_eq!(open(&session), ["runs", "unannounced", "background"]);
        // A later turn that fails is not theirs.
        let turn = started(&session.prompt(2, "two")).unwrap();
        session.end_with(turn, error());
        assert_eq!(open(&session), ["runs", "unannounced", "background"]);
        session.update(None, exited("runs"));
        assert_eq!(open(&session), ["unannounced", "background"]);
    }
}

#[test]
fn c8_closing_the_session_ends_all_terminals() {
    let (mut session, turn) = busy();
    session.close();
    let out = session.end(turn);
    assert_eq!(open(&session), Vec::<String>::new());
    assert_eq!(out.last(), Some(&Action::Closed));

    let (mut session, turn) = busy();
    session.end(turn);
    session.close();
    assert_eq!(open(&session), Vec::<String>::new());
}

#[test]
fn c8_a_session_that_was_cut_off_opens_with_no_terminal_running() {
    let (session, _) = busy();
    for cut in 0..=session.journal.len() {
        let (opened, _) = Session::open(&session.journal[..cut]);
        assert_eq!(open(&opened), Vec::<String>::new(), "cut at {cut}");
        let (_, again) = Session::open(&opened.journal);
        assert_eq!(again, [], "cut at {cut}");
    }
}

#[test]
fn the_end_of_a_terminal_is_reported_once() {
    let (mut session, turn) = busy();
    session.update(Some(turn), exited("runs"));
    session.update(Some(turn), exited("unannounced"));
    session.cancel();
    let out = session.end(turn);
    assert_eq!(
        crate::support::updates(&out).len(),
        1,
        "only the idle: {out:?}"
    );
}
