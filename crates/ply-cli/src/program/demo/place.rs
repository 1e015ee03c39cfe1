//! Where the tour happens: a project and a hub of its own, in a directory that is removed in the end.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use ply_client::Command;
use ply_tui::TourProgram;

use crate::program::error::Error;

/// Files of the project.
const FILES: [(&str, &str); 3] = [
    (
        "README.md",
        "# Teapot\n\nA kettle, a pot and four cups, as a small library.\n",
    ),
    ("src/kettle.rs", super::script::KETTLE),
    ("notes.tmp", "Buy tea.\n"),
];

pub(super) struct Place {
    directory: PathBuf,
    program: PathBuf,
}

impl Place {
    pub(super) fn new() -> Result<Self, Error> {
        let program = std::env::current_exe().map_err(Error::Start)?;
        let name = format!("ply-demo-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let place = Self { directory, program };
        place.make().map_err(|source| Error::File {
            path: place.directory.clone(),
            source,
        })?;
        Ok(place)
    }

    fn make(&self) -> std::io::Result<()> {
        DirBuilder::new().mode(0o700).create(&self.directory)?;
        std::fs::create_dir(self.directory.join("run"))?;
        for (name, text) in FILES {
            let path = self.project().join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, text)?;
        }
        Ok(())
    }

    /// Returns what stands for the home directory on the screen.
    pub(super) fn home(&self) -> PathBuf {
        self.directory.clone()
    }

    pub(super) fn project(&self) -> PathBuf {
        self.directory.join("teapot")
    }

    /// Returns the scripted agent, behind a hub.
    pub(super) fn agent(&self) -> Command {
        let program = self.program.as_os_str();
        let mut command = Command::new(program).args(["attach", "--"]);
        command = command.arg(program).args(["demo", "--agent"]);
        for (name, value) in self.environment() {
            command = command.env(name, value);
        }
        command
    }

    /// Returns this program as a second client of the same hub.
    pub(super) fn second_client(&self, words: &[&str]) -> TourProgram {
        let program = self.program.to_string_lossy().into_owned();
        let words = words.iter().map(|word| (*word).to_owned());
        let second = TourProgram::new(std::iter::once(program).chain(words));
        let environment = self.environment().into_iter();
        environment.fold(second, |second, (name, value)| {
            second.env(name, value.to_string_lossy())
        })
    }

    /// Ends the hub and removes the directory.
    pub(super) async fn end(self) {
        let mut stop = std::process::Command::new(&self.program);
        stop.args(["hub", "stop"])
            .envs(self.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let stopped = tokio::task::spawn_blocking(move || stop.status()).await;
        // A hub that did not start needs no end, and one that is idle ends by itself.
        drop(stopped);
        remove(&self.directory);
    }

    fn environment(&self) -> [(&'static str, PathBuf); 4] {
        let at = |name: &str| self.directory.join(name);
        [
            ("XDG_RUNTIME_DIR", at("run")),
            ("XDG_STATE_HOME", at("state")),
            ("XDG_DATA_HOME", at("data")),
            ("PLY_STORE", at("sessions.db")),
        ]
    }
}

fn remove(directory: &Path) {
    if let Err(error) = std::fs::remove_dir_all(directory) {
        let path = ply_client::text::path(directory);
        crate::program::output::tell(&format!("{path} cannot be removed: {error}"));
    }
}
