//! Starts the client once for every scene, and gathers what the scripted agent found.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use ply_rpc::transport::child::{Child, Command, Grace};
use ply_wire::negotiate::Version;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt as _;
use tokio::time::Instant;

use super::report::{self, PROGRESS, Report, beside, of_agent};
use super::scene::Scene;
use super::stage::number;
use super::subject::Subject;
use crate::findings::{Findings, Found};
use crate::rule::id;
use crate::verdict::Evidence;

/// How often is looked for reports and wishes.
const POLL: Duration = Duration::from_millis(15);
/// How long a client may take to end by itself, if it is one that does.
const OWN_END_TIME_MAX: Duration = Duration::from_secs(8);
/// How long a client may take to start the agent.
const START_TIME_MAX: Duration = Duration::from_secs(20);
/// How long the agent's last report is waited for once its client has ended.
const LAST_REPORT_TIME_MAX: Duration = Duration::from_secs(2);
/// How long a client that is done with may take to end, at each step.
const END_TIME_MAX: Duration = Duration::from_millis(300);
/// How long what a terminal runs may live on once the client is gone.
const ORPHAN_TIME_MAX: Duration = Duration::from_millis(1500);
/// Characters of standard error that are shown.
const STDERR_CHARS_MAX: usize = 300;

/// What became of the client in one scene.
pub(super) struct Outcome {
    /// What its agents found, the first one first.
    pub(super) reports: Vec<Report>,
    /// How it ended, if it did so by itself.
    pub(super) exit: Option<ExitStatus>,
    /// Whether what a terminal ran goes on after the client, with the frame that shows the terminal.
    pub(super) left_behind: Option<(bool, usize)>,
    /// Why there is nothing to tell.
    pub(super) trouble: Option<String>,
}

impl Outcome {
    fn trouble(why: String) -> Self {
        Self {
            reports: Vec::new(),
            exit: None,
            left_behind: None,
            trouble: Some(why),
        }
    }
}

/// What is known about the client from earlier scenes.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Whether it ends by itself when its turn is over.
    pub(super) ends_by_itself: Option<bool>,
}

/// Plays one scene to the client.
pub(super) async fn play(
    subject: &Subject,
    version: Version,
    scene: &Scene,
    place: &Path,
    known: &Known,
) -> Outcome {
    let cwd = place.join("work");
    let out = place.join("report");
    if let Err(error) = std::fs::create_dir_all(&cwd) {
        return Outcome::trouble(format!("cannot create a scratch directory: {error}"));
    }
    let words = subject.command_with(&agent(subject, version, scene, &out));
    let [program, arguments @ ..] = words.as_slice() else {
        return Outcome::trouble("no command was given".to_owned());
    };
    let mut command = Command::new(program).args(arguments).cwd(&cwd);
    for (name, value) in &subject.env {
        command = command.env(name, value);
    }
    let (mut child, mut stdout, stdin) = match command.spawn().await {
        Ok(parts) => parts,
        Err(error) => return Outcome::trouble(format!("the client cannot be started: {error}")),
    };
    // Nobody types; and what it shows is read, so that it never waits for that.
    drop(stdin);
    let showing = tokio::spawn(async move {
        let mut buffer = vec![0; 16 * 1024];
        while stdout.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
    });
    let exit = watch(subject, &mut child, &out, known).await;
    if exit.is_some() {
        last_report(&out).await;
    }
    let reports = report::all(&out);
    let trouble = reports.is_empty().then(|| not_started(&child));
    let left = reports.first().and_then(|report| report.left_running);
    let left_behind = match left.filter(|_| exit.is_some()) {
        Some((process, frame)) => Some((goes_on(process).await, frame)),
        None => None,
    };
    let mut grace = Grace::default();
    (grace.after_close, grace.after_term) = (Duration::ZERO, END_TIME_MAX);
    if let Err(error) = child.end(grace).await {
        tracing::debug!(%error, "a client did not end well");
    }
    showing.abort();
    Outcome {
        reports,
        exit,
        left_behind,
        trouble,
    }
}

