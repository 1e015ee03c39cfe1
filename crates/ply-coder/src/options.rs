//! What a user can choose in a session: mode, model, and how hard the model thinks.

use std::sync::Arc;

use ply_agent::transcript::Transcript;
use ply_agent::v2;

use crate::model::{Effort, Model};
use crate::permission::Mode;

/// The names of the options.
pub(crate) const MODE: &str = "mode";
pub(crate) const MODEL: &str = "model";
pub(crate) const EFFORT: &str = "effort";
/// The value of the effort option that leaves it to the model.
const EFFORT_DEFAULT: &str = "default";

/// Returns the model that a session was left with.
pub(crate) fn model_of(transcript: &Transcript) -> Option<&str> {
    let options = transcript.config_options().iter();
    options
        .filter(|option| &*option.config_id.0 == MODEL)
        .find_map(|option| match &option.kind {
            v2::SessionConfigKind::Select(select) => Some(&*select.current_value.0),
            _ => None,
        })
}

/// What was chosen in a session.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) mode: Mode,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) effort: Option<Effort>,
}

impl Choice {
    /// Takes over what a session was left with, as far as it is still there.
    pub(crate) fn restore(&mut self, transcript: &Transcript, models: &[Arc<dyn Model>]) {
        for option in transcript.config_options() {
            if let v2::SessionConfigKind::Select(select) = &option.kind {
                // What is not offered any more falls back to what it would be in a new session.
                self.set(&option.config_id.0, &select.current_value.0, models)
                    .ok();
            }
        }
    }

    /// Changes an option.
    ///
    /// # Errors
    ///
    /// There is no such option or value.
    pub(crate) fn set(
        &mut self,
        option: &str,
        value: &str,
        models: &[Arc<dyn Model>],
    ) -> Result<(), String> {
        match option {
            MODE => {
                self.mode = Mode::from_id(value).ok_or_else(|| {
                    let modes = Mode::ALL.map(Mode::id).join(", ");
                    format!("There is no mode `{value}`; there are {modes}.")
                })?;
            }
            MODEL => {
                let found = models.iter().find(|model| model.facts().id == value);
                self.model = Arc::clone(found.ok_or_else(|| {
                    let names: Vec<_> = models.iter().map(|m| m.facts().id.as_str()).collect();
                    format!(
                        "There is no model `{value}`; there are {}.",
                        names.join(", ")
                    )
                })?);
            }
            EFFORT => {
                self.effort = match value {
                    EFFORT_DEFAULT => None,
                    value => Some(Effort::from_id(value).ok_or_else(|| {
                        format!(
                            "There is no effort `{value}`; there are default, low, medium, high."
                        )
                    })?),
                };
            }
            _ => return Err(format!("There is no option `{option}`.")),
        }
        Ok(())
    }

    /// Returns the options with their values, for clients.
    pub(crate) fn options(&self, models: &[Arc<dyn Model>]) -> Vec<v2::SessionConfigOption> {
        use v2::SessionConfigOptionCategory as Category;
        let modes = Mode::ALL.map(|mode| {
            v2::SessionConfigSelectOption::new(mode.id(), mode.name())
                .description(mode.description())
        });
        let mode = v2::SessionConfigOption::select(MODE, "Mode", self.mode.id(), modes.to_vec())
            .category(Category::Mode)
            .description("What may be done without asking".to_owned());
        let names = models.iter().map(|model| {
            let facts = model.facts();
            v2::SessionConfigSelectOption::new(facts.id.clone(), facts.name.clone())
        });
        let current = self.model.facts().id.clone();
        let model =
            v2::SessionConfigOption::select(MODEL, "Model", current, names.collect::<Vec<_>>())
                .category(Category::Model);
        let mut options = vec![mode, model];
        if self.model.facts().efforts {
            let values = [
                (EFFORT_DEFAULT, "Default"),
                ("low", "Low"),
                ("medium", "Medium"),
                ("high", "High"),
            ];
            let values = values.map(|(id, name)| v2::SessionConfigSelectOption::new(id, name));
            let current = self.effort.map_or(EFFORT_DEFAULT, Effort::id);
            options.push(
                v2::SessionConfigOption::select(EFFORT, "Thinking", current, values.to_vec())
                    .category(Category::ThoughtLevel),
            );
        }
        options
    }
}
