//! Config options and modes: version 2 has only options, version 1 has options and modes.
//!
//! Towards version 1 both are sent, the modes made from the first select option of category
//! `mode`. Towards version 2 modes become such an option when the agent gives no options.

use std::sync::Arc;

use crate::{v1, v2};

const MODE_OPTION_ID: &str = "mode";
const MODE_OPTION_NAME: &str = "Mode";
const TRUE: &str = "true";
const FALSE: &str = "false";

/// How a version 1 client is shown boolean options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Booleans {
    /// As they are: the client advertised `session.configOptions.boolean`.
    Native,
    /// As a select with the values `true` and `false`.
    AsSelect,
}

impl Booleans {
    /// Reads from a version 1 client's capabilities how it wants boolean options.
    #[must_use]
    pub fn wanted_by(client: &v1::ClientCapabilities) -> Self {
        let options = client
            .session
            .as_ref()
            .and_then(|session| session.config_options.as_ref());
        match options.and_then(|options| options.boolean.as_ref()) {
            Some(_) => Self::Native,
            None => Self::AsSelect,
        }
    }
}

/// Turns version 2 options into version 1 options, in order.
///
/// Lost: options of an unknown type are left out. Under [`Booleans::AsSelect`] a boolean becomes a
/// select; [`set_option_up`] maps the chosen value back.
#[must_use]
pub fn options_down(
    options: &[v2::SessionConfigOption],
    booleans: Booleans,
) -> Vec<v1::SessionConfigOption> {
    options
        .iter()
        .filter_map(|option| option_down(option, booleans))
        .collect()
}

/// Turns version 1 options into version 2 options, in order.
///
/// Version 2 wants at least one value in a select and in each of its groups. So a select that
/// offers none gets its current value as the only choice, and groups without values are lost.
#[must_use]
pub fn options_up(options: &[v1::SessionConfigOption]) -> Vec<v2::SessionConfigOption> {
    options.iter().filter_map(option_up).collect()
}

/// Finds the option that stands for the mode: the first select of category `mode`.
#[must_use]
pub fn mode_option(options: &[v2::SessionConfigOption]) -> Option<&v2::SessionConfigOption> {
    options.iter().find(|option| mode_select(option).is_some())
}

/// Returns whether an option can be set to a value.
#[must_use]
pub fn offers(option: &v2::SessionConfigOption, value: &v2::SessionConfigOptionValue) -> bool {
    use v2::SessionConfigKind::{Boolean, Select};
    match (&option.kind, value) {
        (Select(select), v2::SessionConfigOptionValue::Id { value }) => {
            choices(&select.options).any(|choice| choice.value == *value)
        }
        (Boolean(_), v2::SessionConfigOptionValue::Boolean { .. }) => true,
        _ => false,
    }
}

/// Returns the value of an option; none for a kind that is not known here.
#[must_use]
pub fn value_of(option: &v2::SessionConfigOption) -> Option<v2::SessionConfigOptionValue> {
    match &option.kind {
        v2::SessionConfigKind::Select(select) => Some(select.current_value.clone().into()),
        v2::SessionConfigKind::Boolean(boolean) => Some(boolean.current_value.into()),
        _ => None,
    }
}

/// Returns the mode that is set, as version 1 names it.
#[must_use]
pub fn current_mode(options: &[v2::SessionConfigOption]) -> Option<v1::SessionModeId> {
    let select = options.iter().find_map(mode_select)?;
    Some(v1::SessionModeId::new(Arc::clone(&select.current_value.0)))
}

/// Makes the version 1 mode list from the first select option of category `mode`.
///
/// Lost: the grouping of its values, and the option's own name and description, for which
/// version 1 modes have no place.
#[must_use]
pub fn modes_down(options: &[v2::SessionConfigOption]) -> Option<v1::SessionModeState> {
    let option = mode_option(options)?;
    let select = mode_select(option)?;
    let modes = choices(&select.options)
        .map(|choice| {
            v1::SessionMode::new(Arc::clone(&choice.value.0), choice.name.clone())
                .description(choice.description.clone())
                .meta(choice.meta.clone())
        })
        .collect();
    let state = v1::SessionModeState::new(Arc::clone(&select.current_value.0), modes);
    Some(state.meta(option.meta.clone()))
}

