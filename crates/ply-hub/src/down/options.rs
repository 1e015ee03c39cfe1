//! Options of a session, set back after its agent was started again.

use ply_wire::convert::config::{offers, value_of};
use ply_wire::v2;

use super::link::Wish;
use super::process::{Process, Trouble};

/// How often options are set and looked at again: setting one may reset another, such as the model its effort.
const ROUNDS_MAX: usize = 3;

/// A value that an option had.
pub(super) type Setting = (v2::SessionConfigId, v2::SessionConfigOptionValue);

/// Returns the values of options.
pub(super) fn values(options: &[v2::SessionConfigOption]) -> Vec<Setting> {
    let values = options.iter();
    let values = values.filter_map(|option| Some((option.config_id.clone(), value_of(option)?)));
    values.collect()
}

/// Sets options back to what they were, and looks whether they are.
///
/// # Errors
///
/// Says in words which one is something else now.
pub(super) async fn restore(process: &Process, wanted: &[Setting]) -> Result<(), String> {
    let mut missing = missing(process, wanted)?;
    for _ in 0..ROUNDS_MAX {
        if missing.is_empty() {
            return Ok(());
        }
        for (option, value) in &missing {
            let set = set(process, option.clone(), value.clone()).await;
            set.map_err(|trouble| lost((option, value), &trouble.to_string()))?;
        }
        if process.known.options().is_none() {
            // An agent that tells nothing of its options cannot be asked; it took them.
            return Ok(());
        }
        missing = self::missing(process, wanted)?;
    }
    match missing.first() {
        Some((option, value)) => Err(lost(
            (option, value),
            "the agent took it and set something else",
        )),
        None => Ok(()),
    }
}

/// Sets one option.
pub(super) async fn set(
    process: &Process,
    option: v2::SessionConfigId,
    value: v2::SessionConfigOptionValue,
) -> Result<(), Trouble> {
    let wish = Wish::SetOption { option, value };
    process.ask("session/set_config_option", wish).await?;
    Ok(())
}

fn missing(process: &Process, wanted: &[Setting]) -> Result<Vec<Setting>, String> {
    let Some(told) = process.known.options() else {
        // It may well have started with its defaults.
        return Ok(wanted.to_vec());
    };
    let mut missing = Vec::new();
    for (option, value) in wanted {
        let known = told.iter().find(|known| known.config_id == *option);
        match known {
            // What the agent does not have any more cannot be in the way.
            None => {}
            Some(known) if value_of(known).as_ref() == Some(value) => {}
            Some(known) if !offers(known, value) => {
                return Err(lost(
                    (option, value),
                    "the agent no longer offers this value",
                ));
            }
            Some(_) => missing.push((option.clone(), value.clone())),
        }
    }
    Ok(missing)
}

fn lost(
    (option, value): (&v2::SessionConfigId, &v2::SessionConfigOptionValue),
    why: &str,
) -> String {
    let value = match value {
        v2::SessionConfigOptionValue::Id { value } => value.0.to_string(),
        v2::SessionConfigOptionValue::Boolean { value } => value.to_string(),
        _ => "what it was".to_owned(),
    };
    let option = &option.0;
    format!(
        "The agent was started again, and the option `{option}` cannot be set back to `{value}`: {why}. \
         Set the option to a value that you want, and send the prompt again."
    )
}
