//! A home, a project and agents, as the documents take them for granted.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use terminal_tests::{Ended, Key, Launch, Screen as _, Terminal};

const PLY: &str = env!("CARGO_BIN_EXE_ply");

/// Programs of others that the documents name. Here they are all the agent in this program.
const AGENTS: [&str; 4] = ["my-agent", "gemini", "claude-agent-acp", "codex-acp"];

pub(crate) struct Place {
    directory: TempDir,
    session: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let mut place = Self {
            directory: tempfile::tempdir().unwrap(),
            session: String::new(),
        };
        for name in ["home", "programs", "project/src"] {
            std::fs::create_dir_all(place.path(name)).unwrap();
        }
        std::fs::write(place.path("project/README.md"), "# Teapot\n").unwrap();
        std::fs::write(place.path("project/error.log"), "it broke\n").unwrap();
        std::fs::write(place.path("project/servers.json"), "{\"mcpServers\": {}}").unwrap();
        for name in AGENTS {
            place.program(name, &format!("exec {PLY} agent"));
        }
        place.program("git", "echo '+a line'");
        std::os::unix::fs::symlink(PLY, place.path("programs/ply")).unwrap();
        let recorded =
            "ply run hello -- ply trace -o talk.ndjson -- ply agent && cp talk.ndjson trace.ndjson";
        place.run(recorded).unwrap();
        let listed = place.command("ply sessions ls").output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        place.session = listed.split_whitespace().next().unwrap().to_owned();
        place
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().join(name)
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.path("programs").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn environment(&self) -> [(&'static str, String); 4] {
        let path = std::env::var("PATH").unwrap();
        let programs = self.path("programs");
        [
            ("PATH", format!("{}:{path}", programs.display())),
            ("HOME", self.path("home").display().to_string()),
            ("PLY_STORE", self.path("sessions.db").display().to_string()),
            ("LANG", "C.UTF-8".to_owned()),
        ]
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        // The documents name a session that they made up.
        let line = match self.session.is_empty() {
            true => line.to_owned(),
            false => line.replace("sess-63", &self.session),
        };
        command
            .args(["-c", &line])
            .env_clear()
            .envs(self.environment())
            .current_dir(self.path("project"))
            .stdin(Stdio::null());
        command
    }

    /// Runs a line in a shell; an error is what it said if it did not end well.
    pub(crate) fn run(&self, line: &str) -> Result<(), String> {
        let output = self.command(line).output().unwrap();
        match output.status.success() {
            true => Ok(()),
            false => Err(format!(
                "{}: {}{}",
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            )),
        }
    }

    /// Runs a line on a terminal until its session is ready, and quits.
    pub(crate) fn open(&self, line: &str) -> Result<(), String> {
        let mut launch = Launch::new("/bin/sh").args(["-c", line]).size(90, 24);
        for (name, value) in self.environment() {
            launch = launch.env(name, value);
        }
        let terminal = Terminal::spawn(&launch.cwd(self.path("project"))).unwrap();
        let is_there = |shot: &terminal_tests::Shot| {
            shot.contains("· ready") || shot.contains("needs you") || shot.contains("stored")
        };
        let seen = terminal.try_wait_for(&is_there, "a session, or a list of them");
        seen.map_err(|fault| fault.to_string())?;
        // The first clears, cancels or closes what is there.
        for _ in 0..3 {
            terminal.press(Key::Ctrl('c'));
        }
        match terminal.ended() {
            // The last of them may come when the client waits for its agent to end, and ends that at once.
            Ended::Code(0) | Ended::Signal(2) => Ok(()),
            ended => Err(format!("{ended:?}")),
        }
    }
}
