//! What holds for every sequence of updates on the way between v1 and v2.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

#[path = "translation_properties/generate.rs"]
#[allow(unreachable_pub, reason = "a module of this test only")]
mod generate;

use std::collections::HashMap;

use ply_wire::{
    convert::plan::MAIN_PLAN_ID,
    lift::{Cancelled, Lifter},
    project::{Down, PermissionDown, Projector, PromptTicket, Shows},
    transcript::{MessageKind, State, Transcript, what_v1_can_carry},
    v1, v2,
};
use proptest::prelude::*;

/// Returns what a v1 client is sent for the events.
fn project(shows: Shows, events: &[v2::SessionUpdate]) -> Vec<Down> {
    let mut projector = Projector::new(shows, "v/");
    let mut out = Vec::new();
    events
        .iter()
        .for_each(|event| projector.apply(event, &mut out));
    projector.flush(&mut out);
    out
}

/// Returns what a v1 client's view means in v2.
fn lift(view: &[Down]) -> Vec<v2::SessionUpdate> {
    let mut lifter = Lifter::new("made-", "");
    let mut out = Vec::new();
    for down in view {
        if let Down::Update(update) = down {
            lifter.update(update.clone(), &mut out);
        }
    }
    out
}

fn is_settle(down: &Down) -> bool {
    matches!(down, Down::Settle { .. })
}

fn user_message_id(down: &Down) -> Option<&str> {
    match down {
        Down::Update(v1::SessionUpdate::UserMessageChunk(chunk)) => {
            chunk.message_id.as_ref().map(|id| &*id.0)
        }
        _ => None,
    }
}

fn agent_text(id: &str, text: &str) -> v2::SessionUpdate {
    v2::SessionUpdate::AgentMessageChunk(v2::ContentChunk::new(text.into(), id))
}

