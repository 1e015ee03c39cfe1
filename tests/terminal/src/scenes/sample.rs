//! The repository that the scenes are about.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Result;

/// How the name of a home begins.
pub(super) const HOME: &str = "ply-scene-";

/// Files of the sample repository. That of git is as much as a program needs to see a branch.
const FILES: [(&str, &str); 6] = [
    (
        "README.md",
        "# Teapot\n\nA kettle, a pot and four cups, as a small library.\n",
    ),
    (
        "Cargo.toml",
        "[package]\nname = \"teapot\"\nversion = \"0.1.0\"\nedition = \"2024\"\ndescription = \"A kettle, a pot and four cups.\"\n",
    ),
    (
        "src/lib.rs",
        "//! A kettle, a pot and four cups.\n\nmod kettle;\n\npub use kettle::Kettle;\n",
    ),
    (
        "src/kettle.rs",
        "/// Degrees at which the water is poured.\nconst POUR_AT: u8 = 60;\n\n/// Water that becomes hot.\npub struct Kettle {\n    degrees: u8,\n}\n\nimpl Kettle {\n    /// Tells whether the tea can be made.\n    pub fn is_hot(&self) -> bool {\n        self.degrees >= POUR_AT\n    }\n}\n",
    ),
    (".git/HEAD", "ref: refs/heads/main\n"),
    (".git/config", "[core]\n\trepositoryformatversion = 0\n"),
];

/// A home with a sample repository in it, removed in the end.
///
/// Its path is another each time, so that scenes can be played side by side; screens show it as `~`.
#[derive(Debug)]
pub struct Sample {
    home: TempDir,
}

impl Sample {
    /// Makes it.
    ///
    /// # Errors
    ///
    /// There is no room for temporary files.
    pub fn new() -> Result<Self> {
        let sample = Sample {
            home: tempfile::Builder::new().prefix(HOME).tempdir()?,
        };
        for directory in ["teapot/.git/objects", "teapot/.git/refs", "run"] {
            std::fs::create_dir_all(sample.home().join(directory))?;
        }
        for (name, text) in FILES {
            let path = sample.project().join(name);
            if let Some(directory) = path.parent() {
                std::fs::create_dir_all(directory)?;
            }
            std::fs::write(path, text)?;
        }
        Ok(sample)
    }

    /// Returns the home directory.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the directory of the repository.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.home().join("teapot")
    }
}
