//! When the prompts of a v1 client are answered, and which user messages it is shown.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

#[path = "project/view.rs"]
#[allow(unreachable_pub, dead_code, reason = "a module that two tests share")]
mod view;

use ply_wire::{
    project::{PromptTicket, Shows},
    v2,
};
use serde_json::{Value, json};
use view::{View, chunk, idle, message, state};

const TICKET: PromptTicket = PromptTicket(1);

#[test]
fn the_clients_own_prompt_is_not_echoed_and_that_of_others_is() {
    let mut view = View::new(Shows::ALL);
    view.projector
        .own_prompt(TICKET, v2::MessageId::new("own"), &mut view.out);
    view.apply([
        message("user_message", "own", &["hi"]),
        message("user_message", "other", &["yo"]),
    ]);
    assert_eq!(view.sent(), [chunk("user_message", "other", "yo")]);
}

#[test]
fn user_messages_wait_while_they_may_be_the_clients_own() {
    let mut view = View::new(Shows::ALL);
    view.projector.expect_prompt(TICKET, &["hi".into()]);
    view.apply([
        message("user_message", "other", &["hi"]),
        chunk("user_message", "own", "h"),
        chunk("user_message", "own", "i"),
    ]);
    assert_eq!(view.sent(), [] as [Value; 0]);
    view.projector
        .own_prompt(TICKET, v2::MessageId::new("own"), &mut view.out);
    assert_eq!(view.sent(), [chunk("user_message", "other", "hi")]);
}

#[test]
fn the_message_of_another_client_is_shown_before_the_reply_to_it() {
    let mut view = View::new(Shows::ALL);
    view.projector.expect_prompt(TICKET, &["hi there".into()]);
    let events = [
        chunk("user_message", "other", "hi"),
        chunk("user_message", "other", " you"),
        chunk("user_message", "other", "hi"),
        chunk("agent_message", "m", "yes?"),
    ];
    view.apply(events.clone());
    assert_eq!(view.sent(), events);
}

#[test]
fn the_answer_comes_after_messages_of_its_turn_that_were_held() {
    let mut view = View::new(Shows::ALL);
    view.projector.expect_prompt(TICKET, &["hi".into()]);
    view.apply([
        message("user_message", "own", &["hi"]),
        state("running"),
        message("user_message", "twin", &["hi"]),
        idle("end_turn"),
    ]);
    view.projector
        .own_prompt(TICKET, v2::MessageId::new("own"), &mut view.out);
    assert_eq!(
        view.sent(),
        [
            chunk("user_message", "twin", "hi"),
            json!({"settled": 1, "ok": {"stopReason": "end_turn"}})
        ]
    );
}

#[test]
fn a_message_that_only_begins_like_a_waiting_prompt_comes_before_the_answer_of_its_turn() {
    let mut view = View::new(Shows::ALL);
    view.projector
        .own_prompt(TICKET, v2::MessageId::new("own"), &mut view.out);
    view.projector
        .expect_prompt(PromptTicket(2), &["hi there".into()]);
    view.apply([
        message("user_message", "own", &["go"]),
        state("running"),
        message("user_message", "other", &["hi"]),
    ]);
    assert_eq!(view.sent(), [] as [Value; 0]);
    view.apply([idle("end_turn")]);
    assert_eq!(
        view.sent(),
        [
            chunk("user_message", "other", "hi"),
            json!({"settled": 1, "ok": {"stopReason": "end_turn"}})
        ]
    );
}

#[test]
fn a_prompt_that_was_answered_is_not_answered_again() {
    let cancelled = json!({"settled": 1, "ok": {"stopReason": "cancelled"}});
    let turn = [
        message("user_message", "own", &["hi"]),
        state("running"),
        idle("end_turn"),
    ];
    let own = v2::MessageId::new("own");
    // Named after the session was closed.
    let mut view = View::new(Shows::ALL);
    view.projector.expect_prompt(TICKET, &["hi".into()]);
    view.projector.close(&mut view.out);
    view.projector
        .own_prompt(TICKET, own.clone(), &mut view.out);
    view.apply(turn.clone());
    view.projector.close(&mut view.out);
    assert_eq!(view.sent(), [cancelled]);
    // First heard of after that: it gets the one answer that is left.
    view.projector
        .own_prompt(PromptTicket(2), v2::MessageId::new("late"), &mut view.out);
    assert_eq!(
        view.sent(),
        [json!({"settled": 2, "ok": {"stopReason": "cancelled"}})]
    );
    // Named twice, with its turn in between.
    let mut view = View::new(Shows::ALL);
    view.projector
        .own_prompt(TICKET, own.clone(), &mut view.out);
    view.apply(turn.clone());
    view.projector.own_prompt(TICKET, own, &mut view.out);
    view.projector.expect_prompt(TICKET, &["hi".into()]);
    let error = v2::Error::internal_error();
    view.projector.prompt_refused(TICKET, &error, &mut view.out);
    view.apply(turn);
    view.projector.close(&mut view.out);
    assert_eq!(
        view.sent(),
        [json!({"settled": 1, "ok": {"stopReason": "end_turn"}})]
    );
}