/// Waits a moment for a process to end, and returns whether it does not.
async fn goes_on(process: u32) -> bool {
    let gone = async {
        let mut ticks = tokio::time::interval(POLL);
        while report::lives(process) {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(ORPHAN_TIME_MAX, gone).await.is_err()
}

fn agent(subject: &Subject, version: Version, scene: &Scene, out: &Path) -> Vec<OsString> {
    let mut words = subject.serve.clone();
    words.extend(["--scene", scene.name, "--version"].map(OsString::from));
    words.push(number(version).to_string().into());
    words.extend([OsString::from("--out"), out.into()]);
    words
}

/// Waits until the client has ended by itself, or is done with; interrupts it when its agent wishes so.
async fn watch(
    subject: &Subject,
    child: &mut Child,
    out: &Path,
    known: &Known,
) -> Option<ExitStatus> {
    let mut began = Instant::now();
    let mut over_at = None;
    let mut ticks = tokio::time::interval(POLL);
    loop {
        tokio::select! {
            exit = child.wait() => return exit.ok(),
            _ = ticks.tick() => {}
        }
        let wish = beside(out, "interrupt");
        if wish.exists() && std::fs::remove_file(&wish).is_ok() {
            interrupt(child);
        }
        let progress = beside(out, PROGRESS);
        if progress.exists() && std::fs::remove_file(&progress).is_ok() {
            began = Instant::now();
        }
        if over_at.is_none() && is_over(out) {
            over_at = Some(Instant::now());
        }
        let patience = match known.ends_by_itself {
            Some(false) => Duration::ZERO,
            _ => OWN_END_TIME_MAX,
        };
        if over_at.is_some_and(|at| at.elapsed() > patience) {
            return None;
        }
        let has_started = beside(&of_agent(out, 0), "claim").exists();
        let patience = match has_started {
            true => subject.patience + OWN_END_TIME_MAX,
            false => START_TIME_MAX.min(subject.patience),
        };
        if began.elapsed() > patience {
            return None;
        }
    }
}

fn is_over(out: &Path) -> bool {
    Report::read(out).is_ok_and(|report| report.is_over)
}

/// Interrupts the client as a terminal does.
fn interrupt(child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let sent = pid.map(|pid| kill_process_group(pid, Signal::INT));
    if let Some(Err(error)) = sent {
        tracing::debug!(%error, "the client could not be interrupted");
    }
}

/// Waits for the last word of the first agent.
async fn last_report(out: &Path) {
    let read = async {
        let mut ticks = tokio::time::interval(POLL);
        loop {
            ticks.tick().await;
            // Whether it has ended, was ended, or was never started: nothing more comes.
            if !report::is_running(out, 0) {
                return;
            }
        }
    };
    if tokio::time::timeout(LAST_REPORT_TIME_MAX, read)
        .await
        .is_err()
    {
        tracing::debug!("the scripted agent goes on after its client");
    }
}

fn not_started(child: &Child) -> String {
    let tail = ply_rpc::clean::for_display(&child.stderr_tail(), STDERR_CHARS_MAX);
    match tail.trim() {
        "" => "the client did not start the agent".to_owned(),
        tail => format!("the client did not start the agent; its standard error ends: {tail}"),
    }
}

/// Scenes that a client may answer by ending, at any moment.
const MAY_END: &[&str] = &[
    "unknown-version",
    "no-sessions",
    "needs-login",
    "agent-exits",
    "prompt-fails",
];

/// Returns why the scene could not be played to its end, if it was not and should have been.
pub(super) fn trouble(scene: &Scene, outcome: &Outcome) -> Option<String> {
    let first = outcome.reports.first();
    if let (None, Some(trouble)) = (first, &outcome.trouble) {
        return Some(trouble.clone());
    }
    let first = first?;
    if first.is_over {
        return first.stopped.clone();
    }
    let has_left = outcome.exit.is_some() && MAY_END.contains(&scene.name);
    (!has_left).then(|| "the client ended the agent before the scene was over".to_owned())
}

/// Judges what only the outside of the client shows: that it ended, crashed or hangs, and what it leaves behind.
pub(super) fn judge(findings: &mut Findings, scene: &Scene, outcome: &Outcome, known: &Known) {
    let mut add = |rules: &[&str], is_kept: bool, frames: Vec<usize>, saw: &str| {
        let found = match is_kept {
            true => Found::Kept,
            false => Found::Broken,
        };
        let saw = match is_kept {
            true => "",
            false => saw,
        };
        let evidence = Evidence {
            recording: findings.recordings.len().saturating_sub(1),
            frames,
        };
        for rule in rules {
            findings.add(rule, found, saw, evidence.clone(), Some(scene.name));
        }
    };
    if let Some((goes_on, frame)) = outcome.left_behind {
        let saw = "a terminal process continues after the client";
        add(&[id::V1_TERM_15], !goes_on, vec![frame], saw);
    }
    let Some(first) = outcome.reports.first() else {
        return;
    };
    // A client that ended before its agent could tell has turned away.
    let turns_away = ["unknown-version", "no-sessions"].contains(&scene.name);
    if turns_away && !first.is_over && outcome.exit.is_some() {
        add(scene.rules, true, Vec::new(), "");
    }
    let rules: &[&str] = match scene.name {
        "agent-exits" => &[id::V1_PROMPT_18],
        "prompt-fails" => &[id::V1_PROMPT_17, id::V1_ERR_03, id::V2_ERR_01],
        _ => return,
    };
    if first.stopped.is_some() {
        return;
    }
    match outcome.exit {
        Some(exit) if is_crash(exit) => {
            add(
                rules,
                false,
                Vec::new(),
                &format!("the client crashed ({exit})"),
            );
        }
        None if known.ends_by_itself == Some(true) => {
            let saw = "the client, which ends with its turn, hangs when the turn fails";
            add(rules, false, Vec::new(), saw);
        }
        // It ended, or goes on and waits for its user, as it does otherwise.
        _ => add(rules, true, Vec::new(), ""),
    }
}

/// Exit codes by which runtimes and shells tell that a program crashed.
const CRASHES: [i32; 4] = [101, 132, 134, 139];

fn is_crash(exit: ExitStatus) -> bool {
    exit.code().is_none_or(|code| CRASHES.contains(&code))
}

/// Returns the directory of a scene under the scratch directory of a run.
pub(super) fn place(scratch: &Path, version: Version, number: usize) -> PathBuf {
    let run = std::process::id();
    let version = super::stage::number(version);
    scratch.join(format!("ply-check-{run}-v{version}-{number}"))
}
