//! What is installed, and where: `agents.lock` and the directories beside it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use ply_client::Command;
use serde::{Deserialize, Serialize};

use crate::program::error::Error;

/// The version of the file's format.
const FORMAT: u32 = 1;
const LOCK: &str = "agents.lock";
/// The file that is locked by whoever changes something.
const GUARD: &str = ".changing";
/// How names of unfinished installations begin.
const UNFINISHED: &str = ".new-";

/// The directory that agents are installed in.
#[derive(Debug, Clone)]
pub(crate) struct Place(PathBuf);

/// The file `agents.lock`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Lock {
    format: u32,
    pub(crate) agents: BTreeMap<String, Locked>,
}

/// An agent that is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Locked {
    /// Its id in the registry.
    pub(crate) id: String,
    pub(crate) version: String,
    pub(crate) about: String,
    pub(crate) kind: Kind,
    /// The address of the archive, or the package with its exact version.
    pub(crate) source: String,
    /// The checksum of the archive as it was downloaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<String>,
    /// The integrity of the package, as npm records it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) integrity: Option<String>,
    /// A program of the system that runs the agent's: `node`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) runner: Option<String>,
    /// The agent's program, below its directory.
    pub(crate) program: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) args: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) env: BTreeMap<String, String>,
}

/// How an agent is distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Npm,
    Uv,
    Binary,
}

