//! What becomes of a report, and what is needed to make one.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ply_check::report::{BadBaseline, Baseline};
use ply_check::{Rule, Selection, Side};
use ply_client::Version;

use super::arguments::Run;
use crate::program::error::Error;

/// Refuses words of `--only` and `--skip` that name no rule.
pub(crate) fn check_words(selection: &Selection, rules: &[Rule]) -> Result<(), Error> {
    match selection.unknown(rules).first() {
        None => Ok(()),
        Some(word) => Err(Error::Check(format!(
            "no rule and no topic is called `{word}`; `ply check rules` lists them"
        ))),
    }
}

/// Reads the baseline of a check of one side, if one is given.
pub(crate) fn baseline(run: &Run, side: Side) -> Result<Baseline, Error> {
    baseline_by(run, |text| Baseline::read(text, side))
}

/// Reads the baseline of a check of a recording, if one is given.
pub(crate) fn trace_baseline(run: &Run) -> Result<Baseline, Error> {
    baseline_by(run, Baseline::read_of_trace)
}

fn baseline_by(
    run: &Run,
    read: impl FnOnce(&[u8]) -> Result<Baseline, BadBaseline>,
) -> Result<Baseline, Error> {
    let Some(path) = &run.baseline else {
        return Ok(Baseline::default());
    };
    let bad = |why: String| {
        let path = ply_client::text::path(path);
        Error::Check(format!("{path} cannot be the baseline: {why}"))
    };
    let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
    read(&text).map_err(|error| bad(error.to_string()))
}

/// Refuses a selection that leaves nothing to look at in the versions that are looked at.
pub(crate) fn check_rest(
    selection: &Selection,
    rules: &[Rule],
    versions: &[Version],
) -> Result<(), Error> {
    let is_looked_at = |rule: &Rule| versions.iter().any(|version| rule.holds_in(*version));
    let mut left = rules.iter().filter(|rule| is_looked_at(rule));
    match left.any(|rule| selection.takes(rule)) {
        true => Ok(()),
        false => Err(nothing_left(versions)),
    }
}

/// Says that no rule is left to look at.
pub(crate) fn nothing_left(versions: &[Version]) -> Error {
    let numbers: Vec<_> = versions.iter().map(|version| number(*version)).collect();
    Error::Check(format!(
        "`--only` and `--skip` leave no rule of version {}; `ply check rules` lists them",
        numbers.join(" or ")
    ))
}

fn number(version: Version) -> &'static str {
    match version {
        Version::V1 => "1",
        Version::V2 => "2",
    }
}

/// Returns the time, to tell how long a run took.
#[expect(
    clippy::disallowed_methods,
    reason = "how long a run took is told to its user"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns a command whose files are found from any directory: checks run in directories of their own.
pub(crate) fn located(command: &[OsString]) -> Result<Vec<OsString>, Error> {
    let mut command = command.to_vec();
    for (place, word) in command.iter_mut().enumerate() {
        let path = Path::new(word);
        let is_meant = match place {
            0 => path.components().count() > 1,
            _ => names_a_file(path),
        };
        if is_meant && path.is_relative() {
            *word = std::path::absolute(path).map_err(Error::Start)?.into();
        }
    }
    Ok(command)
}

/// Returns whether an argument means a file that is there. A plain word may be a command that just has its name.
fn names_a_file(path: &Path) -> bool {
    let looks_like_one = path.components().count() > 1 || path.extension().is_some();
    looks_like_one && path.is_file()
}

/// Returns an option of a run that others than it may need, if it is not what it is without being given.
pub(crate) fn patience(option: &str, given: Duration, default_s: u64) -> Vec<OsString> {
    match given == Duration::from_secs(default_s) {
        true => Vec::new(),
        false => vec![option.into(), given.as_secs_f64().to_string().into()],
    }
}

/// Returns the version as it was given.
pub(crate) fn version(run: &Run) -> Vec<OsString> {
    let version = run.version.iter();
    let given = version.flat_map(|version| ["--version".to_owned(), version.to_string()]);
    given.map(OsString::from).collect()
}

/// Returns words as they can be typed.
pub(crate) fn words(words: &[OsString]) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:,@+%{}".contains(char);
    let words = words.iter().map(|word| {
        let word = word.to_string_lossy();
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.into_owned(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What is being done, on a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    is_shown: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            is_shown: std::io::stderr().is_terminal(),
        }
    }

    /// Shows what is being done in place of what was done before.
    pub(crate) fn show(&mut self, what: &str) {
        if self.is_shown {
            // If it cannot be shown, nobody looks.
            drop(write!(std::io::stderr(), "\r\x1b[K{what}"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.show("");
    }
}

/// An empty directory that goes with its owner.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Result<Self, Error> {
        let base = std::env::temp_dir();
        let failed = |source| Error::Directory {
            path: base.clone(),
            source,
        };
        let base = base.canonicalize().map_err(failed)?;
        let id = std::process::id();
        for attempt in 0..100 {
            let path = base.join(format!("ply-check-{id}-{attempt}"));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(Error::Directory { path, source }),
            }
        }
        Err(Error::Exists(base))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes a directory for sessions in it.
    pub(crate) fn work(&self) -> Result<PathBuf, Error> {
        self.made("work")
    }

    /// Makes a home in it, and returns the variables that name it.
    pub(crate) fn home(&self) -> Result<Vec<(OsString, OsString)>, Error> {
        let home = self.made("home")?;
        let mut variables = vec![("PLY_STORE".into(), home.join("sessions.db").into())];
        for name in [
            "HOME",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_STATE_HOME",
            "XDG_CACHE_HOME",
        ] {
            variables.push((name.into(), home.clone().into_os_string()));
        }
        Ok(variables)
    }

    fn made(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.0.join(name);
        let made = std::fs::create_dir(&path);
        made.map_err(|source| Error::Directory {
            path: path.clone(),
            source,
        })?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Whatever an agent left there is of no use; what cannot be removed stays among the temporary files.
        drop(std::fs::remove_dir_all(&self.0));
    }
}
