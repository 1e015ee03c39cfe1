//! What is in a session, put into words. Nothing here is harmless yet: whoever writes it sees to that.

use std::borrow::Cow;
use std::collections::HashSet;

use ply_agent::transcript::{Compaction, State, Terminal, ToolCall, Transcript, Usage};
use ply_agent::v2;
use serde::Serialize;

/// A part of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::program) enum Piece<'a> {
    /// What somebody says, which may be Markdown.
    Text(&'a str),
    /// Text as it is, under a line that says what it is.
    Verbatim {
        caption: Option<String>,
        language: &'static str,
        text: Cow<'a, str>,
    },
    /// One line about something, perhaps about what cannot be shown.
    Note(String),
}

impl<'a> Piece<'a> {
    fn verbatim(caption: String, text: impl Into<Cow<'a, str>>) -> Self {
        Self::Verbatim {
            caption: Some(caption),
            language: "text",
            text: text.into(),
        }
    }
}

/// Returns the name that the protocol has for a value, such as `in_progress`.
pub(in crate::program) fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => "unknown".to_owned(),
    }
}

/// Returns the model that a session's options name.
pub(in crate::program) fn model(options: &[v2::SessionConfigOption]) -> Option<String> {
    use v2::SessionConfigOptionCategory::Model;
    let is_model = |option: &&v2::SessionConfigOption| option.category == Some(Model);
    let model = options.iter().find(is_model)?;
    match &model.kind {
        v2::SessionConfigKind::Select(select) => Some(select.current_value.0.to_string()),
        _ => None,
    }
}

/// Returns what a block of content shows.
pub(in crate::program) fn block(block: &v2::ContentBlock) -> Piece<'_> {
    match block {
        v2::ContentBlock::Text(text) => Piece::Text(&text.text),
        v2::ContentBlock::Image(image) => data("image", &image.mime_type, &image.data),
        v2::ContentBlock::Audio(audio) => data("audio", &audio.mime_type, &audio.data),
        v2::ContentBlock::ResourceLink(link) => {
            Piece::Note(format!("link to {}: {}", link.name, link.uri))
        }
        v2::ContentBlock::Resource(embedded) => match &embedded.resource {
            v2::EmbeddedResourceResource::TextResourceContents(text) => {
                Piece::verbatim(text.uri.clone(), &text.text)
            }
            v2::EmbeddedResourceResource::BlobResourceContents(blob) => Piece::Note(format!(
                "{}: {} bytes of data, not shown",
                blob.uri,
                decoded_len(&blob.blob)
            )),
            _ => Piece::Note("a resource of an unknown kind".to_owned()),
        },
        v2::ContentBlock::Other(other) => {
            Piece::Note(format!("content of an unknown kind: {}", other.type_))
        }
        _ => Piece::Note("content of an unknown kind".to_owned()),
    }
}

fn data(what: &str, kind: &v2::MediaType, base64: &str) -> Piece<'static> {
    let (kind, bytes) = (&kind.0, decoded_len(base64));
    Piece::Note(format!("{what}, {kind}, {bytes} bytes, not shown"))
}

/// Returns how many bytes base64 stands for.
fn decoded_len(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

/// Returns what a tool call did, saw and produced.
pub(in crate::program) fn tool_call<'a>(
    call: &'a ToolCall,
    transcript: &'a Transcript,
) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    for location in &call.locations {
        let path = location.path.0.display();
        pieces.push(Piece::Note(match location.line {
            Some(line) => format!("at {path}:{line}"),
            None => format!("at {path}"),
        }));
    }
    pieces.extend(call.raw_input.as_ref().map(|input| json("input", input)));
    for item in &call.content {
        match item {
            v2::ToolCallContent::Content(content) => pieces.push(match block(&content.content) {
                // What a tool prints is rarely meant as Markdown.
                Piece::Text(text) => Piece::Verbatim {
                    caption: None,
                    language: "text",
                    text: text.into(),
                },
                piece => piece,
            }),
            v2::ToolCallContent::Diff(diff) => diff_pieces(diff, &mut pieces),
            v2::ToolCallContent::Terminal(reference) => {
                let found = transcript.terminal(&reference.terminal_id);
                pieces.push(found.map_or_else(
                    || Piece::Note("a terminal that is not in the session".to_owned()),
                    terminal,
                ));
            }
            v2::ToolCallContent::Other(other) => pieces.push(Piece::Note(format!(
                "content of an unknown kind: {}",
                other.type_
            ))),
            _ => {}
        }
    }
    // What a tool returns is for programs, and most often shown above already.
    if call.content.is_empty() {
        pieces.extend(
            call.raw_output
                .as_ref()
                .map(|output| json("output", output)),
        );
    }
    pieces
}

