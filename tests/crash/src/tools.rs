//! Where the programs of this package are.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// The agent and the library that is preloaded into it.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    pub(crate) agent: PathBuf,
    pub(crate) shim: PathBuf,
}

impl Tools {
    /// Finds them beside the program that runs, where Cargo puts them.
    pub(crate) fn find() -> Result<Self> {
        let program = std::env::current_exe()?;
        let directory = program.parent().unwrap_or(Path::new("/"));
        // Tests run in `deps`, programs above it.
        let top = match directory.ends_with("deps") {
            true => directory.parent().unwrap_or(directory),
            false => directory,
        };
        // What is above `deps` may be missing, or of another day: this library is no result of its own to Cargo.
        let shim = top.join("deps").join("libcrash_shim.so");
        let agent = top.join("journal-agent");
        for file in [&shim, &agent] {
            if !file.is_file() {
                let words = format!(
                    "{} is missing; build the package crash-tests",
                    file.display()
                );
                return Err(Failure::other(words));
            }
        }
        Ok(Self { agent, shim })
    }
}
