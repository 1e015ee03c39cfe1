//! Commands that the user runs in a shell of their own. The agent hears of them only if the user says so.

use ply_client::transcript::PlainText;

use super::{Action, App, TabId, Tick};

/// Rows that a page key scrolls in the output.
const PAGE_ROWS: usize = 5;
/// Bytes of an output that go into a prompt, the last ones.
const PROMPT_BYTES_MAX: usize = 32 * 1024;

/// A command; never used again for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShellId(pub(crate) u64);

/// What comes of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShellNews {
    Output(Vec<u8>),
    /// It printed more than is kept.
    Truncated,
    Ended(ShellEnd),
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShellEnd {
    Exit(i32),
    /// By a signal.
    Signal(i32),
    /// It could not be started.
    Failed(String),
}

/// What becomes of the output, besides being shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Nothing,
    /// It goes into the prompt that is being written.
    IntoPrompt,
}

/// The command that was run last.
#[derive(Debug)]
pub(crate) struct Shell {
    id: ShellId,
    tab: TabId,
    pub(crate) command: String,
    output: PlainText,
    pub(crate) is_truncated: bool,
    pub(crate) end: Option<ShellEnd>,
    since: Tick,
    until: Option<Tick>,
    then: Then,
    /// It was asked to stop.
    is_stopping: bool,
    /// Rows that the user went back from the end.
    pub(crate) back: usize,
}

impl Shell {
    pub(crate) fn output(&self) -> &str {
        self.output.as_str()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.end.is_none()
    }

    /// Returns how it ended, or that it has not, and how long it took.
    pub(crate) fn state(&self, now: Tick) -> String {
        let ms = self.until.unwrap_or(now).saturating_sub(self.since);
        let time = format!("{}.{} s", ms / 1000, ms % 1000 / 100);
        match &self.end {
            None if self.is_stopping => format!("stopping, {time}"),
            None => format!("running, {time}"),
            Some(ShellEnd::Exit(code)) => format!("exit {code}, {time}"),
            Some(ShellEnd::Signal(signal)) => format!("ended by signal {signal}, {time}"),
            Some(ShellEnd::Failed(words)) => format!("failed: {words}"),
        }
    }

    /// Returns the output for a prompt, fenced so that nothing in it ends the fence.
    fn for_prompt(&self, now: Tick) -> String {
        let output = self.output().trim_end();
        let start = output.ceil_char_boundary(output.len().saturating_sub(PROMPT_BYTES_MAX));
        let cut = if start > 0 { "[…]\n" } else { "" };
        let output = output.get(start..).unwrap_or_default();
        let ticks = output.split(|char| char != '`').map(str::len).max();
        let fence = "`".repeat((ticks.unwrap_or(0) + 1).max(3));
        let (command, state) = (&self.command, self.state(now));
        format!("I ran this command ({state}):\n{fence}\n$ {command}\n{cut}{output}\n{fence}\n")
    }
}

/// Returns the command in a line that begins with `!`, and whether its output is for the prompt.
pub(crate) fn command_in(line: &str) -> Option<(&str, bool)> {
    let rest = line.strip_prefix('!')?;
    let (rest, is_for_prompt) = match rest.strip_prefix('!') {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let command = rest.trim();
    (!command.is_empty()).then_some((command, is_for_prompt))
}

impl App {
    /// Runs a line that begins with `!`. A command that still runs has to end first.
    pub(super) fn run_shell(&mut self, line: &str, out: &mut Vec<Action>) -> bool {
        let (Some(tab), Some((command, is_for_prompt))) =
            (self.tab().map(|tab| tab.id), command_in(line))
        else {
            return false;
        };
        if self.shell.as_ref().is_some_and(Shell::is_running) {
            self.complain("a command still runs; Esc stops it");
            return false;
        }
        let id = ShellId(self.next_shell);
        self.next_shell += 1;
        self.shell = Some(Shell {
            id,
            tab,
            command: command.to_owned(),
            output: PlainText::new(),
            is_truncated: false,
            end: None,
            since: self.now,
            until: None,
            then: if is_for_prompt {
                Then::IntoPrompt
            } else {
                Then::Nothing
            },
            is_stopping: false,
            back: 0,
        });
        out.push(Action::Shell(id, tab, command.to_owned()));
        true
    }

    /// Stops the command, by force the second time, or closes its output.
    pub(super) fn leave_shell(&mut self, out: &mut Vec<Action>) {
        match &mut self.shell {
            Some(shell) if shell.is_running() => {
                let is_forced = std::mem::replace(&mut shell.is_stopping, true);
                out.push(Action::StopShell { is_forced });
            }
            _ => self.shell = None,
        }
    }

    /// Scrolls the output.
    pub(super) fn page_shell(&mut self, is_back: bool) {
        if let Some(shell) = &mut self.shell {
            shell.back = match is_back {
                true => shell.back + PAGE_ROWS,
                false => shell.back.saturating_sub(PAGE_ROWS),
            };
        }
    }

    pub(super) fn shell_news(&mut self, id: ShellId, news: ShellNews) {
        let now = self.now;
        let Some(shell) = self.shell.as_mut().filter(|shell| shell.id == id) else {
            return;
        };
        match news {
            ShellNews::Output(bytes) => shell.output.push(&bytes),
            ShellNews::Truncated => shell.is_truncated = true,
            ShellNews::Ended(end) => {
                shell.end = Some(end);
                shell.until = Some(now);
                if shell.then == Then::IntoPrompt {
                    let (tab, text) = (shell.tab, shell.for_prompt(now));
                    let fits = self.tab_by_id(tab).map(|tab| tab.composer.paste(&text));
                    if fits == Some(false) {
                        self.complain("the output does not fit into the prompt");
                    }
                }
            }
        }
    }
}
