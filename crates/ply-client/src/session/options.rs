//! What the options of a session were, and setting them back after its agent was started again.

use ply_wire::convert::config::{offers, value_of};
use ply_wire::v2;

use super::Session;
use super::cell::{SessionCell, State};
use crate::Error;
use crate::connection::Connection;
use crate::limits::RESTORE_ROUNDS_MAX;

/// An option and a value for it.
pub(super) type Setting<'a> = (&'a v2::SessionConfigId, &'a v2::SessionConfigOptionValue);

/// What is known of the options over all lives of the agent.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// The values that the session began with.
    first: Vec<(v2::SessionConfigId, v2::SessionConfigOptionValue)>,
    /// The options that this client has set.
    set_here: Vec<v2::SessionConfigId>,
    /// What the options are to be set back to, until that is done.
    wanted: Option<Vec<Wanted>>,
    /// Whether the agent has told of options since the session was bound to its connection.
    pub(super) told: bool,
}

impl Kept {
    pub(super) fn restored(&mut self) {
        self.wanted = None;
    }
}

/// A value that an option had in an earlier life of the agent.
#[derive(Debug, Clone)]
struct Wanted {
    option: v2::SessionConfigId,
    value: v2::SessionConfigOptionValue,
    /// Whether the value is other than what the session began with, or was set by this client.
    is_chosen: bool,
}

impl Wanted {
    fn lost(&self, why: impl Into<String>) -> Error {
        Error::NotRestored {
            option: self.option.0.to_string(),
            value: shown(&self.value),
            why: why.into(),
        }
    }
}

impl State {
    /// Notes what a session began with.
    pub(super) fn note_first_options(&mut self) {
        self.kept.first = values(self.transcript.config_options());
    }

    /// Notes what the options are to be set back to. A try that failed leaves that as it was: the agent has told of its
    /// defaults since.
    pub(super) fn keep_options(&mut self) {
        if self.kept.wanted.is_some() {
            return;
        }
        let kept = &self.kept;
        let wanted = values(self.transcript.config_options()).into_iter();
        let wanted = wanted.map(|(option, value)| {
            let is_first = kept.first.iter().any(|it| it.0 == option && it.1 == value);
            Wanted {
                is_chosen: !is_first || kept.set_here.contains(&option),
                option,
                value,
            }
        });
        self.kept.wanted = Some(wanted.collect());
    }

    /// Returns the values that have to be set, as far as is known.
    fn missing(&self) -> Result<Vec<Wanted>, Error> {
        let mut missing = Vec::new();
        for wanted in self.kept.wanted.iter().flatten() {
            let options = self.transcript.config_options();
            let option = options.iter().find(|it| it.config_id == wanted.option);
            let is_missing = match option {
                // An agent that says nothing may well have started with its defaults.
                _ if !self.kept.told => wanted.is_chosen,
                None if wanted.is_chosen => {
                    return Err(wanted.lost("the agent no longer has this option"));
                }
                None => false,
                Some(option) if value_of(option).as_ref() == Some(&wanted.value) => false,
                Some(option) if !offers(option, &wanted.value) => {
                    return Err(wanted.lost("the agent no longer offers this value"));
                }
                Some(_) => true,
            };
            if is_missing {
                missing.push(wanted.clone());
            }
        }
        Ok(missing)
    }
}

impl SessionCell {
    /// Notes that this client has set an option.
    pub(super) fn set_here(&self, option: v2::SessionConfigId) {
        let mut state = self.lock();
        if !state.kept.set_here.contains(&option) {
            state.kept.set_here.push(option);
        }
    }

    fn want_instead(&self, (option, value): Setting<'_>) {
        let mut state = self.lock();
        let wanted = state.kept.wanted.iter_mut().flatten();
        for wanted in wanted.filter(|wanted| wanted.option == *option) {
            wanted.value = value.clone();
            wanted.is_chosen = true;
        }
    }
}

impl Session {
    /// Sets the options back to what they were before the agent was started again, `instead` to what is wanted now.
    pub(super) async fn restore_options(
        &self,
        connection: &Connection,
        instead: Option<Setting<'_>>,
    ) -> Result<(), Error> {
        if let Some(instead) = instead {
            self.cell.want_instead(instead);
        }
        let mut missing = self.cell.lock().missing()?;
        // Setting one option may reset another, such as the model its effort.
        for _ in 0..RESTORE_ROUNDS_MAX {
            for wanted in &missing {
                let set = self.set_on(connection, &wanted.option, wanted.value.clone());
                set.await.map_err(|error| match error {
                    Error::Refused(_) | Error::Call(_) | Error::Invalid { .. } => {
                        wanted.lost(error.to_string())
                    }
                    error => error,
                })?;
            }
            missing = self.cell.lock().missing()?;
            if missing.is_empty() {
                return Ok(());
            }
        }
        match missing.first() {
            Some(wanted) => Err(wanted.lost("the agent took it and set something else")),
            None => Ok(()),
        }
    }
}

fn values(
    options: &[v2::SessionConfigOption],
) -> Vec<(v2::SessionConfigId, v2::SessionConfigOptionValue)> {
    let values = options
        .iter()
        .filter_map(|option| Some((option.config_id.clone(), value_of(option)?)));
    values.collect()
}

fn shown(value: &v2::SessionConfigOptionValue) -> String {
    match value {
        v2::SessionConfigOptionValue::Id { value } => value.0.to_string(),
        v2::SessionConfigOptionValue::Boolean { value } => value.to_string(),
        _ => "a value of an unknown kind".to_owned(),
    }
}
