//! What is started, and on what kind of terminal.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

/// The colours a terminal says it has when a program asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// Light text on black.
    #[default]
    Dark,
    /// Dark text on white.
    Light,
}

/// How a terminal encodes keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keyboard {
    /// As terminals always did: Shift+Enter is Enter, and Esc is the beginning of anything.
    #[default]
    Legacy,
    /// As the kitty keyboard protocol does, once the program asks for it.
    Kitty,
}

/// A program to start on a terminal.
///
/// Its environment is what is given here, and `TERM`, which is the terminal's to say.
#[derive(Clone, Debug)]
pub struct Launch {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    pub(crate) background: Background,
    pub(crate) keyboard: Keyboard,
    pub(crate) echo: bool,
}

impl Launch {
    /// Describes a program without arguments on a dark terminal of 80 columns and 24 rows.
    #[must_use]
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Launch {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            environment: vec![("TERM".into(), "xterm-256color".into())],
            directory: None,
            columns: 80,
            rows: 24,
            background: Background::default(),
            keyboard: Keyboard::default(),
            echo: true,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let arguments = arguments.into_iter();
        self.arguments
            .extend(arguments.map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets a variable of the program's environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let name = name.as_ref();
        self.environment.retain(|(known, _)| known != name);
        self.environment
            .push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Sets the directory the program starts in.
    #[must_use]
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the size of the terminal in cells; nothing is smaller than one cell.
    #[must_use]
    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        self.columns = columns.max(1);
        self.rows = rows.max(1);
        self
    }

    /// Sets the colours the terminal says it has.
    #[must_use]
    pub fn background(mut self, background: Background) -> Self {
        self.background = background;
        self
    }

    /// Sets how keys are encoded.
    #[must_use]
    pub fn keyboard(mut self, keyboard: Keyboard) -> Self {
        self.keyboard = keyboard;
        self
    }

    /// Starts the terminal with echo off, so that what is typed ahead is not shown at some place or other.
    #[must_use]
    pub fn without_echo(mut self) -> Self {
        self.echo = false;
        self
    }

    /// The command, without its terminal.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
    }
}

impl From<&Command> for Launch {
    /// Takes the program, its arguments, its directory, and the variables that were set for it; nothing is inherited.
    fn from(command: &Command) -> Self {
        let mut launch = Launch::new(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                launch = launch.env(name, value);
            }
        }
        launch.directory = command.get_current_dir().map(PathBuf::from);
        launch
    }
}