/// Makes the version 2 option that stands for version 1 modes.
///
/// Its id is `mode`, or `mode-2`, `mode-3` and so on where an option in `taken` has that id.
/// Nothing is lost.
#[must_use]
pub fn modes_up(
    modes: &v1::SessionModeState,
    taken: &[v2::SessionConfigOption],
) -> v2::SessionConfigOption {
    let choices: Vec<_> = modes
        .available_modes
        .iter()
        .map(|mode| {
            v2::SessionConfigSelectOption::new(Arc::clone(&mode.id.0), mode.name.clone())
                .description(mode.description.clone())
                .meta(mode.meta.clone())
        })
        .collect();
    let current = &modes.current_mode_id.0;
    let choices = with_current(choices, current);
    v2::SessionConfigOption::select(
        free_id(taken),
        MODE_OPTION_NAME,
        Arc::clone(current),
        choices,
    )
    .category(v2::SessionConfigOptionCategory::Mode)
    .meta(modes.meta.clone())
}

/// Turns `session/set_mode` into setting the option that stands for the mode.
///
/// `None` if no option stands for it; the caller refuses the request.
#[must_use]
pub fn set_mode_up(
    request: &v1::SetSessionModeRequest,
    options: &[v2::SessionConfigOption],
) -> Option<v2::SetSessionConfigOptionRequest> {
    let option = mode_option(options)?;
    let value = v2::SessionConfigValueId::new(Arc::clone(&request.mode_id.0));
    let out = v2::SetSessionConfigOptionRequest::new(
        Arc::clone(&request.session_id.0),
        option.config_id.clone(),
        value,
    );
    Some(out.meta(request.meta.clone()))
}

/// Turns setting the option made by [`modes_up`] into `session/set_mode`.
///
/// `None` if the value is no id; the caller refuses the request.
#[must_use]
pub fn set_mode_down(
    request: &v2::SetSessionConfigOptionRequest,
) -> Option<v1::SetSessionModeRequest> {
    let mode = request.value.as_id()?;
    let session = Arc::clone(&request.session_id.0);
    let out = v1::SetSessionModeRequest::new(session, Arc::clone(&mode.0));
    Some(out.meta(request.meta.clone()))
}

/// Turns a version 1 choice into a version 2 choice, adding the `type` that version 1 may omit.
///
/// A `true` or `false` chosen for an option that is boolean in `options` becomes a boolean again.
#[must_use]
pub fn set_option_up(
    request: &v1::SetSessionConfigOptionRequest,
    options: &[v2::SessionConfigOption],
) -> Option<v2::SetSessionConfigOptionRequest> {
    let shown_as_select = options.iter().any(|option| {
        option.config_id.0 == request.config_id.0
            && matches!(option.kind, v2::SessionConfigKind::Boolean(_))
    });
    let value = match &request.value {
        v1::SessionConfigOptionValue::Boolean { value } => {
            v2::SessionConfigOptionValue::boolean(*value)
        }
        v1::SessionConfigOptionValue::ValueId { value } => match &*value.0 {
            TRUE if shown_as_select => v2::SessionConfigOptionValue::boolean(true),
            FALSE if shown_as_select => v2::SessionConfigOptionValue::boolean(false),
            _ => v2::SessionConfigOptionValue::id(Arc::clone(&value.0)),
        },
        _ => return None,
    };
    let out = v2::SetSessionConfigOptionRequest::new(
        Arc::clone(&request.session_id.0),
        Arc::clone(&request.config_id.0),
        value,
    );
    Some(out.meta(request.meta.clone()))
}