proptest! {
    #[test]
    fn the_v1_view_folds_to_the_same_transcript_but_for_the_named_losses(events in generate::v2_updates()) {
        let lifted = Transcript::fold(&lift(&project(Shows::ALL, &events)));
        prop_assert_eq!(what_v1_can_carry(&Transcript::fold(&events)), what_v1_can_carry(&lifted));
    }

    #[test]
    fn loading_a_session_shows_what_an_attached_client_saw(events in generate::v2_updates()) {
        let transcript = Transcript::fold(&events);
        let mut out = Vec::new();
        let _projector = Projector::load(Shows::ALL, "v/", &transcript, &(), &mut out);
        prop_assert!(out.iter().all(|down| !is_settle(down)));
        // A message that began empty is in its first place on load and where its content came live.
        let replayed = Transcript::fold(&transcript.to_updates());
        prop_assert_eq!(what_v1_can_carry(&replayed), what_v1_can_carry(&Transcript::fold(&lift(&out))));
    }

    #[test]
    fn a_transcript_replays_to_itself(events in generate::v2_updates()) {
        let transcript = Transcript::fold(&events);
        prop_assert_eq!(Transcript::fold(&transcript.to_updates()), transcript);
    }

    #[test]
    fn what_v1_can_carry_is_carried_whole(events in generate::v2_updates()) {
        let carried = what_v1_can_carry(&Transcript::fold(&events));
        prop_assert_eq!(what_v1_can_carry(&carried), carried);
    }

    #[test]
    fn a_later_view_goes_on_from_where_another_client_left_off(
        before in generate::v2_updates(),
        after in generate::v2_updates(),
    ) {
        let mut out = Vec::new();
        let mut projector = Projector::load(Shows::ALL, "v/", &Transcript::fold(&before), &(), &mut out);
        after.iter().for_each(|event| projector.apply(event, &mut out));
        projector.flush(&mut out);
        let updates = Transcript::fold(&before).to_updates();
        let whole = Transcript::fold(updates.iter().chain(&after));
        prop_assert_eq!(what_v1_can_carry(&whole), what_v1_can_carry(&Transcript::fold(&lift(&out))));
    }

    #[test]
    fn asking_about_calls_leaves_nothing_behind(
        events in generate::v2_updates(),
        asked in proptest::collection::vec(generate::tool_call_update(), 0..6),
    ) {
        let (mut projector, mut out) = (Projector::new(Shows::ALL, "v/"), Vec::new());
        let mut whole = Transcript::new();
        let mut asked = asked.into_iter();
        for event in &events {
            projector.apply(event, &mut out);
            whole.apply(event);
            let Some(call) = asked.next() else { continue };
            let yes = v2::PermissionOption::new("y", "Yes", v2::PermissionOptionKind::AllowOnce);
            let request = v2::RequestPermissionRequest::new("s", "Really?", vec![yes])
                .subject(v2::RequestPermissionSubject::from(call));
            whole.permission_requested(&request);
            if let PermissionDown::Ask(id, _) = projector.permission(&request, &(), &mut out) {
                projector.permission_answered(id, &v1::RequestPermissionOutcome::Cancelled, &mut out);
            }
        }
        projector.flush(&mut out);
        prop_assert_eq!(what_v1_can_carry(&whole), what_v1_can_carry(&Transcript::fold(&lift(&out))));
    }

    #[test]
    fn text_folds_the_same_however_it_is_cut(texts in generate::texts(), cut in 1..4usize) {
        let whole: Vec<_> = texts.iter().map(|(id, text)| agent_text(id, text)).collect();
        let mut cuts = Vec::new();
        for (id, text) in &texts {
            let chars: Vec<char> = text.chars().collect();
            // A chunk without text still makes its message.
            cuts.push(agent_text(id, ""));
            cuts.extend(chars.chunks(cut).map(|part| agent_text(id, &part.iter().collect::<String>())));
        }
        prop_assert_eq!(Transcript::fold(&whole).normalized(), Transcript::fold(&cuts).normalized());
    }

    #[test]
    fn lifting_never_loses_text_tool_calls_or_the_plan(updates in generate::v1_updates()) {
        let view: Vec<_> = updates.iter().cloned().map(Down::Update).collect();
        let transcript = Transcript::fold(&lift(&view));
        check_lifted(&updates, &transcript)?;
    }

    #[test]
    fn a_prompt_settles_once_and_its_turn_ends_with_that(
        before in generate::v2_updates(),
        during in generate::v2_updates(),
        after in generate::v2_updates(),
        when in 0..4u8,
        again in any::<bool>(),
    ) {
        check_prompt(&before, &during, &after, when, again)?;
    }

    #[test]
    fn a_prompt_named_after_the_close_is_not_answered_again(
        before in generate::v2_updates(),
        after in generate::v2_updates(),
        is_expected in any::<bool>(),
    ) {
        let (ticket, message) = (PromptTicket(7), v2::MessageId::new("own"));
        let mut projector = Projector::new(Shows::ALL, "v/");
        let mut out = Vec::new();
        if is_expected {
            projector.expect_prompt(ticket, &["hello".into()]);
        }
        before.iter().for_each(|event| projector.apply(event, &mut out));
        projector.close(&mut out);
        projector.own_prompt(ticket, message, &mut out);
        let len = out.len();
        after.iter().for_each(|event| projector.apply(event, &mut out));
        projector.close(&mut out);
        prop_assert_eq!(out.iter().filter(|down| is_settle(down)).count(), 1);
        prop_assert!(!out[len..].iter().any(is_settle));
    }

    #[test]
    fn a_client_that_shows_little_is_sent_nothing_it_cannot_read(events in generate::v2_updates()) {
        for down in project(Shows::LEAST, &events) {
            let Down::Update(update) = down else { continue };
            prop_assert!(!matches!(
                update,
                v1::SessionUpdate::Notice(_)
                    | v1::SessionUpdate::CompactionUpdate(_)
                    | v1::SessionUpdate::CompactionSummaryChunk(_)
            ));
            let json = serde_json::to_value(&update).unwrap();
            let read: v1::SessionUpdate = serde_json::from_value(json).unwrap();
            let read_again: v1::SessionUpdate =
                serde_json::from_value(serde_json::to_value(&read).unwrap()).unwrap();
            prop_assert_eq!(read, read_again);
        }
    }

    #[test]
    fn turns_of_a_v1_agent_always_end_idle_with_nothing_left_open(
        updates in generate::v1_updates(),
        failed in any::<bool>(),
        cancelled in any::<bool>(),
    ) {
        let mut lifter = Lifter::new("made-", "");
        let mut out = Vec::new();
        lifter.begin_prompt(v2::MessageId::new("prompt"), vec!["hi".into()], &mut out);
        updates.iter().for_each(|update| lifter.update(update.clone(), &mut out));
        let answer = if failed {
            Err(v1::Error::internal_error())
        } else if cancelled {
            Ok(v1::PromptResponse::new(v1::StopReason::Cancelled).into())
        } else {
            Ok(v1::PromptResponse::new(v1::StopReason::EndTurn).into())
        };
        let by_us = if cancelled { Cancelled::Yes } else { Cancelled::No };
        lifter.prompt_answered(&answer, by_us, &mut out);
        let transcript = Transcript::fold(&out);
        prop_assert_eq!(transcript.state(), &State::Idle);
        if failed || cancelled {
            prop_assert!(transcript.tool_calls().all(|call| call.is_finished()));
        }
        if cancelled {
            prop_assert_eq!(transcript.stop_reason(), Some(&v2::StopReason::Cancelled));
        }
    }
}

