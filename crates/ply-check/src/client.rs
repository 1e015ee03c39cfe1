//! Checks a client: Ply is the agent.
//!
//! A client cannot be driven from outside, so it is started once for each scene, with a scripted agent as its agent: [`check`]
//! does that, and the agent's process is [`serve`]. [`serve_interactive`] is an agent for clients that are not started by a
//! command, such as editors: the prompts that a person types name the scenes.

mod cancel;
mod elicitation;
mod files;
mod harness;
mod init;
mod interactive;
mod permission;
mod plain;
mod prompt;
mod report;
mod rpc;
mod scene;
mod serve;
mod session;
mod stage;
mod state;
mod stdio;
mod subject;
mod terminals;
mod update;

use ply_wire::negotiate::Version;

use self::harness::Known;
pub use self::interactive::serve_interactive;
use self::scene::{Scene, Start};
pub use self::serve::serve;
pub use self::subject::{AGENT, Subject};
use crate::findings::Findings;
use crate::rule::{self, Rule, Side};
use crate::selection::Selection;

/// Clients that never start the agent are not tried more often than this.
const FALSE_STARTS_MAX: usize = 2;
/// Clients that send no prompt are waited for no more often than this, one scene after the other.
const NO_PROMPTS_MAX: usize = 3;

/// Everything there is to check. A new topic is a file and a line here. The plain turn comes first: it shows what the client
/// does when nothing is strange.
const TOPICS: &[&[Scene]] = &[
    plain::SCENES,
    update::SCENES,
    rpc::params::SCENES,
    rpc::SCENES,
    stdio::SCENES,
    init::SCENES,
    session::SCENES,
    prompt::SCENES,
    cancel::SCENES,
    permission::SCENES,
    state::SCENES,
    files::SCENES,
    terminals::SCENES,
    elicitation::SCENES,
];

/// Returns every rule that binds a client, of a version.
pub fn rules(version: Version) -> impl Iterator<Item = Rule> {
    rule::of(Side::Client, version)
}

/// Returns whether a scene shows something of a rule: what every message shows is seen where nothing is strange.
fn shows(scene: &Scene, rule: &Rule) -> bool {
    let is_plain = || plain::SCENES.iter().any(|plain| plain.name == scene.name);
    scene.rules.contains(&rule.id) || (rule.is_recorded && is_plain())
}

/// Returns the names of the scenes of a version, with the rules that each can find out about.
pub fn scenes(version: Version) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let scenes = all_scenes().filter(move |scene| scene.is_for(version));
    scenes.map(|scene| (scene.name, scene.rules))
}

fn all_scenes() -> impl Iterator<Item = &'static Scene> {
    TOPICS.iter().flat_map(|them| them.iter())
}

fn scene(name: &str) -> Option<&'static Scene> {
    all_scenes().find(|scene| scene.name == name)
}

/// Checks a client in one version of the protocol. `progress` hears the name of each scene as it begins.
///
/// # Cancel safety
///
/// Dropped, the client's processes are ended and the findings are lost.
pub async fn check(
    subject: &Subject,
    version: Version,
    selection: &Selection,
    progress: impl FnMut(&'static str),
) -> Findings {
    check_until(
        subject,
        version,
        selection,
        progress,
        std::future::pending(),
    )
    .await
}

/// As [`check`], but ends early when `stop` does, with what was found by then.
///
/// # Cancel safety
///
/// As for [`check`].
pub async fn check_until(
    subject: &Subject,
    version: Version,
    selection: &Selection,
    mut progress: impl FnMut(&'static str),
    stop: impl Future<Output = ()>,
) -> Findings {
    tokio::pin!(stop);
    let wanted: Vec<Rule> = rules(version)
        .filter(|rule| selection.takes(rule))
        .collect();
    let mut findings = Findings::new(wanted.iter().copied());
    let mut known = Known::default();
    let mut unclear = Vec::new();
    let (mut false_starts, mut no_prompts) = (0, 0);
    for (number, scene) in all_scenes().enumerate() {
        if !wanted.iter().any(|rule| shows(scene, rule)) {
            continue;
        }
        if no_prompts >= NO_PROMPTS_MAX && scene.start == Start::AtPrompt {
            let why = "not tried: the client sends no prompt";
            let rules = scene.rules.iter();
            unclear.extend(rules.map(|rule| ((*rule).to_owned(), why.to_owned(), scene.name)));
            continue;
        }
        progress(scene.name);
        let place = harness::place(&subject.scratch, version, number);
        let outcome = tokio::select! {
            biased;
            () = &mut stop => {
                let ids = findings.verdicts().map(|verdict| verdict.rule.id);
                let why = "the check was ended before this was tried";
                unclear.extend(ids.map(|id| (id.to_owned(), why.to_owned(), scene.name)));
                drop(std::fs::remove_dir_all(&place));
                break;
            }
            outcome = harness::play(subject, version, scene, &place, &known) => outcome,
        };
        if let Err(error) = std::fs::remove_dir_all(&place) {
            tracing::debug!(%error, "a scratch directory is left behind");
        }
        for report in &outcome.reports {
            let notes = report.pour(&mut findings, scene.name);
            let notes = notes.into_iter();
            unclear.extend(
                notes.map(|note| (note.rule().to_owned(), note.saw().to_owned(), scene.name)),
            );
        }
        harness::judge(&mut findings, scene, &outcome, &known);
        let trouble = harness::trouble(scene, &outcome);
        let first = outcome.reports.first();
        if let Some(why) = &trouble {
            unclear.extend(
                scene
                    .rules
                    .iter()
                    .map(|rule| ((*rule).to_owned(), why.clone(), scene.name)),
            );
        }
        // A scene in which nothing strange happened tells what the client is like.
        if known.ends_by_itself.is_none() && trouble.is_none() {
            known.ends_by_itself = Some(outcome.exit.is_some());
        }
        false_starts = match outcome.reports.is_empty() {
            true => false_starts + 1,
            false => 0,
        };
        no_prompts = match first.and_then(|first| first.stopped.as_deref()) {
            Some(stage::NO_PROMPT) => no_prompts + 1,
            // What begins earlier may do without a prompt.
            _ if scene.start == Start::AtBeginning => no_prompts,
            _ => 0,
        };
        let is_other_version = first.is_some_and(|report| report.is_other_version);
        if false_starts == FALSE_STARTS_MAX || is_other_version {
            let why = trouble.unwrap_or_default();
            let ids: Vec<_> = findings.verdicts().map(|verdict| verdict.rule.id).collect();
            unclear.extend(
                ids.into_iter()
                    .map(|id| (id.to_owned(), why.clone(), scene.name)),
            );
            break;
        }
    }
    for (rule, why, scene) in unclear {
        report::unclear(&mut findings, &rule, &why, scene);
    }
    findings.settle();
    findings
}
