//! The repository that the scenes are about.

use std::path::{Path, PathBuf};

use crate::Result;

/// Where scenes live. The client shows paths, and these are the same and short on every machine.
const HOME: &str = "/tmp/demo";

const FILES: [(&str, &str); 3] = [
    (
        "README.md",
        "# Teapot\n\nA kettle, a pot and four cups, as a small library.\n",
    ),
    (
        "src/lib.rs",
        "//! A kettle, a pot and four cups.\n\nmod kettle;\n\npub use kettle::Kettle;\n",
    ),
    (
        "src/kettle.rs",
        "/// Degrees at which the water is poured.\nconst POUR_AT: u8 = 60;\n\n/// Water that becomes hot.\npub struct Kettle {\n    degrees: u8,\n}\n\nimpl Kettle {\n    /// Tells whether the tea can be made.\n    pub fn is_hot(&self) -> bool {\n        self.degrees >= POUR_AT\n    }\n}\n",
    ),
];

/// A home with a sample repository in it, removed in the end.
pub(super) struct Sample {
    home: PathBuf,
}

impl Sample {
    /// Makes it.
    ///
    /// # Errors
    ///
    /// The place is taken, or cannot be written.
    pub(super) fn new() -> Result<Self> {
        let home = PathBuf::from(HOME);
        // Not one that exists: it is removed in the end.
        std::fs::create_dir(&home).map_err(|error| {
            format!("{HOME} cannot be made, and the scenes live there: {error}")
        })?;
        let sample = Sample { home };
        for (name, text) in FILES {
            let path = sample.project().join(name);
            if let Some(directory) = path.parent() {
                std::fs::create_dir_all(directory)?;
            }
            std::fs::write(path, text)?;
        }
        Ok(sample)
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    pub(super) fn project(&self) -> PathBuf {
        self.home.join("teapot")
    }
}

impl Drop for Sample {
    #[expect(clippy::print_stderr, reason = "a task says what it left behind")]
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.home) {
            eprintln!("{HOME} cannot be removed: {error}");
        }
    }
}
