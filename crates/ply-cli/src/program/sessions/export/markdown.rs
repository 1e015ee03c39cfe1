//! A session as a document.
//!
//! Messages are quoted and everything else is fenced, so that nothing in them can change what comes
//! after: no open fence, no heading that looks like another turn.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use ply_agent::transcript::{Entry, MessageKind, Transcript};
use ply_agent::v2;

use super::super::content::{self, Piece};
use crate::program::time;
use ply_client::text::{self, Line};

/// What stands above a session.
#[derive(Debug)]
pub(in crate::program) struct Heading<'a> {
    pub(in crate::program) title: Option<&'a str>,
    pub(in crate::program) id: &'a str,
    pub(in crate::program) cwd: &'a Path,
    /// When it was made and last used, in milliseconds since 1970.
    pub(in crate::program) times: Option<(i64, i64)>,
    /// Records that cannot be read.
    pub(in crate::program) damaged: u64,
}

/// Writes a session; `is_refused` says of an entry's place whether its turn was refused.
pub(in crate::program) fn write(
    out: &mut impl Write,
    heading: &Heading<'_>,
    transcript: &Transcript,
    is_refused: &dyn Fn(usize) -> bool,
) -> io::Result<()> {
    writeln!(out, "# {}\n", plain(heading.title.unwrap_or("Session")))?;
    writeln!(out, "- Session: {}", code(heading.id))?;
    writeln!(out, "- Directory: {}", code(&text::path(heading.cwd)))?;
    if let Some(model) = content::model(transcript.config_options()) {
        writeln!(out, "- Model: {}", code(&model))?;
    }
    if let Some((created, updated)) = heading.times {
        writeln!(out, "- Created: {}", time::rfc3339(created))?;
        writeln!(out, "- Updated: {}", time::rfc3339(updated))?;
    }
    if heading.damaged > 0 {
        let damaged = heading.damaged;
        writeln!(out, "- Records that cannot be read: {damaged}")?;
    }
    let cx = Context {
        transcript,
        referred: content::referred_terminals(transcript),
    };
    let mut turns = 0;
    let mut after_user = false;
    for (place, entry) in transcript.entries().enumerate() {
        let is_user = matches!(entry, Entry::Message(message) if message.kind == MessageKind::User);
        if is_user && !after_user {
            turns += 1;
            let mark = match is_refused(place) {
                true => " (refused)",
                false => "",
            };
            writeln!(out, "\n## Turn {turns}{mark}")?;
        } else if turns == 0 && place == 0 {
            writeln!(out, "\n## Before the first turn")?;
        }
        after_user = is_user;
        cx.write_entry(out, entry)?;
    }
    if let Some(ending) = content::ending(transcript) {
        writeln!(out, "\n---\n\n{}", plain(&ending))?;
    }
    if let Some(usage) = transcript.usage() {
        writeln!(out, "\n{}", plain(&content::usage(usage)))?;
    }
    Ok(())
}

/// What it takes to write an entry.
struct Context<'a> {
    transcript: &'a Transcript,
    /// Terminals that are shown with a tool call.
    referred: HashSet<&'a v2::TerminalId>,
}