fn json(caption: &str, value: &serde_json::Value) -> Piece<'static> {
    Piece::Verbatim {
        caption: Some(caption.to_owned()),
        language: "json",
        text: format!("{value:#}").into(),
    }
}

fn diff_pieces<'a>(diff: &'a v2::Diff, pieces: &mut Vec<Piece<'a>>) {
    for change in &diff.changes {
        use v2::DiffChangeOperation::{Add, Copy, Delete, Modify, Move, Other};
        pieces.push(Piece::Note(match &change.operation {
            Add(of) => format!("added {}", of.path.0.display()),
            Modify(of) => format!("changed {}", of.path.0.display()),
            Delete(of) => format!("deleted {}", of.path.0.display()),
            Move(of) => format!(
                "moved {} to {}",
                of.old_path.0.display(),
                of.path.0.display()
            ),
            Copy(of) => format!(
                "copied {} to {}",
                of.old_path.0.display(),
                of.path.0.display()
            ),
            Other(other) => format!("file operation {}", other.operation),
            _ => "a file operation".to_owned(),
        }));
    }
    pieces.extend(diff.patch.as_ref().map(|patch| Piece::Verbatim {
        caption: None,
        language: "diff",
        text: (&patch.text).into(),
    }));
}

/// Returns the terminals that tool calls show.
pub(in crate::program) fn referred_terminals(transcript: &Transcript) -> HashSet<&v2::TerminalId> {
    let items = transcript.tool_calls().flat_map(|call| &call.content);
    let terminals = items.filter_map(|item| match item {
        v2::ToolCallContent::Terminal(shown) => Some(&shown.terminal_id),
        _ => None,
    });
    terminals.collect()
}

/// Returns what a terminal shows.
pub(in crate::program) fn terminal(terminal: &Terminal) -> Piece<'_> {
    let command = terminal.command.as_deref().unwrap_or("a terminal");
    let end = match &terminal.exit_status {
        None => String::new(),
        Some(status) => match (&status.signal, status.exit_code) {
            (Some(signal), _) => format!(" (ended by {signal})"),
            (None, Some(code)) => format!(" (exit code {code})"),
            (None, None) => " (ended)".to_owned(),
        },
    };
    Piece::verbatim(format!("$ {command}{end}"), terminal.text())
}

/// Returns the steps of a plan, each with a mark of how far it is.
pub(in crate::program) fn plan(plan: &v2::PlanUpdateContent) -> Vec<(char, &str)> {
    let v2::PlanUpdateContent::Items(items) = plan else {
        return Vec::new();
    };
    let step = |entry: &'_ v2::PlanEntry| match entry.status {
        v2::PlanEntryStatus::Completed => 'x',
        v2::PlanEntryStatus::InProgress => '>',
        v2::PlanEntryStatus::Cancelled => '-',
        _ => ' ',
    };
    items
        .entries
        .iter()
        .map(|entry| (step(entry), entry.content.as_str()))
        .collect()
}

/// Returns the headline of a compaction.
pub(in crate::program) fn compaction(compaction: &Compaction) -> String {
    let status = name(&compaction.status);
    match &compaction.error {
        Some(error) => format!("context compaction ({status}): {error}"),
        None => format!("context compaction ({status})"),
    }
}

/// Returns how the last turn ended, or that it did not.
pub(in crate::program) fn ending(transcript: &Transcript) -> Option<String> {
    match transcript.state() {
        State::Idle => {}
        State::RequiresAction => {
            return Some("The last turn waits for the user, or stopped there".to_owned());
        }
        _ => return Some("The last turn has not ended: it runs, or stopped midway".to_owned()),
    }
    let reason = match transcript.stop_reason()? {
        v2::StopReason::EndTurn => "the agent was done".to_owned(),
        v2::StopReason::MaxTokens => "the limit of tokens was reached".to_owned(),
        v2::StopReason::MaxTurnRequests => "the limit of requests was reached".to_owned(),
        v2::StopReason::Refusal => "the agent refused to go on".to_owned(),
        v2::StopReason::Cancelled => "it was cancelled".to_owned(),
        v2::StopReason::Error(stop) => match &stop.error {
            Some(error) => format!("it failed: {}", error.message),
            None => "it failed".to_owned(),
        },
        v2::StopReason::Other(other) => other.stop_reason.clone(),
        _ => "unknown".to_owned(),
    };
    Some(format!("The last turn ended: {reason}"))
}

/// Returns how full the context is, and what it cost.
pub(in crate::program) fn usage(usage: &Usage) -> String {
    let cost = usage.cost.as_ref();
    let cost = cost.map(|cost| format!(", {} {}", cost.amount, cost.currency));
    format!(
        "Context: {} of {} tokens{}",
        usage.used,
        usage.size,
        cost.unwrap_or_default()
    )
}
