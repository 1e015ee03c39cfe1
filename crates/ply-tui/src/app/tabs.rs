//! Opening, changing and closing tabs, and what is written in them.

use std::collections::HashSet;

use super::tab::Tab;
use super::{Action, AgentId, App, Focus, TabId, Target};
use crate::composer::Composer;

/// Tabs that can be open.
const TABS_MAX: usize = 50;

impl App {
    /// Opens a tab and goes to it.
    pub(crate) fn open_tab(&mut self, agent: AgentId, target: Target, out: &mut Vec<Action>) {
        if let Target::Stored { id, .. } = &target {
            let is_there = |tab: &Tab| tab.agent == agent && tab.session.as_ref() == Some(id);
            if let Some(place) = self.tabs.iter().position(is_there) {
                self.go_to(place, out);
                return;
            }
        }
        if self.tabs.len() >= TABS_MAX {
            self.complain(format!(
                "{TABS_MAX} sessions are open; close one with /close"
            ));
            return;
        }
        let id = TabId(self.next_tab);
        self.next_tab += 1;
        self.tabs
            .push(Tab::new(id, agent, target.clone(), self.now));
        out.push(Action::Open(id, agent, target));
        self.go_to(self.tabs.len().saturating_sub(1), out);
    }

    /// Goes to a tab.
    pub(crate) fn go_to(&mut self, place: usize, out: &mut Vec<Action>) {
        self.leave_history();
        self.save_draft(out);
        if place < self.tabs.len() {
            self.current = place;
        }
        self.files = None;
        self.popup_closed = false;
        self.focus = Focus::Composer;
        self.search = None;
        self.popup = None;
        if let Some(tab) = self.tab_mut() {
            tab.attention = None;
        }
    }

    /// Closes the tab; the agent keeps the session.
    pub(crate) fn close_tab(&mut self, out: &mut Vec<Action>) {
        self.save_draft(out);
        if self.current >= self.tabs.len() {
            return;
        }
        self.keep_unsent(out);
        let tab = self.tabs.remove(self.current);
        out.push(Action::Close(tab.id));
        let place = self.current.min(self.tabs.len().saturating_sub(1));
        self.go_to(place, out);
        if self.tabs.is_empty() {
            out.push(Action::Quit);
        }
    }

    pub(crate) fn quit(&mut self, out: &mut Vec<Action>) {
        for place in 0..self.tabs.len() {
            self.current = place;
            self.save_draft(out);
            self.keep_unsent(out);
        }
        out.push(Action::Quit);
    }

    /// Keeps what was not sent in a tab that goes: with its session, or among the earlier prompts if it has none.
    fn keep_unsent(&mut self, out: &mut Vec<Action>) {
        let Some(tab) = self.tab() else {
            return;
        };
        let queued = tab.queue.iter().chain(std::iter::once(&tab.composer));
        let texts: Vec<String> = queued
            .filter(|text| !text.is_blank())
            .map(Composer::plain)
            .collect();
        match &tab.session {
            Some(_) if tab.queue.is_empty() => {}
            Some(session) => out.push(Action::SaveDraft {
                agent: tab.agent,
                session: session.clone(),
                text: texts.join("\n\n"),
            }),
            None => {
                for text in texts {
                    if self.history.push(text.clone()) {
                        out.push(Action::Remember(text));
                    }
                }
            }
        }
    }

    /// What is shown from the history is now being written, unless something else was before.
    fn leave_history(&mut self) {
        if let (Some(draft), Some(tab)) =
            (self.history.take_draft(), self.tabs.get_mut(self.current))
        {
            tab.composer = Composer::with_text(&draft);
        }
    }

    /// Returns what of a tab is to be saved, if it changed.
    fn draft_of(&self, tab: &Tab) -> Option<String> {
        // A prompt from the history is not worth keeping twice.
        let text = tab.composer.plain();
        (tab.session.is_some() && text != tab.saved_draft).then_some(text)
    }

    pub(crate) fn save_draft(&mut self, out: &mut Vec<Action>) {
        self.draft_saved = self.now;
        self.is_draft_touched = false;
        let Some(text) = self.tab().and_then(|tab| self.draft_of(tab)) else {
            return;
        };
        if let Some(tab) = self.tab_mut()
            && let Some(session) = tab.session.clone()
        {
            tab.saved_draft.clone_from(&text);
            let agent = tab.agent;
            out.push(Action::SaveDraft {
                agent,
                session,
                text,
            });
        }
    }

    /// Returns the sessions of an agent that are open.
    pub(super) fn open_sessions(&self, agent: AgentId) -> HashSet<String> {
        let of_agent = self.tabs.iter().filter(|tab| tab.agent == agent);
        of_agent.filter_map(|tab| tab.session.clone()).collect()
    }
}
