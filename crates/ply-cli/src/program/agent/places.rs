//! Where the agent's own files are, by the XDG Base Directory Specification.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::program::error::Error;

/// The variable that names the configuration.
const CONFIG: &str = "PLY_CONFIG";

/// This program, also when its file was replaced or deleted since: a command may have done that, where the
/// program was built in the workspace, and would choose what confines the next one.
const HELPER: &str = "/proc/self/exe";

/// Where the agent's own files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::program) struct Places {
    /// The configuration.
    pub(in crate::program) config: PathBuf,
    /// Whether the user said so, and did not leave it to the specification.
    pub(in crate::program) config_is_named: bool,
    /// The rules that the user allowed for good.
    pub(super) rules: PathBuf,
    /// Whole outputs of commands.
    pub(in crate::program) logs: PathBuf,
    /// Caches of compilers and package managers that run in the sandbox. The user's own are not for
    /// them: the user runs code from there without a sandbox.
    pub(super) cache: PathBuf,
}

impl Places {
    /// Finds them by the environment.
    pub(in crate::program) fn find(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, Error> {
        let set = |name: &str| {
            let value = variable(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let home = set("HOME").filter(|home| home.is_absolute());
        let base = |name: &str, in_home: &str| {
            let given = set(name).filter(|path| path.is_absolute());
            let usual = || home.as_ref().map(|home| home.join(in_home));
            given.or_else(usual).ok_or(Error::NoStore)
        };
        let config = base("XDG_CONFIG_HOME", ".config")?.join("ply");
        let state = base("XDG_STATE_HOME", ".local/state")?.join("ply");
        let named = set(CONFIG);
        Ok(Self {
            rules: config.join("rules.toml"),
            config_is_named: named.is_some(),
            config: named.unwrap_or_else(|| config.join("config.toml")),
            logs: state.join("logs"),
            cache: state.join("cache"),
        })
    }

    /// Returns what the agent needs of it.
    pub(super) fn for_agent(&self) -> ply_coder::config::Places {
        ply_coder::config::Places {
            logs: self.logs.clone(),
            user_rules: Some(self.rules.clone()),
            helper: Some(PathBuf::from(HELPER)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn find(variables: &[(&str, &str)]) -> Option<Places> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        Places::find(variable).ok()
    }

    #[test]
    fn files_are_where_the_specification_says() {
        let places = find(&[("HOME", "/home/me"), ("XDG_STATE_HOME", "/state")]).unwrap();
        assert_eq!(places.config, Path::new("/home/me/.config/ply/config.toml"));
        assert_eq!(places.rules, Path::new("/home/me/.config/ply/rules.toml"));
        assert_eq!(places.logs, Path::new("/state/ply/logs"));
        assert_eq!(places.cache, Path::new("/state/ply/cache"));
        let named = find(&[("HOME", "/home/me"), (CONFIG, "mine.toml")]).unwrap();
        assert_eq!(named.config, Path::new("mine.toml"));
        assert!(named.config_is_named && !places.config_is_named);
        assert_eq!(find(&[]), None);
    }

    #[test]
    fn the_helper_is_the_file_that_was_started_and_not_its_name() {
        let places = find(&[("HOME", "/home/me")]).unwrap().for_agent();
        assert_eq!(places.helper.as_deref(), Some(Path::new(HELPER)));
    }
}
