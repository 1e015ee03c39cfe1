//! Programs of the system that installations need.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::{Access, access};
use tokio::process::Command;

use crate::program::error::Error;

/// How long a program may take; packages are downloaded in this time.
const TIME_MAX: Duration = Duration::from_secs(15 * 60);
/// Lines of what a program said that are told when it failed.
const LINES_MAX: usize = 12;

/// Programs that may be missing, and how to get each.
const HOW: &[(&str, &str)] = &[
    ("npm", "install Node.js, which has npm: https://nodejs.org"),
    ("node", "install Node.js: https://nodejs.org"),
    ("uv", "install uv: https://docs.astral.sh/uv"),
    ("tar", "install tar with your package manager"),
    ("unzip", "install unzip with your package manager"),
];

/// Returns how to get a program.
pub(super) fn how_to_get(program: &str) -> &'static str {
    let known = HOW.iter().find(|(name, _)| *name == program);
    known.map_or("install it with your package manager", |(_, how)| how)
}

/// Finds a program as the system does: a path as it is, a name on PATH.
pub(super) fn find(program: &OsStr) -> Option<PathBuf> {
    let is_there = |path: &PathBuf| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    if Path::new(program).components().count() > 1 {
        return Some(PathBuf::from(program)).filter(is_there);
    }
    let search = std::env::var_os("PATH")?;
    std::env::split_paths(&search)
        .map(|directory| directory.join(program))
        .find(is_there)
}

/// Runs a program to its end and returns what it printed.
///
/// Dropped before it is done, it is killed.
pub(super) async fn run<S: AsRef<OsStr>>(
    program: &str,
    words: impl IntoIterator<Item = S>,
    cwd: &Path,
) -> Result<Vec<u8>, Error> {
    if find(OsStr::new(program)).is_none() {
        return Err(Error::agents(
            format!("`{program}` is needed and not on PATH"),
            how_to_get(program),
        ));
    }
    let mut command = Command::new(program);
    command
        .args(words)
        .current_dir(cwd)
        // Names are listed as they are, whatever the user's language.
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = match tokio::time::timeout(TIME_MAX, command.output()).await {
        Ok(output) => output.map_err(Error::Start)?,
        Err(_) => {
            let minutes = TIME_MAX.as_secs() / 60;
            return Err(Error::agents(
                format!("`{program}` was not done after {minutes} minutes"),
                "check your connection and try again",
            ));
        }
    };
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(Error::agents(
            format!("`{program}` failed ({})", output.status),
            last_lines(&output.stderr, &output.stdout),
        )),
    }
}

/// Returns the end of what a program said, on its standard error if it said anything there.
fn last_lines(stderr: &[u8], stdout: &[u8]) -> String {
    let said = match stderr.trim_ascii().is_empty() {
        true => stdout,
        false => stderr,
    };
    let said = String::from_utf8_lossy(said.trim_ascii());
    let lines: Vec<&str> = said.lines().collect();
    let skip = lines.len().saturating_sub(LINES_MAX);
    let lines = lines.into_iter().skip(skip);
    std::iter::once("it said:")
        .chain(lines)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        assert!(find(OsStr::new("sh")).is_some());
        assert!(find(OsStr::new("/bin/sh")).is_some());
        assert_eq!(find(OsStr::new("/bin")), None);
        assert_eq!(find(OsStr::new("no-such-program-here")), None);
    }

    #[test]
    fn the_end_of_what_a_program_said_is_told() {
        let long = (0..40).map(|line| format!("{line}\n")).collect::<String>();
        let told = last_lines(long.as_bytes(), b"other");
        assert!(told.starts_with("it said:\n28\n") && told.ends_with("\n39"));
        assert_eq!(last_lines(b" \n", b"out\n"), "it said:\nout");
    }
}
