//! `[diagnostics]`: how changed files are checked.

use std::time::Duration;

use super::ConfigError;
use super::table::Table;
use crate::diagnostics::{Diagnostics, TIME_DEFAULT, TIME_MAX};

/// Reads the section. Without it nothing is checked.
pub(super) fn read(table: &mut Table<'_>) -> Result<Option<Diagnostics>, ConfigError> {
    let Some((text, lines)) = table.table("diagnostics")? else {
        return Ok(None);
    };
    let mut lines = Table::new(text, "[diagnostics]", lines);
    let enabled = lines.flag("enabled")?.unwrap_or(true);
    let command = lines.string("command")?;
    if let Some(empty) = command.as_ref().filter(|it| it.get_ref().trim().is_empty()) {
        let what = "`command` is empty; remove it to have the project's checker found";
        return Err(text.error(empty, what));
    }
    let seconds = lines.number("timeout_seconds", TIME_MAX.as_secs())?;
    lines.end()?;
    Ok(enabled.then(|| Diagnostics {
        command: command.map(toml::Spanned::into_inner),
        time: seconds.map_or(TIME_DEFAULT, Duration::from_secs),
    }))
}
