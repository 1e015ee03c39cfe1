//! `[client]` in config.toml.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use ply_tui::{DiffStyle, Keys, Notify, THEME_NAMES, Theme};
use serde::Deserialize;

use crate::program::error::Error;

/// The theme that a theme of the user's is made from.
const BASE: &str = "base";

/// What the user set.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Settings {
    pub(super) theme: Option<String>,
    pub(super) diff: Diff,
    pub(super) mouse: bool,
    pub(super) notify: Call,
    /// Keys by action.
    keys: BTreeMap<String, String>,
    /// Themes by name: the one that each is made from, and its own styles.
    themes: BTreeMap<String, BTreeMap<String, String>>,
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
            keys: BTreeMap::new(),
            themes: BTreeMap::new(),
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

    /// Returns the user's keys.
    pub(super) fn keys(&self, config: &Path) -> Result<Keys, Error> {
        let keys = self.keys.iter();
        Keys::new(keys.map(|(action, key)| (action.as_str(), key.as_str())))
            .map_err(|what| wrong(config, format!("[client.keys]: {what}")))
    }

    /// Returns the user's themes, by name.
    pub(super) fn themes(&self, config: &Path) -> Result<Vec<(String, Theme)>, Error> {
        let themes = self.themes.iter().map(|(name, styles)| {
            let wrong = |what| wrong(config, format!("[client.themes.{name}]: {what}"));
            let base = styles.get(BASE).map_or("dark", String::as_str);
            let known = THEME_NAMES.join(", ");
            let base = Theme::named(base)
                .ok_or_else(|| wrong(format!("`{BASE}` is one of {known}, not `{base}`")))?;
            let own = styles.iter().filter(|(style, _)| *style != BASE);
            let theme = base.with_styles(own.map(|(style, text)| (style.as_str(), text.as_str())));
            Ok((name.clone(), theme.map_err(wrong)?))
        });
        themes.collect()
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
    own: &[(String, Theme)],
    config: &Path,
) -> Result<Option<String>, Error> {
    let is_argument = argument.is_some();
    let name = argument.or(set);
    let is_own = |name: &str| own.iter().any(|(known, _)| known == name);
    let is_unknown = |it: &&String| Theme::named(it).is_none() && !is_own(it);
    let Some(unknown) = name.as_ref().filter(is_unknown) else {
        return Ok(name);
    };
    let own = own.iter().map(|(name, _)| name.as_str());
    let names = THEME_NAMES.into_iter().chain(own).collect::<Vec<_>>();
    let names = names.join(", ");
    let what = format!("unknown theme `{unknown}`; the themes are {names}");
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
        let own = [("mine".to_owned(), Theme::plain())];
        let known = |argument, set| known_theme(argument, set, &own, config);
        let told = |argument, set| known(argument, set).unwrap_err().to_string();
        assert_eq!(
            told(name("foo"), None),
            "--theme: unknown theme `foo`; the themes are dark, light, plain, mine"
        );
        assert!(told(None, name("foo")).starts_with("/config.toml: "));
        assert_eq!(known(name("light"), name("foo")).unwrap(), name("light"));
        assert_eq!(known(None, name("mine")).unwrap(), name("mine"));
    }

    #[test]
    fn keys_and_themes_are_read_and_what_is_wrong_with_them_is_told() {
        let config = Path::new("/config.toml");
        let parse = |text: &str| Settings::parse(text).unwrap();
        let good = parse(
            "[client.keys]\nwire-log = \"F12\"\n[client.themes.mine]\nbase = \"light\"\naccent = \"#ff8800 bold\"",
        );
        assert_ne!(good.keys(config).unwrap(), Keys::default());
        let themes = good.themes(config).unwrap();
        let light = Theme::light().with_styles([("accent", "#ff8800 bold")]);
        assert_eq!(themes, [("mine".to_owned(), light.unwrap())]);
        for (text, expected) in [
            ("[client.keys]\nlog = \"F12\"", "there is no action `log`"),
            (
                "[client.keys]\nplan = \"Ctrl-C\"",
                "`plan` cannot be `Ctrl-C`",
            ),
            (
                "[client.themes.x]\nbase = \"x\"",
                "`base` is one of dark, light, plain",
            ),
            (
                "[client.themes.x]\nacent = \"red\"",
                "there is no style `acent`",
            ),
        ] {
            let settings = parse(text);
            let keys = settings.keys(config).map(drop);
            let told = keys
                .and(settings.themes(config).map(drop))
                .unwrap_err()
                .to_string();
            assert!(
                told.starts_with("/config.toml: [client.") && told.contains(expected),
                "{told}"
            );
        }
    }

    #[test]
    fn a_misspelt_setting_is_told() {
        let error = Settings::parse("[client]\nthem = \"dark\"").unwrap_err();
        assert!(error.contains("them"), "{error}");
    }
}