/// The right to change what is installed. It ends with the process, however that ends.
#[derive(Debug)]
pub(super) struct Guard(#[expect(dead_code, reason = "locked while it is open")] File);

impl Default for Lock {
    fn default() -> Self {
        Self {
            format: FORMAT,
            agents: BTreeMap::new(),
        }
    }
}

impl Place {
    /// Finds the directory by the environment, as the XDG Base Directory Specification says.
    pub(crate) fn find(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let absolute = |name: &str| {
            let path = variable(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let home = || absolute("HOME").map(|home| home.join(".local/share"));
        let data = absolute("XDG_DATA_HOME").or_else(home)?;
        Some(Self(data.join("ply/agents")))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the directory of one version of an agent.
    pub(super) fn directory(&self, name: &str, version: &str) -> PathBuf {
        self.0.join(name).join(version)
    }

    /// Reads what is installed; nothing is, where there is no file.
    pub(crate) fn read(&self) -> Result<Lock, Error> {
        let path = self.0.join(LOCK);
        let wrong = |what: String| Error::Config {
            path: path.clone(),
            what,
        };
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::default()),
            Err(error) => return Err(wrong(error.to_string())),
        };
        let lock: Lock = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        match lock.format {
            FORMAT => Ok(lock),
            other => Err(wrong(format!(
                "its format is {other}, and this version of ply reads format {FORMAT}"
            ))),
        }
    }

    /// Takes the right to change what is installed, and clears away what others did not finish.
    pub(super) fn guard(&self) -> Result<Guard, Error> {
        fs::create_dir_all(&self.0).map_err(|source| self.failed(source))?;
        let path = self.0.join(GUARD);
        let file = File::create(&path).map_err(|source| self.failed(source))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(Error::agents(
                    "another `ply agents` command is running",
                    "wait until it is done, then try again",
                ));
            }
            Err(fs::TryLockError::Error(source)) => return Err(self.failed(source)),
        }
        for entry in fs::read_dir(&self.0).map_err(|source| self.failed(source))? {
            let entry = entry.map_err(|source| self.failed(source))?;
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_dir_all(entry.path()).map_err(|source| self.failed(source))?;
            }
        }
        Ok(Guard(file))
    }

    /// Makes an empty directory for an installation that is not finished.
    pub(super) fn unfinished(&self, _: &Guard) -> Result<PathBuf, Error> {
        let path = self.0.join(format!("{UNFINISHED}{}", std::process::id()));
        fs::create_dir(&path).map_err(|source| self.failed(source))?;
        Ok(path)
    }

    /// Puts a finished installation into its place.
    pub(super) fn finish(
        &self,
        unfinished: &Path,
        name: &str,
        version: &str,
        _: &Guard,
    ) -> Result<(), Error> {
        let place = self.directory(name, version);
        let put = || {
            fs::create_dir_all(self.0.join(name))?;
            // What is there and is not in the lock file was never finished, or is being replaced.
            remove_if_there(&place)?;
            fs::rename(unfinished, &place)
        };
        put().map_err(|source| self.failed(source))
    }

    /// Writes what is installed, whole or not at all.
    pub(super) fn write(&self, lock: &Lock, _: &Guard) -> Result<(), Error> {
        let path = self.0.join(LOCK);
        let temporary = self.0.join(format!("{LOCK}.tmp"));
        let write = || {
            let mut file = File::create(&temporary)?;
            file.write_all(&serde_json::to_vec_pretty(lock)?)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(&temporary, &path)
        };
        write().map_err(|source| Error::File {
            path: path.clone(),
            source,
        })
    }

    /// Removes the versions of an agent, except those that are named.
    pub(super) fn prune(&self, name: &str, kept: &[&str], _: &Guard) -> Result<(), Error> {
        let directory = self.0.join(name);
        let prune = || {
            for entry in fs::read_dir(&directory)? {
                let entry = entry?;
                if !kept.iter().any(|kept| entry.file_name() == *kept) {
                    fs::remove_dir_all(entry.path())?;
                }
            }
            match kept.is_empty() {
                true => fs::remove_dir(&directory),
                false => Ok(()),
            }
        };
        match prune() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(|source| self.failed(source)),
        }
    }

    /// Returns the command that starts an installed agent.
    pub(crate) fn command(&self, name: &str, locked: &Locked) -> Command {
        let program = self.program(name, locked);
        let command = match &locked.runner {
            Some(runner) => Command::new(runner).arg(program),
            None => Command::new(program),
        };
        let command = command.args(&locked.args);
        locked
            .env
            .iter()
            .fold(command, |command, (name, value)| command.env(name, value))
    }

    /// Returns the agent's program.
    pub(super) fn program(&self, name: &str, locked: &Locked) -> PathBuf {
        self.directory(name, &locked.version).join(&locked.program)
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::File {
            path: self.0.clone(),
            source,
        }
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked() -> Locked {
        Locked {
            id: "tea-acp".to_owned(),
            version: "1.2.3".to_owned(),
            about: "Makes tea".to_owned(),
            kind: Kind::Npm,
            source: "@kitchen/tea@1.2.3".to_owned(),
            sha256: None,
            integrity: Some("sha512-abc".to_owned()),
            runner: Some("node".to_owned()),
            program: "node_modules/@kitchen/tea/tea.js".to_owned(),
            args: vec!["--acp".to_owned()],
            env: [("TEA".to_owned(), "green".to_owned())].into(),
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_starts_the_program_in_its_directory() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place(directory.path().join("agents"));
        assert!(place.read().unwrap().agents.is_empty());
        let guard = place.guard().unwrap();
        let mut lock = Lock::default();
        lock.agents.insert("tea".to_owned(), locked());
        place.write(&lock, &guard).unwrap();
        assert_eq!(place.read().unwrap().agents, lock.agents);
        let command = place.command("tea", &locked());
        let words: Vec<_> = command
            .words()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let program = directory
            .path()
            .join("agents/tea/1.2.3/node_modules/@kitchen/tea/tea.js");
        assert_eq!(words, ["node", &program.to_string_lossy(), "--acp"]);
        assert_eq!(command.envs().count(), 1);
    }

    #[test]
    fn only_one_at_a_time_changes_anything_and_unfinished_work_is_cleared() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place(directory.path().to_owned());
        let guard = place.guard().unwrap();
        assert!(place.guard().is_err());
        let unfinished = place.unfinished(&guard).unwrap();
        drop(guard);
        let guard = place.guard().unwrap();
        assert!(!unfinished.exists());
        let unfinished = place.unfinished(&guard).unwrap();
        fs::write(unfinished.join("a"), "a").unwrap();
        place.finish(&unfinished, "tea", "1.0.0", &guard).unwrap();
        assert!(place.directory("tea", "1.0.0").join("a").is_file());
        place.prune("tea", &["2.0.0"], &guard).unwrap();
        assert!(!place.directory("tea", "1.0.0").exists());
    }

    #[test]
    fn a_file_of_another_format_is_refused_with_its_name() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(
            directory.path().join(LOCK),
            r#"{"format": 7, "agents": {}}"#,
        )
        .unwrap();
        let error = Place(directory.path().to_owned()).read().unwrap_err();
        let told = error.to_string();
        assert!(
            told.contains("agents.lock") && told.contains("format is 7"),
            "{told}"
        );
    }
}
