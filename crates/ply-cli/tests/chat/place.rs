//! A home and a project of a test's own, and the client on a terminal there.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use terminal_tests::{Ended, Key, Launch, Screen, Shot, Terminal};
use tokio::time::Instant;

/// The agent that does what it is told, much of it against the rules.
const HOSTILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run/hostile.sh");

/// The size of a screen that is compared, in cells.
pub(crate) const SIZE: (u16, u16) = (80, 24);

/// A home and a project.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    /// Returns a place whose project is called `teapot` and has a few files.
    pub(crate) fn new() -> Self {
        let place = Self {
            // Always a path of the same length, since it is part of screens.
            directory: TempDir::new_in("/tmp").unwrap(),
        };
        for name in ["home/.config/ply", "teapot/src", "tmp"] {
            std::fs::create_dir_all(place.path(name)).unwrap();
        }
        place.write("teapot/README.md", "# Teapot\n\nA pot for tea.\n");
        place.write("teapot/src/pot.rs", "pub fn pour() {\n    todo();\n}\n");
        place
    }

    /// Returns a path in it.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    /// Writes a file in it.
    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Returns what the agent that breaks the rules was sent.
    pub(crate) fn notes(&self) -> String {
        std::fs::read_to_string(self.path("notes")).unwrap_or_default()
    }

    /// Waits until what is being written is kept in a file.
    #[track_caller]
    pub(crate) fn wait_for_draft(&self, text: &str) {
        let drafts = self.path("home/.local/state/ply/drafts");
        let until = Instant::now() + terminal_tests::WAIT_MAX;
        let is_kept = || {
            let files = std::fs::read_dir(&drafts).into_iter().flatten().flatten();
            files
                .filter_map(|file| std::fs::read_to_string(file.path()).ok())
                .any(|draft| draft == text)
        };
        while !is_kept() {
            assert!(Instant::now() < until, "{text:?} is not kept");
            std::thread::yield_now();
        }
    }

    /// Returns a program that knows nothing but this place.
    pub(crate) fn launch(&self, program: impl AsRef<Path>) -> Launch {
        let programs = Path::new(env!("CARGO_BIN_EXE_ply")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        Launch::new(program.as_ref())
            .size(SIZE.0, SIZE.1)
            .cwd(self.path("teapot"))
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("PLY_STORE", self.path("sessions.db"))
            .env("NOTES", self.path("notes"))
            .env("LANG", "C.UTF-8")
    }

    /// Returns `ply chat` with the agent in the program.
    pub(crate) fn chat(&self) -> Launch {
        self.launch(env!("CARGO_BIN_EXE_ply")).arg("chat")
    }

    /// Returns `ply chat` with the agent that breaks the rules as its first word says.
    pub(crate) fn hostile(&self, start: &str) -> Launch {
        self.hostile_with(&[], start)
    }

    /// The same with arguments.
    pub(crate) fn hostile_with(&self, arguments: &[&str], start: &str) -> Launch {
        self.chat()
            .args(arguments)
            .args(["--", "sh", HOSTILE, start])
    }

    /// Starts the client with the agent in the program and waits until it is ready.
    pub(crate) fn open(&self) -> Terminal {
        ready(&self.chat())
    }

    /// Starts the client with the agent that breaks the rules and waits until it is ready.
    pub(crate) fn open_hostile(&self) -> Terminal {
        ready(&self.hostile(""))
    }

    /// Returns the text of a screen with everything replaced that is different each time.
    pub(crate) fn steady(&self, shot: &Shot) -> String {
        self.steady_text(&shot.text())
    }

    /// The same for a text that was made of a screen.
    pub(crate) fn steady_text(&self, text: &str) -> String {
        let root = self.path("");
        let root = root.to_str().unwrap().trim_end_matches('/');
        let mut steady = text.replace(root, "ROOT");
        for frame in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".chars() {
            steady = steady.replace(frame, "⠋");
        }
        let lines = steady.lines().map(|line| {
            let mut words = line.split(' ').map(word).collect::<Vec<_>>();
            // A number of seconds, as in `working 12 s`, or of tokens, which changes with every word of a tool.
            for place in 1..words.len() {
                let number = words[place - 1].trim_end_matches(['k', 'M']);
                let unit = words[place].trim_end_matches(['.', ';', ')']);
                if number.parse::<f64>().is_ok() && matches!(unit, "s" | "ms" | "tokens") {
                    words[place - 1] = "N".to_owned();
                }
            }
            words.join(" ").trim_end().to_owned()
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Replaces a word that is an id or a time of day.
fn word(word: &str) -> String {
    let is_id = word.starts_with("sess-") && word.len() > 20;
    let bytes = word.as_bytes();
    let is_time = bytes.len() >= 5
        && bytes[..5]
            .iter()
            .enumerate()
            .all(|(place, byte)| match place {
                2 => *byte == b':',
                _ => byte.is_ascii_digit(),
            });
    let is_date = word.len() == 10 && word.starts_with("20") && word.matches('-').count() == 2;
    match () {
        () if is_id => "SESSION".to_owned(),
        () if is_time => "TIME".to_owned(),
        () if is_date => "DATE".to_owned(),
        () => word.to_owned(),
    }
}

/// Starts the client and waits until its first session is there.
pub(crate) fn ready(launch: &Launch) -> Terminal {
    let terminal = Terminal::spawn(launch).unwrap();
    terminal.wait_for_text("· ready");
    terminal
}

/// What tests do over and over.
pub(crate) trait Chat: Screen {
    /// Writes a prompt, sees it in the composer, and sends it.
    #[track_caller]
    fn say(&self, prompt: &str) {
        self.type_text(prompt);
        self.wait_for_text(&format!("› {prompt}"));
        self.press(Key::Enter);
        self.wait_for(
            &|shot| !shot.contains(&format!("› {prompt}")),
            "an empty composer",
        );
    }

    /// Waits until a turn that showed these words has ended.
    #[track_caller]
    fn wait_until_ready_with(&self, words: &str) -> Shot {
        self.wait_for(
            &|shot| shot.contains(words) && shot.contains("· ready"),
            &format!("{words:?} and the end of the turn"),
        )
    }

    /// Quits and sees it end well.
    #[track_caller]
    fn quit(&self) {
        self.press(Key::Ctrl('c'));
        self.press(Key::Ctrl('c'));
        assert_eq!(self.ended(), Ended::Code(0));
    }
}

impl<S: Screen + ?Sized> Chat for S {}
