//! Gets an agent from its registry, into a directory of its own.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::agents::{Agent, Registry};
use crate::Result;

/// How long an install may take, in seconds.
const INSTALL_SECONDS_MAX: u32 = 400;

/// Installs an agent below a directory.
pub(super) fn install(agent: &Agent, root: &Path, offline: bool) -> Result<()> {
    if offline {
        return Ok(());
    }
    match agent.registry {
        Registry::Npm => {
            let mut npm = limited("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--prefix"]);
            npm.arg(root).args(agent.package.split(' '));
            done(npm, agent)
        }
        Registry::Pypi => {
            let venv = root.join("venv");
            if !venv.exists() {
                let mut python = limited("python3");
                python.args(["-m", "venv"]).arg(&venv);
                done(python, agent)?;
            }
            let mut pip = limited(venv.join("bin/pip"));
            pip.args(["install", "--quiet", "--upgrade", agent.package]);
            done(pip, agent)?;
            example(agent, root)
        }
        Registry::Here => {
            let mut cargo = limited("cargo");
            cargo.args(["build", "--quiet", "--package", agent.package]);
            done(cargo, agent)
        }
    }
}

/// Takes the example of the Python SDK out of its source package: the wheel has none.
fn example(agent: &Agent, root: &Path) -> Result<()> {
    if agent.name != "python-sdk" {
        return Ok(());
    }
    let mut pip = limited(root.join("venv/bin/pip"));
    pip.args(["download", "--quiet", "--no-deps", "--no-binary", ":all:"]);
    pip.args(["--dest"])
        .arg(root.join("source"))
        .arg(agent.package);
    // The package is downloaded even where it cannot be built.
    pip.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let unpacked = Command::new("sh")
        .args(["-c", "tar -xzf \"$1\"/source/*.tar.gz -C \"$1\"/source && cp \"$1\"/source/*/examples/agent.py \"$1\"/example.py", "sh"])
        .arg(root)
        .status()?;
    match unpacked.success() {
        true => Ok(()),
        false => Err("the source package of the SDK has no example".into()),
    }
}

fn limited(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("timeout");
    command.arg(INSTALL_SECONDS_MAX.to_string()).arg(program);
    command
}

fn done(mut command: Command, agent: &Agent) -> Result<()> {
    let ended = command.stdin(Stdio::null()).output()?;
    if ended.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&ended.stderr);
    // The last line often only names a log of this machine.
    let why = words.lines().rfind(|line| line.contains("error code"));
    let why = why.or(words.lines().last()).unwrap_or_default();
    Err(format!("{} cannot be installed: {why}", agent.package).into())
}

/// Returns the version that is installed.
pub(super) fn version(agent: &Agent, root: &Path) -> Option<String> {
    match agent.registry {
        Registry::Npm => {
            let package = agent.package.split(' ').next().unwrap_or_default();
            let name = match package.rfind('@') {
                Some(at) if at > 0 => package.get(..at).unwrap_or(package),
                _ => package,
            };
            let package = root.join("node_modules").join(name);
            let package = fs::read(package.join("package.json")).ok()?;
            let package: Value = serde_json::from_slice(&package).ok()?;
            package.get("version")?.as_str().map(str::to_owned)
        }
        Registry::Pypi => {
            let mut pip = Command::new(root.join("venv/bin/pip"));
            let shown = pip.args(["show", agent.package]).output().ok()?;
            let shown = String::from_utf8(shown.stdout).ok()?;
            let version = shown
                .lines()
                .find_map(|line| line.strip_prefix("Version: "));
            version.map(str::to_owned)
        }
        Registry::Here => {
            let lock = fs::read_to_string("Cargo.lock").ok()?;
            let after = lock
                .split("name = \"agent-client-protocol\"\nversion = \"")
                .nth(1)?;
            after.split('"').next().map(str::to_owned)
        }
    }
}
