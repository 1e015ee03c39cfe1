//! What is lost between v2 and v1, each loss one step.

use std::sync::Arc;

use super::{Entry, Plan, Slot, State, Transcript};
use crate::{
    convert::{self, config::Booleans, diff, plan::MAIN_PLAN_ID},
    lift,
    project::{mark, terminal, tool_call},
    v1, v2,
};

/// Returns the part of a transcript that a v1 client can be shown, in the form in which it is
/// shown.
///
/// The v1 view of a session is right if it folds to the same transcript as the session itself after
/// both went through this function. So what is not here must survive the way through v1. The client
/// is one that shows everything v1 has ([`crate::project::Shows::ALL`]).
///
/// Losses are written out here where that is short. Diffs, terminals and config options go through
/// the conversions themselves, so a conversion that lost more would not be noticed by comparing:
/// `tests/carried_by_value.rs` pins what must arrive.
///
/// Metadata is lost in these places, which v1 has no field for: on message updates (a v1 chunk's
/// belongs to the chunk), on diffs and on their changes, on references to terminals, on terminals,
/// and on plans when more than one has entries.
#[must_use]
pub fn what_v1_can_carry(transcript: &Transcript) -> Transcript {
    let mut carried = transcript.clone();
    without_unknown_updates(&mut carried);
    without_stand_ins(&mut carried);
    messages_appear_with_their_first_content(&mut carried);
    without_message_metadata(&mut carried);
    content_blocks_are_known_types(&mut carried);
    tool_calls_have_v1_fields(&mut carried);
    tool_content_is_v1_content(&mut carried);
    without_terminals(&mut carried);
    one_plan(&mut carried);
    without_state(&mut carried);
    options_and_commands_are_v1_ones(&mut carried);
    without_marks(&mut carried);
    carried.reindex();
    carried.normalized()
}

/// v1 updates are a closed set.
fn without_unknown_updates(transcript: &mut Transcript) {
    let is_known = |slot: &Slot| !matches!(*slot.entry, Entry::Unknown(_));
    transcript.slots.edit_all(|slots| slots.retain(is_known));
}

/// What the projector makes up for things v1 does not have: calls for lone terminals and for
/// permission requests about something else than a call, messages for notices.
fn without_stand_ins(transcript: &mut Transcript) {
    let is_real = |slot: &Slot| match &*slot.entry {
        Entry::ToolCall(call) => !call.id.0.starts_with(mark::STAND_IN),
        Entry::Message(message) => !message.id.0.starts_with(mark::STAND_IN),
        _ => true,
    };
    transcript.slots.edit_all(|slots| slots.retain(is_real));
}

/// v1 messages exist through their chunks: an empty one is not there, and one that was announced
/// empty takes its place when its first content comes.
fn messages_appear_with_their_first_content(transcript: &mut Transcript) {
    transcript.slots.edit_all(|slots| {
        slots.sort_by_key(|slot| slot.shown_at);
        slots.retain(|slot| !slot.entry.is_blank());
    });
}

/// Metadata of a v1 chunk belongs to the chunk, so there is no place for that of the message.
fn without_message_metadata(transcript: &mut Transcript) {
    transcript.slots.for_each_mut(|slot| {
        if let Entry::Message(message) = slot.entry_mut() {
            message.meta.clear();
        }
    });
}

/// Blocks of unknown types become texts; icons, unknown roles and sizes that v1 cannot count are
/// dropped.
fn content_blocks_are_known_types(transcript: &mut Transcript) {
    transcript
        .slots
        .for_each_mut(|slot| match slot.entry_mut() {
            Entry::Message(message) => message.content.iter_mut().for_each(block_is_known_type),
            Entry::Compaction(compaction) => {
                compaction.summary.iter_mut().for_each(block_is_known_type)
            }
            Entry::ToolCall(call) => {
                for item in &mut call.content {
                    if let v2::ToolCallContent::Content(item) = item {
                        block_is_known_type(&mut item.content);
                    }
                }
            }
            _ => {}
        });
}

fn block_is_known_type(block: &mut v2::ContentBlock) {
    let annotations = match block {
        v2::ContentBlock::Text(text) => &mut text.annotations,
        v2::ContentBlock::Image(image) => &mut image.annotations,
        v2::ContentBlock::Audio(audio) => &mut audio.annotations,
        v2::ContentBlock::Resource(resource) => &mut resource.annotations,
        v2::ContentBlock::ResourceLink(link) => {
            link.icons = None;
            link.size = link.size.filter(|size| i64::try_from(*size).is_ok());
            &mut link.annotations
        }
        v2::ContentBlock::Other(other) => {
            *block = v2::ContentBlock::from(format!("[content of type {}]", other.type_));
            return;
        }
        _ => return,
    };
    if let Some(roles) = annotations
        .as_mut()
        .and_then(|annotations| annotations.audience.as_mut())
    {
        roles.retain(|role| matches!(role, v2::Role::User | v2::Role::Assistant));
    }
}

