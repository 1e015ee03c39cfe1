//! A directory of our own in the user's project: an editor's session is about real work, which no scene may touch.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};

use crate::client::stage::Stage;
use crate::peer::Stopped;

/// A new directory in that of the session. It goes, with all that is in it, however the scene ends.
#[derive(Debug)]
pub(super) struct Corner(PathBuf);

impl Corner {
    pub(super) fn new(stage: &Stage) -> Result<Self, Stopped> {
        let path = fresh(stage)?;
        // Fails if something is there already, a link included.
        std::fs::create_dir(&path).map_err(|error| trouble(&error))?;
        Ok(Self(path))
    }

    /// Returns the path of a file in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Makes a file in it, and returns its path.
    pub(super) fn write(&self, name: &str, content: &str) -> Result<PathBuf, Stopped> {
        let path = self.file(name);
        std::fs::write(&path, content).map_err(|error| trouble(&error))?;
        Ok(path)
    }
}

impl Drop for Corner {
    fn drop(&mut self) {
        // Links in it are removed, not followed.
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::debug!(%error, "the directory of a scene is left behind");
        }
    }
}

/// The path of a file that a client must not make. Should it do so nevertheless, the file goes.
#[derive(Debug)]
pub(super) struct Nothing(PathBuf);

impl Nothing {
    /// Returns a path in a directory at which nothing is.
    pub(super) fn in_session(stage: &Stage) -> Result<Self, Stopped> {
        fresh(stage).map(Self)
    }

    /// Returns a path outside of every session at which nothing is.
    pub(super) fn outside() -> Self {
        Self(std::env::temp_dir().join(name()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Nothing {
    fn drop(&mut self) {
        match std::fs::remove_file(&self.0) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::debug!(%error, "a file of a scene is left behind");
            }
            _ => {}
        }
    }
}

/// Returns a path in the session's directory that nobody else has thought of.
fn fresh(stage: &Stage) -> Result<PathBuf, Stopped> {
    let cwd = PathBuf::from(stage.house.lock().cwd.clone());
    match cwd.is_absolute() {
        true => Ok(cwd.join(name())),
        false => {
            let why = "the session has no absolute directory to put files in";
            Err(Stopped::Other(why.to_owned()))
        }
    }
}

fn name() -> String {
    format!(
        "ply-check-{:016x}",
        RandomState::new().build_hasher().finish()
    )
}

fn trouble(error: &std::io::Error) -> Stopped {
    Stopped::Other(format!("cannot create a file for the scene: {error}"))
}
