//! What goes on, on a line of standard error that is wiped away again. Only on a terminal.

use std::time::Duration;

use ply_client::text::{self, Line};
use tokio::time::Instant;

use super::paint::Look;
use super::streams::Streams;
use crate::program::output;

/// What takes less is not worth a word.
const PATIENCE: Duration = Duration::from_secs(1);
/// Goes to the beginning of the line and wipes it.
const WIPE: &str = "\r\x1b[K";

/// A line that says what is waited for, and how long already.
#[derive(Debug)]
pub(super) struct Progress {
    streams: Streams,
    is_on: bool,
    is_shown: bool,
    what: String,
    since: Instant,
}

impl Progress {
    pub(super) fn new(streams: Streams, is_quiet: bool) -> Self {
        Self {
            streams,
            is_on: !is_quiet && streams.error_columns.is_some(),
            is_shown: false,
            what: String::new(),
            since: Instant::now(),
        }
    }

    /// Begins to wait for something else.
    pub(super) fn begin(&mut self, what: &str) {
        self.clear();
        self.what = Line(what).to_string();
        self.since = Instant::now();
    }

    /// Notes that something was heard, so that the wait begins again.
    pub(super) fn heard(&mut self) {
        self.clear();
        self.since = Instant::now();
    }

    /// Shows how long it takes, once it is worth a word.
    pub(super) fn tick(&mut self) {
        let waited = self.since.elapsed();
        let Some(columns) = self.streams.error_columns.filter(|_| self.is_on) else {
            return;
        };
        if waited < PATIENCE || self.what.is_empty() {
            return;
        }
        let line = format!("{} … {} s", self.what, waited.as_secs());
        let line = text::beginning(&line, columns.saturating_sub(1)).into_owned();
        let line = self.streams.error_paint.paint(Look::Dim, &line);
        output::tell_part(&format!("{WIPE}{line}"));
        self.is_shown = true;
    }

    /// Wipes the line away.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            output::tell_part(WIPE);
        }
    }
}