/// Every v1 call has a title; kinds and statuses are closed sets, cancelled being failed with a
/// note; there are no controls on calls.
fn tool_calls_have_v1_fields(transcript: &mut Transcript) {
    transcript.slots.for_each_mut(|slot| {
        if let Entry::ToolCall(call) = slot.entry_mut() {
            call.title = Some(call.shown_title());
            if let v2::ToolKind::Unknown(_) = call.kind {
                call.kind = v2::ToolKind::Other;
            }
            call.status = match &call.status {
                v2::ToolCallStatus::Cancelled => {
                    let note = v2::Content::new(v2::ContentBlock::from("cancelled"));
                    let note = v2::ToolCallContent::Content(Box::new(note));
                    call.content.push(note);
                    v2::ToolCallStatus::Failed
                }
                v2::ToolCallStatus::Paused | v2::ToolCallStatus::Other(_) => {
                    v2::ToolCallStatus::InProgress
                }
                known => known.clone(),
            };
            call.capabilities = None;
        }
    });
}

/// Terminals are shown as text, diffs as old and new text without regard to how a patch cuts them
/// into hunks, file operations that v1 cannot show as text, and items of unknown types as text.
fn tool_content_is_v1_content(transcript: &mut Transcript) {
    let screens: std::collections::HashMap<_, _> = transcript
        .entries()
        .filter_map(|entry| match entry {
            Entry::Terminal(shown) => Some((shown.id.clone(), terminal::text_of(shown))),
            _ => None,
        })
        .collect();
    transcript.slots.for_each_mut(|slot| {
        let Entry::ToolCall(call) = slot.entry_mut() else {
            return;
        };
        let mut items: Vec<v1::ToolCallContent> = Vec::new();
        for item in &call.content {
            match item {
                v2::ToolCallContent::Terminal(shown) => {
                    items.extend(
                        screens
                            .get(&shown.terminal_id)
                            .cloned()
                            .flatten()
                            .map(Into::into),
                    );
                }
                other => items.extend(tool_call::item_down(&call.id, other, &())),
            }
        }
        call.content = lift::content_up(&items, &[], |_| false);
        for item in &mut call.content {
            if let v2::ToolCallContent::Diff(shown) = item {
                diff::join_hunks(shown);
            }
        }
    });
}

/// v1 terminals are the client's own; those of the agent are seen in its tool calls.
fn without_terminals(transcript: &mut Transcript) {
    let is_kept = |slot: &Slot| !matches!(*slot.entry, Entry::Terminal(_));
    transcript.slots.edit_all(|slots| slots.retain(is_kept));
}

/// v1 has one plan without a place, made of the items that are not cancelled; other plan types have
/// no items, and unknown statuses and priorities become the usual ones. Its metadata is that of the
/// only plan with items.
fn one_plan(transcript: &mut Transcript) {
    let plans = transcript.plans().map(|plan| {
        let entries = plan.entries().unwrap_or_default().iter();
        let entries = entries.filter(|entry| entry.status != v2::PlanEntryStatus::Cancelled);
        (plan.meta.clone(), entries.cloned().collect::<Vec<_>>())
    });
    let plans: Vec<_> = plans.filter(|(_, entries)| !entries.is_empty()).collect();
    let is_kept = |slot: &Slot| !matches!(*slot.entry, Entry::Plan(_));
    transcript.slots.edit_all(|slots| slots.retain(is_kept));
    let meta = match plans.as_slice() {
        [] => return,
        [(meta, _)] => meta.clone(),
        _ => None,
    };
    let mut entries: Vec<v2::PlanEntry> =
        plans.into_iter().flat_map(|(_, entries)| entries).collect();
    for entry in &mut entries {
        if let v2::PlanEntryStatus::Other(_) = entry.status {
            entry.status = v2::PlanEntryStatus::InProgress;
        }
        if let v2::PlanEntryPriority::Other(_) = entry.priority {
            entry.priority = v2::PlanEntryPriority::Medium;
        }
    }
    let plan = Plan {
        id: v2::PlanId::new(MAIN_PLAN_ID),
        content: v2::PlanUpdateContent::items(MAIN_PLAN_ID, entries),
        meta,
    };
    transcript.slots.push(Slot {
        entry: Arc::new(plan.into()),
        shown_at: None,
        stamp: super::Stamp::default(),
    });
}

/// v1 tells of the state by answering prompts, and of background work not at all.
fn without_state(transcript: &mut Transcript) {
    transcript.state = State::Idle;
    transcript.stop_reason = None;
    transcript.background = None;
}

/// Options of unknown types are left out; commands have no types, and their input is free text.
fn options_and_commands_are_v1_ones(transcript: &mut Transcript) {
    let options = convert::config::options_down(&transcript.config_options, Booleans::Native);
    transcript.config_options = convert::config::options_up(&options).into();
    for command in Arc::make_mut(&mut transcript.commands) {
        let (name, description) = (command.name(), command.description());
        let mut plain = v2::Command::new(name, description).meta(command.meta().cloned());
        if let v2::AvailableCommand::Command(known) = &*command {
            let input = known.input.clone();
            plain.input = input.filter(|input| matches!(input, v2::AvailableCommandInput::Text(_)));
        }
        *command = v2::AvailableCommand::Command(plain);
    }
}

/// Our own marks say what v1 cannot; empty metadata is none.
fn without_marks(transcript: &mut Transcript) {
    transcript.slots.for_each_mut(|slot| {
        if let Entry::ToolCall(call) = slot.entry_mut() {
            call.meta = mark::without_marks(Some(&call.meta)).unwrap_or_default();
        }
    });
    if let Some(usage) = &mut transcript.usage {
        usage.meta = mark::without_marks(usage.meta.as_ref()).filter(|meta| !meta.is_empty());
    }
}
