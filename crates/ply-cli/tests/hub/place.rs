//! A home of its own, and the program in it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use ply_client::{Agent, Client};
use tempfile::TempDir;

pub(crate) const PLY: &str = env!("CARGO_BIN_EXE_ply");

/// How long anything may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A user with nothing but a home and a login.
pub(crate) struct Place {
    dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(place.project()).unwrap();
        fs::create_dir(place.runtime()).unwrap();
        fs::set_permissions(place.runtime(), fs::Permissions::from_mode(0o700)).unwrap();
        place
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub(crate) fn runtime(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        vec![
            ("HOME", self.dir.path().to_owned()),
            ("XDG_RUNTIME_DIR", self.runtime()),
            ("PATH", path.into()),
        ]
    }

    /// Runs the program to its end.
    pub(crate) fn ply(&self, words: &[&str]) -> Output {
        let mut command = Command::new(PLY);
        command.env_clear().envs(self.variables()).args(words);
        command.current_dir(self.project()).output().unwrap()
    }

    /// Starts the program, whose standard output can be read.
    pub(crate) fn start(&self, words: &[&str]) -> std::process::Child {
        let mut command = Command::new(PLY);
        command.env_clear().envs(self.variables()).args(words);
        command.stdout(std::process::Stdio::piped());
        // It is interrupted, which jobs in the background of a shell ignore.
        ply_sys::heed_signals(&mut command);
        command.current_dir(self.project()).spawn().unwrap()
    }

    pub(crate) fn says(&self, words: &[&str]) -> String {
        let output = self.ply(words);
        let (out, told) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{words:?}: {out}{told}");
        out
    }

    /// Starts `ply attach`, as an editor does.
    pub(crate) async fn attach(&self) -> Agent {
        self.attach_to(&[]).await
    }

    /// Starts it with these words behind it.
    pub(crate) async fn attach_to(&self, words: &[&str]) -> Agent {
        self.attach_from(PLY.as_ref(), words).await
    }

    /// The same with another copy of the program.
    pub(crate) async fn attach_from(&self, program: &Path, words: &[&str]) -> Agent {
        let mut command = ply_client::Command::new("env").arg("-i");
        for (name, value) in self.variables() {
            command = command.arg(format!("{name}={}", value.display()));
        }
        let command = command
            .arg(program)
            .arg("attach")
            .args(words)
            .cwd(self.project());
        Client::new().spawn(command).await.unwrap()
    }

    /// Waits until the program says something, as often as it takes.
    pub(crate) async fn until(&self, is_it: impl Fn(&Self) -> bool) {
        let said = async {
            while !is_it(self) {
                tokio::task::yield_now().await;
            }
        };
        let said = tokio::time::timeout(PATIENCE, said).await;
        said.expect("this hangs");
    }

    /// Returns the process of the hub that runs.
    pub(crate) fn hub(&self) -> Option<u64> {
        let status = self.says(&["hub", "status", "--json"]);
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        status["pid"].as_u64()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // No hub outlives its test.
        self.ply(&["hub", "stop", "--now"]);
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