/// Turns a version 2 choice into a version 1 choice; only booleans keep their `type`.
///
/// `None` for a value type that version 1 does not have; the caller refuses it with -32602.
#[must_use]
pub fn set_option_down(
    request: &v2::SetSessionConfigOptionRequest,
) -> Option<v1::SetSessionConfigOptionRequest> {
    let value = match &request.value {
        v2::SessionConfigOptionValue::Id { value } => {
            v1::SessionConfigOptionValue::value_id(Arc::clone(&value.0))
        }
        v2::SessionConfigOptionValue::Boolean { value } => {
            v1::SessionConfigOptionValue::boolean(*value)
        }
        _ => return None,
    };
    let out = v1::SetSessionConfigOptionRequest::new(
        Arc::clone(&request.session_id.0),
        Arc::clone(&request.config_id.0),
        value,
    );
    Some(out.meta(request.meta.clone()))
}

fn mode_select(option: &v2::SessionConfigOption) -> Option<&v2::SessionConfigSelect> {
    match (&option.category, &option.kind) {
        (Some(v2::SessionConfigOptionCategory::Mode), v2::SessionConfigKind::Select(select)) => {
            Some(select)
        }
        _ => None,
    }
}

/// Walks the values of a select in order, whether they are grouped or not.
#[must_use]
pub fn choices(
    options: &v2::SessionConfigSelectOptions,
) -> Box<dyn Iterator<Item = &v2::SessionConfigSelectOption> + '_> {
    match options {
        v2::SessionConfigSelectOptions::Ungrouped(choices) => Box::new(choices.iter()),
        v2::SessionConfigSelectOptions::Grouped(groups) => {
            Box::new(groups.iter().flat_map(|group| &group.options))
        }
        _ => Box::new(std::iter::empty()),
    }
}

fn free_id(taken: &[v2::SessionConfigOption]) -> v2::SessionConfigId {
    let is_taken = |id: &str| taken.iter().any(|option| &*option.config_id.0 == id);
    if !is_taken(MODE_OPTION_ID) {
        return v2::SessionConfigId::new(MODE_OPTION_ID);
    }
    let mut number = 2_u64;
    loop {
        let id = format!("{MODE_OPTION_ID}-{number}");
        if !is_taken(&id) {
            return v2::SessionConfigId::new(id);
        }
        // Ends: each round rules out one of the finitely many taken ids.
        number += 1;
    }
}

/// Adds the current value where the list does not have it: version 2 wants it there, and so at least
/// one value (V2-CONF-05).
fn with_current(
    mut choices: Vec<v2::SessionConfigSelectOption>,
    current: &Arc<str>,
) -> Vec<v2::SessionConfigSelectOption> {
    if !choices.iter().any(|choice| choice.value.0 == *current) {
        let missing = v2::SessionConfigSelectOption::new(Arc::clone(current), &**current);
        choices.push(missing);
    }
    choices
}

fn option_down(
    option: &v2::SessionConfigOption,
    booleans: Booleans,
) -> Option<v1::SessionConfigOption> {
    let kind = match (&option.kind, booleans) {
        (v2::SessionConfigKind::Select(select), _) => {
            v1::SessionConfigKind::Select(v1::SessionConfigSelect::new(
                Arc::clone(&select.current_value.0),
                choices_down(&select.options)?,
            ))
        }
        (v2::SessionConfigKind::Boolean(boolean), Booleans::Native) => {
            v1::SessionConfigKind::Boolean(v1::SessionConfigBoolean::new(boolean.current_value))
        }
        (v2::SessionConfigKind::Boolean(boolean), Booleans::AsSelect) => {
            let current = if boolean.current_value { TRUE } else { FALSE };
            let choices = vec![
                v1::SessionConfigSelectOption::new(TRUE, "On"),
                v1::SessionConfigSelectOption::new(FALSE, "Off"),
            ];
            v1::SessionConfigKind::Select(v1::SessionConfigSelect::new(current, choices))
        }
        _ => return None,
    };
    let out =
        v1::SessionConfigOption::new(Arc::clone(&option.config_id.0), option.name.clone(), kind);
    Some(
        out.description(option.description.clone())
            .category(option.category.as_ref().and_then(category_down))
            .meta(option.meta.clone()),
    )
}

