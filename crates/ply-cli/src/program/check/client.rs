//! `ply check client`: Ply is the agent.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use ply_check::client::{self, Subject};
use ply_check::report::Run;
use ply_check::{Report, Selection, Side};
use ply_client::Version;
use ply_rpc::transport::stdio;

use super::arguments::{Client, Serve};
use super::place::Place;
use super::record::Records;
use super::report::{self, Progress};
use super::{exit_code, stopped};
use crate::program::error::Error;
use crate::program::run::signals::Signals;

/// Checks a client.
pub(crate) async fn run(arguments: Client) -> Result<ExitCode, Error> {
    let selection = Selection {
        only: arguments.run.only.clone(),
        skip: arguments.run.skip.clone(),
    };
    let all = |version| client::rules(version).collect::<Vec<_>>();
    let rules = [all(Version::V1), all(Version::V2)].concat();
    report::check_words(&selection, &rules)?;
    let baseline = report::baseline(&arguments.run, Side::Client)?;
    let scratch = report::Scratch::new()?;
    let program = std::env::current_exe().map_err(Error::Start)?;
    let serve = ["check", "serve"].map(OsString::from);
    let serve = std::iter::once(program.into_os_string()).chain(serve);
    let command = report::located(&arguments.command)?;
    let mut subject = Subject::new(command, serve.collect(), scratch.path().to_owned());
    subject.patience = arguments.patience;
    if !arguments.keep_home {
        subject.env = scratch.home()?;
    }
    if !subject.names_the_agent() {
        let what = "the command does not say where the agent goes; put {agent} in its place";
        return Err(Error::Check(what.to_owned()));
    }
    let versions = match arguments.run.version {
        Some(1) => vec![Version::V1],
        Some(_) => vec![Version::V2],
        None => vec![Version::V1, Version::V2],
    };
    report::check_rest(&selection, &rules, &versions)?;
    let mut place = Place::open(&arguments.run)?;
    let records = Records::open(arguments.record.as_deref(), &subject.command)?;
    let mut signals = Signals::listen().map_err(Error::Start)?;
    let mut heard = None;
    let mut runs = Vec::new();
    let mut progress = Progress::new();
    for version in versions {
        let wanted = rules.iter().filter(|rule| rule.version() == version);
        if !wanted.clone().any(|rule| selection.takes(rule)) {
            continue;
        }
        let began = report::now();
        let stop = stopped(&mut signals, &mut heard);
        let show = |scene| progress.show(scene);
        let findings = client::check_until(&subject, version, &selection, show, stop).await;
        runs.push(records.save(Run::new(version, findings, began.elapsed()))?);
        if heard.is_some() {
            break;
        }
    }
    drop(progress);
    let words = report::words(&arguments.command);
    let mut checked = Report::new(Side::Client, words, None, runs);
    checked.baseline = baseline;
    let mut options = report::version(&arguments.run);
    options.extend(arguments.keep_home.then(|| "--keep-home".into()));
    options.extend(report::patience("--patience", arguments.patience, 30));
    checked.options = report::words(&options);
    place.write(&checked).map(|found| exit_code(heard, found))
}

/// Plays one scene.
pub(crate) async fn serve(arguments: &Serve) -> Result<ExitCode, Error> {
    let version = match arguments.version {
        1 => Version::V1,
        _ => Version::V2,
    };
    let (input, output) = stdio::take().map_err(Error::Start)?;
    let served = client::serve(&arguments.scene, version, &arguments.out, input, output).await;
    served.map_err(|error| Error::Serve(error.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

/// Plays the scenes that a person names, until the client closes its end.
pub(crate) async fn serve_person(arguments: Client) -> Result<ExitCode, Error> {
    let mut place = Place::open(&arguments.run)?;
    let (input, output) = stdio::take().map_err(Error::Start)?;
    let began = report::now();
    let tell = |version, findings| {
        let run = Run::new(version, findings, began.elapsed());
        let subject = "the client of `ply check client --serve`";
        let mut checked = Report::new(Side::Client, subject, None, vec![run]);
        checked.again = Some("ply check client --serve -o FILE".to_owned());
        place.write(&checked).map(drop).map_err(io::Error::other)
    };
    let served = client::serve_interactive(input, output, tell).await;
    served.map_err(|error| Error::Serve(error.to_string()))?;
    Ok(ExitCode::SUCCESS)
}
