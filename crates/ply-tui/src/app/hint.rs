//! What Enter and Esc do right now: decided here once, for the keys and for the line that says so.

use ply_client::v2;

use super::ask::What;
use super::commands::Meant;
use super::shell::Shell;
use super::tab::{Phase, Tab, Trouble};
use super::{App, Focus, Overlay};

/// What Enter does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Enter {
    Nothing,
    /// Take what is chosen in a list over the rest.
    Choose,
    /// Take the entry of the popup.
    Complete,
    /// Take what the search found.
    TakeFound,
    /// Run a local command.
    Run,
    /// Say that there is no such command.
    Unknown,
    /// Run a command in a shell; whether its output is for the prompt.
    Shell {
        is_for_prompt: bool,
    },
    Send,
    /// Send, which starts the agent again.
    SendAndRestart,
    Queue,
    QueueIsFull,
    /// Let the held queue go on.
    Release,
    Retry,
    Login,
    /// Show the chosen line of the wire log whole, or no longer.
    ShowLine,
    EditQueued,
    /// Give the answer that is chosen.
    Answer,
    Submit,
}

/// What Esc does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Esc {
    Nothing,
    Close,
    /// Go back to the composer.
    Leave,
    /// Put the queued prompt that is being edited back.
    PutBack,
    Cancel,
    /// Say it to the agent again.
    CancelAgain,
    /// Stop waiting for a login, or wanting one.
    LeaveLogin,
    /// Stop the command that runs in a shell.
    StopShell,
    /// Close the output of a command.
    CloseShell,
}

impl App {
    pub(crate) fn enter(&self) -> Enter {
        if let Some(overlay) = &self.overlay {
            return match overlay {
                Overlay::Help { .. } => Enter::Nothing,
                Overlay::Picker(picker) if picker.chosen().is_some() => Enter::Choose,
                Overlay::Picker(_) => Enter::Nothing,
            };
        }
        let Some(tab) = self.tab() else {
            return Enter::Nothing;
        };
        if self.search.is_some() {
            return Enter::TakeFound;
        }
        match self.focus {
            Focus::Asks if !self.can_answer() => return Enter::Nothing,
            Focus::Asks => {
                return match tab.open_ask().map(|ask| &ask.what) {
                    Some(What::Permission(_)) => Enter::Answer,
                    Some(What::Form(_)) => Enter::Submit,
                    None => Enter::Nothing,
                };
            }
            Focus::Queue(_) if !tab.composer.is_blank() => return Enter::Nothing,
            Focus::Queue(_) => return Enter::EditQueued,
            Focus::Nowhere => return Enter::Nothing,
            Focus::Composer => {}
        }
        if self.popup.is_some() && !self.is_popup_complete() {
            return Enter::Complete;
        }
        if self.has_log_keys() && self.log_pane.chosen.is_some() {
            return Enter::ShowLine;
        }
        let text = tab.composer.text();
        match self.meant(text) {
            Meant::Local => return Enter::Run,
            Meant::Shell { is_for_prompt } => return Enter::Shell { is_for_prompt },
            Meant::Unknown if !tab.is_sent_anyway(text) => return Enter::Unknown,
            Meant::Unknown | Meant::Words => {}
        }
        match (&tab.phase, tab.composer.is_blank()) {
            (Phase::Stuck(Trouble::Auth { since: Some(_), .. }), true) => Enter::Nothing,
            (Phase::Stuck(Trouble::Auth { .. }), true) => Enter::Login,
            (Phase::Stuck(_), true) => Enter::Retry,
            (Phase::Ready, true) if !tab.queue.is_empty() => Enter::Release,
            (_, true) => Enter::Nothing,
            (Phase::Ready, false) if tab.died.is_some() => Enter::SendAndRestart,
            (Phase::Ready, false) => Enter::Send,
            (_, false) if tab.can_queue() => Enter::Queue,
            (_, false) => Enter::QueueIsFull,
        }
    }

    pub(crate) fn esc(&self) -> Esc {
        if self.overlay.is_some() || self.popup.is_some() || self.search.is_some() {
            return Esc::Close;
        }
        match self.focus {
            Focus::Asks | Focus::Queue(_) | Focus::Nowhere => Esc::Leave,
            Focus::Composer if self.log_pane.is_open => Esc::Close,
            Focus::Composer if self.shell.as_ref().is_some_and(Shell::is_running) => Esc::StopShell,
            Focus::Composer if self.shell.is_some() => Esc::CloseShell,
            Focus::Composer if self.tab().is_some_and(Tab::is_editing) => Esc::PutBack,
            Focus::Composer => match self.tab().map(|tab| (&tab.phase, &tab.session)) {
                Some((Phase::Working(_), _)) => Esc::Cancel,
                Some((Phase::Cancelling { .. }, _)) => Esc::CancelAgain,
                Some((Phase::Stuck(Trouble::Auth { since: Some(_), .. }), _)) => Esc::LeaveLogin,
                Some((Phase::Stuck(Trouble::Auth { .. }), Some(_))) => Esc::LeaveLogin,
                _ => Esc::Nothing,
            },
        }
    }

