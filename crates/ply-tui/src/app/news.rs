//! What comes from agents and from what was asked to be done.

use ply_client::v2;

use super::ask::{Ask, What};
use super::event::{Ended, Event, Question};
use super::picker::Picker;
use super::tab::{Attention, Phase, Usage};
use super::{Action, App, Focus, Overlay};
use crate::composer::Piece;

impl App {
    pub(super) fn news(&mut self, event: Event, out: &mut Vec<Action>) {
        let now = self.now;
        match event {
            Event::Focus(is_focused) => self.is_focused = is_focused,
            Event::AgentStarted(agent, facts) => {
                if let Some(known) = self.agents.get_mut(agent.0) {
                    known.facts = Some(facts);
                }
            }
            Event::AgentDied(agent, words) => {
                let of_agent = self.tabs.iter_mut().filter(|tab| tab.agent == agent);
                // A turn that it cuts off says so itself, before this or after, and may be one that has begun since.
                for tab in of_agent.filter(|tab| tab.session.is_some() && !tab.is_working()) {
                    tab.died.get_or_insert_with(|| words.clone());
                    tab.is_busy_alone = false;
                }
            }
            Event::LoggedIn(agent, result) => {
                let of_agent = self.tabs.iter_mut().filter(|tab| tab.agent == agent);
                for tab in of_agent {
                    tab.logged_in(result.clone(), now, out);
                }
            }
            Event::Sessions(agent, result) => self.listed(agent, result),
            Event::Recent(sessions) => self.recently(sessions),
            Event::Opened(id, opened) => {
                // It may work in another directory.
                self.are_files_stale = true;
                if let Some(tab) = self.tab_by_id(id) {
                    tab.opened(opened, now, out);
                }
            }
            Event::OpenFailed(id, failure) => {
                if let Some(tab) = self.tab_by_id(id) {
                    tab.open_failed(failure);
                }
            }
            Event::Options(id, options) => {
                if let Some(tab) = self.tab_by_id(id) {
                    tab.options = options;
                }
                self.refresh_options();
            }
            Event::OptionFailed(words) => self.complain(words),
            Event::Commands(id, commands) => {
                if let Some(tab) = self.tab_by_id(id) {
                    tab.commands = commands.into_iter().filter_map(command).collect();
                }
                self.refresh_popup(out);
            }
            Event::Title(id, title) => {
                if let Some(tab) = self.tab_by_id(id) {
                    tab.title = title;
                }
            }
            Event::Usage(id, update) => {
                if let Some(tab) = self.tab_by_id(id) {
                    let usage = tab.usage.get_or_insert_with(Usage::default);
                    usage.used = update.used;
                    usage.size = update.size;
                    if let Some(cost) = update.cost.value() {
                        usage.cost = Some((cost.amount, cost.currency.clone()));
                    }
                }
            }
            Event::Notice(notice) => self.show_notice(&notice),
            Event::State(id, state) => {
                if let Some(tab) = self.tab_by_id(id) {
                    let runs = matches!(state, v2::StateUpdate::Running(_));
                    tab.is_busy_alone = runs && !tab.is_working();
                }
            }
            Event::Ask(id, ask, question) => {
                let is_form = matches!(question, Question::Form(_));
                if let Some(tab) = self.tab_by_id(id) {
                    tab.asks.push(Ask::new(ask, question));
                    if is_form {
                        self.go_to_form(id);
                    }
                    self.call_user(id, Attention::NeedsYou, out);
                }
            }
            Event::AskClosed(ask) => {
                let open = self.tab().and_then(|tab| tab.open_ask());
                let is_open = open.is_some_and(|open| open.id == ask);
                let is_form = open.is_some_and(|open| matches!(open.what, What::Form(_)));
                let has_focus = is_open && self.focus == Focus::Asks;
                // A key on its way to it is for nobody else.
                if has_focus {
                    self.deaf_until = now + super::ASK_MS;
                }
                self.ask_closed(ask);
                // Nor is the rest of what somebody is typing into it: it may be a secret.
                if has_focus && is_form {
                    self.focus = Focus::Nowhere;
                    self.complain("the agent closed the form; what you typed was not sent");
                }
            }
            Event::Quiet(id, for_s) => {
                if let Some(tab) = self.tab_by_id(id) {
                    tab.quiet_since = Some(now.saturating_sub(for_s.saturating_mul(1000)));
                }
            }
            Event::CancelOverdue(id) => {
                if let Some(tab) = self.tab_by_id(id)
                    && let Phase::Cancelling { is_overdue, .. } = &mut tab.phase
                {
                    *is_overdue = true;
                }
            }
            Event::PromptFailed(id, failure) => {
                if let Some(tab) = self.tab_by_id(id) {
                    tab.prompt_failed(failure);
                    self.complain("your prompt was not sent; nothing of it is lost");
                    self.call_user(id, Attention::NeedsYou, out);
                }
            }
            Event::Tally(id, tally) => {
                if let Some(tab) = self.tab_by_id(id) {
                    tab.set_tally(tally);
                }
            }
            Event::TurnEnded(id, ended) => {
                let is_cancelled = matches!(ended, Ended::Done(Some(v2::StopReason::Cancelled)));
                self.are_files_stale = true;
                if let Some(tab) = self.tab_by_id(id) {
                    tab.turn_ended(ended, now, out);
                    if !tab.is_working() && !is_cancelled {
                        self.call_user(id, Attention::Finished, out);
                    }
                }
            }
            Event::SessionEnded(id) => {
                if let Some(tab) = self.tab_by_id(id) {
                    tab.is_busy_alone = false;
                }
            }
            Event::Changed(id) => {
                if let Some(tab) = self.tab_by_id(id) {
                    tab.quiet_since = None;
                }
            }
            Event::Files(id, files) => {
                if self.tab().is_some_and(|tab| tab.id == id) {
                    self.files = Some(files);
                    self.refresh_popup(out);
                }
            }
            Event::Edited(id, Ok(text)) => {
                if let Some(tab) = self.tab_by_id(id) {
                    tab.composer = tab.composer.rewritten(text.trim_end());
                }
            }
            Event::Edited(_, Err(words)) => self.complain(words),
            Event::Shell(id, news) => self.shell_news(id, news),
            Event::Image(id, text, image) => self.pasted_path(id, &text, image),
            Event::Resize | Event::Key(_) | Event::Mouse(_) | Event::Paste(_) | Event::Tick(_) => {}
        }
    }

