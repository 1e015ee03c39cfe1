//! Comparing a session as a new process shows it with what was told of it.

use std::collections::HashMap;

use ply_wire::lift::Lifter;
use ply_wire::transcript::{Entry, MessageKind, ToolCall, Transcript};
use ply_wire::{v1, v2};
use serde_json::Value;

use crate::Version;
use crate::failure::{Breach, Failure, Result};
use crate::script::{Shape, Status, Tag, Token, tags_in, tokens_in};
use crate::told::{Kept, Session, Turn};
use crate::wire::{self, Stop};

/// A session as it was shown.
#[derive(Debug, Default)]
struct Shown {
    turns: Vec<(Tag, Shape)>,
    plan: Option<Token>,
}

/// Compares, and fixes how each turn is kept. Returns how many turns there are.
pub(crate) fn compare(
    session: &mut Session,
    messages: &[Value],
    version: Version,
) -> Result<usize> {
    once_each(messages)?;
    let shown = shown(&fold(messages, version)?)?;
    let mut turns: HashMap<Tag, Shape> = HashMap::new();
    let mut last = None;
    for (tag, shape) in shown.turns {
        if Some(tag) <= last {
            let words = format!("{tag} comes again, or after a later turn");
            return Err(Failure::new(Breach::Duplicate, words));
        }
        last = Some(tag);
        turns.insert(tag, shape);
    }
    let count = turns.len();
    for turn in &mut session.turns {
        let shape = turns.remove(&turn.script.tag);
        turn.kept = Some(keep(turn, shape)?);
    }
    if let Some(tag) = turns.keys().next() {
        return Err(Failure::other(format!("{tag} was shown, but never sent")));
    }
    check_plan(session, shown.plan)?;
    if version == Version::V2 {
        check_end(session, messages)?;
    }
    Ok(count)
}

/// Makes sure that nothing is shown by two messages.
fn once_each(messages: &[Value]) -> Result<()> {
    let mut seen = HashMap::new();
    for (place, message) in messages.iter().enumerate() {
        for token in tokens_in(&message.to_string()) {
            if *seen.entry(token).or_insert(place) != place {
                return Err(Failure::new(
                    Breach::Duplicate,
                    format!("{token} is shown twice"),
                ));
            }
        }
    }
    Ok(())
}

fn fold(messages: &[Value], version: Version) -> Result<Transcript> {
    let mut updates = Vec::new();
    let mut lifter = Lifter::new("lifted-", wire::CWD);
    for message in messages {
        let update = message
            .pointer("/params/update")
            .cloned()
            .unwrap_or_default();
        match version {
            Version::V1 => lifter.update(
                serde_json::from_value::<v1::SessionUpdate>(update)?,
                &mut updates,
            ),
            Version::V2 => updates.push(serde_json::from_value::<v2::SessionUpdate>(update)?),
        }
    }
    Ok(Transcript::fold(&updates))
}

fn shown(transcript: &Transcript) -> Result<Shown> {
    let mut shown = Shown::default();
    for entry in transcript.entries() {
        if let Entry::Plan(plan) = entry {
            let text = plan
                .entries()
                .map(|entries| format!("{entries:?}"))
                .unwrap_or_default();
            shown.plan = tokens_in(&text).next();
            continue;
        }
        if let Entry::Message(message) = entry
            && message.kind == MessageKind::User
        {
            let text = message.text();
            let tag = tags_in(&text).next();
            let tag =
                tag.ok_or_else(|| Failure::other(format!("nobody sent the prompt {text:?}")))?;
            shown.turns.push((tag, Shape::default()));
            continue;
        }
        let Some((_, shape)) = shown.turns.last_mut() else {
            return Err(Failure::new(
                Breach::Gap,
                "something comes before the first prompt",
            ));
        };
        match entry {
            Entry::Message(message) => {
                shape.text(message.kind == MessageKind::Thought, &message.text())
            }
            Entry::ToolCall(call) => add_call(shape, call)?,
            other => return Err(Failure::other(format!("nobody sent {other:?}"))),
        }
    }
    Ok(shown)
}

fn add_call(shape: &mut Shape, call: &ToolCall) -> Result<()> {
    let status = match (&call.status, call.is_finished()) {
        (v2::ToolCallStatus::Completed, _) => Status::Completed,
        (_, true) => Status::Failed,
        (_, false) => Status::Open,
    };
    let content = call.content.iter().map(|item| {
        let item = serde_json::to_value(item)?;
        Ok(match item.pointer("/changes/0/path") {
            Some(path) => path.as_str().unwrap_or_default().to_owned(),
            None => wire::text(&item, "/content/text"),
        })
    });
    let mut content = content.collect::<Result<Vec<_>>>()?;
    // How version 1 says it, which has no such status; and what a call shows whose question was open when the agent was killed.
    content.retain(|text| text != "cancelled" && !text.starts_with(LOST_QUESTION));
    shape.call(call.shown_title(), content, status);
    Ok(())
}

