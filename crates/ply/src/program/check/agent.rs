//! `ply check agent`: Ply is the client.

use std::process::ExitCode;

use ply_check::agent::{self, Prompts, Subject};
use ply_check::report::Run;
use ply_check::{Report, Selection, Side};
use ply_client::Version;

use super::arguments::Agent;
use super::report::{self, Progress};
use crate::program::error::Error;

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
    let mut subject = Subject::new(
        report::located(&arguments.command)?,
        scratch.path().to_owned(),
    );
    subject.patience = arguments.patience;
    subject.turn_patience = arguments.turn_patience;
    subject.login = arguments.login;
    for (kind, text) in arguments.prompts {
        set_prompt(&mut subject.prompts, &kind, text)?;
    }
    let spoken = match arguments.run.version {
        Some(1) => vec![Version::V1],
        Some(_) => vec![Version::V2],
        None => agent::versions(&subject)
            .await
            .map_err(|stopped| Error::Check(format!("the agent cannot be greeted: {stopped}")))?,
    };
    let mut runs = Vec::new();
    let mut progress = Progress::new();
    for version in spoken {
        let wanted = rules.iter().filter(|rule| rule.holds_in(version));
        if !wanted.clone().any(|rule| selection.takes(rule)) {
            continue;
        }
        let began = report::now();
        let findings =
            agent::check(&subject, version, &selection, |probe| progress.show(probe)).await;
        runs.push(Run::new(version, findings, began.elapsed()));
    }
    progress.end();
    let mut checked = Report::new(Side::Agent, report::words(&arguments.command), None, runs);
    checked.baseline = baseline;
    report::write(&checked, &arguments.run)
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
            let what = format!("there is no kind of prompt `{kind}`; use {KINDS}");
            return Err(Error::Check(what));
        }
    }
    Ok(())
}