impl Context<'_> {
    fn write_entry(&self, out: &mut impl Write, entry: &Entry) -> io::Result<()> {
        match entry {
            Entry::Message(message) => {
                let who = match message.kind {
                    MessageKind::User => "User",
                    MessageKind::Agent => "Agent",
                    MessageKind::Thought => "Thought",
                };
                writeln!(out, "\n### {who}")?;
                write_blocks(out, &message.content)
            }
            Entry::ToolCall(call) => {
                writeln!(out, "\n### Tool call: {}", plain(&call.shown_title()))?;
                let (kind, status) = (content::name(&call.kind), content::name(&call.status));
                writeln!(out, "\n{}, {}", plain(&kind), plain(&status))?;
                let pieces = content::tool_call(call, self.transcript);
                pieces.iter().try_for_each(|piece| write_piece(out, piece))
            }
            // Shown with the tool calls that refer to it.
            Entry::Terminal(terminal) if self.referred.contains(&terminal.id) => Ok(()),
            Entry::Terminal(terminal) => {
                writeln!(out, "\n### Terminal")?;
                write_piece(out, &content::terminal(terminal))
            }
            Entry::Plan(plan) => {
                writeln!(out, "\n### Plan\n")?;
                for (mark, step) in content::plan(&plan.content) {
                    // Boxes of lists know two states.
                    let (mark, note) = match mark {
                        'x' => ('x', ""),
                        '>' => (' ', " (in progress)"),
                        '-' => (' ', " (cancelled)"),
                        _ => (' ', ""),
                    };
                    writeln!(out, "- [{mark}] {}{note}", plain(step))?;
                }
                Ok(())
            }
            Entry::Compaction(compaction) => {
                writeln!(out, "\n### Compaction")?;
                writeln!(out, "\n{}", plain(&content::compaction(compaction)))?;
                write_blocks(out, &compaction.summary)
            }
            Entry::Unknown(other) => {
                let kind = code(&other.session_update);
                writeln!(out, "\n### Update of an unknown kind: {kind}")
            }
            _ => Ok(()),
        }
    }
}

fn write_blocks(out: &mut impl Write, blocks: &[v2::ContentBlock]) -> io::Result<()> {
    let mut blocks = blocks.iter().map(content::block);
    blocks.try_for_each(|piece| write_piece(out, &piece))
}

fn write_piece(out: &mut impl Write, piece: &Piece<'_>) -> io::Result<()> {
    match piece {
        Piece::Text(text) => write_quote(out, text),
        Piece::Note(note) => writeln!(out, "\n*{}*", plain(note)),
        Piece::Verbatim {
            caption,
            language,
            text,
        } => {
            if let Some(caption) = caption {
                writeln!(out, "\n{}", code(caption))?;
            }
            write_fenced(out, language, text)
        }
    }
}

fn write_quote(out: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(out)?;
    for line in text::lines(text) {
        match line.is_empty() {
            true => writeln!(out, ">")?,
            false => writeln!(out, "> {line}")?,
        }
    }
    Ok(())
}

fn write_fenced(out: &mut impl Write, language: &str, text: &str) -> io::Result<()> {
    let fence = "`".repeat((longest_ticks(text) + 1).max(3));
    writeln!(out, "\n{fence}{language}")?;
    for line in text::lines(text) {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{fence}")
}

/// Returns the length of the longest row of backticks.
fn longest_ticks(text: &str) -> usize {
    let rows = text.split(|char| char != '`').map(str::len);
    rows.max().unwrap_or(0)
}

/// Returns text on one line that means nothing but itself in Markdown.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    // Line ends become spaces: headings are one line.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for char in Line(&text).to_string().chars() {
        if matches!(
            char,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '&' | '|' | '~'
        ) {
            shown.push('\\');
        }
        shown.push(char);
    }
    shown
}

/// Returns text on one line as code.
fn code(text: &str) -> String {
    let text = Line(text).to_string();
    let ticks = "`".repeat(longest_ticks(&text) + 1);
    // Blanks keep ticks at the ends apart; a reader takes them off again.
    match text.starts_with('`') || text.ends_with('`') || text.is_empty() {
        true => format!("{ticks} {text} {ticks}"),
        false => format!("{ticks}{text}{ticks}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        let fenced = |text: &str| written(|out| write_fenced(out, "text", text));
        assert_eq!(fenced("a"), "\n```text\na\n```\n");
        assert_eq!(fenced("```\n````x"), "\n`````text\n```\n````x\n`````\n");
    }

    #[test]
    fn an_open_fence_in_a_message_ends_with_the_quote() {
        let quote = written(|out| write_quote(out, "```rust\n\n# Turn 9"));
        assert_eq!(quote, "\n> ```rust\n>\n> # Turn 9\n");
    }

    #[test]
    fn a_title_means_nothing_but_itself() {
        assert_eq!(
            plain("*a*\n# b <script>\x1b[2J"),
            "\\*a\\* \\# b \\<script\\>\\\\u{1b}\\[2J"
        );
        assert_eq!(code("a `b` c"), "``a `b` c``");
        assert_eq!(code("`"), "`` ` ``");
    }
}