/// What is said of a question that nobody answered.
const LOST_QUESTION: &str = "Nobody answered before the agent stopped.";

/// Decides how a turn is kept, by how it is shown now and was shown before.
fn keep(turn: &Turn, shape: Option<Shape>) -> Result<Kept> {
    let tag = turn.script.tag;
    let Some(shape) = shape else {
        return match (&turn.kept, turn.accepted) {
            (Some(Kept::There { .. }), _) | (_, true) => {
                Err(Failure::new(Breach::Lost, format!("{tag} is gone")))
            }
            _ => Ok(Kept::Absent),
        };
    };
    match &turn.kept {
        Some(Kept::Absent) => return Err(Failure::other(format!("{tag} was gone and came back"))),
        Some(kept @ Kept::There { shape: before, .. }) if *before == shape => {
            return Ok(kept.clone());
        }
        Some(Kept::There { shape: before, .. }) => {
            let words = format!("{tag} changed from {before:?} to {shape:?}");
            return Err(Failure::new(Breach::Lost, words));
        }
        None => {}
    }
    if shape.is_open() {
        let words = format!("{tag} was cut off, and is shown with an open tool call: {shape:?}");
        return Err(Failure::other(words));
    }
    let shapes = turn.script.shapes();
    let matches = shapes
        .iter()
        .enumerate()
        .filter(|(_, known)| **known == shape);
    let matches: Vec<usize> = matches.map(|(atoms, _)| atoms).collect();
    let (Some(first), Some(last)) = (matches.first(), matches.last()) else {
        let words = format!("{tag} is no beginning of {}: {shape:?}", turn.script);
        return Err(Failure::new(Breach::Gap, words));
    };
    if *last < turn.floor {
        let words = format!(
            "{tag} has {last} of {} atoms, {} were safe",
            turn.total, turn.floor
        );
        return Err(Failure::new(Breach::Lost, words));
    }
    if *first > turn.ceiling() {
        let words = format!(
            "{tag} ended with {} atoms shown, and has {first}",
            turn.seen
        );
        return Err(Failure::other(words));
    }
    Ok(Kept::There {
        shape,
        least: (*first).max(turn.floor),
        most: *last,
    })
}

/// Makes sure that the plan is the last one there was.
fn check_plan(session: &Session, shown: Option<Token>) -> Result<()> {
    let mut allowed = vec![None];
    for turn in &session.turns {
        let Some(Kept::There { least, most, .. }) = &turn.kept else {
            continue;
        };
        for atom in turn.script.plans() {
            let tag = turn.script.tag;
            if atom < *least {
                allowed.clear();
            }
            if atom < *most {
                allowed.push(Some(Token { tag, atom }));
            }
        }
    }
    match allowed.contains(&shown) {
        true => Ok(()),
        false => {
            let words = format!("the plan is {shown:?} and not one of {allowed:?}");
            Err(Failure::new(Breach::Lost, words))
        }
    }
}

/// Makes sure that the last turn has ended, for a reason.
fn check_end(session: &Session, messages: &[Value]) -> Result<()> {
    let there = |turn: &&Turn| matches!(turn.kept, Some(Kept::There { .. }));
    let Some(turn) = session.turns.iter().rev().find(there) else {
        return Ok(());
    };
    let is_state =
        |message: &&Value| wire::text(message, "/params/update/sessionUpdate") == "state_update";
    let state = messages.iter().rev().find(is_state);
    let stop = state.and_then(wire::idle);
    let tag = turn.script.tag;
    let Some(stop) = stop else {
        return Err(Failure::other(format!(
            "the session is not idle after {tag}, but {state:?}"
        )));
    };
    let is_cut_off = matches!(&turn.kept, Some(Kept::There { most, .. }) if *most < turn.total);
    let fits = match (&turn.end, &stop) {
        (Some(told @ Stop::Done(_)), _) => *told == stop,
        (_, Stop::Done(_)) if is_cut_off => turn.cancelled,
        _ => true,
    };
    match fits {
        true => Ok(()),
        false => Err(Failure::other(format!(
            "{tag} was told to end with {:?} and is shown to have ended with {stop:?}",
            turn.end
        ))),
    }
}
