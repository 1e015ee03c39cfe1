//! The commands that begin with a colon.

use super::{Action, AgentId, App, Overlay, Target};
use crate::diff::DiffStyle;
use crate::help;

/// Returns whether a line that begins with a colon is a command.
pub(super) fn is_command(line: &str) -> bool {
    let name = line.trim().trim_start_matches(':');
    let name = name.split(char::is_whitespace).next().unwrap_or_default();
    name == "q" || help::COMMANDS.iter().any(|command| command.name == name)
}

impl App {
    /// Runs a line that begins with a colon.
    pub(super) fn run_command(&mut self, line: &str, out: &mut Vec<Action>) {
        let line = line.trim().trim_start_matches(':');
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
            "kill" => self.kill(out),
            "close" => self.close_tab(out),
            "quit" | "q" => self.quit(out),
            // Nobody comes here with what is none.
            _ => {}
        }
    }

    fn new_with(&mut self, agent: AgentId, name: &str, out: &mut Vec<Action>) {
        let place = self.agents.iter().position(|known| known.name == name);
        match (name, place) {
            ("", _) => self.open_tab(agent, Target::New, out),
            (_, Some(place)) => self.open_tab(AgentId(place), Target::New, out),
            (_, None) => self.complain("no such agent; :agents lists them"),
        }
    }
}
