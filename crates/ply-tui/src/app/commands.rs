//! The commands of this client, and what a line that looks like one is.

use super::shell::command_in;
use super::{Action, AgentId, App, Overlay, Target};
use crate::diff::DiffStyle;
use crate::help;

/// What a line in the composer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meant {
    /// Something to say to the agent, or a command of the agent.
    Words,
    /// A command of this client.
    Local,
    /// It looks like a command, and nobody knows it.
    Unknown,
    /// A command for a shell; whether its output is for the prompt.
    Shell { is_for_prompt: bool },
}

/// Returns the name of the command that a line begins with.
fn name_of(line: &str) -> &str {
    let rest = line.strip_prefix([':', '/']).unwrap_or_default();
    rest.split(char::is_whitespace).next().unwrap_or_default()
}

/// Returns whether this client has a command of that name.
fn is_local(name: &str) -> bool {
    matches!(name, "q" | "exit") || help::COMMANDS.iter().any(|command| command.name == name)
}

impl App {
    /// Says what a line is. A command of the agent goes before one of this client with the same name.
    pub(crate) fn meant(&self, line: &str) -> Meant {
        let name = name_of(line);
        match line.chars().next() {
            Some(':') if is_local(name) => Meant::Local,
            Some(':') => Meant::Unknown,
            // A path, or nothing yet.
            Some('/') if name.is_empty() || name.contains('/') => Meant::Words,
            Some('/') => {
                let commands = self.tab().map_or(&[][..], |tab| &tab.commands);
                match commands.iter().any(|command| command.name == name) {
                    true => Meant::Words,
                    false if is_local(name) => Meant::Local,
                    false => Meant::Unknown,
                }
            }
            Some('!') => match command_in(line) {
                Some((_, is_for_prompt)) => Meant::Shell { is_for_prompt },
                None => Meant::Words,
            },
            _ => Meant::Words,
        }
    }

    /// Says that nobody knows the command that is written, and what can be done.
    pub(super) fn refuse_command(&mut self) {
        let Some(tab) = self.tab_mut() else {
            return;
        };
        let line = tab.composer.plain();
        let name = format!("{}{}", line.chars().next().unwrap_or('/'), name_of(&line));
        tab.refused = Some(line);
        self.complain(format!(
            "unknown command `{name}`; F1 lists the commands, Enter again sends it as text"
        ));
    }

    /// Runs a line that begins with a colon or a slash.
    pub(super) fn run_command(&mut self, line: &str, out: &mut Vec<Action>) {
        let line = line.trim().trim_start_matches([':', '/']);
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let agent = self.tab().map_or(AgentId(0), |tab| tab.agent);
        match name {
            "help" => self.overlay = Some(Overlay::Help { scroll: 0 }),
            "new" => self.new_with(agent, rest, out),
            "sessions" => self.pick_session(agent, out),
            "agents" => self.pick_agent(),
            "mode" | "model" => self.set_by_words(name, rest, out),
            "set" => match rest.split_once([' ', '=']) {
                Some((option, value)) => self.set_by_words(option.trim(), value.trim(), out),
                None if rest.is_empty() => self.pick_option(),
                None => self.set_by_words(rest, "", out),
            },
            "theme" if rest.is_empty() => self.pick_theme(),
            "theme" => self.set_theme(rest),
            "log" => self.toggle_log(),
            "plan" => self.show_plan = !self.show_plan,
            "thoughts" => self.show_thoughts = !self.show_thoughts,
            "diff" => {
                self.diff_style = match self.diff_style {
                    DiffStyle::Unified => DiffStyle::SideBySide,
                    _ => DiffStyle::Unified,
                };
            }
            "export" => {
                if let Some(tab) = self.tab() {
                    out.push(Action::Export(tab.id, rest.to_owned()));
                }
            }
            "kill" => self.kill(out),
            "close" => self.close_tab(out),
            "clear" => self.start_over(agent, out),
            "redraw" => out.push(Action::Redraw),
            "quit" | "q" | "exit" => self.quit(out),
            // Nobody comes here with what is none.
            _ => {}
        }
    }

    /// Begins a session in the place of this one, which the agent keeps.
    fn start_over(&mut self, agent: AgentId, out: &mut Vec<Action>) {
        let old = self.current;
        let count = self.tabs.len();
        self.open_tab(agent, Target::New, out);
        if self.tabs.len() > count {
            self.go_to(old, out);
            self.close_tab(out);
            let last = self.tabs.len().saturating_sub(1);
            self.go_to(last, out);
        }
    }

    fn new_with(&mut self, agent: AgentId, name: &str, out: &mut Vec<Action>) {
        let place = self.agents.iter().position(|known| known.name == name);
        match (name, place) {
            ("", _) => self.open_tab(agent, Target::New, out),
            (_, Some(place)) => self.open_tab(AgentId(place), Target::New, out),
            (_, None) => self.complain("no such agent; /agents lists them"),
        }
    }
}