#[test]
fn states_are_swallowed_and_only_work_that_includes_the_prompt_answers_it() {
    let mut view = View::new(Shows::ALL);
    view.apply([state("running")]);
    view.projector
        .own_prompt(TICKET, v2::MessageId::new("own"), &mut view.out);
    // The end of what ran before is not the end of the prompt (V2-STATE-14).
    view.apply([
        idle("end_turn"),
        message("user_message", "own", &["hi"]),
        idle("end_turn"),
    ]);
    assert_eq!(view.sent(), [] as [Value; 0]);
    view.apply([
        state("running"),
        state("requires_action"),
        idle("max_tokens"),
        idle("max_tokens"),
        state("running"),
        idle("end_turn"),
    ]);
    assert_eq!(
        view.sent(),
        [json!({"settled": 1, "ok": {"stopReason": "max_tokens"}})]
    );
}

#[test]
fn stop_reasons_map_and_errors_become_errors() {
    let error = json!({"code": -32000, "message": "log in", "data": {"x": 1}});
    let mut failed = idle("error");
    failed["error"] = error.clone();
    let unnamed = json!({"code": -32603, "message": "Internal error"});
    for (ended, expected) in [
        (
            idle("refusal"),
            json!({"settled": 1, "ok": {"stopReason": "refusal"}}),
        ),
        (
            idle("cancelled"),
            json!({"settled": 1, "ok": {"stopReason": "cancelled"}}),
        ),
        (
            idle("max_turn_requests"),
            json!({"settled": 1, "ok": {"stopReason": "max_turn_requests"}}),
        ),
        (
            state("idle"),
            json!({"settled": 1, "ok": {"stopReason": "end_turn"}}),
        ),
        (
            idle("_mine"),
            json!({"settled": 1, "ok": {"stopReason": "end_turn",
                "_meta": {"ply/stopReason": "_mine"}}}),
        ),
        (failed, json!({"settled": 1, "error": error})),
        (idle("error"), json!({"settled": 1, "error": unnamed})),
    ] {
        let mut view = View::new(Shows::ALL);
        view.projector
            .own_prompt(TICKET, v2::MessageId::new("own"), &mut view.out);
        view.apply([
            message("user_message", "own", &["hi"]),
            state("running"),
            ended,
        ]);
        assert_eq!(view.sent(), [expected]);
    }
}

#[test]
fn a_turn_that_the_client_cancelled_is_answered_cancelled_however_it_ends() {
    for reason in ["error", "end_turn", "refusal", "max_tokens", "_mine"] {
        let mut view = View::new(Shows::ALL);
        view.projector
            .own_prompt(TICKET, v2::MessageId::new("own"), &mut view.out);
        view.apply([message("user_message", "own", &["hi"]), state("running")]);
        view.projector.cancel_requested();
        view.apply([idle(reason)]);
        assert_eq!(
            view.sent(),
            [json!({"settled": 1, "ok": {"stopReason": "cancelled"}})],
            "{reason}"
        );
    }
}

#[test]
fn a_refused_prompt_is_answered_with_the_error_unless_it_was_taken_back() {
    for (code, expected) in [
        (
            -32800,
            json!({"settled": 1, "ok": {"stopReason": "cancelled"}}),
        ),
        (
            -32602,
            json!({"settled": 1, "error": {"code": -32602, "message": "no"}}),
        ),
    ] {
        let mut view = View::new(Shows::ALL);
        view.projector.expect_prompt(TICKET, &["hi".into()]);
        view.projector
            .prompt_refused(TICKET, &v2::Error::new(code, "no"), &mut view.out);
        assert_eq!(view.sent(), [expected]);
    }
}

#[test]
fn closing_answers_every_waiting_prompt_as_cancelled() {
    let mut view = View::new(Shows::ALL);
    view.projector
        .own_prompt(TICKET, v2::MessageId::new("own"), &mut view.out);
    view.projector
        .expect_prompt(PromptTicket(2), &["hi".into()]);
    view.projector.close(&mut view.out);
    view.projector.close(&mut view.out);
    let cancelled = |ticket: u64| json!({"settled": ticket, "ok": {"stopReason": "cancelled"}});
    assert_eq!(view.sent(), [cancelled(1), cancelled(2)]);
}
