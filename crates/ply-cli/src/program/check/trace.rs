//! `ply check trace`: a recording is judged, and nothing is started.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;

use ply_check::passive::{self, Recorded};
use ply_check::report::Run;
use ply_check::trace::{self, Reader};
use ply_check::{Report, Rule, Selection, Side};
use ply_client::Version;

use super::arguments::{Sides, Trace};
use super::place::Place;
use super::report;
use crate::program::error::Error;
use crate::program::output;

/// Judges a recording.
pub(crate) fn run(arguments: &Trace) -> Result<ExitCode, Error> {
    let selection = Selection {
        only: arguments.run.only.clone(),
        skip: arguments.run.skip.clone(),
    };
    let rules: Vec<Rule> = passive::rules().collect();
    report::check_words(&selection, &rules)?;
    let baseline = report::trace_baseline(&arguments.run)?;
    let mut place = Place::open(&arguments.run)?;
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
    let runs: Vec<_> = runs.collect();
    if runs.is_empty() {
        return Err(report::nothing_left(&[version]));
    }
    let side = sides.first().copied().unwrap_or(Side::Agent);
    let file = report::words(&[arguments.trace.clone().into_os_string()]);
    let mut checked = Report::new(side, report::words(&command), None, runs).of_trace(file);
    checked.trace_file =
        (arguments.trace != Path::new("-")).then(|| arguments.trace.to_string_lossy().into_owned());
    checked.baseline = baseline;
    checked.options = report::words(&report::version(&arguments.run));
    place.write(&checked)
}

/// Reads a recording, and returns the command of its agent with it.
fn read(input: impl BufRead, path: &Path) -> Result<(Vec<OsString>, Recorded), Error> {
    let failed = |error| unreadable(path, &error);
    let mut reader = Reader::new(input).map_err(failed)?;
    let recorded = Recorded::read(reader.by_ref()).map_err(failed)?;
    let name = ply_client::text::path(path);
    let Some(header) = reader.header() else {
        return Err(Error::Check(format!(
            "{name} is no recording of `ply trace`; `ply trace -o FILE -- COMMAND` makes one"
        )));
    };
    if header.version != trace::VERSION {
        let version = header.version;
        let what = format!("{name} has version {version} of the format, which is not known here");
        return Err(Error::Check(what));
    }
    let missing = missing(reader.foreign(), reader.is_torn(), recorded.lost);
    if recorded.frames == 0 {
        let missing = missing.map_or(String::new(), |missing| format!("; {missing}"));
        let what = format!("{name} has no messages, so there is nothing to check{missing}");
        return Err(Error::Check(what));
    }
    if let Some(missing) = missing {
        output::tell(&format!("note: {name} is not whole: {missing}"));
    }
    let command = header.command.iter().map(OsString::from);
    Ok((command.collect(), recorded))
}

/// Says what a recording does not have, if anything.
fn missing(foreign: u64, is_torn: bool, lost: u64) -> Option<String> {
    let mut missing = Vec::new();
    match foreign {
        0 => {}
        1 => missing.push("1 line is no entry and was left out".to_owned()),
        lines => missing.push(format!("{lines} lines are no entries and were left out")),
    }
    if is_torn {
        missing.push("the last line is cut off".to_owned());
    }
    if lost > 0 {
        missing.push(format!("{lost} entries were lost while it was recorded"));
    }
    (!missing.is_empty()).then(|| missing.join(", "))
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