fn check_lifted(
    updates: &[v1::SessionUpdate],
    transcript: &Transcript,
) -> Result<(), TestCaseError> {
    let mut texts: HashMap<MessageKind, usize> = HashMap::new();
    let mut plan = None;
    for update in updates {
        let (kind, chunk) = match update {
            v1::SessionUpdate::UserMessageChunk(chunk) => (MessageKind::User, chunk),
            v1::SessionUpdate::AgentMessageChunk(chunk) => (MessageKind::Agent, chunk),
            v1::SessionUpdate::AgentThoughtChunk(chunk) => (MessageKind::Thought, chunk),
            v1::SessionUpdate::ToolCall(call) => {
                let id = v2::ToolCallId::new(call.tool_call_id.0.clone());
                prop_assert!(transcript.tool_call(&id).is_some());
                continue;
            }
            v1::SessionUpdate::ToolCallUpdate(update) => {
                let id = v2::ToolCallId::new(update.tool_call_id.0.clone());
                prop_assert!(transcript.tool_call(&id).is_some());
                continue;
            }
            v1::SessionUpdate::Plan(update) => {
                plan = Some(
                    update
                        .entries
                        .iter()
                        .map(|entry| entry.content.clone())
                        .collect::<Vec<_>>(),
                );
                continue;
            }
            _ => continue,
        };
        if let v1::ContentBlock::Text(text) = &chunk.content {
            *texts.entry(kind).or_default() += text.text.len();
        }
    }
    for (kind, len) in texts {
        let folded = transcript.messages().filter(|message| message.kind == kind);
        prop_assert_eq!(
            folded.map(|message| message.text().len()).sum::<usize>(),
            len
        );
    }
    let main = transcript.plan(&v2::PlanId::new(MAIN_PLAN_ID));
    let main = main.map(|plan| {
        plan.entries()
            .unwrap()
            .iter()
            .map(|entry| entry.content.clone())
            .collect()
    });
    prop_assert_eq!(main, plan);
    Ok(())
}

/// Runs a turn of the client's own prompt, whose id becomes known at one of four moments, among any
/// other events; `again` names and refuses it once more after its answer, before and after close.
fn check_prompt(
    before: &[v2::SessionUpdate],
    during: &[v2::SessionUpdate],
    after: &[v2::SessionUpdate],
    when: u8,
    again: bool,
) -> Result<(), TestCaseError> {
    let (ticket, message) = (PromptTicket(7), v2::MessageId::new("own"));
    let mut projector = Projector::new(Shows::ALL, "v/");
    let mut out = Vec::new();
    let state = |state| v2::SessionUpdate::StateUpdate(state);
    before
        .iter()
        .for_each(|event| projector.apply(event, &mut out));
    if when == 0 {
        projector.own_prompt(ticket, message.clone(), &mut out);
    } else {
        projector.expect_prompt(ticket, &["hello".into()]);
    }
    let user = v2::UserMessage::new(message.clone()).content(vec!["hello".into()]);
    projector.apply(&v2::SessionUpdate::UserMessage(user), &mut out);
    if when == 1 {
        projector.own_prompt(ticket, message.clone(), &mut out);
    }
    projector.apply(
        &state(v2::StateUpdate::Running(v2::RunningStateUpdate::new())),
        &mut out,
    );
    for event in during {
        if !matches!(event, v2::SessionUpdate::StateUpdate(_)) {
            projector.apply(event, &mut out);
        }
    }
    let twin = v2::UserMessage::new("twin").content(vec!["hello".into()]);
    projector.apply(&v2::SessionUpdate::UserMessage(twin), &mut out);
    if when == 2 {
        projector.own_prompt(ticket, message.clone(), &mut out);
    }
    prop_assert!(out.iter().all(|down| !is_settle(down)));
    let idle = v2::IdleStateUpdate::new().stop_reason(v2::StopReason::MaxTokens);
    projector.apply(&state(v2::StateUpdate::Idle(idle)), &mut out);
    if when == 3 {
        projector.own_prompt(ticket, message.clone(), &mut out);
    }
    let settled = out.iter().position(is_settle);
    let settled = settled.ok_or_else(|| TestCaseError::fail("the prompt was not answered"))?;
    let expected = Ok(v1::PromptResponse::new(v1::StopReason::MaxTokens));
    prop_assert_eq!(
        &out[settled],
        &Down::Settle {
            prompt: ticket,
            outcome: expected
        }
    );
    let len = out.len();
    projector.flush(&mut out);
    prop_assert_eq!(
        out.len(),
        len,
        "a flush after the answer had something left to send"
    );
    prop_assert_eq!(out.len(), settled + 1, "an update came after the answer");
    if again {
        projector.own_prompt(ticket, message.clone(), &mut out);
    }
    after
        .iter()
        .for_each(|event| projector.apply(event, &mut out));
    projector.close(&mut out);
    if again {
        projector.own_prompt(ticket, message, &mut out);
        let refused = v2::Error::internal_error();
        projector.prompt_refused(ticket, &refused, &mut out);
        after
            .iter()
            .for_each(|event| projector.apply(event, &mut out));
        projector.close(&mut out);
    }
    prop_assert_eq!(out.iter().filter(|down| is_settle(down)).count(), 1);
    // The client wrote its prompt itself and is never shown it again.
    let echoed = out.iter().any(|down| user_message_id(down) == Some("own"));
    prop_assert!(!echoed);
    Ok(())
}
