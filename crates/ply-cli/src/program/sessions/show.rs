//! `ply sessions show`.

use std::collections::HashSet;
use std::io::{self, Write};

use ply_agent::transcript::{Entry, Message, MessageKind, Transcript};
use ply_agent::{History, read_history, v2};
use ply_journal::Head;
use serde::Serialize;

use super::content::{self, Piece};
use super::{About, Store, tell_damaged};
use crate::program::arguments::Show;
use crate::program::{Error, json, output, time};
use ply_client::text::{self, Line};

/// Columns by which everything that is not a headline is moved in. Text of others is, so that no
/// message can pass for somebody else's.
const INDENT: usize = 2;
/// Columns of the caption of what is known of the session.
const CAPTION: usize = 9;

pub(super) async fn run(store: &Store, arguments: Show) -> Result<(), Error> {
    let (head, records) = store.find(&arguments.id).await?;
    let (history, damaged) = read_history(&*records).await?;
    let mut out = output::stdout();
    let written = match arguments.json {
        true => json::write(&mut out, &Document::new(&head, &history, damaged)),
        false => write(&mut out, &head, &history, arguments.thoughts),
    };
    written.and_then(|()| out.flush()).map_err(Error::Output)?;
    tell_damaged(damaged);
    Ok(())
}

/// A session, as JSON. The names are promised to scripts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    session: About<'a>,
    entries: Vec<v2::SessionUpdate>,
    state: v2::StateUpdate,
    usage: Option<Usage<'a>>,
    damaged_records: u64,
}

#[derive(Debug, Serialize)]
struct Usage<'a> {
    used: u64,
    size: u64,
    cost: Option<&'a v2::Cost>,
}

impl<'a> Document<'a> {
    fn new(head: &'a Head, history: &'a History, damaged_records: u64) -> Self {
        let transcript = history.transcript();
        // One update for each entry comes first.
        let mut entries = transcript.to_updates();
        entries.truncate(transcript.entries().len());
        let usage = transcript.usage().map(|usage| Usage {
            used: usage.used,
            size: usage.size,
            cost: usage.cost.as_ref(),
        });
        Self {
            session: About::new(head),
            entries,
            state: transcript.state_snapshot(),
            usage,
            damaged_records,
        }
    }
}

fn write(
    out: &mut impl Write,
    head: &Head,
    history: &History,
    with_thoughts: bool,
) -> io::Result<()> {
    writeln!(out, "session {}", Line(&head.id))?;
    for (caption, value) in [
        (
            "title",
            Line(head.title.as_deref().unwrap_or("-")).to_string(),
        ),
        ("cwd", text::path(&head.cwd)),
        ("created", time::rfc3339(head.created_ms)),
        ("updated", time::rfc3339(head.updated_ms)),
    ] {
        writeln!(out, "{:INDENT$}{caption:CAPTION$}{value}", "")?;
    }
    let transcript = history.transcript();
    let cx = Context {
        transcript,
        referred: content::referred_terminals(transcript),
        with_thoughts,
    };
    for (place, entry) in transcript.entries().enumerate() {
        let mark = match history.is_refused(place) {
            true => " (refused)",
            false => "",
        };
        write_entry(out, entry, mark, &cx)?;
    }
    let usage = transcript.usage().map(content::usage);
    let last: Vec<_> = content::ending(transcript)
        .into_iter()
        .chain(usage)
        .collect();
    if !last.is_empty() {
        writeln!(out)?;
    }
    for line in &last {
        writeln!(out, "{}", Line(line))?;
    }
    Ok(())
}

/// What it takes to show an entry.
struct Context<'a> {
    transcript: &'a Transcript,
    /// Terminals that are shown with a tool call.
    referred: HashSet<&'a v2::TerminalId>,
    with_thoughts: bool,
}

fn write_entry(
    out: &mut impl Write,
    entry: &Entry,
    mark: &str,
    cx: &Context<'_>,
) -> io::Result<()> {
    match entry {
        Entry::Message(message) if message.kind == MessageKind::Thought && !cx.with_thoughts => {
            let lines = message.text().lines().count();
            let plural = if lines == 1 { "" } else { "s" };
            writeln!(
                out,
                "\nthought ({lines} line{plural}, shown with --thoughts)"
            )
        }
        Entry::Message(message) => {
            writeln!(out, "\n{}{mark}", who(message))?;
            write_blocks(out, &message.content)
        }
        Entry::ToolCall(call) => {
            let title = call.shown_title();
            let (kind, status) = (content::name(&call.kind), content::name(&call.status));
            let (kind, status) = (Line(&kind), Line(&status));
            writeln!(out, "\ntool call: {} ({kind}, {status})", Line(&title))?;
            let pieces = content::tool_call(call, cx.transcript);
            pieces.iter().try_for_each(|piece| write_piece(out, piece))
        }
        // Shown with the tool calls that refer to it.
        Entry::Terminal(terminal) if cx.referred.contains(&terminal.id) => Ok(()),
        Entry::Terminal(terminal) => {
            writeln!(out, "\nterminal")?;
            write_piece(out, &content::terminal(terminal))
        }
        Entry::Plan(plan) => {
            writeln!(out, "\nplan")?;
            for (mark, step) in content::plan(&plan.content) {
                writeln!(out, "{:INDENT$}[{mark}] {}", "", Line(step))?;
            }
            Ok(())
        }
        Entry::Compaction(compaction) => {
            writeln!(out, "\n{}", Line(&content::compaction(compaction)))?;
            write_blocks(out, &compaction.summary)
        }
        Entry::Unknown(other) => {
            let kind = Line(&other.session_update);
            writeln!(out, "\nan update of an unknown kind: {kind}")
        }
        _ => Ok(()),
    }
}

fn who(message: &Message) -> &'static str {
    match message.kind {
        MessageKind::User => "user",
        MessageKind::Agent => "agent",
        MessageKind::Thought => "thought",
    }
}

fn write_blocks(out: &mut impl Write, blocks: &[v2::ContentBlock]) -> io::Result<()> {
    let mut blocks = blocks.iter().map(content::block);
    blocks.try_for_each(|piece| write_piece(out, &piece))
}

fn write_piece(out: &mut impl Write, piece: &Piece<'_>) -> io::Result<()> {
    match piece {
        Piece::Text(text) => write_lines(out, text, INDENT),
        Piece::Note(note) => writeln!(out, "{:INDENT$}{}", "", Line(note)),
        Piece::Verbatim {
            caption,
            language,
            text,
        } => {
            if let Some(caption) = caption {
                writeln!(out, "{:INDENT$}{}", "", Line(caption))?;
            }
            // Notes about the files stand above a diff.
            match caption.is_some() || *language == "diff" {
                true => write_lines(out, text, 2 * INDENT),
                false => write_lines(out, text, INDENT),
            }
        }
    }
}

fn write_lines(out: &mut impl Write, text: &str, indent: usize) -> io::Result<()> {
    for line in text::lines(text) {
        match line.is_empty() {
            true => writeln!(out)?,
            false => writeln!(out, "{:indent$}{line}", "")?,
        }
    }
    Ok(())
}
