//! Turns of a v1 agent in v2: how they end, and when they wait for the user.

use crate::lift::agent::{Agent, call, chunk, idle, option, state};
use ply_wire::{
    lift::{Cancelled, PermissionUp},
    method::v1::lenient_prompt_response,
    transcript::Transcript,
    v1, v2,
};
use serde_json::{Value, json};

#[test]
fn a_turn_starts_a_new_message() {
    let mut agent = Agent::in_turn();
    agent
        .send([chunk("agent_message", None, "a")])
        .answer(Ok(v1::StopReason::EndTurn), Cancelled::No);
    agent
        .lifter
        .begin_prompt(v2::MessageId::new("q"), vec!["more".into()], &mut agent.out);
    agent.lifted();
    assert_eq!(
        agent.send([chunk("agent_message", None, "b")]).lifted()[0]["messageId"],
        "made-2"
    );
}

#[test]
fn answers_and_errors_end_the_turn_idle() {
    let refused = v1::Error::new(-32602, "no");
    let failed = json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "error",
        "error": {"code": -32602, "message": "no"}});
    for (answer, cancelled, expected) in [
        (Ok(v1::StopReason::EndTurn), Cancelled::No, idle("end_turn")),
        (
            Ok(v1::StopReason::MaxTokens),
            Cancelled::No,
            idle("max_tokens"),
        ),
        (Ok(v1::StopReason::Refusal), Cancelled::No, idle("refusal")),
        (
            Ok(v1::StopReason::Cancelled),
            Cancelled::Yes,
            idle("cancelled"),
        ),
        (Err(refused.clone()), Cancelled::No, failed),
        (Err(refused), Cancelled::Yes, idle("cancelled")),
        (
            Err(v1::Error::request_cancelled()),
            Cancelled::No,
            idle("cancelled"),
        ),
    ] {
        assert_eq!(Agent::in_turn().answer(answer, cancelled), [expected]);
    }
}

#[test]
fn calls_left_open_end_with_the_turn_v2_tool_10() {
    let calls = [
        json!({"sessionUpdate": "tool_call", "toolCallId": "a", "title": "A"}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "b", "title": "B", "status": "failed"}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "C",
            "status": "in_progress"}),
    ];
    let ended = |status: &str| {
        [
            call("a", json!({"status": status})),
            call("c", json!({"status": status})),
        ]
    };
    let open = || {
        let mut agent = Agent::in_turn();
        agent.send(calls.clone()).lifted();
        agent
    };
    assert_eq!(
        open().answer(Ok(v1::StopReason::Cancelled), Cancelled::Yes)[..2],
        ended("cancelled")
    );
    assert_eq!(
        open().answer(Err(v1::Error::internal_error()), Cancelled::No)[..2],
        ended("failed")
    );
    assert_eq!(
        open().answer(Ok(v1::StopReason::EndTurn), Cancelled::No),
        [idle("end_turn")]
    );
    let mut agent = open();
    agent
        .lifter
        .agent_died(v2::Error::internal_error(), Cancelled::No, &mut agent.out);
    let lifted = agent.lifted();
    assert_eq!(lifted[..2], ended("failed"));
    assert_eq!(lifted[2]["stopReason"], "error");
}

