//! What standard output shows: while it happens, and at the end.

use std::io::Write as _;
use std::time::Duration;

use ply_agent::transcript::Transcript;
use ply_client::{Event, Session, text, v2};
use serde_json::json;
use tokio::time::Instant;

use super::arguments::Format;
use super::ending::Conclusion;
use super::events::Events;
use super::out::Out;
use super::paint::Look;
use super::permit::Answered;
use super::report::Report;
use super::request::Request;
use super::streams::Streams;
use super::text::{Manner, Text};
use crate::program::json;
use crate::program::sessions::export::markdown::{self, Heading};

/// How long a call runs before it is shown as running: sooner where somebody watches.
const WATCHED: Duration = Duration::from_millis(400);
/// The same where nobody does, long enough that most calls are one line.
const UNWATCHED: Duration = Duration::from_secs(5);

/// What standard output shows.
#[derive(Debug)]
pub(super) struct View {
    format: Format,
    streams: Streams,
    text: Option<Text>,
    events: Events,
}

impl View {
    pub(super) fn new(format: Format, streams: Streams) -> Self {
        Self {
            format,
            streams,
            text: None,
            events: Events::default(),
        }
    }

    /// Shows that a session is open.
    pub(super) fn opened(&mut self, request: &Request, report: &Report, out: &mut Out) {
        match self.format {
            Format::Text => {
                let watched = self.streams.out_columns.is_some();
                let manner = Manner {
                    paint: self.streams.out_paint,
                    width: self.streams.out_columns,
                    patience: if watched { WATCHED } else { UNWATCHED },
                };
                self.text = Some(Text::new(manner, &request.cwd));
            }
            Format::Events => {
                let about = json!({
                    "agent": report.agent,
                    "protocolVersion": report.protocol_version,
                    "sessionId": report.session_id,
                    "model": report.model,
                    "cwd": request.cwd,
                });
                out.push(&self.events.line("opened", about));
            }
            _ => {}
        }
    }

    /// Shows an event.
    pub(super) fn event(&mut self, event: &Event, session: &Session, out: &mut Out) {
        match self.format {
            Format::Text => {
                if let Some(text) = &mut self.text {
                    let now = Instant::now();
                    session.with_transcript(|transcript| text.event(event, transcript, now));
                    out.push(text.take().as_bytes());
                }
            }
            Format::Events => {
                let line = match event {
                    Event::Permission(ask) => {
                        let request = json!({ "request": ask.request() });
                        self.events.line("permission", request)
                    }
                    Event::Elicitation(ask) => {
                        let request = json!({ "request": ask.request() });
                        self.events.line("elicitation", request)
                    }
                    Event::Quiet { for_s } => {
                        self.events.line("quiet", json!({ "forSeconds": for_s }))
                    }
                    Event::CancelOverdue => self.events.line("cancel_overdue", json!({})),
                    Event::Lagged { events } => {
                        self.events.line("lagged", json!({ "events": events }))
                    }
                    event => match event.to_update() {
                        Some(update) => {
                            let update = json!({ "update": update });
                            self.events.line("update", update)
                        }
                        None => return,
                    },
                };
                out.push(&line);
            }
            _ => {}
        }
    }

    /// Shows what a permission request was answered with.
    pub(super) fn answered(&mut self, answered: &Answered, out: &mut Out) {
        if self.format == Format::Events {
            let line = self
                .events
                .line("permission_answered", json!({ "answered": answered }));
            out.push(&line);
        }
    }

    /// Shows what has changed by time alone.
    pub(super) fn tick(&mut self, out: &mut Out) {
        if let Some(text) = &mut self.text {
            text.tick(Instant::now());
            out.push(text.take().as_bytes());
        }
    }

    /// Ends what stands open, so that others can say something; returns whether there was anything.
    pub(super) fn break_line(&mut self, out: &mut Out) -> bool {
        let Some(text) = &mut self.text else {
            return false;
        };
        text.break_line();
        let rest = text.take();
        out.push(rest.as_bytes());
        !rest.is_empty()
    }

    /// Whether the notices of an agent are in what is shown.
    pub(super) fn has_notices(&self) -> bool {
        matches!(self.format, Format::Text | Format::Events | Format::Acp)
    }

    /// Whether a line stands open on the terminal that others write on too.
    pub(super) fn is_mid_line(&self) -> bool {
        let is_shared = self.streams.out_columns.is_some();
        is_shared && self.text.as_ref().is_some_and(Text::is_mid_line)
    }

