//! `ply trace view`: a recording to read.
//!
//! The file is read once, line by line; what is kept of it is bounded, so that size does not matter.

mod fold;
mod row;
mod summary;
mod tally;
mod told;

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal as _, Write};
use std::path::Path;
use std::process::ExitCode;

use ply_check::Level;
use ply_check::passive::{Finding, Passive};
use ply_check::trace::{Entry, Event, Reader};

use self::fold::Fold;
use self::row::{Kind, Row};
use self::tally::Tally;
use super::arguments::View;
use crate::program::error::Error;
use crate::program::output;

/// Columns of what is not a terminal.
const COLUMNS: usize = 120;

/// Leaves out what no text forbids.
fn broken(findings: Vec<Finding>) -> Vec<Finding> {
    let mut told: Vec<Finding> = Vec::new();
    for finding in findings {
        let is_same = |other: &Finding| {
            (other.side, &other.frames, &other.what)
                == (finding.side, &finding.frames, &finding.what)
        };
        // One observation may be about two rules; a reader needs it once.
        if finding.level != Level::Unspecified && !told.iter().any(is_same) {
            told.push(finding);
        }
    }
    told
}

/// Shows a recording.
pub(super) fn run(view: View) -> Result<ExitCode, Error> {
    let style = Style {
        columns: output::stdout_columns().unwrap_or(COLUMNS),
        has_colour: io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    };
    let mut out = output::stdout();
    let shown = match view.file == Path::new("-") {
        true => show(io::stdin().lock(), &view, style, &mut out),
        false => {
            let file = File::open(&view.file).map_err(Error::Input);
            file.and_then(|file| show(BufReader::new(file), &view, style, &mut out))
        }
    };
    let is_trace = match shown {
        Ok(is_trace) => is_trace,
        Err(Error::Input(error)) => {
            let path = ply_client::text::path(&view.file);
            output::tell(&format!("error: {path} cannot be read: {error}"));
            output::tell("  hint: `ply trace -o FILE -- COMMAND` records to a file");
            return Ok(ExitCode::from(crate::program::error::FAILED));
        }
        Err(error) => return Err(error),
    };
    out.flush().map_err(Error::Output)?;
    if !is_trace {
        let path = ply_client::text::path(&view.file);
        output::tell(&format!("error: {path} is no recording of `ply trace`"));
        output::tell("  hint: `ply trace -o FILE -- COMMAND` makes one");
        return Ok(ExitCode::from(crate::program::error::FAILED));
    }
    Ok(ExitCode::SUCCESS)
}

/// How it is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    columns: usize,
    has_colour: bool,
}

/// Writes everything and returns whether the input is a recording at all.
fn show(
    input: impl BufRead,
    view: &View,
    style: Style,
    out: &mut impl Write,
) -> Result<bool, Error> {
    let mut reader = Reader::new(input).map_err(Error::Input)?;
    if !view.json
        && let Some(header) = reader.header()
    {
        row::header(out, header).map_err(Error::Output)?;
    }
    let mut screen = Screen {
        view,
        style,
        out,
        fold: Fold::default(),
    };
    let mut tally = Tally::default();
    let mut passive = Passive::new();
    let mut has_entries = false;
    for entry in reader.by_ref() {
        let entry = entry.map_err(Error::Input)?;
        has_entries = true;
        passive.observe(&entry);
        let row = tally.take(&entry, passive.frames());
        screen.row(row, &entry).map_err(Error::Output)?;
    }
    screen.flush().map_err(Error::Output)?;
    if reader.header().is_none() && !has_entries {
        return Ok(false);
    }
    let version = passive.version();
    let told = told::Told {
        version,
        findings: broken(passive.finish().findings),
        foreign: reader.foreign(),
        is_torn: reader.is_torn(),
        tally,
    };
    let written = match view.json {
        true => told.json(out),
        false => told.text(out, style),
    };
    written.map_err(Error::Output)?;
    Ok(true)
}

struct Screen<'a, W> {
    view: &'a View,
    style: Style,
    out: &'a mut W,
    fold: Fold,
}

impl<W: Write> Screen<'_, W> {
    fn row(&mut self, row: Row, entry: &Entry) -> io::Result<()> {
        if !self.is_wanted(&row) {
            return Ok(());
        }
        if self.view.full {
            return self.write(&row, Some(entry));
        }
        for row in self.fold.push(row) {
            self.write(&row, None)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.fold.finish() {
            Some(row) => self.write(&row, None),
            None => Ok(()),
        }
    }

    fn is_wanted(&self, row: &Row) -> bool {
        let view = self.view;
        let is_in = |wanted: &Option<String>, is: &Option<String>| wanted.is_none() || wanted == is;
        let is_late = view.from.is_none_or(|from| row.t >= from);
        let is_early = view.to.is_none_or(|to| row.t <= to);
        is_in(&view.session, &row.session)
            && is_in(&view.method, &row.method)
            && is_late
            && is_early
    }

    fn write(&mut self, row: &Row, entry: Option<&Entry>) -> io::Result<()> {
        let frame = entry.and_then(|entry| match &entry.event {
            Event::Frame { frame, .. } => Some(&**frame),
            _ => None,
        });
        match self.view.json {
            true => row.json(self.out, frame),
            false => row.text(self.out, frame, self.style),
        }
    }
}

/// Returns whether a row may be one of several that say one thing.
fn is_chunk(row: &Row) -> bool {
    row.kind == Kind::Notification
        && row
            .update
            .as_deref()
            .is_some_and(|it| it.ends_with("_chunk"))
}
