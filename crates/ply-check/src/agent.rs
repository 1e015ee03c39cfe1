//! Checks an agent: Ply is the client.

mod auth;
mod background;
mod bench;
mod busy;
mod cancel;
mod cancel_request;
mod content;
mod conversation;
mod delete;
mod elicitation;
mod files;
mod ground;
mod hearing;
mod history;
mod init;
mod judging;
mod junk;
mod list;
mod mcp;
mod notices;
mod options;
mod permission;
mod plan;
mod prompt;
mod replay;
mod requests;
mod rpc;
mod sessions;
mod shape;
mod silence;
mod stdio;
mod stop;
mod subject;
mod sweep;
mod talk;
mod terminals;
mod tool;
mod trial;
mod turn;

use std::time::Duration;

use ply_wire::negotiate::Version;
use tokio::time::Instant;

pub use self::bench::Bench;
use self::ground::Ground;
pub use self::subject::{Prompts, Subject};
use crate::findings::Findings;
use crate::passive;
use crate::peer::Stopped;
use crate::rule::{self, Rule, Side};
use crate::selection::Selection;
use crate::topic::Probe;

/// How long a probe may take in all.
const PROBE_TIME_MAX: Duration = Duration::from_secs(30);
/// How many turns that take as long as they may a probe is waited for.
const TURNS_MAX: u32 = 4;
/// How many probes in a row may find nobody to talk to before the rest is left out: each of them waits for it.
const DEAF_MAX: u32 = 3;

/// Everything there is to check. A new topic is a file and a line here.
const TOPICS: &[&[Probe<Bench>]] = &[
    rpc::PROBES,
    requests::PROBES,
    stdio::PROBES,
    init::PROBES,
    auth::PROBES,
    sessions::PROBES,
    history::PROBES,
    list::PROBES,
    delete::PROBES,
    options::PROBES,
    mcp::PROBES,
    busy::PROBES,
    prompt::PROBES,
    stop::PROBES,
    background::PROBES,
    cancel::PROBES,
    cancel_request::PROBES,
    tool::PROBES,
    permission::PROBES,
    plan::PROBES,
    content::PROBES,
    files::PROBES,
    terminals::PROBES,
    notices::PROBES,
    elicitation::PROBES,
    replay::PROBES,
    conversation::PROBES,
];

/// Returns every rule that binds an agent in a version: those that are probed, and those that only show in passing.
pub fn rules(version: Version) -> impl Iterator<Item = Rule> {
    rule::of(Side::Agent, version)
}

/// Returns the versions that an agent speaks, the older first. One that repeats any number, and says the rest in the words of version 1,
/// speaks that one.
///
/// # Errors
///
/// It cannot be started, or answers no greeting.
///
/// # Cancel safety
///
/// Dropped, the agent's processes are ended.
pub async fn versions(subject: &Subject) -> Result<Vec<Version>, Stopped> {
    let mut spoken = Vec::new();
    let mut trouble = None;
    for version in [Version::V1, Version::V2] {
        let mut bench = Bench::new(subject.clone(), version, Findings::default());
        match bench.greeted_by_stranger(serde_json::json!({})).await {
            Ok(agent) => {
                let is_echo = version == Version::V2
                    && ["info", "capabilities"]
                        .iter()
                        .all(|key| agent.hello.get(key).is_none());
                if !is_echo || spoken.is_empty() {
                    spoken.push(version);
                }
                agent.end().await;
            }
            // The first one says more: an agent may not know the later version at all.
            Err(stopped) => {
                trouble.get_or_insert(stopped);
            }
        }
    }
    match trouble {
        Some(stopped) if spoken.is_empty() => Err(stopped),
        _ => Ok(spoken),
    }
}

/// Finds out whether an agent can be started at all.
///
/// # Errors
///
/// It cannot be.
///
/// # Cancel safety
///
/// Dropped, the agent's process is ended.
pub async fn try_start(subject: &Subject) -> Result<(), Stopped> {
    let mut bench = Bench::new(subject.clone(), Version::V1, Findings::default());
    bench.start().await.map(drop)
}

