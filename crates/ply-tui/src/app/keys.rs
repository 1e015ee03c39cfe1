//! What keys and the mouse do.

mod composing;
mod lists;

use crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::ask::Ask;
use super::hint::Esc;
use super::picker::Choice;
use super::tab::{Phase, Tab, ViewWork};
use super::{Action, AgentId, App, Focus, LogPane, Overlay, Target};
use crate::transcript_view::Scroll;

/// Lines that one notch of the wheel scrolls.
const WHEEL_LINES: i32 = 3;
/// Lines that a page key scrolls in lists.
const PAGE_LINES: isize = 10;
/// Bytes of a paste that can be the path of an image.
const PATH_BYTES_MAX: usize = 4096;

impl App {
    pub(super) fn press(&mut self, key: KeyEvent, out: &mut Vec<Action>) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        if let Some(key) = self.keys.translate(key) {
            self.press_usual(key, out);
        }
    }

    /// Does what a key does that stands for itself, whatever the user's keys are.
    fn press_usual(&mut self, key: KeyEvent, out: &mut Vec<Action>) {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_alt = key.modifiers.contains(KeyModifiers::ALT);
        if is_control && key.code == KeyCode::Char('c') {
            self.control_c(out);
            return;
        }
        if !(is_control && key.code == KeyCode::Char('d')) {
            self.quit_armed = None;
        }
        let is_answer = matches!(key.code, KeyCode::Enter | KeyCode::Char('1'..='9'));
        if is_answer && self.now < self.deaf_until {
            return;
        }
        if key.code == KeyCode::Esc {
            self.escape(out);
            return;
        }
        if is_control && key.code == KeyCode::Char('z') {
            out.push(Action::Suspend);
            return;
        }
        match &mut self.overlay {
            Some(Overlay::Help { scroll }) => {
                match key.code {
                    KeyCode::Up => *scroll = scroll.saturating_sub(1),
                    KeyCode::Down => *scroll = scroll.saturating_add(1),
                    KeyCode::PageUp => *scroll = scroll.saturating_sub(10),
                    KeyCode::PageDown => *scroll = scroll.saturating_add(10),
                    _ => self.overlay = None,
                }
                return;
            }
            Some(Overlay::Picker(_)) => {
                self.picker_key(key, out);
                return;
            }
            None => {}
        }
        if self.search.is_some() && self.search_key(key) {
            return;
        }
        if self.global_key(key, is_control, is_alt, out) {
            return;
        }
        match self.focus {
            Focus::Asks => self.ask_key(key, is_control, out),
            Focus::Queue(place) => self.queue_key(key, place, out),
            Focus::Composer => self.composer_key(key, is_control, is_alt, out),
            // Esc leads out of it.
            Focus::Nowhere => {}
        }
    }

    /// Does what a key does wherever the focus is; returns whether it was such a key.
    fn global_key(
        &mut self,
        key: KeyEvent,
        is_control: bool,
        is_alt: bool,
        out: &mut Vec<Action>,
    ) -> bool {
        match key.code {
            KeyCode::F(1) => self.overlay = Some(Overlay::Help { scroll: 0 }),
            KeyCode::Char('n') if is_control => {
                let agent = self.tab().map_or(AgentId(0), |tab| tab.agent);
                self.open_tab(agent, Target::New, out);
            }
            KeyCode::Char('p') if is_control => {
                let next = (self.current + 1) % self.tabs.len().max(1);
                self.go_to(next, out);
            }
            KeyCode::Char('s') if is_control => {
                let agent = self.tab().map_or(AgentId(0), |tab| tab.agent);
                self.pick_session(agent, out);
            }
            KeyCode::Char('o') if is_control => self.pick_option(),
            KeyCode::Char('l') if is_control => out.push(Action::Redraw),
            KeyCode::Char('l') if is_alt => self.toggle_log(),
            KeyCode::Char('t') if is_control => self.show_plan = !self.show_plan,
            KeyCode::Char('t') if is_alt => self.show_thoughts = !self.show_thoughts,
            KeyCode::Char('f')
                if is_alt && self.tab().is_some_and(|tab| tab.composer.is_empty()) =>
            {
                self.view(ViewWork::Folds);
            }
            KeyCode::Char('k') if is_alt => self.kill(out),
            KeyCode::Char('w') if is_alt => self.close_tab(out),
            KeyCode::Char(digit @ '1'..='9') if is_alt => {
                let place = usize::try_from(u32::from(digit) - u32::from('1')).unwrap_or_default();
                if place < self.tabs.len() {
                    self.go_to(place, out);
                }
            }
            KeyCode::BackTab => self.next_mode(out),
            KeyCode::PageUp => self.page(-1),
            KeyCode::PageDown => self.page(1),
            KeyCode::Home if is_control => self.view(ViewWork::Scroll(Scroll::Top)),
            KeyCode::End if is_control => self.view(ViewWork::Scroll(Scroll::End)),
            KeyCode::Up if is_alt => self.view(ViewWork::Scroll(Scroll::PreviousPrompt)),
            KeyCode::Down if is_alt => self.view(ViewWork::Scroll(Scroll::NextPrompt)),
            _ => return false,
        }
        true
    }

    /// Clears, cancels, and quits the second time.
    fn control_c(&mut self, out: &mut Vec<Action>) {
        // Without a session there is nothing to clear or to cancel.
        if self.quit_armed.is_some() || self.tabs.is_empty() {
            self.quit(out);
            return;
        }
        let now = self.now;
        self.overlay = None;
        self.popup = None;
        self.search = None;
        self.focus = Focus::Composer;
        self.history.leave();
        let Some(tab) = self.tab_mut() else {
            return;
        };
        if tab.composer.is_empty() {
            tab.cancel(now, out);
            self.quit_armed = Some(now);
            return;
        }
        let cleared = tab.clear();
        // Whoever clears a text may want it back, even after the client has ended.
        if self.history.push(cleared.clone()) {
            out.push(Action::Remember(cleared));
        }
    }

    fn escape(&mut self, out: &mut Vec<Action>) {
        let now = self.now;
        self.dismiss_errors();
        match self.esc() {
            Esc::Nothing => {}
            Esc::Leave => self.focus = Focus::Composer,
            Esc::PutBack => {
                if let Some(tab) = self.tab_mut() {
                    tab.put_back();
                }
            }
            Esc::LeaveLogin => {
                if let Some(tab) = self.tab_mut() {
                    tab.leave_login();
                }
            }
            Esc::Cancel | Esc::CancelAgain => {
                if let Some(tab) = self.tab_mut() {
                    tab.cancel(now, out);
                }
            }
            Esc::StopShell | Esc::CloseShell => self.leave_shell(out),
            Esc::Close => {
                if self.overlay.take().is_some() {
                    // Whoever wants none of the sessions gets a new one, since there must be one.
                    if self.tabs.is_empty() {
                        self.open_tab(AgentId(0), Target::New, out);
                    }
                } else if self.search.take().is_some() {
                    self.history.leave();
                } else if self.popup.take().is_some() {
                    self.popup_closed = true;
                } else if self.log_pane.whole.take().is_none() {
                    self.log_pane.is_open = false;
                }
            }
        }
    }

    fn picker_key(&mut self, key: KeyEvent, out: &mut Vec<Action>) {
        let Some(Overlay::Picker(picker)) = &mut self.overlay else {
            return;
        };
        match key.code {
            KeyCode::Up => picker.step(-1),
            KeyCode::Down => picker.step(1),
            KeyCode::PageUp => picker.step(-PAGE_LINES),
            KeyCode::PageDown => picker.step(PAGE_LINES),
            KeyCode::Backspace => picker.erase(),
            KeyCode::Char(char) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => {
                picker.type_in(char.encode_utf8(&mut [0; 4]));
            }
            KeyCode::Enter => {
                if let Some(choice) = picker.chosen().map(|item| item.choice.clone()) {
                    self.overlay = None;
                    self.choose(choice, out);
                }
            }
            _ => {}
        }
    }

    fn choose(&mut self, choice: Choice, out: &mut Vec<Action>) {
        match choice {
            Choice::New(agent) => self.open_tab(agent, Target::New, out),
            Choice::Stored(agent, session) => {
                let target = Target::Stored {
                    id: session.id,
                    cwd: Some(session.cwd),
                    title: session.title,
                };
                self.open_tab(agent, target, out);
            }
            Choice::Option(id) => self.pick_value(&id),
            Choice::Set(id, value) => {
                if let Some(tab) = self.tab() {
                    out.push(Action::SetOption(tab.id, id, value));
                }
            }
            Choice::Theme(name) => self.set_theme(&name),
        }
    }

    pub(super) fn paste(&mut self, text: String, out: &mut Vec<Action>) {
        if let Some(Overlay::Picker(picker)) = &mut self.overlay {
            picker.type_in(&text);
            return;
        }
        let focus = self.focus;
        let Some(tab) = self.tab_mut() else {
            return;
        };
        if focus == Focus::Nowhere {
            return;
        }
        if focus == Focus::Asks {
            super::keys::lists::type_into_form(tab, &text);
            return;
        }
        let trimmed = text.trim();
        // Terminals paste the path of a file that is dropped on them.
        let is_path = trimmed.len() <= PATH_BYTES_MAX
            && !trimmed.contains(['\n', '\r'])
            && ["/", "~/", "'/", "'~/", "\"/", "\"~/", "file://"]
                .iter()
                .any(|begin| trimmed.starts_with(begin));
        let id = tab.id;
        if !tab.composer.paste(&text) {
            self.complain("the paste is too large and was left out");
        } else if is_path {
            // Whatever it turns out to be, what is typed next comes behind it.
            out.push(Action::CheckImage(id, text));
        }
        self.edited(out);
    }

    pub(super) fn mouse(&mut self, mouse: MouseEvent) {
        let area = self.transcript_area;
        let is_inside = area.contains((mouse.column, mouse.row).into());
        let by = match mouse.kind {
            MouseEventKind::ScrollUp => -WHEEL_LINES,
            MouseEventKind::ScrollDown => WHEEL_LINES,
            MouseEventKind::Down(MouseButton::Left) if is_inside && self.overlay.is_none() => {
                self.view(ViewWork::FoldAt(mouse.row.saturating_sub(area.y)));
                self.is_changed = true;
                return;
            }
            _ => return,
        };
        self.is_changed = true;
        let step = if by < 0 { -1 } else { 1 };
        match &mut self.overlay {
            Some(Overlay::Picker(picker)) => picker.step(step),
            Some(Overlay::Help { scroll }) => {
                *scroll = scroll.saturating_add_signed(if by < 0 { -3 } else { 3 });
            }
            None => self.view(ViewWork::Scroll(Scroll::Lines(by))),
        }
    }

    pub(super) fn view(&mut self, work: ViewWork) {
        if let Some(tab) = self.tab_mut() {
            tab.view_work.push(work);
        }
    }

    fn page(&mut self, pages: i32) {
        let by = if pages < 0 { -PAGE_LINES } else { PAGE_LINES };
        if self.log_pane.is_open {
            self.step_log(by);
        } else if self.scrolls_ask()
            && let Some(tab) = self.tab_mut()
            && let Some(ask) = tab.asks.get_mut(tab.ask)
        {
            ask.page(if pages < 0 { -1 } else { 1 });
        } else if self.shell.is_some() {
            self.page_shell(pages < 0);
        } else {
            self.view(ViewWork::Scroll(Scroll::Page(pages)));
        }
    }

    /// Returns whether the page keys are for the question: it has the focus, or does not fit on the screen.
    fn scrolls_ask(&self) -> bool {
        let ask = self.tab().and_then(Tab::open_ask);
        match self.focus {
            Focus::Asks => ask.is_some(),
            Focus::Composer => ask.is_some_and(Ask::is_cut),
            Focus::Queue(_) | Focus::Nowhere => false,
        }
    }

    pub(super) fn toggle_log(&mut self) {
        let is_open = !self.log_pane.is_open;
        self.log_pane = LogPane {
            is_open,
            ..LogPane::default()
        };
    }

    /// Goes up and down in the wire log, or in the line that is shown whole.
    pub(super) fn step_log(&mut self, by: isize) {
        match &mut self.log_pane.whole {
            Some(row) => *row = row.saturating_add_signed(by),
            None => self.log_pane.chosen = self.log.step(self.log_pane.chosen, by),
        }
    }

    /// Returns whether keys that mean nothing to an empty composer are for the wire log.
    pub(in crate::app) fn has_log_keys(&self) -> bool {
        self.log_pane.is_open
            && self.popup.is_none()
            && self.tab().is_some_and(|tab| tab.composer.is_empty())
    }

    /// Ends an agent that does not stop.
    pub(super) fn kill(&mut self, out: &mut Vec<Action>) {
        let stopping = self
            .tab()
            .filter(|tab| matches!(tab.phase, Phase::Cancelling { .. } | Phase::Working(_)));
        match stopping.map(|tab| (tab.agent, &tab.phase)) {
            Some((agent, Phase::Cancelling { .. })) => out.push(Action::Kill(agent)),
            Some(_) => {
                let words = "Esc cancels the turn first; Alt-K then kills the agent";
                self.say(self.keys.shown(words));
            }
            None => self.say("nothing runs that could be killed"),
        }
    }
}
