//! `ply check trace`: a recording is judged, and nothing is started.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;

use ply_check::passive::{self, Recorded};
use ply_check::report::Run;
use ply_check::trace::Reader;
use ply_check::{Report, Rule, Selection, Side};
use ply_client::Version;

use super::arguments::{Sides, Trace};
use super::report;
use crate::program::error::Error;

/// Judges a recording.
pub(crate) fn run(arguments: &Trace) -> Result<ExitCode, Error> {
    let selection = Selection {
        only: arguments.run.only.clone(),
        skip: arguments.run.skip.clone(),
    };
    let rules: Vec<Rule> = passive::rules().collect();
    report::check_words(&selection, &rules)?;
    let baseline = report::trace_baseline(&arguments.run)?;
    let (command, recorded) = match arguments.trace == Path::new("-") {
        true => read(io::stdin().lock(), &arguments.trace)?,
        false => {
            let file = File::open(&arguments.trace);
            let file = file.map_err(|error| unreadable(&arguments.trace, &error))?;
            read(BufReader::new(file), &arguments.trace)?
        }
    };
    let version = version(&recorded, arguments.run.version)?;
    let sides: &[Side] = match arguments.side {
        Sides::Agent => &[Side::Agent],
        Sides::Client => &[Side::Client],
        Sides::Both => &[Side::Agent, Side::Client],
    };
    let runs = sides.iter().map(|side| {
        let findings = recorded.findings(*side, version, &selection);
        Run::new(version, findings, recorded.took).about(*side)
    });
    let runs = runs.filter(|run| run.findings.verdicts().next().is_some());
    let side = sides.first().copied().unwrap_or(Side::Agent);
    let file = report::words(&[arguments.trace.clone().into_os_string()]);
    let mut checked =
        Report::new(side, report::words(&command), None, runs.collect()).of_trace(file);
    checked.baseline = baseline;
    report::write(&checked, &arguments.run)
}

/// Reads a recording, and returns the command of its agent with it.
fn read(input: impl BufRead, path: &Path) -> Result<(Vec<OsString>, Recorded), Error> {
    let failed = |error| unreadable(path, &error);
    let mut reader = Reader::new(input).map_err(failed)?;
    let recorded = Recorded::read(reader.by_ref()).map_err(failed)?;
    match reader.header() {
        Some(header) => {
            let command = header.command.iter().map(OsString::from);
            Ok((command.collect(), recorded))
        }
        None => {
            let path = ply_client::text::path(path);
            Err(Error::Check(format!(
                "{path} is no recording of `ply trace`; `ply trace -o FILE -- COMMAND` makes one"
            )))
        }
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    let path = ply_client::text::path(path);
    Error::Check(format!("{path} cannot be read: {error}"))
}

/// Returns the version that the recording speaks, which is the wanted one if one is wanted.
fn version(recorded: &Recorded, wanted: Option<u8>) -> Result<Version, Error> {
    let spoken = match recorded.version {
        // Without an answer to `initialize` there is what holds before it.
        None => return Ok(version_of(wanted.unwrap_or(1))),
        Some(0 | 1) => 1,
        Some(2) => 2,
        Some(other) => {
            let what = format!("the recording speaks version {other}, which has no rules here");
            return Err(Error::Check(what));
        }
    };
    match wanted {
        Some(wanted) if wanted != spoken => {
            let what = format!("the recording speaks version {spoken}, not {wanted}");
            Err(Error::Check(what))
        }
        _ => Ok(version_of(spoken)),
    }
}

fn version_of(number: u8) -> Version {
    match number {
        1 => Version::V1,
        _ => Version::V2,
    }
}