    fn show_notice(&mut self, notice: &v2::Notice) {
        let text = match &notice.description {
            Some(more) => format!("{}: {more}", notice.title),
            None => notice.title.clone(),
        };
        match notice.severity {
            v2::NoticeSeverity::Error => self.complain(text),
            _ => self.say(text),
        }
    }

    /// Goes to a form that came, where nobody is writing: what is typed next is meant for it.
    fn go_to_form(&mut self, id: super::TabId) {
        let is_typing = self.key_at + super::ASK_MS > self.now && self.key_at > 0;
        let is_covered = self.overlay.is_some() || self.search.is_some();
        let Some(tab) = self.tab().filter(|tab| tab.id == id) else {
            return;
        };
        let is_free = tab.asks.len() == 1 && tab.composer.is_empty();
        if is_free && !is_typing && !is_covered && self.focus == Focus::Composer {
            self.focus = Focus::Asks;
        }
    }

    pub(super) fn ask_closed(&mut self, ask: super::AskId) {
        for tab in &mut self.tabs {
            tab.close_ask(ask);
        }
        let is_empty = self.tab().is_none_or(|tab| tab.asks.is_empty());
        if is_empty && self.focus == Focus::Asks {
            self.focus = Focus::Composer;
        }
    }

    fn pasted_path(
        &mut self,
        id: super::TabId,
        text: &str,
        image: Option<(std::path::PathBuf, &'static str)>,
    ) {
        let takes_images = self
            .tab_by_id(id)
            .map(|tab| tab.agent)
            .and_then(|agent| self.agent(agent)?.facts.as_ref())
            .is_some_and(|facts| facts.takes_images);
        let is_refused = image.is_some() && !takes_images;
        if let Some(tab) = self.tab_by_id(id) {
            // It stands there as text since it was pasted, unless the user changed that.
            if let Some((path, mime)) = image.filter(|_| takes_images) {
                tab.composer
                    .put_piece_for(text, Piece::Image { path, mime });
            }
        }
        if is_refused {
            self.say("this agent takes no images; the path stays as text");
        }
    }

    fn listed(&mut self, agent: super::AgentId, result: Result<Vec<super::event::Listed>, String>) {
        let open = self.open_sessions(agent);
        let (paths, ago) = (self.paths.clone(), self.ago);
        if let Some(Overlay::Picker(picker)) = &mut self.overlay
            && picker.is_of_sessions(agent)
        {
            match result {
                Ok(sessions) => {
                    let filter = std::mem::take(&mut picker.filter);
                    *picker = Picker::sessions(agent, &sessions, &open, &paths, ago);
                    picker.type_in(&filter);
                    picker.choose_latest();
                }
                Err(words) => picker.note = words,
            }
        }
    }
}

fn command(command: v2::AvailableCommand) -> Option<v2::Command> {
    match command {
        v2::AvailableCommand::Command(command) => Some(command),
        _ => None,
    }
}
