//! A program inside tmux, on a real pty.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::Pid;

use crate::terminal::tree;
use crate::{Ended, Heard, Key, Launch, NotSeen, Screen, Shot, Terminal};

/// What tmux is told before anything runs in it: the program has the whole screen and all keys.
const SETTINGS: &[&[&str]] = &[
    &["set-option", "-g", "status", "off"],
    &["set-option", "-g", "prefix", "None"],
    // Long enough for a sequence that comes in two pieces.
    &["set-option", "-s", "escape-time", "20"],
    &["set-option", "-g", "focus-events", "on"],
    &["set-option", "-g", "default-terminal", "screen-256color"],
    &["set-option", "-asq", "terminal-features", ",*:RGB"],
    &["set-option", "-g", "set-titles", "on"],
    &["set-option", "-g", "set-titles-string", "#{pane_title}"],
];

/// What runs inside tmux: a shell that runs the program, as users do. Its end is told as a title, which comes through after
/// everything the program wrote; and the shell stays, because tmux throws away what it has not read of a pane whose process
/// has ended. An interrupt is the program's to deal with, so the shell only takes note of it.
const SHELL: &str = r#"trap : INT QUIT
"$0" "$@"
printf '\033]2;ply-test-ended %d\007' $?
exec sleep 1000000"#;

/// How the title begins that tells the end of a program.
const ENDED: &str = "ply-test-ended ";

/// A program inside tmux, which runs on a [`Terminal`]: keys and screens go through both.
///
/// Each has a server of its own, without the user's settings. Dropping it kills the server with everything in it. The program
/// is run by a shell, so an end by a signal is told as a code, 128 more than the signal.
pub struct Tmux {
    terminal: Terminal,
    program: PathBuf,
    socket: String,
    ended: OnceLock<Ended>,
}

impl Tmux {
    /// Tells whether tmux is installed.
    #[must_use]
    pub fn is_installed() -> bool {
        installed().is_some()
    }

    /// Starts a program inside tmux.
    ///
    /// # Errors
    ///
    /// tmux is not installed or cannot be started.
    pub fn spawn(launch: &Launch) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let socket = format!("ply-test-{}-{number}", std::process::id());
        let program = installed().ok_or(io::ErrorKind::NotFound)?;
        let mut outer = launch.clone();
        outer.program = program.clone().into();
        outer.arguments = Vec::new();
        // Without a locale tmux would take the terminal for one that knows ASCII only.
        outer = outer.args(["-u", "-L", &socket, "-f", "/dev/null"]);
        for setting in SETTINGS {
            outer = outer.args(*setting).arg(";");
        }
        // The server takes over the environment of whoever starts it, so that the program gets what it was given.
        outer = outer.args(["new-session", "--", "/bin/sh", "-c", SHELL]);
        outer = outer.arg(&launch.program);
        outer = outer.args(launch.arguments.iter().map(|argument| literal(argument)));
        let tmux = Tmux {
            terminal: Terminal::spawn(&outer)?,
            program,
            socket,
            ended: OnceLock::new(),
        };
        // From here on there is a server to ask.
        let started = tmux.try_wait_for(&Shot::is_alternate, "tmux");
        started.map_err(io::Error::other)?;
        Ok(tmux)
    }

    /// Returns the text of the screen as tmux itself tells it.
    #[must_use]
    pub fn capture(&self) -> String {
        self.ask(&["capture-pane", "-p"]).trim_end().to_owned()
    }

    /// Waits until the terminal shows what tmux has; a flood is not drawn as it comes.
    fn wait_until_drawn(&self) {
        self.ask(&["refresh-client"]);
        let wanted = self.capture();
        self.wait_for(&|shot| shot.text() == wanted, "what tmux has");
    }

    /// Returns what the terminal was told beside what was drawn, as far as tmux passed it on.
    #[must_use]
    pub fn heard(&self) -> Heard {
        self.terminal.heard()
    }

    /// Gives tmux a command and returns what it prints, or nothing if it does not answer in time.
    fn ask(&self, command: &[&str]) -> String {
        // On a terminal of its own, since that is how waiting ends here.
        let launch = Launch::new(&self.program)
            .args(["-u", "-L", &self.socket])
            .args(command);
        let Ok(client) = Terminal::spawn(&launch) else {
            return String::new();
        };
        match client.end() {
            Some(_) => String::from_utf8_lossy(&client.output()).replace("\r\n", "\n"),
            None => String::new(),
        }
    }
}

impl Screen for Tmux {
    fn send(&self, bytes: &[u8]) {
        self.terminal.send(bytes);
    }

    fn press(&self, key: Key) {
        self.terminal.press(key);
    }

    fn paste(&self, text: &str) {
        self.terminal.paste(text);
    }

    fn resize(&self, columns: u16, rows: u16) {
        self.terminal.resize(columns, rows);
    }

    fn shot(&self) -> Shot {
        self.terminal.shot()
    }

    fn try_wait_for(&self, seen: &dyn Fn(&Shot) -> bool, what: &str) -> Result<Shot, NotSeen> {
        self.terminal.try_wait_for(seen, what)
    }

    #[track_caller]
    fn ended(&self) -> Ended {
        *self.ended.get_or_init(|| {
            let code = |heard: &Heard| heard.title.strip_prefix(ENDED)?.parse().ok();
            let wanted = |heard: &Heard| code(heard).is_some();
            let heard = self
                .terminal
                .wait_until_heard(&wanted, "the end of the program");
            self.wait_until_drawn();
            Ended::Code(code(&heard).expect("it was waited for"))
        })
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let told = self.ask(&["display-message", "-p", "#{pane_pid} #{socket_path}"]);
        // The server only hangs up, which programs may ignore.
        let (pid, path) = told
            .trim_end_matches('\n')
            .split_once(' ')
            .unwrap_or_default();
        if let Some(pid) = pid.parse().ok().and_then(Pid::from_raw) {
            tree::kill(pid);
        }
        self.ask(&["kill-server"]);
        // Servers leave their sockets behind. A path that is not one is not removed.
        if path.ends_with(&self.socket) {
            std::fs::remove_file(path).ok();
        }
    }
}

/// tmux takes a semicolon at the end of an argument for the end of a command.
fn literal(argument: &OsStr) -> OsString {
    match argument.as_bytes().strip_suffix(b";") {
        Some(start) => OsString::from_vec([start, b"\\;"].concat()),
        None => argument.to_owned(),
    }
}

fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join("tmux"))
        .find(|program| program.is_file())
}
