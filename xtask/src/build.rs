//! Builds a program of the workspace and finds it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::Result;

/// How a program is built.
#[derive(Clone, Copy)]
pub(crate) enum Profile {
    /// Built sooner.
    Dev,
    /// For measuring and showing.
    Release,
    /// As it is installed and handed out.
    Dist,
}

impl Profile {
    /// Returns the name by which cargo knows it.
    fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
            Self::Dist => "dist",
        }
    }
}

/// The one message of `cargo build --message-format=json` that names the program.
#[derive(Deserialize)]
struct Artifact {
    executable: Option<PathBuf>,
}

/// Builds the program `name` of a package, and asks cargo where it is, so that any target directory works.
///
/// # Errors
///
/// It does not build.
pub(crate) fn build(package: &str, name: &str, profile: Profile) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(["build", "--package", package, "--profile", profile.name()]);
    let output = command
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("building {name} failed").into());
    }
    let path = String::from_utf8(output.stdout)?
        .lines()
        .filter_map(|line| serde_json::from_str::<Artifact>(line).ok())
        .filter_map(|artifact| artifact.executable)
        .find(|path| path.file_stem().is_some_and(|stem| stem == name));
    Ok(path.ok_or_else(|| format!("cargo built no program named {name}"))?)
}
