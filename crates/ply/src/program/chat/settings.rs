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

/// Checks a theme's name.
pub(super) fn known_theme(name: Option<String>, config: &Path) -> Result<Option<String>, Error> {
    match name {
        Some(name) if Theme::named(&name).is_none() => Err(wrong(
            config,
            format!(
                "there is no theme `{name}`; there are {}",
                THEME_NAMES.join(", ")
            ),
        )),
        name => Ok(name),
    }
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
    fn a_misspelt_setting_is_told() {
        let error = Settings::parse("[client]\nthem = \"dark\"").unwrap_err();
        assert!(error.contains("them"), "{error}");
    }
}
