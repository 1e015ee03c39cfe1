//! Mode, model and the other options of a session.

use ply_client::v2;

use super::picker::{Choice, Item, Picker};
use super::{Action, AgentId, App, Overlay};

impl App {
    /// Shows the sessions of an agent.
    pub(super) fn pick_session(&mut self, agent: AgentId, out: &mut Vec<Action>) {
        let name = self.agent(agent).map_or("", |known| &known.name);
        let picker = Picker::waiting_for_sessions(agent, name);
        self.overlay = Some(Overlay::Picker(picker));
        out.push(Action::ListSessions(agent));
    }

    pub(super) fn pick_agent(&mut self) {
        let agents = self.agents.iter().enumerate();
        let items = agents.map(|(place, known)| Item {
            label: known.name.clone(),
            detail: known.facts.as_ref().map_or_else(String::new, |facts| {
                format!("{}, version {} of the protocol", facts.title, facts.version)
            }),
            choice: Choice::New(AgentId(place)),
        });
        let picker = Picker::new("New session with", items.collect());
        self.overlay = Some(Overlay::Picker(picker));
    }

    pub(super) fn pick_theme(&mut self) {
        let items = self.theme_names().into_iter().map(|name| Item {
            label: name.clone(),
            detail: String::new(),
            choice: Choice::Theme(name),
        });
        let picker = Picker::new("Theme", items.collect());
        self.overlay = Some(Overlay::Picker(picker));
    }

    /// Shows the options of the session.
    pub(super) fn pick_option(&mut self) {
        let options = self.tab().map_or(&[][..], |tab| &tab.options);
        if options.is_empty() {
            self.say("this session has no options");
            return;
        }
        let items = options.iter().map(|option| Item {
            label: option.name.clone(),
            detail: current_name(option),
            choice: Choice::Option(option.config_id.clone()),
        });
        let picker = Picker::new("Options", items.collect());
        self.overlay = Some(Overlay::Picker(picker));
    }

    /// Shows the values of an option.
    pub(super) fn pick_value(&mut self, id: &v2::SessionConfigId) {
        let options = self.tab().map_or(&[][..], |tab| &tab.options);
        let Some(option) = options.iter().find(|option| option.config_id == *id) else {
            return;
        };
        let current = current_name(option);
        let items = values(option).into_iter().map(|(name, detail, value)| {
            let mark = if name == current { "● " } else { "  " };
            Item {
                label: format!("{mark}{name}"),
                detail,
                choice: Choice::Set(id.clone(), value),
            }
        });
        let picker = Picker::new(option.name.clone(), items.collect());
        self.overlay = Some(Overlay::Picker(picker));
    }

    /// The options changed: a list of them that is open would lie.
    pub(super) fn refresh_options(&mut self) {
        if let Some(Overlay::Picker(picker)) = &self.overlay
            && let Some(Choice::Option(_)) = picker.items.first().map(|item| &item.choice)
        {
            self.pick_option();
        }
    }

    /// Goes to the next mode of the session.
    pub(super) fn next_mode(&mut self, out: &mut Vec<Action>) {
        let Some(tab) = self.tab() else {
            return;
        };
        let Some(option) = tab.option(&v2::SessionConfigOptionCategory::Mode) else {
            self.say("this session has no modes");
            return;
        };
        let all = values(option);
        let current = current_name(option);
        let place = all.iter().position(|(name, _, _)| *name == current);
        let first = place.map_or(0, |place| place + 1);
        let mut next = all.iter().cycle().skip(first).take(all.len());
        // One key too many must not be what lets an agent do everything unasked.
        let next = next.find(|(name, _, value)| Care::of(name, value) != Care::All);
        match next {
            Some((name, _, _)) if *name == current => {
                self.say("there is no other mode but the one without questions; /mode sets it");
            }
            Some((_, _, value)) => {
                let value = value.clone();
                out.push(Action::SetOption(tab.id, option.config_id.clone(), value));
            }
            None => self.say("/mode sets the mode"),
        }
    }

    /// Sets an option by words: its id, name or category, and the id or name of a value.
    pub(super) fn set_by_words(&mut self, option: &str, value: &str, out: &mut Vec<Action>) {
        let Some(tab) = self.tab() else {
            return;
        };
        if let (Some(option), true) = (find_option(&tab.options, option), value.is_empty()) {
            let id = option.config_id.clone();
            self.pick_value(&id);
            return;
        }
        match find_setting(&tab.options, option, value) {
            Ok((option, value)) => out.push(Action::SetOption(tab.id, option, value)),
            Err(words) => self.complain(words),
        }
    }
}

/// How much an agent may do unasked in a mode, as far as its name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Care {
    /// It only looks.
    Looks,
    /// It asks.
    Asks,
    /// It edits unasked.
    Edits,
    /// It does everything unasked.
    All,
}

