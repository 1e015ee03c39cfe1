//! One line of what is shown.

use std::io::{self, Write};

use ply_check::trace::{Direction, Header};
use ply_client::text::{Line, beginning, columns};
use serde::Serialize;
use serde_json::value::RawValue;

use super::Style;
use crate::program::json::Harmless;

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Request,
    Notification,
    Result,
    Error,
    /// JSON that is no message.
    Odd,
    Text,
    Bytes,
    Closed,
    Stderr,
    Lost,
    Exit,
}

/// One thing that happened, to be shown.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    /// The number of the frame, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frame_number: Option<usize>,
    pub(super) t: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dir: Option<Direction>,
    pub(super) kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    /// The kind of update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) update: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    /// How long an answer took, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) took: Option<f64>,
    /// Frames in this row.
    pub(super) count: u64,
    pub(super) bytes: u64,
    /// The time of the last one, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<f64>,
    /// What it says, cut.
    pub(super) text: String,
}

/// Columns of a session's id.
const SESSION_COLUMNS: usize = 16;
/// Columns of text that are shown even where there is no room.
const TEXT_COLUMNS_MIN: usize = 20;

/// Shows what the recording is.
pub(super) fn header(out: &mut impl Write, header: &Header) -> io::Result<()> {
    let command = header.command.join(" ");
    let secrets = match header.redacted {
        true => "secrets taken out",
        false => "with secrets",
    };
    writeln!(
        out,
        "{}  {}  ({secrets})",
        Line(&header.started),
        Line(&command)
    )
}

impl Row {
    /// Writes the row as one line, and the frame under it.
    pub(super) fn text(
        &self,
        out: &mut impl Write,
        frame: Option<&RawValue>,
        style: Style,
    ) -> io::Result<()> {
        let number = self
            .frame_number
            .map(|number| format!("#{number}"))
            .unwrap_or_default();
        let arrow = match self.dir {
            Some(Direction::ToAgent) => "→",
            Some(Direction::ToClient) => "←",
            None => "·",
        };
        let mut line = format!("{number:>6} {:>10.3} {arrow} {}", self.t, self.what());
        if let Some(session) = &self.session {
            let session = Line(session).to_string();
            line.push_str(&format!(" [{}]", beginning(&session, SESSION_COLUMNS)));
        }
        if self.count > 1 {
            let seconds = self.until.unwrap_or(self.t) - self.t;
            line.push_str(&format!(
                " ×{} {} bytes in {seconds:.3} s",
                self.count, self.bytes
            ));
        }
        if let Some(took) = self.took {
            line.push_str(&format!(" {took:.3} s"));
        }
        let left = style
            .columns
            .saturating_sub(columns(&line) + 2)
            .max(TEXT_COLUMNS_MIN);
        let text = Line(&self.text).to_string();
        if !text.is_empty() {
            line.push_str(&format!("  {}", beginning(&text, left)));
        }
        let is_bad = matches!(
            self.kind,
            Kind::Error | Kind::Odd | Kind::Text | Kind::Bytes | Kind::Lost
        );
        match style.has_colour && is_bad {
            true => writeln!(out, "\x1b[31m{line}\x1b[0m")?,
            false => writeln!(out, "{line}")?,
        }
        if let Some(frame) = frame {
            writeln!(out, "       {}", Line(frame.get().trim()))?;
        }
        Ok(())
    }

    fn what(&self) -> String {
        let id = self.id.as_deref().unwrap_or_default();
        let method = self.method.as_deref().unwrap_or("?");
        let what = match self.kind {
            Kind::Request => format!("{id} {method}"),
            Kind::Notification => match &self.update {
                Some(update) => update.clone(),
                None => method.to_owned(),
            },
            Kind::Result => format!("{id} {method} ok"),
            Kind::Error => format!("{id} {method} error"),
            Kind::Odd => "no message".to_owned(),
            Kind::Text => "no JSON".to_owned(),
            Kind::Bytes => "no UTF-8".to_owned(),
            Kind::Closed => "closed".to_owned(),
            Kind::Stderr => "stderr".to_owned(),
            Kind::Lost => "lost".to_owned(),
            Kind::Exit => "exit".to_owned(),
        };
        Line(&what).to_string()
    }

    /// Writes the row as JSON.
    pub(super) fn json(&self, out: &mut impl Write, frame: Option<&RawValue>) -> io::Result<()> {
        #[derive(Serialize)]
        struct Full<'a> {
            #[serde(flatten)]
            row: &'a Row,
            #[serde(skip_serializing_if = "Option::is_none")]
            frame: Option<serde_json::Value>,
        }
        // Members of a frame may move here, where it is shown; the recording has them as they were.
        let frame = frame.and_then(|frame| serde_json::from_str(frame.get()).ok());
        serde_json::to_writer(Harmless(&mut *out), &Full { row: self, frame })?;
        out.write_all(b"\n")
    }
}
