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
    project::{Down, PermissionDown, Projector, Shows},
    transcript::{Entry, MessageKind, State, Transcript, what_v1_can_carry},
    v1, v2,
};
use proptest::prelude::*;

/// Returns what a v1 client is sent for the events.
fn project(shows: Shows, events: &[v2::SessionUpdate]) -> Vec<v1::SessionUpdate> {
    let mut projector = Projector::new(shows, "v/");
    let mut out = Vec::new();
    for event in events {
        apply(&mut projector, event, &mut out);
    }
    flush(&mut projector, &mut out);
    out
}

fn apply(projector: &mut Projector, event: &v2::SessionUpdate, out: &mut Vec<v1::SessionUpdate>) {
    let mut downs = Vec::new();
    projector.apply(event, &mut downs);
    out.extend(downs.into_iter().map(|down| match down {
        // The client reads the JSON of the v2 update.
        Down::Same => {
            let read = serde_json::from_value(serde_json::to_value(event).unwrap()).unwrap();
            assert_eq!(Down::Same.into_update(event).as_ref(), Some(&read));
            read
        }
        other => other.into_update(event).unwrap(),
    }));
}

fn flush(projector: &mut Projector, out: &mut Vec<v1::SessionUpdate>) {
    let had_unsent = projector.has_unsent();
    let mut downs = Vec::new();
    projector.flush(&mut downs);
    assert_eq!(had_unsent, !downs.is_empty());
    assert!(!projector.has_unsent());
    out.extend(downs.into_iter().map(update));
}

/// Returns the update that something other than an update of the session led to.
fn update(down: Down) -> v1::SessionUpdate {
    match down {
        Down::Update(update) => update,
        other => panic!("{other:?}"),
    }
}

/// Returns what a v1 client's view means in v2.
fn lift(view: &[v1::SessionUpdate]) -> Vec<v2::SessionUpdate> {
    let mut lifter = Lifter::new("made-", "");
    let mut out = Vec::new();
    for update in view {
        lifter.update(update.clone(), &mut out);
    }
    out
}

fn load(history: &Transcript) -> (Projector, Vec<v1::SessionUpdate>) {
    let mut out = Vec::new();
    let projector = Projector::load(Shows::ALL, "v/", history, &(), &mut out);
    (projector, out.into_iter().map(update).collect())
}

fn user_message_id(update: &v1::SessionUpdate) -> Option<&str> {
    match update {
        v1::SessionUpdate::UserMessageChunk(chunk) => chunk.message_id.as_ref().map(|id| &*id.0),
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
    fn a_view_that_remembers_little_shows_every_message_and_call(
        events in generate::v2_updates(),
        remembered in 0..3_usize,
    ) {
        let (mut projector, mut out) = (Projector::new(Shows::ALL, "v/"), Vec::new());
        projector.remember(remembered);
        events.iter().for_each(|event| apply(&mut projector, event, &mut out));
        flush(&mut projector, &mut out);
        let seen = |transcript: &Transcript| {
            let carried = what_v1_can_carry(transcript);
            let entries = carried.entries().filter_map(|entry| match entry {
                Entry::Message(message) => Some(format!("{message:?}")),
                // What is added to a forgotten call is shown without what was there before, and where its title is taken away,
                // its name is not known.
                Entry::ToolCall(call) => Some(format!("{} {:?}", call.id, call.status)),
                _ => None,
            });
            entries.collect::<Vec<_>>()
        };
        prop_assert_eq!(seen(&Transcript::fold(&events)), seen(&Transcript::fold(&lift(&out))));
    }

    #[test]
    fn loading_a_session_shows_what_an_attached_client_saw(events in generate::v2_updates()) {
        let transcript = Transcript::fold(&events);
        let (_, out) = load(&transcript);
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
    fn the_open_terminals_are_those_without_an_exit_status(events in generate::v2_updates()) {
        let transcript = Transcript::fold(&events);
        let open = transcript.entries().filter_map(|entry| match entry {
            Entry::Terminal(terminal) if terminal.exit_status.is_none() => Some(&terminal.id),
            _ => None,
        });
        prop_assert!(transcript.open_terminals().eq(open));
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
        let (mut projector, mut out) = load(&Transcript::fold(&before));
        after.iter().for_each(|event| apply(&mut projector, event, &mut out));
        flush(&mut projector, &mut out);
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
            apply(&mut projector, event, &mut out);
            whole.apply(event);
            let Some(call) = asked.next() else { continue };
            let yes = v2::PermissionOption::new("y", "Yes", v2::PermissionOptionKind::AllowOnce);
            let request = v2::RequestPermissionRequest::new("s", "Really?", vec![yes])
                .subject(v2::RequestPermissionSubject::from(call));
            whole.permission_requested(&request);
            let mut downs = Vec::new();
            if let PermissionDown::Ask(id, _) = projector.permission(&request, &(), &mut downs) {
                projector.permission_answered(id, &v1::RequestPermissionOutcome::Cancelled, &mut downs);
            }
            out.extend(downs.into_iter().map(update));
        }
        flush(&mut projector, &mut out);
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
        let transcript = Transcript::fold(&lift(&updates));
        check_lifted(&updates, &transcript)?;
    }

    #[test]
    fn an_own_message_is_not_echoed_and_nothing_is_left_to_send_when_its_turn_ends(
        before in generate::v2_updates(),
        during in generate::v2_updates(),
        after in generate::v2_updates(),
    ) {
        check_own(&before, &during, &after)?;
    }

    #[test]
    fn a_client_that_shows_little_is_sent_nothing_it_cannot_read(events in generate::v2_updates()) {
        for update in project(Shows::LEAST, &events) {
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

/// Runs a turn of the client's own prompt among any other events.
fn check_own(
    before: &[v2::SessionUpdate],
    during: &[v2::SessionUpdate],
    after: &[v2::SessionUpdate],
) -> Result<(), TestCaseError> {
    let message = v2::MessageId::new("own");
    let mut projector = Projector::new(Shows::ALL, "v/");
    let mut out = Vec::new();
    let state = |state| v2::SessionUpdate::StateUpdate(state);
    for event in before {
        apply(&mut projector, event, &mut out);
    }
    projector.own_message(message.clone());
    let user = |text: &str| {
        let user = v2::UserMessage::new(message.clone()).content(vec![text.into()]);
        v2::SessionUpdate::UserMessage(user)
    };
    apply(&mut projector, &user("hello"), &mut out);
    let running = v2::StateUpdate::Running(v2::RunningStateUpdate::new());
    apply(&mut projector, &state(running), &mut out);
    for event in during {
        if !matches!(event, v2::SessionUpdate::StateUpdate(_)) {
            apply(&mut projector, event, &mut out);
        }
    }
    apply(&mut projector, &user("hello again"), &mut out);
    let idle = v2::IdleStateUpdate::new().stop_reason(v2::StopReason::MaxTokens);
    apply(
        &mut projector,
        &state(v2::StateUpdate::Idle(idle)),
        &mut out,
    );
    prop_assert!(!projector.has_unsent());
    let len = out.len();
    flush(&mut projector, &mut out);
    prop_assert_eq!(out.len(), len, "the end of the turn left something to send");
    for event in after {
        apply(&mut projector, event, &mut out);
    }
    apply(&mut projector, &user("hello again"), &mut out);
    let mut downs = Vec::new();
    projector.close(&mut downs);
    out.extend(downs.into_iter().map(update));
    let echoed = out
        .iter()
        .any(|update| user_message_id(update) == Some("own"));
    prop_assert!(!echoed);
    Ok(())
}
