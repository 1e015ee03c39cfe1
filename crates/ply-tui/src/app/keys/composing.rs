//! Keys in the composer.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ply_client::v2;

use crate::app::ask::Ask;
use crate::app::commands::Meant;
use crate::app::hint::Enter;
use crate::app::popup::Popup;
use crate::app::tab::{Phase, Tab, Trouble};
use crate::app::{Action, App, Focus, Overlay, Search};
use crate::composer::{Composer, Move};

impl App {
    pub(super) fn composer_key(
        &mut self,
        key: KeyEvent,
        is_control: bool,
        is_alt: bool,
        out: &mut Vec<Action>,
    ) {
        let is_shift = key.modifiers.contains(KeyModifiers::SHIFT);
        match key.code {
            KeyCode::Enter if is_control => self.interrupt(out),
            KeyCode::Enter if is_shift || is_alt => self.insert("\n", out),
            KeyCode::Char('j') if is_control => self.insert("\n", out),
            KeyCode::Enter => self.press_enter(out),
            KeyCode::Char('i') if is_alt => self.interrupt(out),
            KeyCode::Tab if self.popup.is_some() => self.take_popup(out),
            KeyCode::Tab if self.can_suggest() => self.suggest(out),
            KeyCode::Tab => {
                if self.tab().is_some_and(|tab| !tab.asks.is_empty()) {
                    self.focus = Focus::Asks;
                }
            }
            KeyCode::Up if self.has_log_keys() => self.step_log(-1),
            KeyCode::Down if self.has_log_keys() => self.step_log(1),
            KeyCode::Up => self.up(out),
            KeyCode::Down => self.down(out),
            KeyCode::Char('x') if is_control => self.focus_queue(),
            KeyCode::Char('r') if is_control => {
                self.popup = None;
                self.search = Some(Search::default());
            }
            KeyCode::Char('g') if is_control => {
                if let Some(tab) = self.tab_mut() {
                    out.push(Action::Edit(tab.id, tab.composer.plain()));
                }
            }
            KeyCode::Char('?') if self.is_nothing_written() => {
                self.overlay = Some(Overlay::Help { scroll: 0 });
            }
            KeyCode::Char('d') if is_control && self.is_nothing_written() => self.control_d(out),
            KeyCode::Char('1'..='9') if key.modifiers.is_empty() && self.is_question_unread() => {
                self.say("PgDn shows the rest of the question; then a number answers it");
            }
            KeyCode::Char(digit @ '1'..='9')
                if key.modifiers.is_empty() && self.answers_by_number() =>
            {
                if !self.answer_number(digit, out) {
                    self.insert(digit.encode_utf8(&mut [0; 4]), out);
                }
            }
            KeyCode::Char(char) if !is_control && !is_alt => {
                self.insert(char.encode_utf8(&mut [0; 4]), out);
            }
            code => {
                if let Some(tab) = self.tab_mut()
                    && edit(&mut tab.composer, code, is_control, is_alt)
                {
                    self.edited(out);
                }
            }
        }
    }

    /// The text changed: history, popup and hints look at it again.
    pub(in crate::app) fn edited(&mut self, out: &mut Vec<Action>) {
        self.history.leave();
        self.popup_closed = false;
        self.refresh_popup(out);
    }

    fn insert(&mut self, text: &str, out: &mut Vec<Action>) {
        if let Some(tab) = self.tab_mut() {
            tab.composer.insert(text);
        }
        self.edited(out);
    }

    fn answers_by_number(&self) -> bool {
        self.tab().is_some_and(|tab| {
            tab.composer.is_empty() && tab.open_ask().is_some_and(|ask| !ask.options().is_empty())
        }) && self.can_answer()
    }

    fn is_nothing_written(&self) -> bool {
        self.tab().is_none_or(|tab| tab.composer.is_empty())
    }

    /// Returns whether a number would answer a question that nobody can have read to its end.
    fn is_question_unread(&self) -> bool {
        let ask = self.tab().and_then(Tab::open_ask);
        self.is_nothing_written() && ask.is_some_and(Ask::is_unread)
    }

    /// Quits, as shells do; the second time only while something runs.
    fn control_d(&mut self, out: &mut Vec<Action>) {
        let is_busy = self.tabs.iter().any(Tab::is_working);
        match is_busy && self.quit_armed.is_none() {
            true => self.quit_armed = Some(self.now),
            false => self.quit(out),
        }
    }

