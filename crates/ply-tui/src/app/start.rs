//! What is known before anything was said.

use super::event::Listed;
use super::tab::{Phase, Tab};
use super::{Action, App, Focus};
use crate::composer::Composer;
use crate::options::Options;

/// Sessions that are shown at the start.
pub(crate) const RECENT_MAX: usize = 5;

/// What somebody can say who does not know what to say.
pub(crate) const PROMPTS: [&str; 3] = [
    "explain this repository",
    "what changed recently?",
    "run the tests and explain what fails",
];

/// What is known before anything was said.
pub(crate) struct Start {
    /// The branch that is checked out.
    pub(crate) branch: Option<String>,
    /// The sessions that were run last, those of this directory first.
    pub(crate) recent: Vec<Listed>,
}

impl Start {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            branch: options.branch.clone(),
            recent: Vec::new(),
        }
    }
}

impl App {
    /// Returns whether Tab offers a prompt: nothing was said or written here but one of those.
    pub(crate) fn can_suggest(&self) -> bool {
        let is_alone = self.focus == Focus::Composer && self.popup.is_none();
        let tab = self.tab().filter(|_| is_alone && !self.log_pane.is_open);
        tab.is_some_and(|tab| {
            let is_suggested = PROMPTS.contains(&tab.composer.text());
            tab.is_fresh() && (tab.composer.is_empty() || is_suggested)
        })
    }

    /// Writes the next prompt that could be said.
    pub(super) fn suggest(&mut self, out: &mut Vec<Action>) {
        let Some(tab) = self.tab_mut() else {
            return;
        };
        let written = PROMPTS.iter().position(|it| *it == tab.composer.text());
        let next = written.map_or(0, |place| (place + 1) % PROMPTS.len());
        if let Some(prompt) = PROMPTS.get(next) {
            tab.composer = Composer::with_text(prompt);
        }
        self.edited(out);
    }

    /// Notes the sessions that were run last.
    pub(super) fn recently(&mut self, mut sessions: Vec<Listed>) {
        let cwd = self.paths.cwd().to_owned();
        sessions.sort_by(|one, other| {
            let here = |session: &Listed| session.cwd != cwd;
            let by_place = here(one).cmp(&here(other));
            by_place.then_with(|| other.updated_at.cmp(&one.updated_at))
        });
        sessions.truncate(RECENT_MAX);
        self.start.recent = sessions;
    }
}

impl Tab {
    /// Returns whether nothing was said in it, and nothing is in the way of saying something.
    pub(crate) fn is_fresh(&self) -> bool {
        let is_calm = matches!(self.phase, Phase::Starting(_) | Phase::Ready);
        is_calm && !self.has_content() && self.queue.is_empty() && self.asks.is_empty()
    }
}
