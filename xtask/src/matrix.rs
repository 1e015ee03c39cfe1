//! `cargo xtask matrix`: installs agents from their registries, checks each with a scripted model, and writes docs/MATRIX.md.
//!
//! Agents run with an empty home and, where the system lets us, with no network but loopback. What is found is looked at a second time,
//! and only what was seen twice is told. This is not part of the tests: it needs the registries, and what is installed changes.

mod agents;
mod install;
mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use self::agents::{AGENTS, Agent};
use crate::Result;

/// The report of an agent, that of the second look, and why there is none.
const REPORT: &str = "report.json";
const AGAIN: &str = "again.json";
const TROUBLE: &str = "trouble.txt";
/// Where the page goes.
const PAGE: &str = "docs/MATRIX.md";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The agents to check, by name; all if none is named. The others keep what is known of them
    names: Vec<String>,
    /// The program `ply`; without it, the debug build is made and used
    #[arg(long, value_name = "FILE")]
    ply: Option<PathBuf>,
    /// Where agents are installed, outside of the repository [default: a directory among the temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    place: Option<PathBuf>,
    /// How long one agent may be checked, in both versions together
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    seconds: u32,
    /// Installs nothing and uses what is there
    #[arg(long)]
    offline: bool,
    /// Writes the page from the reports that are there, and checks nothing
    #[arg(long)]
    page_only: bool,
}

/// What became of one agent.
struct Outcome {
    agent: &'static Agent,
    /// The version that was installed, or what is known of it.
    version: String,
    /// Where it is installed.
    root: PathBuf,
    /// The report, or why there is none.
    report: std::result::Result<Value, String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let unknown = |name: &&String| AGENTS.iter().all(|agent| agent.name != name.as_str());
    if let Some(name) = arguments.names.iter().find(unknown) {
        let names: Vec<_> = AGENTS.iter().map(|agent| agent.name).collect();
        return Err(format!("there is no agent `{name}`; use {}", names.join(", ")).into());
    }
    let place = arguments.place.clone();
    let place = place.unwrap_or_else(|| std::env::temp_dir().join("ply-matrix"));
    fs::create_dir_all(&place)?;
    let place = fs::canonicalize(place)?;
    let ply = program(arguments)?;
    let mut outcomes = Vec::new();
    for agent in AGENTS {
        let is_wanted =
            arguments.names.is_empty() || arguments.names.iter().any(|name| name == agent.name);
        let root = place.join(agent.name);
        if is_wanted && !arguments.page_only {
            check(agent, &root, &ply, arguments)?;
        }
        outcomes.push(outcome(agent, &root));
    }
    fs::write(PAGE, page::write(&outcomes, &today()?))?;
    Ok(())
}

/// Returns the program that checks.
fn program(arguments: &Arguments) -> Result<PathBuf> {
    if let Some(ply) = &arguments.ply {
        return Ok(fs::canonicalize(ply)?);
    }
    if !arguments.page_only {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--quiet", "--package", "ply-cli"]);
        if !cargo.status()?.success() {
            return Err("`ply` cannot be built".into());
        }
    }
    Ok(Path::new("target/debug/ply").to_owned())
}

/// Installs an agent and checks it; what goes wrong is kept beside its report.
#[expect(clippy::print_stderr, reason = "a long run says where it is")]
fn check(agent: &Agent, root: &Path, ply: &Path, arguments: &Arguments) -> Result<()> {
    eprintln!("{}: installing", agent.name);
    fs::create_dir_all(root)?;
    let trouble = root.join(TROUBLE);
    for old in [REPORT, AGAIN, TROUBLE].map(|name| root.join(name)) {
        if old.exists() {
            fs::remove_file(old)?;
        }
    }
    if let Err(error) = install::install(agent, root, arguments.offline) {
        return Ok(fs::write(trouble, error.to_string())?);
    }
    eprintln!("{}: checking", agent.name);
    let words = look(agent, root, ply, arguments.seconds, REPORT, &[])?;
    let Ok(report) = read(&root.join(REPORT)) else {
        return Ok(fs::write(trouble, words)?);
    };
    let found = page::broken(&report);
    if !found.is_empty() {
        eprintln!("{}: looking again at {}", agent.name, found.join(", "));
        look(agent, root, ply, arguments.seconds, AGAIN, &found)?;
    }
    Ok(())
}

/// Checks an agent, for some rules or for all if none is named, and returns its last words.
fn look(
    agent: &Agent,
    root: &Path,
    ply: &Path,
    seconds: u32,
    report: &str,
    only: &[String],
) -> Result<String> {
    let mut check = isolated(seconds);
    check.arg(fs::canonicalize(ply)?);
    check.args(["check", "agent", "--model-server", "--output", "json"]);
    check.arg("--file").arg(root.join(report));
    if !only.is_empty() {
        check.arg("--only").arg(only.join(","));
    }
    if let Some(login) = agent.login {
        check.args(["--login", login]);
    }
    check.args(["--patience", "20", "--turn-patience", "30", "--"]);
    check.args(agent.command(root));
    // Some bring the Node.js that they need.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = root.join("node_modules/.bin");
    let places = std::iter::once(own).chain(std::env::split_paths(&path));
    check.env("PATH", std::env::join_paths(places)?);
    // Claude Code refuses to work for root, unless it is told that nothing can come to harm.
    check.env("IS_SANDBOX", "1");
    let ended = check.stdin(Stdio::null()).stdout(Stdio::null()).output()?;
    let words = String::from_utf8_lossy(&ended.stderr);
    Ok(words
        .lines()
        .last()
        .unwrap_or("it took too long")
        .to_owned())
}

/// Returns a command that ends in time and has no network but loopback, if the system lets us take it away.
fn isolated(seconds: u32) -> Command {
    let can_isolate = Command::new("unshare").args(["--net", "true"]).status();
    let mut command = Command::new("timeout");
    command.args(["--signal", "TERM", "--kill-after", "20"]);
    command.arg(seconds.to_string());
    if can_isolate.is_ok_and(|status| status.success()) {
        command.args(["unshare", "--net", "sh", "-c"]);
        command.args(["ip link set lo up && exec \"$@\"", "sh"]);
    }
    command
}

/// Returns what is known of an agent.
fn outcome(agent: &'static Agent, root: &Path) -> Outcome {
    let report = read(&root.join(REPORT)).map_err(|error| {
        let trouble = fs::read_to_string(root.join(TROUBLE));
        trouble.unwrap_or_else(|_| error.to_string())
    });
    let again = read(&root.join(AGAIN)).ok();
    let report = report.map(|report| page::confirmed(report, again.as_ref()));
    Outcome {
        agent,
        root: root.to_owned(),
        version: install::version(agent, root).unwrap_or_else(|| "unknown".to_owned()),
        report,
    }
}

fn read(report: &Path) -> Result<Value> {
    let report = fs::read(report).map_err(|_| "not checked")?;
    serde_json::from_slice(&report).map_err(|error| format!("the report is broken: {error}").into())
}

fn today() -> Result<String> {
    let date = Command::new("date").args(["--utc", "+%Y-%m-%d"]).output()?;
    Ok(String::from_utf8(date.stdout)?.trim().to_owned())
}