    fn press_enter(&mut self, out: &mut Vec<Action>) {
        let now = self.now;
        let enter = self.enter();
        let Some(tab) = self.tab_mut() else {
            return;
        };
        match enter {
            Enter::Complete => self.take_popup(out),
            Enter::Unknown => self.refuse_command(),
            Enter::Shell { .. } => {
                let line = tab.composer.plain();
                if self.run_shell(&line, out) {
                    if let Some(tab) = self.tab_mut() {
                        tab.composer.clear();
                    }
                    self.sent(line, out);
                }
            }
            Enter::Run => {
                let line = tab.composer.plain();
                tab.composer.clear();
                self.popup = None;
                self.dismiss_errors();
                self.run_command(&line, out);
            }
            Enter::Queue => {
                let plain = tab.enqueue().plain();
                self.sent(plain, out);
            }
            Enter::Send | Enter::SendAndRestart => {
                let prompt = tab.take_written();
                let plain = prompt.plain();
                // What is sent by hand goes before what is held.
                let was_held = std::mem::take(&mut tab.is_held);
                tab.queue.push_front(prompt);
                tab.send_next(now, out);
                tab.is_held = was_held && !tab.queue.is_empty();
                self.sent(plain, out);
            }
            Enter::QueueIsFull => self.complain("the queue is full; wait for a turn to end"),
            Enter::Release => tab.release(now, out),
            Enter::Retry => tab.reopen(now, out),
            Enter::ShowLine => {
                let is_whole = self.log_pane.whole.is_some();
                self.log_pane.whole = (!is_whole).then_some(0);
            }
            Enter::Login => self.login(out),
            Enter::Nothing
            | Enter::Choose
            | Enter::TakeFound
            | Enter::EditQueued
            | Enter::Answer
            | Enter::Submit => {}
        }
    }

    fn sent(&mut self, plain: String, out: &mut Vec<Action>) {
        self.dismiss_errors();
        self.popup = None;
        if self.history.push(plain.clone()) {
            out.push(Action::Remember(plain));
        }
        self.save_draft(out);
    }

    fn interrupt(&mut self, out: &mut Vec<Action>) {
        let now = self.now;
        // A command is no reason to interrupt anything.
        let is_said = self.tab().is_some_and(|tab| {
            !tab.composer.is_blank() && self.meant(tab.composer.text()) == Meant::Words
        });
        let Some(tab) = self.tab_mut() else {
            return;
        };
        match tab.phase {
            Phase::Working(_) | Phase::Cancelling { .. } if is_said => {
                let prompt = tab.take_written();
                let plain = prompt.plain();
                tab.interrupt(prompt, now, out);
                self.sent(plain, out);
            }
            _ => self.press_enter(out),
        }
    }

    /// Logs in by the method that is chosen; one that goes another way is tried again.
    fn login(&mut self, out: &mut Vec<Action>) {
        let now = self.now;
        let Some(tab) = self.tab_mut() else {
            return;
        };
        let agent = tab.agent;
        let Phase::Stuck(Trouble::Auth {
            methods,
            chosen,
            since,
            failure,
        }) = &mut tab.phase
        else {
            return;
        };
        match methods.get(*chosen) {
            Some(v2::AuthMethod::Agent(method)) => {
                *since = Some(now);
                *failure = None;
                out.push(Action::Login(agent, method.method_id.clone()));
            }
            _ if tab.session.is_some() => {
                tab.phase = Phase::Ready;
                tab.release(now, out);
            }
            _ => tab.reopen(now, out),
        }
    }

    fn up(&mut self, out: &mut Vec<Action>) {
        if let Some(popup) = &mut self.popup {
            popup.selected = popup.selected.saturating_sub(1);
            return;
        }
        let is_from_history = self.history.is_shown();
        let Some(tab) = self.tab_mut() else {
            return;
        };
        if let Phase::Stuck(Trouble::Auth { chosen, .. }) = &mut tab.phase
            && tab.composer.is_empty()
        {
            *chosen = chosen.saturating_sub(1);
            return;
        }
        if tab.composer.is_empty() && !tab.queue.is_empty() {
            self.focus_queue();
            return;
        }
        if tab.composer.up() {
            return;
        }
        if tab.composer.is_empty() || is_from_history || tab.composer.cursor() == 0 {
            let written = tab.composer.plain();
            let older = self.history.older(&written).map(Composer::with_text);
            self.show_entry(older);
        } else {
            tab.composer.go(Move::Start);
        }
        self.refresh_popup(out);
    }