/// Returns every probe by its name, with the ids of the rules that it can find out about, in the order in which they run.
pub fn probes() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let probes = TOPICS.iter().flat_map(|them| them.iter());
    probes.map(|probe| (probe.name, probe.rules))
}

/// Whether there was nobody to talk to.
fn is_deaf(stopped: &Stopped) -> bool {
    match stopped {
        Stopped::Spawn(_) | Stopped::Flooded => true,
        Stopped::Silent { method, .. } => method == "initialize",
        _ => false,
    }
}

/// Checks an agent in one version of the protocol. `progress` hears the name of each probe as it begins.
///
/// # Cancel safety
///
/// Dropped, the agent's processes are ended and the findings are lost.
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

/// As [`check`], but ends early when `stop` does, with what was found by then. Sessions are not deleted then: whoever stops a check
/// does not want to wait.
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
    let mut is_stopped = false;
    let all: Vec<Rule> = rules(version).collect();
    let wanted = all.iter().filter(|rule| selection.takes(rule));
    let wanted: Vec<Rule> = wanted.copied().collect();
    let probes = || TOPICS.iter().flat_map(|them| them.iter());
    // Rules that only show in passing have no probe of their own: whatever makes the agent talk may show them.
    let in_passing = !wanted.is_empty() && !probes().any(|probe| probe.is_for(&wanted, version));
    let findings = Findings::new(wanted.iter().copied());
    let mut bench = Bench::new(subject.clone(), version, findings);
    tokio::select! {
        biased;
        () = &mut stop => is_stopped = true,
        () = bench.close_gates() => {}
    }
    let ground = Ground::prepare(&subject.cwd);
    let mut deaf = (0, String::new());
    // What a probe could not find out, a later one may, or what went over the wire in passing.
    let mut unclear = Vec::new();
    for probe in probes() {
        let looked_at = if in_passing { &all } else { &wanted };
        if !probe.is_for(looked_at, version) {
            continue;
        }
        if bench.is_closed(probe.rules) {
            continue;
        }
        bench.begin(probe.name);
        if is_stopped {
            let why = "the check was ended before this was tried".to_owned();
            unclear.push((probe, why, bench.last_recording()));
            continue;
        }
        ground.restore();
        if deaf.0 == DEAF_MAX {
            let why = format!("not tried after {DEAF_MAX} attempts: {}", deaf.1);
            unclear.push((probe, why, bench.last_recording()));
            continue;
        }
        progress(probe.name);
        let limit = PROBE_TIME_MAX.max(subject.turn_patience * TURNS_MAX);
        let began = Instant::now();
        let ended = tokio::select! {
            biased;
            () = &mut stop => {
                is_stopped = true;
                let why = "the check was ended while this was tried".to_owned();
                unclear.push((probe, why, bench.last_recording()));
                continue;
            }
            ended = tokio::time::timeout(limit, (probe.run)(&mut bench)) => ended,
        };
        bench.findings.took.push((probe.name, began.elapsed()));
        deaf = match &ended {
            Ok(Err(stopped)) if is_deaf(stopped) => (deaf.0 + 1, stopped.to_string()),
            _ => (0, String::new()),
        };
        if let Ok(Err(Stopped::Silent { method, waited })) = &ended {
            bench.judge_silence(method, *waited);
        }
        let why = match ended {
            Ok(Ok(())) => continue,
            Ok(Err(stopped)) => bench.explained(&stopped).await,
            Err(_) => format!("the probe took over {} s", limit.as_secs()),
        };
        unclear.push((probe, why, bench.last_recording()));
    }
    bench.judge_deafness();
    sweep::judge_ids(&mut bench);
    let left = match is_stopped {
        true => None,
        false => sweep::sweep(&mut bench).await,
    };
    let remark = bench.refusal();
    let mut findings = bench.finish().await;
    ground.restore();
    findings.remark = remark;
    findings.left = left;
    let recordings = findings.recordings.clone();
    passive::judge(&recordings, Side::Agent, &mut findings);
    for (probe, why, recording) in unclear {
        for rule in probe.rules {
            findings.add_unclear(rule, &why, recording, probe.name);
        }
    }
    findings.settle();
    findings
}
