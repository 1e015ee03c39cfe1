//! A list to choose from, with a filter.

use std::collections::HashSet;

use nucleo_matcher::Config;
use ply_client::v2;

use super::AgentId;
use super::event::Listed;
use crate::fuzzy;
use crate::paths::Paths;

/// Entries that a filter leaves.
const FOUND_MAX: usize = 500;

/// What happens to what is chosen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Choice {
    /// Begin a session.
    New(AgentId),
    /// Open a stored one.
    Stored(AgentId, Listed),
    /// Show the values of an option.
    Option(v2::SessionConfigId),
    Set(v2::SessionConfigId, v2::SessionConfigOptionValue),
    Theme(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) label: String,
    pub(crate) detail: String,
    pub(crate) choice: Choice,
}

/// A list to choose from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picker {
    pub(crate) title: String,
    pub(crate) items: Vec<Item>,
    pub(crate) filter: String,
    /// Places of the items that fit the filter.
    pub(crate) shown: Vec<usize>,
    pub(crate) selected: usize,
    /// What there is to say about the list, such as that it is on its way.
    pub(crate) note: String,
    sessions_of: Option<AgentId>,
}

impl Picker {
    pub(crate) fn new(title: impl Into<String>, items: Vec<Item>) -> Self {
        let mut picker = Self {
            title: title.into(),
            items,
            filter: String::new(),
            shown: Vec::new(),
            selected: 0,
            note: String::new(),
            sessions_of: None,
        };
        picker.refresh();
        picker
    }

    /// Returns a list of sessions that is on its way.
    pub(crate) fn waiting_for_sessions(agent: AgentId, name: &str) -> Self {
        let mut picker = Self::new(format!("Sessions of {name}"), vec![new_session(agent)]);
        picker.sessions_of = Some(agent);
        picker.note = "asking the agent…".to_owned();
        picker
    }

    /// Returns a list of sessions, those of this directory first, the latest of each first.
    pub(crate) fn sessions(
        agent: AgentId,
        sessions: &[Listed],
        open: &HashSet<String>,
        paths: &Paths,
        ago: fn(&str) -> String,
    ) -> Self {
        let mut latest: Vec<&Listed> = sessions.iter().collect();
        latest.sort_by(|one, other| other.updated_at.cmp(&one.updated_at));
        latest.sort_by_key(|session| session.cwd != paths.cwd());
        let stored = latest.into_iter().map(|session| {
            let title = match session.title.as_str() {
                "" => session.id.as_str(),
                title => title,
            };
            let mark = if open.contains(&session.id) {
                "● "
            } else {
                ""
            };
            let time = ago(&session.updated_at);
            let detail = match session.cwd == paths.cwd() {
                true => time,
                false => format!("{}  {time}", paths.beneath_home(&session.cwd)),
            };
            Item {
                label: format!("{mark}{title}"),
                detail,
                choice: Choice::Stored(agent, session.clone()),
            }
        });
        let items = std::iter::once(new_session(agent)).chain(stored);
        let mut picker = Self::new("Sessions", items.collect());
        picker.sessions_of = Some(agent);
        picker.note = format!("{} stored", sessions.len());
        picker
    }

    /// Goes to the latest session, which is what most people look for.
    pub(crate) fn choose_latest(&mut self) {
        let is_stored = |place: &usize| {
            let item = self.items.get(*place);
            item.is_some_and(|item| matches!(item.choice, Choice::Stored(..)))
        };
        self.selected = self.shown.iter().position(is_stored).unwrap_or(0);
    }

    pub(crate) fn is_of_sessions(&self, agent: AgentId) -> bool {
        self.sessions_of == Some(agent)
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.filter
            .extend(text.chars().filter(|char| !char.is_control()));
        self.refresh();
    }

    pub(crate) fn erase(&mut self) {
        self.filter.pop();
        self.refresh();
    }

    pub(crate) fn step(&mut self, by: isize) {
        let moved = self.selected.saturating_add_signed(by);
        self.selected = moved.min(self.shown.len().saturating_sub(1));
    }

    pub(crate) fn chosen(&self) -> Option<&Item> {
        self.items.get(*self.shown.get(self.selected)?)
    }

    fn refresh(&mut self) {
        let labels: Vec<String> = self
            .items
            .iter()
            .map(|item| format!("{} {}", item.label, item.detail))
            .collect();
        let labels = labels.iter().map(String::as_str);
        self.shown = fuzzy::find(&self.filter, labels, Config::DEFAULT, FOUND_MAX);
        self.selected = 0;
    }
}

fn new_session(agent: AgentId) -> Item {
    Item {
        label: "New session".to_owned(),
        detail: String::new(),
        choice: Choice::New(agent),
    }
}