    fn down(&mut self, out: &mut Vec<Action>) {
        if let Some(Popup {
            selected, entries, ..
        }) = &mut self.popup
        {
            *selected = (*selected + 1).min(entries.len().saturating_sub(1));
            return;
        }
        let is_from_history = self.history.is_shown();
        let Some(tab) = self.tab_mut() else {
            return;
        };
        if let Phase::Stuck(Trouble::Auth {
            methods, chosen, ..
        }) = &mut tab.phase
            && tab.composer.is_empty()
        {
            *chosen = (*chosen + 1).min(methods.len().saturating_sub(1));
            return;
        }
        if !tab.composer.down() {
            match is_from_history {
                true => {
                    let newer = self.history.newer().map(Composer::with_text);
                    self.show_entry(newer);
                }
                false => tab.composer.go(Move::End),
            }
        }
        self.refresh_popup(out);
    }

    fn show_entry(&mut self, entry: Option<Composer>) {
        if let (Some(entry), Some(tab)) = (entry, self.tab_mut()) {
            tab.composer = entry;
        }
        self.popup_closed = true;
    }

    fn focus_queue(&mut self) {
        if let Some(last) = self.tab().and_then(|tab| tab.queue.len().checked_sub(1)) {
            self.focus = Focus::Queue(last);
        }
    }

    /// Does what a key does in a search; returns false for one that ends it and means something else.
    pub(super) fn search_key(&mut self, key: KeyEvent) -> bool {
        let Some(search) = &mut self.search else {
            return false;
        };
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('r') if is_control => {
                let next = search.skip + 1;
                if self.history.find(&search.words, next).is_some() {
                    search.skip = next;
                }
            }
            KeyCode::Char(char) if !is_control => {
                search.words.push(char);
                search.skip = 0;
            }
            KeyCode::Backspace => {
                search.words.pop();
                search.skip = 0;
            }
            KeyCode::Enter => {
                let found = self.found().map(Composer::with_text);
                self.search = None;
                if found.is_some()
                    && let Some(written) = self.tab().map(|tab| tab.composer.plain())
                {
                    // What it takes the place of is an earlier text then.
                    self.history.push(written);
                }
                self.show_entry(found);
            }
            _ => {
                self.search = None;
                return false;
            }
        }
        true
    }

    /// Returns what the search found.
    pub(crate) fn found(&self) -> Option<&str> {
        let search = self.search.as_ref()?;
        self.history.find(&search.words, search.skip)
    }
}

/// Edits as the usual keys do; returns whether it was one of them.
fn edit(composer: &mut Composer, code: KeyCode, is_control: bool, is_alt: bool) -> bool {
    match code {
        KeyCode::Left if is_control || is_alt => composer.go(Move::WordLeft),
        KeyCode::Right if is_control || is_alt => composer.go(Move::WordRight),
        KeyCode::Left => composer.go(Move::Left),
        KeyCode::Right => composer.go(Move::Right),
        KeyCode::Home => composer.go(Move::LineStart),
        KeyCode::End => composer.go(Move::LineEnd),
        KeyCode::Backspace if is_control || is_alt => composer.delete(Move::WordLeft),
        KeyCode::Backspace => composer.delete(Move::Left),
        KeyCode::Delete => composer.delete(Move::Right),
        KeyCode::Char(char) if is_control => match char {
            'a' => composer.go(Move::LineStart),
            'e' => composer.go(Move::LineEnd),
            'b' => composer.go(Move::Left),
            'f' => composer.go(Move::Right),
            'd' => composer.delete(Move::Right),
            'h' => composer.delete(Move::Left),
            'k' => composer.delete(Move::LineEnd),
            'u' => composer.delete(Move::LineStart),
            'w' => composer.delete(Move::WordLeft),
            'y' => composer.yank(),
            _ => return false,
        },
        KeyCode::Char(char) if is_alt => match char {
            'b' => composer.go(Move::WordLeft),
            'f' => composer.go(Move::WordRight),
            'd' => composer.delete(Move::WordRight),
            _ => return false,
        },
        _ => return false,
    }
    true
}
