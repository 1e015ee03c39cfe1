//! `[[hooks]]`: commands of the user's own that are told what the agent does.

use std::time::Duration;

use toml::Spanned;

use super::ConfigError;
use super::table::{Table, Text};
use crate::hooks::{Event, Hook, TIME_DEFAULT, TIME_MAX};

/// How many hooks there may be.
const HOOKS_MAX: usize = 64;

/// Reads the sections.
pub(super) fn read(text: Text<'_>, table: &mut Table<'_>) -> Result<Vec<Hook>, ConfigError> {
    let mut read = Vec::new();
    for lines in table.tables("hooks")? {
        let place = Spanned::new(lines.span(), ());
        if read.len() == HOOKS_MAX {
            let what = format!("there may be {HOOKS_MAX} hooks at most; remove some");
            return Err(text.error(&place, what));
        }
        let mut lines = Table::new(text, "[[hooks]]", lines.into_inner());
        let Some(event) = lines.word("event", &Event::ALL)? else {
            let what = "a hook needs an event: `event = \"before-tool\"`, `\"after-tool\"` or `\"turn-end\"`";
            return Err(text.error(&place, what));
        };
        let command = lines.string("command")?;
        let command = command.filter(|command| !command.get_ref().trim().is_empty());
        let Some(command) = command else {
            let what = "a hook needs a command: `command = \"…\"`";
            return Err(text.error(&place, what));
        };
        let mut hook = Hook::new(event, command.into_inner());
        if let Some(tool) = lines.string("tool")? {
            if event == Event::TurnEnd {
                let what = "a `turn-end` hook is about no tool; remove `tool`";
                return Err(text.error(&tool, what));
            }
            let wrong = |what: String| {
                let tool = tool.get_ref();
                format!(
                    "`{tool}` is not a valid pattern for tool names, such as `shell` or `edit_*`: {what}"
                )
            };
            let confined = hook.for_tools(tool.get_ref());
            hook = confined.map_err(|what| text.error(&tool, wrong(what)))?;
        }
        let seconds = lines.number("timeout_seconds", TIME_MAX.as_secs())?;
        hook.time = seconds.map_or(TIME_DEFAULT, Duration::from_secs);
        lines.end()?;
        read.push(hook);
    }
    Ok(read)
}
