//! `ply agents doctor`: whether agents are complete and start.

use std::ffi::OsStr;
use std::process::ExitCode;

use ply_client::Version;
use ply_client::text;

use super::arguments::Doctor;
use super::lock::{Lock, Place};
use super::{login, tool};
use crate::program::error::{Error, FAILED};
use crate::program::output;
use crate::program::roster::{Choice, Roster};

/// What was found out about one thing: what is fine, or what is wrong and what to do about it.
type Finding = Result<String, String>;

/// Looks at what is installed, and starts what is named.
pub(super) async fn run(arguments: &Doctor) -> Result<ExitCode, Error> {
    let place = super::place()?;
    let lock = place.read()?;
    let mut findings = vec![Ok(format!(
        "{}: {} installed",
        text::path(place.path()),
        lock.agents.len()
    ))];
    findings.extend(complete(&place, &lock));
    let roster = Roster::read(None)?;
    for name in &arguments.names {
        let choice = roster.choose(Some(name), &[])?;
        findings.push(starts(&choice).await);
    }
    let is_well = findings.iter().all(Result::is_ok);
    for finding in findings {
        match finding {
            Ok(words) => output::line(&format!("ok     {words}")),
            Err(words) => output::line(&format!("wrong  {words}")),
        }
    }
    match is_well {
        true => Ok(ExitCode::SUCCESS),
        false => Ok(FAILED.into()),
    }
}

/// Looks whether every installed agent has its program, and what runs it.
fn complete<'a>(place: &'a Place, lock: &'a Lock) -> impl Iterator<Item = Finding> + 'a {
    lock.agents.iter().map(move |(name, locked)| {
        let program = place.program(name, locked);
        let runner = locked.runner.as_deref();
        if !program.is_file() {
            return Err(format!(
                "{name}: {} is missing; `ply agents remove {name}` and `ply agents add {name}` install it again",
                text::path(&program)
            ));
        }
        match runner.filter(|runner| tool::find(OsStr::new(runner)).is_none()) {
            Some(runner) => Err(format!(
                "{name}: `{runner}` is not on PATH; {}",
                tool::how_to_get(runner)
            )),
            None => Ok(format!("{name}: {} is installed", locked.version)),
        }
    })
}

/// Starts an agent and ends it again.
async fn starts(choice: &Choice) -> Finding {
    let name = &choice.name;
    let agent = login::start(choice).await.map_err(|error| {
        let hint = error.hint().unwrap_or_default();
        format!("{error}; {hint}")
    })?;
    let about = agent.info();
    let title = about.title.clone().unwrap_or(about.name);
    let version = match agent.version() {
        Version::V1 => 1,
        Version::V2 => 2,
    };
    let login = match agent.auth_methods().len() {
        0 => "no login",
        _ => "a login by `ply agents login`",
    };
    agent.close().await;
    Ok(format!(
        "{name}: starts as {} {}, protocol version {version}, with {login}",
        text::Line(&title),
        text::Line(&about.version)
    ))
}