impl Care {
    /// Words in names of modes, by what they mean. The first that is found counts.
    const WORDS: [(Self, &'static [&'static str]); 3] = [
        (
            Self::All,
            &[
                "full",
                "bypass",
                "yolo",
                "danger",
                "unrestricted",
                "dontask",
                "don't ask",
            ],
        ),
        (Self::Edits, &["edit", "auto", "accept"]),
        (Self::Looks, &["plan", "read", "architect"]),
    ];

    fn of(name: &str, value: &v2::SessionConfigOptionValue) -> Self {
        let id = match value {
            v2::SessionConfigOptionValue::Id { value } => value.0.to_lowercase(),
            _ => String::new(),
        };
        let name = name.to_lowercase();
        let has = |word: &&str| name.contains(*word) || id.contains(*word);
        let mut words = Self::WORDS.iter();
        words
            .find(|(_, words)| words.iter().any(has))
            .map_or(Self::Asks, |(care, _)| *care)
    }

    /// Returns it for the mode that an option is set to.
    pub(crate) fn of_current(option: &v2::SessionConfigOption) -> Self {
        let current = current_name(option);
        let all = values(option);
        let found = all.iter().find(|(name, _, _)| *name == current);
        found.map_or(Self::Asks, |(name, _, value)| Self::of(name, value))
    }
}

/// Returns an option and a value of it by words; else what there is.
pub(crate) fn find_setting(
    options: &[v2::SessionConfigOption],
    option: &str,
    value: &str,
) -> Result<(v2::SessionConfigId, v2::SessionConfigOptionValue), String> {
    let Some(option) = find_option(options, option) else {
        let known: Vec<_> = options
            .iter()
            .map(|known| known.config_id.to_string())
            .collect();
        return Err(match known.is_empty() {
            true => "this session has no options".to_owned(),
            false => format!("no such option; there are: {}", known.join(", ")),
        });
    };
    let found = find_value(option, value).ok_or_else(|| {
        let names: Vec<_> = values(option)
            .into_iter()
            .map(|(name, _, _)| name)
            .collect();
        format!("no such value; there are: {}", names.join(", "))
    })?;
    Ok((option.config_id.clone(), found))
}

/// Returns an option by its id, name or category.
fn find_option<'a>(
    options: &'a [v2::SessionConfigOption],
    words: &str,
) -> Option<&'a v2::SessionConfigOption> {
    use v2::SessionConfigOptionCategory as Category;
    let category = match words {
        "mode" => Some(Category::Mode),
        "model" => Some(Category::Model),
        "effort" | "thought_level" => Some(Category::ThoughtLevel),
        _ => None,
    };
    let by_id = options.iter().find(|option| *option.config_id.0 == *words);
    by_id
        .or_else(|| {
            let category = category.as_ref()?;
            options
                .iter()
                .find(|option| option.category.as_ref() == Some(category))
        })
        .or_else(|| {
            options
                .iter()
                .find(|option| option.name.eq_ignore_ascii_case(words))
        })
}

/// Returns a value of an option by its id or name, or by a part of either if only one has it.
fn find_value(
    option: &v2::SessionConfigOption,
    words: &str,
) -> Option<v2::SessionConfigOptionValue> {
    let all = values(option);
    let id_of = |value: &v2::SessionConfigOptionValue| match value {
        v2::SessionConfigOptionValue::Id { value } => value.0.to_string(),
        v2::SessionConfigOptionValue::Boolean { value } => value.to_string(),
        _ => String::new(),
    };
    let exact = all
        .iter()
        .find(|(name, _, value)| id_of(value) == words || name.eq_ignore_ascii_case(words));
    let words = words.to_lowercase();
    let mut parts = all.iter().filter(|(name, _, value)| {
        name.to_lowercase().contains(&words) || id_of(value).to_lowercase().contains(&words)
    });
    let only = match (parts.next(), parts.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    };
    exact.or(only).map(|(_, _, value)| value.clone())
}

/// Returns names, descriptions and values of an option.
pub(crate) fn values(
    option: &v2::SessionConfigOption,
) -> Vec<(String, String, v2::SessionConfigOptionValue)> {
    let of = |choice: &v2::SessionConfigSelectOption| {
        (
            choice.name.clone(),
            choice.description.clone().unwrap_or_default(),
            v2::SessionConfigOptionValue::from(choice.value.clone()),
        )
    };
    match &option.kind {
        v2::SessionConfigKind::Select(select) => match &select.options {
            v2::SessionConfigSelectOptions::Ungrouped(choices) => choices.iter().map(of).collect(),
            v2::SessionConfigSelectOptions::Grouped(groups) => {
                let choices = groups.iter().flat_map(|group| &group.options);
                choices.map(of).collect()
            }
            _ => Vec::new(),
        },
        v2::SessionConfigKind::Boolean(_) => [("on", true), ("off", false)]
            .map(|(name, value)| (name.to_owned(), String::new(), value.into()))
            .into(),
        _ => Vec::new(),
    }
}

/// Returns the name of the current value.
pub(crate) fn current_name(option: &v2::SessionConfigOption) -> String {
    match &option.kind {
        v2::SessionConfigKind::Select(select) => {
            let current = v2::SessionConfigOptionValue::from(select.current_value.clone());
            let all = values(option);
            let found = all.into_iter().find(|(_, _, value)| *value == current);
            found.map_or_else(|| select.current_value.to_string(), |(name, _, _)| name)
        }
        v2::SessionConfigKind::Boolean(boolean) => match boolean.current_value {
            true => "on".to_owned(),
            false => "off".to_owned(),
        },
        _ => String::new(),
    }
}
