//! Programs of other packages that tests start.
//!
//! Cargo builds only the programs of the package that it tests, so the rest is built here. Of the whole workspace, as `cargo test`
//! does it: for fewer packages cargo chooses other features, and would build nearly everything a second time.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What is built.
const BUILT: &[&str] = &["--workspace", "--all-targets"];

/// Builds the programs and returns where they are, by name.
///
/// # Errors
///
/// Cargo cannot be started, or the build fails; what is wrong is on standard error.
pub fn build() -> io::Result<BTreeMap<String, PathBuf>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    // What cargo tells a test about its package would make build scripts run anew that look at it, and everything after them.
    let told = std::env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    });
    for name in told {
        command.env_remove(name);
    }
    let built = command
        .arg("build")
        .args(BUILT)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    if !built.status.success() {
        return Err(io::Error::other("the other agents could not be built"));
    }
    let lines = built.stdout.split(|byte| *byte == b'\n');
    let programs = lines.filter_map(|line| {
        let message: Value = serde_json::from_slice(line).ok()?;
        let name = message.pointer("/target/name")?.as_str()?;
        let path = message.get("executable")?.as_str()?;
        if message.pointer("/profile/test")?.as_bool()? {
            return None;
        }
        Some((name.to_owned(), PathBuf::from(path)))
    });
    Ok(programs.collect())
}
