//! Temporary files of a session's own, in place of those that all programs of the user share.
//!
//! In the shared ones lie sockets of terminals, agents for keys and windows, and links that somebody else
//! made. What commands put there instead stays until the session ends.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The mode of directories for temporary files.
const SHARED: u32 = 0o1777;
/// Where temporary files are, if nothing else is said.
const USUAL: &str = "/tmp";
/// The socket at which the agent takes in doors to the network.
const GATE: &str = "gate";

/// A directory of a session's own, which goes away with it.
#[derive(Debug)]
pub(in crate::shell) struct Private {
    dir: PathBuf,
    /// The directories that are replaced, and what replaces them.
    places: Vec<(PathBuf, PathBuf)>,
}

impl Private {
    /// Makes one for the directories that are to be replaced, in the first of `around` where it can.
    pub(super) fn make(around: &[PathBuf], replaced: &[PathBuf]) -> io::Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for around in around
            .iter()
            .map(PathBuf::as_path)
            .chain([Path::new(USUAL)])
        {
            match Self::make_in(around, replaced) {
                Ok(made) => return Ok(made),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn make_in(around: &Path, replaced: &[PathBuf]) -> io::Result<Self> {
        let name = RandomState::new().build_hasher().finish();
        let dir = around.join(format!("ply-{name:016x}"));
        std::fs::DirBuilder::new().mode(0o700).create(&dir)?;
        let mut made = Self {
            dir,
            places: Vec::new(),
        };
        for (count, replaced) in replaced.iter().enumerate() {
            let place = made.dir.join(count.to_string());
            std::fs::create_dir(&place)?;
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(SHARED))?;
            made.places.push((replaced.clone(), place));
        }
        Ok(made)
    }

    pub(super) fn places(&self) -> &[(PathBuf, PathBuf)] {
        &self.places
    }

    /// Returns where the agent takes in doors to the network.
    pub(in crate::shell) fn gate(&self) -> PathBuf {
        self.dir.join(GATE)
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.dir) {
            tracing::warn!(%error, "temporary files of a session stay behind");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_its_own_until_it_ends() {
        let scratch = tempfile::tempdir().unwrap();
        let at = scratch.path();
        let places = [at.join("none"), at.to_owned()];
        let private = Private::make(&places, &places).unwrap();
        let [(first, _), (second, place)] = private.places() else {
            panic!("{private:?}");
        };
        assert_eq!((first, second), (&at.join("none"), &at.to_owned()));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(&private.dir), mode(place)), (0o700, SHARED));
        std::fs::write(place.join("x"), "").unwrap();
        drop(private);
        assert_eq!(std::fs::read_dir(at).unwrap().count(), 0);
        let elsewhere = Private::make(&[], &[]).unwrap();
        assert!(elsewhere.places().is_empty() && elsewhere.dir.starts_with(USUAL));
    }
}
