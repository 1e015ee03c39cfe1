//! `[client]` in config.toml.

use std::io;
use std::path::Path;

use ply_tui::{DiffStyle, Notify, THEME_NAMES, Theme};
use serde::Deserialize;

use crate::program::error::Error;

/// What the user set.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Settings {
    pub(super) theme: Option<String>,
    pub(super) diff: Diff,
    pub(super) mouse: bool,
    pub(super) notify: Call,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Diff {
    #[default]
    Unified,
    SideBySide,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Call {
    Never,
    Bell,
    #[default]
    Desktop,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: None,
            diff: Diff::default(),
            mouse: true,
            notify: Call::default(),
        }
    }
}

impl From<Diff> for DiffStyle {
    fn from(diff: Diff) -> Self {
        match diff {
            Diff::Unified => Self::Unified,
            Diff::SideBySide => Self::SideBySide,
        }
    }
}

impl From<Call> for Notify {
    fn from(call: Call) -> Self {
        match call {
            Call::Never => Self::Never,
            Call::Bell => Self::Bell,
            Call::Desktop => Self::Desktop,
        }
    }
}

/// The file, of which the rest is for others.
#[derive(Debug, Default, Deserialize)]
struct File {
    #[serde(default)]
    client: Settings,
}

impl Settings {
    /// Reads the settings; without a file they are as usual.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).map_err(|what| wrong(path, what)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(wrong(path, error.to_string())),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: Result<File, _> = toml::from_str(text);
        file.map(|file| file.client)
            .map_err(|error| error.message().to_owned())
    }
}

/// Returns the theme that is wanted, and blames whoever names one that there is not.
pub(super) fn known_theme(
    argument: Option<String>,
    set: Option<String>,
    config: &Path,
) -> Result<Option<String>, Error> {
    let is_argument = argument.is_some();
    let name = argument.or(set);
    let Some(unknown) = name.as_ref().filter(|it| Theme::named(it).is_none()) else {
        return Ok(name);
    };
    let names = THEME_NAMES.join(", ");
    let what = format!("there is no theme `{unknown}`; there are {names}");
    Err(match is_argument {
        true => Error::Argument(format!("--theme: {what}")),
        false => wrong(config, what),
    })
}

fn wrong(path: &Path, what: String) -> Error {
    Error::Config {
        path: path.to_owned(),
        what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_beside_what_is_for_others() {
        let text =
            "model = \"x\"\n[client]\ndiff = \"side-by-side\"\nmouse = false\nnotify = \"bell\"";
        let settings = Settings::parse(text).unwrap();
        assert_eq!(settings.diff, Diff::SideBySide);
        assert!(!settings.mouse);
        assert_eq!(settings.notify, Call::Bell);
        assert_eq!(Settings::parse("").unwrap(), Settings::default());
    }

    #[test]
    fn a_theme_that_there_is_not_is_blamed_on_whoever_named_it() {
        let name = |name: &str| Some(name.to_owned());
        let config = Path::new("/config.toml");
        let told = |argument, set| known_theme(argument, set, config).unwrap_err().to_string();
        assert!(told(name("foo"), None).starts_with("--theme: there is no theme `foo`"));
        assert!(told(None, name("foo")).starts_with("/config.toml: "));
        let known = known_theme(name(THEME_NAMES[0]), name("foo"), config);
        assert_eq!(known.unwrap(), name(THEME_NAMES[0]));
    }

    #[test]
    fn a_misspelt_setting_is_told() {
        let error = Settings::parse("[client]\nthem = \"dark\"").unwrap_err();
        assert!(error.contains("them"), "{error}");
    }
}