    /// Says what the keys do right now, the most important first.
    pub(crate) fn hint(&self) -> Vec<(String, String)> {
        let mut hints: Vec<(&str, String)> = Vec::new();
        if self.is_quit_armed() {
            hints.push(("Ctrl-C", "again quits".to_owned()));
        }
        // What has to be done before anything else can be.
        if self.overlay.is_none() && self.has_unread_question() {
            hints.push(("PgDn", "shows the rest of the question".to_owned()));
        }
        let queued = self.tab().map_or(0, |tab| tab.queue.len());
        let release = match queued {
            1 => "sends the queued prompt".to_owned(),
            count => format!("sends the {count} queued prompts"),
        };
        let enter = match self.enter() {
            Enter::Nothing => None,
            Enter::Choose => Some("chooses"),
            Enter::Complete => Some("inserts"),
            Enter::TakeFound => Some("takes it"),
            Enter::Run => Some("runs the command"),
            Enter::Unknown => None,
            Enter::Shell {
                is_for_prompt: true,
            } => Some("runs it and adds the output to your prompt"),
            Enter::Shell { .. } => Some("runs it in your shell"),
            Enter::Send => Some("sends"),
            Enter::SendAndRestart => Some("restarts the agent and sends"),
            Enter::Queue => Some(self.queue_words()),
            Enter::QueueIsFull => Some("cannot queue more"),
            Enter::Release => Some(release.as_str()),
            Enter::Retry => Some("tries again"),
            Enter::Login => Some(self.login_words()),
            Enter::ShowLine if self.log_pane.whole.is_some() => Some("goes back to the lines"),
            Enter::ShowLine => Some("shows the line whole"),
            Enter::EditQueued => Some("edits it"),
            Enter::Answer => Some("gives the marked answer"),
            Enter::Submit => Some("answers"),
        };
        if let Some(enter) = enter {
            hints.push(("Enter", enter.to_owned()));
        }
        // Before the others, which a narrow screen cuts off.
        let esc = match self.esc() {
            Esc::Nothing => None,
            Esc::Close => Some("closes"),
            Esc::Leave => Some("goes back"),
            Esc::PutBack => Some("puts it back into the queue"),
            Esc::Cancel => Some("cancels the turn"),
            Esc::CancelAgain => Some("cancels again"),
            Esc::LeaveLogin => Some("leaves the login"),
            Esc::StopShell => Some("stops the command"),
            Esc::CloseShell => Some("closes the output"),
        };
        if let Some(esc) = esc {
            hints.push(("Esc", esc.to_owned()));
        }
        if let Some(tab) = self.tab().filter(|_| self.overlay.is_none()) {
            let is_writing = self.focus == Focus::Composer && !tab.composer.is_blank();
            if is_writing && matches!(tab.phase, Phase::Working(_)) {
                hints.push(("Alt-I", "interrupts and sends".to_owned()));
            }
            self.hint_asks(&mut hints);
            if let Phase::Cancelling {
                is_overdue: true, ..
            } = tab.phase
            {
                hints.push(("Alt-K", "kills the agent".to_owned()));
            }
            if let Focus::Queue(_) = self.focus {
                hints.push(("Del", "removes it".to_owned()));
            }
            if self.has_log_keys() && self.focus == Focus::Composer {
                let what = match self.log_pane.whole {
                    Some(_) => "scrolls",
                    None => "chooses a line",
                };
                hints.push(("Up, Down", what.to_owned()));
            }
            let is_idle = hints.is_empty();
            if is_idle && self.focus == Focus::Composer {
                if self.can_suggest() {
                    hints.push(("Tab", "a prompt to try".to_owned()));
                }
                hints.push(("?", "help".to_owned()));
                hints.push(("@", "file".to_owned()));
                hints.push(("/", "command".to_owned()));
                hints.push(("Ctrl-D", "quit".to_owned()));
            }
        }
        let owned = |(key, what): (&str, String)| (self.keys.shown(key), what);
        hints.into_iter().map(owned).collect()
    }

    /// Returns whether keys answer the open question only after all of it was on the screen.
    fn has_unread_question(&self) -> bool {
        let is_near = matches!(self.focus, Focus::Asks | Focus::Composer);
        let ask = self.tab().and_then(Tab::open_ask);
        is_near && ask.is_some_and(|ask| matches!(ask.what, What::Permission(_)) && ask.is_unread())
    }

    fn hint_asks(&self, hints: &mut Vec<(&str, String)>) {
        let Some(tab) = self.tab() else {
            return;
        };
        let Some(ask) = tab.open_ask() else {
            return;
        };
        let is_form = matches!(ask.what, What::Form(_));
        match self.focus {
            Focus::Asks if is_form => hints.push(("Ctrl-D", "declines".to_owned())),
            Focus::Asks | Focus::Composer if self.has_unread_question() => {}
            Focus::Asks if !self.can_answer() => {}
            Focus::Asks => hints.push(("1–9", "answer".to_owned())),
            Focus::Composer if tab.composer.is_empty() && !is_form && self.can_answer() => {
                hints.push(("1–9", "answer".to_owned()));
                hints.push(("Tab", "to the questions".to_owned()));
            }
            Focus::Composer => hints.push(("Tab", "to the questions".to_owned())),
            Focus::Queue(_) | Focus::Nowhere => {}
        }
    }

    fn queue_words(&self) -> &'static str {
        match self.tab().map(|tab| &tab.phase) {
            _ if self.tab().is_some_and(Tab::is_editing) => "puts it back into its place",
            Some(Phase::Starting(_)) => "queues; sent when the agent is ready",
            Some(Phase::Stuck(_)) => "queues; sent when this is solved",
            _ => "queues",
        }
    }

    fn login_words(&self) -> &'static str {
        let Some(Phase::Stuck(Trouble::Auth {
            methods, chosen, ..
        })) = self.tab().map(|tab| &tab.phase)
        else {
            return "logs in";
        };
        match methods.get(*chosen) {
            Some(v2::AuthMethod::Agent(_)) => "logs in",
            _ => "tries again",
        }
    }
}