    /// Shows how it ended.
    pub(super) fn end(
        &mut self,
        conclusion: &Conclusion,
        report: &Report,
        request: Option<&Request>,
        session: Option<&Session>,
        out: &mut Out,
    ) {
        let nothing = Transcript::new();
        let mut show = |transcript: &Transcript| {
            let cwd = request.map(|request| request.cwd.as_path());
            let mut bytes = Vec::new();
            // Writing to memory does not fail; a value that cannot be written leaves what was before it.
            let written = match self.format {
                Format::Acp => Ok(()),
                Format::Json => {
                    json::write(&mut bytes, &report.document(conclusion, transcript, cwd))
                }
                Format::Events => {
                    let result = report.document(conclusion, transcript, cwd);
                    let line = self.events.line("end", json!({ "result": result }));
                    bytes.write_all(&line)
                }
                Format::Final => final_message(&mut bytes, report, transcript, self.streams),
                Format::Md => match (session, report.session_id.as_deref()) {
                    (Some(_), Some(id)) => {
                        let heading = Heading {
                            title: transcript.info().title.as_deref(),
                            id,
                            cwd: cwd.unwrap_or(std::path::Path::new("")),
                            times: None,
                            damaged: 0,
                        };
                        markdown::write(&mut bytes, &heading, transcript, &|_| false)
                    }
                    _ => Ok(()),
                },
                Format::Text => {
                    if let Some(text) = &mut self.text {
                        text.finish(transcript);
                        let look = if conclusion.is_good() {
                            Look::Dim
                        } else {
                            Look::Bad
                        };
                        text.last_line(&last_line(conclusion, report, transcript), look);
                        bytes.extend_from_slice(text.take().as_bytes());
                    }
                    Ok(())
                }
            };
            drop(written);
            out.push(&bytes);
        };
        match session {
            Some(session) => session.with_transcript(show),
            None => show(&nothing),
        }
    }
}

/// Writes the last message: as it is for a pipe, harmless for a terminal.
fn final_message(
    bytes: &mut Vec<u8>,
    report: &Report,
    transcript: &Transcript,
    streams: Streams,
) -> std::io::Result<()> {
    let message = report.text(transcript);
    match streams.out_columns {
        None if message.is_empty() || message.ends_with('\n') => write!(bytes, "{message}"),
        None => writeln!(bytes, "{message}"),
        Some(_) => text::lines(&message).try_for_each(|line| writeln!(bytes, "{line}")),
    }
}

/// Returns the line that says how it ended.
fn last_line(conclusion: &Conclusion, report: &Report, transcript: &Transcript) -> String {
    let mut parts = vec![match conclusion.stop_reason.as_deref() {
        // The same in other words.
        Some("end_turn") if conclusion.outcome == "completed" => "completed".to_owned(),
        Some(reason) if reason != conclusion.outcome => {
            format!("{} ({})", conclusion.outcome, text::Line(reason))
        }
        _ => conclusion.outcome.to_owned(),
    }];
    let seconds = Duration::from_millis(conclusion.duration_ms).as_secs_f64();
    parts.push(match seconds {
        0.0..60.0 => format!("{seconds:.1} s"),
        _ => format!(
            "{} min {} s",
            conclusion.duration_ms / 60_000,
            seconds as u64 % 60
        ),
    });
    parts.extend(
        report
            .model
            .as_deref()
            .map(|model| text::Line(model).to_string()),
    );
    let count = |number: usize, one: &str, many: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{number} {many}")),
    };
    parts.extend(count(
        report.calls_count(transcript),
        "tool call",
        "tool calls",
    ));
    let changed = report.changed(transcript).len();
    parts.extend(count(changed, "file changed", "files changed"));
    let refused = report
        .permissions
        .iter()
        .filter(|it| !it.is_allowed())
        .count();
    parts.extend(count(refused, "permission refused", "permissions refused"));
    if let Some(usage) = transcript.usage() {
        parts.push(match usage.size {
            0 => format!("{} tokens", thousands(usage.used)),
            size => format!("{} of {} tokens", thousands(usage.used), thousands(size)),
        });
        let ours = usage.meta.as_ref().and_then(|meta| meta.get("ply"));
        let cached = ours.and_then(|ours| ours.get("cachedTokens")?.as_u64());
        parts.extend(cached.map(|cached| format!("{} cached", thousands(cached))));
        let of_turn = ours.and_then(|ours| ours.get("turnCost")?.get("amount")?.as_f64());
        parts.extend(usage.cost.as_ref().map(|cost| cost_of(cost, of_turn)));
    }
    format!("— {}", parts.join(" · "))
}

/// Returns what the session cost, and what the turn did, if that is less.
fn cost_of(cost: &v2::Cost, of_turn: Option<f64>) -> String {
    let currency = text::Line(&cost.currency);
    let (of_turn, all) = (of_turn.map(amount), amount(cost.amount));
    match of_turn.filter(|of_turn| *of_turn != all) {
        Some(of_turn) => format!("{of_turn} {currency} ({all} in this session)"),
        None => format!("{all} {currency}"),
    }
}

/// Returns an amount of money with as many digits as say something.
fn amount(amount: f64) -> String {
    match amount {
        0.0..0.01 if amount > 0.0 => format!("{amount:.4}"),
        _ => format!("{amount:.2}"),
    }
}

/// Returns a number of tokens as it is easiest to read.
fn thousands(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..100_000 => format!("{}.{}k", tokens / 1_000, tokens % 1_000 / 100),
        100_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_turn_is_told_beside_that_of_its_session() {
        let told = |all: f64, of_turn| cost_of(&v2::Cost::new(all, "USD"), of_turn);
        assert_eq!(told(0.5, None), "0.50 USD");
        assert_eq!(told(0.5, Some(0.5)), "0.50 USD");
        assert_eq!(told(0.5, Some(0.002)), "0.0020 USD (0.50 in this session)");
        assert_eq!(told(0.0, Some(0.0)), "0.00 USD");
    }

    #[test]
    fn tokens_are_told_in_few_digits() {
        for (tokens, told) in [
            (0, "0"),
            (999, "999"),
            (1_250, "1.2k"),
            (128_000, "128k"),
            (1_048_576, "1.0M"),
        ] {
            assert_eq!(thousands(tokens), told);
        }
    }
}