fn option_up(option: &v1::SessionConfigOption) -> Option<v2::SessionConfigOption> {
    let kind = match &option.kind {
        v1::SessionConfigKind::Select(select) => {
            let current = &select.current_value.0;
            v2::SessionConfigKind::Select(v2::SessionConfigSelect::new(
                Arc::clone(current),
                choices_up(&select.options, current)?,
            ))
        }
        v1::SessionConfigKind::Boolean(boolean) => {
            v2::SessionConfigKind::Boolean(v2::SessionConfigBoolean::new(boolean.current_value))
        }
        _ => return None,
    };
    let out = v2::SessionConfigOption::new(Arc::clone(&option.id.0), option.name.clone(), kind);
    Some(
        out.description(option.description.clone())
            .category(option.category.as_ref().and_then(category_up))
            .meta(option.meta.clone()),
    )
}

fn choices_down(
    options: &v2::SessionConfigSelectOptions,
) -> Option<v1::SessionConfigSelectOptions> {
    let choice = |choice: &v2::SessionConfigSelectOption| {
        v1::SessionConfigSelectOption::new(Arc::clone(&choice.value.0), choice.name.clone())
            .description(choice.description.clone())
            .meta(choice.meta.clone())
    };
    Some(match options {
        v2::SessionConfigSelectOptions::Ungrouped(choices) => {
            v1::SessionConfigSelectOptions::Ungrouped(choices.iter().map(choice).collect())
        }
        v2::SessionConfigSelectOptions::Grouped(groups) => {
            let group = |group: &v2::SessionConfigSelectGroup| {
                v1::SessionConfigSelectGroup::new(
                    Arc::clone(&group.group_id.0),
                    group.name.clone(),
                    group.options.iter().map(choice).collect(),
                )
                .meta(group.meta.clone())
            };
            v1::SessionConfigSelectOptions::Grouped(groups.iter().map(group).collect())
        }
        _ => return None,
    })
}

fn choices_up(
    options: &v1::SessionConfigSelectOptions,
    current: &Arc<str>,
) -> Option<v2::SessionConfigSelectOptions> {
    let choice = |choice: &v1::SessionConfigSelectOption| {
        v2::SessionConfigSelectOption::new(Arc::clone(&choice.value.0), choice.name.clone())
            .description(choice.description.clone())
            .meta(choice.meta.clone())
    };
    Some(match options {
        v1::SessionConfigSelectOptions::Grouped(groups) => {
            let mut groups: Vec<_> = groups
                .iter()
                .filter(|group| !group.options.is_empty())
                .map(|group| {
                    v2::SessionConfigSelectGroup::new(
                        Arc::clone(&group.group.0),
                        group.name.clone(),
                        group.options.iter().map(choice).collect(),
                    )
                    .meta(group.meta.clone())
                })
                .collect();
            let mut choices = groups.iter().flat_map(|group| &group.options);
            if choices.any(|choice| choice.value.0 == *current) {
                return Some(groups.into());
            }
            match groups.last_mut() {
                // It is in no group, and the last one is as good as any.
                Some(group) => {
                    group.options = with_current(std::mem::take(&mut group.options), current);
                    groups.into()
                }
                None => with_current(Vec::new(), current).into(),
            }
        }
        v1::SessionConfigSelectOptions::Ungrouped(choices) => {
            with_current(choices.iter().map(choice).collect(), current).into()
        }
        _ => return None,
    })
}

fn category_down(
    category: &v2::SessionConfigOptionCategory,
) -> Option<v1::SessionConfigOptionCategory> {
    use v1::SessionConfigOptionCategory as To;
    use v2::SessionConfigOptionCategory as From;
    Some(match category {
        From::Mode => To::Mode,
        From::Model => To::Model,
        From::ModelConfig => To::ModelConfig,
        From::ThoughtLevel => To::ThoughtLevel,
        From::Other(name) => To::Other(name.clone()),
        _ => return None,
    })
}

fn category_up(
    category: &v1::SessionConfigOptionCategory,
) -> Option<v2::SessionConfigOptionCategory> {
    use v1::SessionConfigOptionCategory as From;
    use v2::SessionConfigOptionCategory as To;
    Some(match category {
        From::Mode => To::Mode,
        From::Model => To::Model,
        From::ModelConfig => To::ModelConfig,
        From::ThoughtLevel => To::ThoughtLevel,
        From::Other(name) => To::Other(name.clone()),
        _ => return None,
    })
}