#[test]
fn a_permission_request_names_its_call_and_makes_the_session_wait() {
    let mut agent = Agent::in_turn();
    agent
        .send([json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Delete x"})])
        .lifted();
    let PermissionUp::Ask(ask, request) =
        agent.ask(json!({"toolCallId": "c", "kind": "delete"}), option())
    else {
        panic!("not asked")
    };
    assert_eq!(
        agent.lifted(),
        [
            call("c", json!({"kind": "delete"})),
            state("requires_action")
        ]
    );
    assert_eq!(request.title, "Allow: Delete x");
    let subject = serde_json::to_value(request.subject.unwrap()).unwrap();
    assert_eq!(
        (&subject["type"], &subject["toolCall"]["toolCallId"]),
        (&json!("tool_call"), &json!("c"))
    );
    agent.lifter.ask_closed(ask, &mut agent.out);
    assert_eq!(agent.lifted(), [state("running")]);
}

#[test]
fn the_session_waits_only_while_nothing_else_runs_v2_state_06() {
    let mut agent = Agent::in_turn();
    agent.send([
        json!({"sessionUpdate": "tool_call", "toolCallId": "w", "title": "Work",
        "status": "in_progress"}),
    ]);
    let asked = agent.asked(json!({"toolCallId": "c", "title": "C"}));
    assert_eq!(agent.states(), [] as [Value; 0]);
    agent.send([call("w", json!({"status": "completed"}))]);
    assert_eq!(agent.states(), ["requires_action"]);
    let other = agent.lifter.ask_opened(None, &mut agent.out);
    agent.lifter.ask_closed(asked, &mut agent.out);
    assert_eq!(agent.states(), [] as [Value; 0]);
    agent.lifter.ask_closed(other, &mut agent.out);
    assert_eq!(agent.states(), ["running"]);
}

#[test]
fn a_call_that_moves_while_idle_does_not_hide_that_the_next_turn_waits() {
    let mut agent = Agent::new();
    agent.send([call("w", json!({"status": "in_progress"}))]);
    agent.begin("p");
    agent.asked(json!({"toolCallId": "c"}));
    assert_eq!(agent.states(), ["requires_action"]);
}

#[test]
fn a_turn_does_not_wait_for_what_was_asked_while_idle() {
    let mut agent = Agent::new();
    agent.asked(json!({"toolCallId": "b"}));
    agent.begin("p");
    agent.send([call("c", json!({"status": "pending"}))]);
    assert_eq!(agent.states(), [] as [Value; 0]);
}

#[test]
fn closing_a_question_of_an_ended_turn_does_not_close_one_of_this_turn() {
    let mut agent = Agent::in_turn();
    let old = agent.lifter.ask_opened(None, &mut agent.out);
    agent.answer(Ok(v1::StopReason::EndTurn), Cancelled::No);
    agent.begin("q");
    let new = agent.lifter.ask_opened(None, &mut agent.out);
    assert_ne!(old, new);
    assert_eq!(agent.states(), ["requires_action"]);
    agent.lifter.ask_closed(old, &mut agent.out);
    assert_eq!(agent.states(), [] as [Value; 0]);
    agent.lifter.ask_closed(new, &mut agent.out);
    assert_eq!(agent.states(), ["running"]);
}

#[test]
fn the_error_of_a_request_whose_agent_died_ends_nothing_twice() {
    let mut agent = Agent::in_turn();
    agent
        .lifter
        .agent_died(v2::Error::internal_error(), Cancelled::No, &mut agent.out);
    agent.lifted();
    let lifted = agent.answer(Err(v1::Error::internal_error()), Cancelled::No);
    assert_eq!(lifted, [] as [Value; 0]);
}

#[test]
fn unknown_stop_reasons_and_options_are_kept() {
    let mut agent = Agent::in_turn();
    let odd = json!([{"optionId": "o", "name": "Odd", "kind": "_maybe"}]);
    let PermissionUp::Ask(_, request) = agent.ask(json!({"toolCallId": "c"}), odd.clone()) else {
        panic!("not asked")
    };
    assert_eq!(serde_json::to_value(&request.options).unwrap(), odd);
    agent.lifted();
    let answer = serde_json::value::to_raw_value(&json!({"stopReason": "_odd"})).unwrap();
    let answer = Ok(lenient_prompt_response(&answer).unwrap());
    agent
        .lifter
        .prompt_answered(&answer, Cancelled::No, &mut agent.out);
    assert_eq!(agent.lifted(), [idle("_odd")]);
}

#[test]
fn a_call_that_an_earlier_turn_left_in_progress_does_not_hide_that_this_one_waits() {
    let mut agent = Agent::in_turn();
    agent.send([
        json!({"sessionUpdate": "tool_call", "toolCallId": "w", "title": "W",
        "status": "in_progress"}),
    ]);
    agent.answer(Ok(v1::StopReason::EndTurn), Cancelled::No);
    agent
        .lifter
        .begin_prompt(v2::MessageId::new("q"), vec!["more".into()], &mut agent.out);
    agent.lifted();
    assert!(matches!(
        agent.ask(json!({"toolCallId": "c"}), option()),
        PermissionUp::Ask(..)
    ));
    assert_eq!(agent.lifted().last(), Some(&state("requires_action")));
}

#[test]
fn a_request_without_options_is_answered_cancelled() {
    let mut agent = Agent::in_turn();
    let answer = agent.ask(json!({"toolCallId": "c"}), json!([]));
    assert_eq!(
        answer,
        PermissionUp::Answer(v1::RequestPermissionOutcome::Cancelled)
    );
    assert!(agent.out.is_empty());
}

#[test]
fn updates_outside_a_turn_leave_the_state_alone() {
    let mut agent = Agent::new();
    agent.send([
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T",
        "status": "in_progress"}),
    ]);
    assert!(matches!(
        agent.ask(json!({"toolCallId": "c"}), option()),
        PermissionUp::Ask(..)
    ));
    assert!(
        agent
            .lifted()
            .iter()
            .all(|update| update["sessionUpdate"] == "tool_call_update")
    );
}

/// A call that is announced and completed under the id `c`.
fn whole_call(title: &str) -> [Value; 2] {
    [
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": title}),
        call("c", json!({"status": "completed"})),
    ]
}

/// The id, title and status of each call.
fn calls(updates: &[v2::SessionUpdate]) -> Vec<(String, String, v2::ToolCallStatus)> {
    let transcript = Transcript::fold(updates);
    let calls = transcript.tool_calls();
    calls
        .map(|call| {
            let title = call.title.clone().unwrap_or_default();
            (call.id.0.to_string(), title, call.status.clone())
        })
        .collect()
}

