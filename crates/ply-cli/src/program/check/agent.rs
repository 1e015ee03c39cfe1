//! `ply check agent`: Ply is the client.

use std::ffi::OsString;
use std::process::ExitCode;

use ply_check::agent::{self, Prompts, Subject};
use ply_check::model::Model;
use ply_check::peer::Stopped;
use ply_check::report::Run;
use ply_check::{Findings, Report, Selection, Side};
use ply_client::Version;
use ply_client::text::Line;

use super::arguments::Agent;
use super::place::Place;
use super::record::Records;
use super::report::{self, Progress};
use super::{exit_code, stopped};
use crate::program::error::Error;
use crate::program::output;
use crate::program::roster::{Choice, Roster};
use crate::program::run::signals::Signals;

/// Checks an agent.
pub(crate) async fn run(arguments: Agent) -> Result<ExitCode, Error> {
    let selection = Selection {
        only: arguments.run.only.clone(),
        skip: arguments.run.skip.clone(),
    };
    let all = |version| agent::rules(version).collect::<Vec<_>>();
    let rules = [all(Version::V1), all(Version::V2)].concat();
    report::check_words(&selection, &rules)?;
    let baseline = report::baseline(&arguments.run, Side::Agent)?;
    let scratch = report::Scratch::new()?;
    // A command needs no roster, so what is wrong with the configuration does not matter.
    let choice = match Choice::of_command(&arguments.command) {
        Some(choice) => choice,
        None => Roster::read(None)?.choose(arguments.agent.as_deref(), &[])?,
    };
    let command: Vec<OsString> = choice.command.words().map(OsString::from).collect();
    let mut subject = Subject::new(report::located(&command)?, scratch.work()?);
    subject.patience = arguments.patience;
    subject.turn_patience = arguments.turn_patience;
    subject.login.clone_from(&arguments.login);
    for (kind, text) in &arguments.prompts {
        set_prompt(&mut subject.prompts, kind, text.clone())?;
    }
    if !arguments.keep_home {
        subject.env = scratch.home()?;
    }
    let set = choice.command.envs();
    let set = set.filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    subject.env.extend(set);
    let model = match arguments.model_server {
        true => Some(
            Model::start(subject.cwd.clone())
                .await
                .map_err(Error::Start)?,
        ),
        false => None,
    };
    subject.env.extend(model.iter().flat_map(Model::variables));
    let mut place = Place::open(&arguments.run)?;
    let records = Records::open(arguments.record.as_deref(), &subject.command)?;
    let mut signals = Signals::listen().map_err(Error::Start)?;
    let (spoken, mut heard) = tokio::select! {
        spoken = spoken(&subject, arguments.run.version, &choice) => (spoken?, None),
        signal = signals.next() => {
            // The report says that nothing was tried.
            let version = wanted(arguments.run.version).unwrap_or(Version::V1);
            (vec![version], Some(signal))
        }
    };
    report::check_rest(&selection, &rules, &spoken)?;
    let mut runs = Vec::new();
    let mut progress = Progress::new();
    for version in spoken {
        let wanted = rules.iter().filter(|rule| rule.holds_in(version));
        if !wanted.clone().any(|rule| selection.takes(rule)) {
            continue;
        }
        let began = report::now();
        let stop = async {
            if heard.is_none() {
                stopped(&mut signals, &mut heard).await;
            }
        };
        let show = |probe| progress.show(probe);
        let mut findings = agent::check_until(&subject, version, &selection, show, stop).await;
        if arguments.keep_home {
            tell_left(&findings);
        } else {
            // What is left is in a home that goes with the check.
            findings.left = None;
            findings.remark = findings.remark.map(|remark| {
                format!("{remark} (if its login is in your home directory, give `--keep-home`)")
            });
        }
        runs.push(records.save(Run::new(version, findings, began.elapsed()))?);
        if heard.is_some() {
            break;
        }
    }
    drop(progress);
    let subject = match &arguments.agent {
        Some(_) => report::words(&[choice.name.into()]),
        None => report::words(&arguments.command),
    };
    let mut checked = Report::new(Side::Agent, subject, None, runs);
    checked.by_name = arguments.agent.is_some();
    checked.baseline = baseline;
    checked.options = report::words(&options(&arguments));
    place.write(&checked).map(|found| exit_code(heard, found))
}

/// Says what the check could not clean up, also if the report goes to a file.
fn tell_left(findings: &Findings) {
    if let Some(left) = &findings.left {
        output::tell(&format!("note: {}", Line(left)));
    }
}

fn wanted(version: Option<u8>) -> Option<Version> {
    version.map(|version| match version {
        1 => Version::V1,
        _ => Version::V2,
    })
}

/// Returns the versions that are checked: the wanted one, or those that are spoken.
async fn spoken(
    subject: &Subject,
    version: Option<u8>,
    choice: &Choice,
) -> Result<Vec<Version>, Error> {
    let spoken = match wanted(version) {
        Some(version) => agent::try_start(subject).await.map(|()| vec![version]),
        None => agent::versions(subject).await,
    };
    match spoken {
        Ok(spoken) => Ok(spoken),
        Err(stopped @ Stopped::Spawn(_)) => Err(Error::Check(match &choice.install {
            Some(install) => format!("{stopped}; to get {}: {install}", choice.name),
            None => stopped.to_string(),
        })),
        // What breaks every rule is checked too, and gets its report.
        Err(stopped) => {
            let stopped = stopped.to_string();
            let why = Line(&stopped);
            output::tell(&format!(
                "note: the agent cannot be greeted ({why}); it is checked in version 1"
            ));
            Ok(vec![Version::V1])
        }
    }
}

/// Returns the options that change what is found, as far as they were given.
fn options(arguments: &Agent) -> Vec<OsString> {
    let mut options = report::version(&arguments.run);
    for (kind, text) in &arguments.prompts {
        options.extend(["--prompt".into(), format!("{kind}={text}").into()]);
    }
    for (is_given, option) in [
        (arguments.keep_home, "--keep-home"),
        (arguments.model_server, "--model-server"),
    ] {
        options.extend(is_given.then(|| option.into()));
    }
    if let Some(login) = &arguments.login {
        options.extend(["--login".into(), login.into()]);
    }
    options.extend(report::patience("--patience", arguments.patience, 5));
    options.extend(report::patience(
        "--turn-patience",
        arguments.turn_patience,
        20,
    ));
    options
}

/// Every kind of prompt that can be given.
const KINDS: &str = "short, long, look, change, read, write, run, plan, form, visit, notice, usage, compact, refuse, tokens, \
                     requests or fail";

fn set_prompt(prompts: &mut Prompts, kind: &str, text: String) -> Result<(), Error> {
    match kind {
        "short" => prompts.short = text,
        "long" => prompts.long = text,
        "look" => prompts.look = text,
        "change" => prompts.change = text,
        "read" => prompts.read = text,
        "write" => prompts.write = text,
        "run" => prompts.run = text,
        "plan" => prompts.plan = text,
        "form" => prompts.form = Some(text),
        "visit" => prompts.visit = Some(text),
        "notice" => prompts.notice = Some(text),
        "usage" => prompts.usage = Some(text),
        "compact" => prompts.compact = Some(text),
        "refuse" => prompts.refuse = Some(text),
        "tokens" => prompts.tokens = Some(text),
        "requests" => prompts.requests = Some(text),
        "fail" => prompts.fail = Some(text),
        _ => {
            let what = format!("unknown kind of prompt `{kind}`; use {KINDS}");
            return Err(Error::Check(what));
        }
    }
    Ok(())
}
