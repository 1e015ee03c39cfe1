//! What becomes of a report, and what is needed to make one.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use ply_check::report::{BadBaseline, Baseline, Detail, Result as Amount, Style};
use ply_check::{Report, Rule, Selection, Side};

use super::arguments::{Form, Run};
use super::{BROKEN, UNCLEAR};
use crate::program::error::Error;
use crate::program::output;

/// Refuses words of `--only` and `--skip` that name no rule.
pub(crate) fn check_words(selection: &Selection, rules: &[Rule]) -> Result<(), Error> {
    match selection.unknown(rules).first() {
        None => Ok(()),
        Some(word) => Err(Error::Check(format!(
            "no rule and no topic is called `{word}`; `ply check rules` lists them"
        ))),
    }
}

/// Reads the baseline of a check of one side, if one is given.
pub(crate) fn baseline(run: &Run, side: Side) -> Result<Baseline, Error> {
    baseline_by(run, |text| Baseline::read(text, side))
}

/// Reads the baseline of a check of a recording, if one is given.
pub(crate) fn trace_baseline(run: &Run) -> Result<Baseline, Error> {
    baseline_by(run, Baseline::read_of_trace)
}

fn baseline_by(
    run: &Run,
    read: impl FnOnce(&[u8]) -> Result<Baseline, BadBaseline>,
) -> Result<Baseline, Error> {
    let Some(path) = &run.baseline else {
        return Ok(Baseline::default());
    };
    let bad = |why: String| {
        let path = ply_client::text::path(path);
        Error::Check(format!("{path} cannot be the baseline: {why}"))
    };
    let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
    read(&text).map_err(|error| bad(error.to_string()))
}

/// Writes a report in the form and to the place that are wanted, and returns the exit code.
pub(crate) fn write(report: &Report, run: &Run) -> Result<ExitCode, Error> {
    let detail = match run.all {
        true => Detail::All,
        false => Detail::Findings,
    };
    let style = match run.file.is_none() && output::has_colours() {
        true => Style::Coloured,
        false => Style::Plain,
    };
    let text = match run.output {
        Form::Text => report.to_text(detail, style),
        Form::Json => format!("{:#}\n", report.to_json()),
        Form::Junit => report.to_junit(),
        Form::Sarif => format!("{:#}\n", report.to_sarif()),
        Form::Html => report.to_html(),
    };
    match &run.file {
        Some(path) => std::fs::write(path, text).map_err(|source| Error::File {
            path: path.clone(),
            source,
        })?,
        None => {
            let mut out = output::stdout();
            let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            written.map_err(Error::Output)?;
        }
    }
    Ok(match report.result() {
        Amount::Kept => ExitCode::SUCCESS,
        Amount::Broken => ExitCode::from(BROKEN),
        Amount::Unclear => ExitCode::from(UNCLEAR),
    })
}

/// Returns the time, to tell how long a run took.
#[expect(
    clippy::disallowed_methods,
    reason = "how long a run took is told to its user"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns a command whose program is found from any directory: checks run in directories of their own.
pub(crate) fn located(command: &[OsString]) -> Result<Vec<OsString>, Error> {
    let mut command = command.to_vec();
    if let Some(program) = command.first_mut() {
        let path = Path::new(program);
        if path.is_relative() && path.components().count() > 1 {
            *program = std::path::absolute(path).map_err(Error::Start)?.into();
        }
    }
    Ok(command)
}

/// Returns words as they can be typed.
pub(crate) fn words(words: &[OsString]) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:,@+%{}".contains(char);
    let words = words.iter().map(|word| {
        let word = word.to_string_lossy();
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.into_owned(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What is being done, on a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    is_shown: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            is_shown: std::io::stderr().is_terminal(),
        }
    }

    /// Shows what is being done in place of what was done before.
    pub(crate) fn show(&mut self, what: &str) {
        if self.is_shown {
            // If it cannot be shown, nobody looks.
            drop(write!(std::io::stderr(), "\r\x1b[K{what}"));
        }
    }

    /// Takes it away.
    pub(crate) fn end(&mut self) {
        self.show("");
    }
}

/// An empty directory that goes with its owner.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Result<Self, Error> {
        let base = std::env::temp_dir();
        let failed = |source| Error::Directory {
            path: base.clone(),
            source,
        };
        let base = base.canonicalize().map_err(failed)?;
        let id = std::process::id();
        for attempt in 0..100 {
            let path = base.join(format!("ply-check-{id}-{attempt}"));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(Error::Directory { path, source }),
            }
        }
        Err(Error::Exists(base))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Whatever an agent left there is of no use; what cannot be removed stays among the temporary files.
        drop(std::fs::remove_dir_all(&self.0));
    }
}