fn row(id: &str, title: &str, status: v2::ToolCallStatus) -> (String, String, v2::ToolCallStatus) {
    (id.to_owned(), title.to_owned(), status)
}

#[test]
fn c15_an_id_that_is_used_again_in_a_later_turn_is_a_new_call() {
    use v2::ToolCallStatus::{Completed, Pending};
    let mut agent = Agent::new();
    let mut all = Vec::new();
    for (turn, title) in ["One", "Two", "Three"].into_iter().enumerate() {
        let id = v2::MessageId::new(format!("p{turn}"));
        agent
            .lifter
            .begin_prompt(id, vec![title.into()], &mut agent.out);
        agent.send(whole_call(title));
        let answer = Ok(v1::PromptResponse::new(v1::StopReason::EndTurn).into());
        agent
            .lifter
            .prompt_answered(&answer, Cancelled::No, &mut agent.out);
        all.append(&mut agent.out);
    }
    let three = [
        row("c", "One", Completed),
        row("c~2", "Two", Completed),
        row("c~3", "Three", Completed),
    ];
    assert_eq!(calls(&all), three);

    // What comes after its turn is about the newest, and so is a second announcement.
    agent.send([
        call("c", json!({"title": "Third"})),
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "3"}),
    ]);
    all.append(&mut agent.out);
    assert_eq!(calls(&all)[..2], three[..2]);
    assert_eq!(calls(&all)[2..], [row("c~3", "3", Completed)]);

    // A call of the agent that is called like one that was made up here.
    agent.send([json!({"sessionUpdate": "tool_call", "toolCallId": "c~2", "title": "Own"})]);
    all.append(&mut agent.out);
    assert_eq!(calls(&all)[1], three[1]);
    assert_eq!(calls(&all)[3..], [row("c~2~2", "Own", Pending)]);
}

#[test]
fn c15_a_made_up_id_is_never_one_that_the_agent_uses() {
    let mut agent = Agent::in_turn();
    agent.send(whole_call("One"));
    agent.send([json!({"sessionUpdate": "tool_call", "toolCallId": "c~2", "title": "Own"})]);
    agent.begin("q");
    agent.send([json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Two"})]);
    assert_eq!(agent.lifted()[0]["toolCallId"], "c~3");
}

#[test]
fn c15_a_call_that_is_announced_again_in_its_turn_or_unfinished_is_the_same_call() {
    let again = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Again"});
    let mut agent = Agent::in_turn();
    agent.send(whole_call("One")).lifted();
    assert_eq!(
        agent.send([again.clone()]).lifted(),
        [call("c", json!({"title": "Again"}))]
    );

    let mut agent = Agent::in_turn();
    agent.send([json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "One"})]);
    agent.answer(Ok(v1::StopReason::EndTurn), Cancelled::No);
    agent.begin("q");
    assert_eq!(
        agent.send([again.clone()]).lifted(),
        [call("c", json!({"title": "Again"}))]
    );

    // Cancelling finished the call.
    agent.answer(Ok(v1::StopReason::Cancelled), Cancelled::Yes);
    agent.begin("r");
    assert_eq!(agent.send([again]).lifted()[0]["toolCallId"], "c~2");
}

#[test]
fn c15_a_permission_request_is_about_the_newest_call_of_its_id() {
    let mut agent = Agent::in_turn();
    agent.send(whole_call("One"));
    agent.answer(Ok(v1::StopReason::EndTurn), Cancelled::No);
    agent.begin("q");
    // The request announces the call, and `tool_call` tells more of it.
    let PermissionUp::Ask(ask, request) =
        agent.ask(json!({"toolCallId": "c", "title": "Two"}), option())
    else {
        panic!("not asked")
    };
    assert_eq!(request.title, "Allow: Two");
    let request = serde_json::to_value(&request).unwrap();
    assert_eq!(
        request.pointer("/subject/toolCall/toolCallId"),
        Some(&json!("c~2"))
    );
    assert_eq!(agent.states(), ["requires_action"]);
    agent.send([
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Two", "status":
        "in_progress"}),
    ]);
    agent.lifter.ask_closed(ask, &mut agent.out);
    let lifted = agent.lifted();
    assert_eq!(lifted[0]["toolCallId"], "c~2");
    assert_eq!(lifted[1], state("running"));
    let id = v1::ToolCallId::new("c");
    assert_eq!(
        agent.lifter.tool_call_id(&id),
        Some(v2::ToolCallId::new("c~2"))
    );
}

#[test]
fn c15_a_history_that_is_told_again_has_the_calls_that_were_seen_live() {
    let mut agent = Agent::new();
    for title in ["One", "Two"] {
        agent.send([
            chunk("user_message", None, "go"),
            chunk("user_message", None, " on"),
        ]);
        agent.send(whole_call(title));
        agent.send([chunk("agent_message", None, "done")]);
    }
    let completed = v2::ToolCallStatus::Completed;
    assert_eq!(
        calls(&agent.out),
        [
            row("c", "One", completed.clone()),
            row("c~2", "Two", completed)
        ]
    );
}
