//! Keys in the list of questions and in the queue.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ply_client::v2;

use crate::app::ask::What;
use crate::app::tab::Tab;
use crate::app::{Action, App, Focus};

impl App {
    pub(super) fn ask_key(&mut self, key: KeyEvent, is_control: bool, out: &mut Vec<Action>) {
        let can_answer = self.can_answer();
        let Some(tab) = self.tab_mut() else {
            return;
        };
        let count = tab.asks.len();
        let place = tab.ask;
        let Some(ask) = tab.asks.get_mut(place) else {
            self.focus = Focus::Composer;
            return;
        };
        if key.code == KeyCode::Tab {
            // Through all questions, then back to the composer.
            match place + 1 < count {
                true => tab.ask += 1,
                false => {
                    tab.ask = 0;
                    self.focus = Focus::Composer;
                }
            }
            return;
        }
        let id = ask.id;
        match &mut ask.what {
            What::Permission(_) => match key.code {
                KeyCode::Up | KeyCode::Left => ask.step(-1),
                KeyCode::Down | KeyCode::Right => ask.step(1),
                KeyCode::Char(digit @ '1'..='9') if can_answer => {
                    self.answer_number(digit, out);
                }
                KeyCode::Enter if can_answer => {
                    if let Some(option) = ask.options().get(ask.option) {
                        let option = option.option_id.clone();
                        out.push(Action::Select(id, option));
                        self.ask_closed(id);
                    }
                }
                _ => {}
            },
            What::Form(form) => match key.code {
                KeyCode::Up => form.step(-1),
                KeyCode::Down => form.step(1),
                KeyCode::Left => form.choose(-1),
                KeyCode::Right => form.choose(1),
                KeyCode::Backspace => form.erase(),
                KeyCode::Char('d') if is_control && can_answer => {
                    out.push(Action::AnswerForm(id, v2::ElicitationAction::Decline));
                    self.ask_closed(id);
                }
                KeyCode::Char(char) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => {
                    form.type_in(char.encode_utf8(&mut [0; 4]));
                }
                KeyCode::Enter if can_answer => {
                    if let Some(answer) = form.answer() {
                        out.push(Action::AnswerForm(id, answer));
                        self.ask_closed(id);
                    }
                }
                _ => {}
            },
        }
    }

    /// Gives the answer with a number; returns whether there is one.
    pub(super) fn answer_number(&mut self, digit: char, out: &mut Vec<Action>) -> bool {
        let place = u32::from(digit).saturating_sub(u32::from('1'));
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let Some(ask) = self.tab().and_then(Tab::open_ask) else {
            return false;
        };
        let id = ask.id;
        let Some(option) = ask.options().get(place) else {
            return false;
        };
        out.push(Action::Select(id, option.option_id.clone()));
        // It is answered, so it need not be shown until that is heard of.
        self.ask_closed(id);
        true
    }

    pub(super) fn queue_key(&mut self, key: KeyEvent, place: usize, out: &mut Vec<Action>) {
        let now = self.now;
        let Some(tab) = self.tab_mut() else {
            return;
        };
        let last = tab.queue.len().saturating_sub(1);
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        self.focus = match key.code {
            KeyCode::Up => Focus::Queue(place.saturating_sub(1)),
            KeyCode::Down if place < last => Focus::Queue(place + 1),
            KeyCode::Enter => {
                if !tab.edit_queued(place) {
                    self.say("something is written already; send it or clear it first");
                    return;
                }
                Focus::Composer
            }
            KeyCode::Delete | KeyCode::Backspace => {
                tab.queue.remove(place);
                match tab.queue.is_empty() {
                    true => Focus::Composer,
                    false => Focus::Queue(place.min(last.saturating_sub(1))),
                }
            }
            KeyCode::Char('x') if is_control => Focus::Composer,
            KeyCode::Down => Focus::Composer,
            KeyCode::Char(_) | KeyCode::Left | KeyCode::Right | KeyCode::Home | KeyCode::End => {
                // Whoever types means the composer.
                self.focus = Focus::Composer;
                self.press_usual(key, out);
                return;
            }
            _ => Focus::Queue(place),
        };
        if let Some(tab) = self.tab_mut() {
            tab.is_held &= !tab.queue.is_empty();
            tab.send_next(now, out);
        }
    }
}

pub(super) fn type_into_form(tab: &mut Tab, text: &str) {
    let place = tab.ask;
    if let Some(What::Form(form)) = tab.asks.get_mut(place).map(|ask| &mut ask.what) {
        form.type_in(text);
    }
}
