//! Builds a program that measures, and runs it under a time limit.
#![expect(
    clippy::disallowed_methods,
    reason = "waiting for a process has a deadline"
)]

use std::ffi::OsString;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::suite::Program;
use crate::Result;
use crate::build::{Profile, build};

/// How much longer than its own limit a measurement may take before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// The program that measures.
pub(super) struct Binary {
    path: PathBuf,
}

impl Binary {
    /// Builds the program and asks cargo where it is, so that any target directory works.
    pub(super) fn build(Program(package, name): Program, profile: Profile) -> Result<Self> {
        let path = build(package, name, profile)?;
        Ok(Binary { path })
    }

    /// Runs one measurement with this command of the program, under the command `tool` unless that is empty, and returns what it printed.
    ///
    /// # Errors
    ///
    /// Returns an error when the measurement fails, or does not end within `limit` and some grace; it is killed then,
    /// and its agent ends with it.
    pub(super) fn run(
        &self,
        tool: &[OsString],
        command_word: &str,
        arguments: &[OsString],
        limit: Duration,
    ) -> Result<String> {
        let mut words = tool.iter().cloned();
        let mut command = match words.next() {
            Some(program) => {
                let mut command = Command::new(program);
                command.args(words).arg(&self.path);
                command
            }
            None => Command::new(&self.path),
        };
        let mut child = command
            .arg(command_word)
            .args(arguments)
            .arg(format!("--limit-s={}", limit.as_secs()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let deadline = Instant::now() + limit + GRACE;
        // The program prints one short line, far less than a pipe holds, so it may be read after the exit.
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() > deadline {
                child.kill()?;
                child.wait()?;
                return Err(format!("{} hung and was killed", display(arguments)).into());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        if !status.success() {
            return Err(format!("{} failed: {status}", display(arguments)).into());
        }
        let mut printed = String::new();
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_to_string(&mut printed)?;
        }
        Ok(printed)
    }
}

fn display(arguments: &[OsString]) -> String {
    let words: Vec<_> = arguments
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    format!("the measurement `{}`", words.join(" "))
}
