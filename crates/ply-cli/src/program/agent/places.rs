//! Where the agent's own files are, by the XDG Base Directory Specification.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The variable that names the configuration.
const CONFIG: &str = "PLY_CONFIG";

/// This program, also when its file was replaced or deleted since: a command may have done that, where the
/// program was built in the workspace, and would choose what confines the next one.
const HELPER: &str = "/proc/self/exe";

/// Where the agent's own files are; none of what would be in the home of a user who has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::program) struct Places {
    /// The configuration.
    pub(in crate::program) config: Option<PathBuf>,
    /// Whether the user said so, and did not leave it to the specification.
    pub(in crate::program) config_is_named: bool,
    /// The rules that the user allowed for good.
    pub(super) rules: Option<PathBuf>,
    /// Whole outputs of commands.
    pub(in crate::program) logs: Option<PathBuf>,
    /// What files were like before each turn.
    pub(super) checkpoints: Option<PathBuf>,
    /// Caches of compilers and package managers that run in the sandbox. The user's own are not for
    /// them: the user runs code from there without a sandbox.
    pub(super) cache: Option<PathBuf>,
    /// The user's instructions for every project.
    pub(super) instructions: Option<PathBuf>,
    /// The user's own commands: Ply's, and those that other agents share.
    pub(super) commands: Vec<PathBuf>,
    /// The user's own skills, the same way.
    pub(super) skills: Vec<PathBuf>,
    /// Logins at MCP servers.
    pub(super) tokens: Option<PathBuf>,
    /// Where sources of dependencies, headers and toolchains are, of languages that have such places.
    pub(in crate::program) libraries: Vec<PathBuf>,
}

/// Where systems keep headers and libraries.
const SYSTEM_LIBRARIES: &[&str] = &[
    "/usr/include",
    "/usr/local/include",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/share/doc",
    "/usr/local/go/src",
    "/opt/homebrew/include",
    "/nix/store",
];

/// Where package managers keep sources: a variable that names a directory, where that is in the home
/// directory otherwise, and what of it is sources. What is beside them may be credentials.
const HOME_LIBRARIES: &[(&str, &str, &[&str])] = &[
    ("CARGO_HOME", ".cargo", &["registry/src", "git/checkouts"]),
    ("RUSTUP_HOME", ".rustup", &["toolchains"]),
    ("GOPATH", "go", &["pkg/mod"]),
    ("GOROOT", ".local/go", &["src"]),
    ("PYENV_ROOT", ".pyenv", &["versions"]),
    ("NVM_DIR", ".nvm", &["versions"]),
    ("PYTHONUSERBASE", ".local", &["lib"]),
];

impl Places {
    /// Finds them by the environment.
    pub(in crate::program) fn find(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| {
            let value = variable(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let home = set("HOME").filter(|home| home.is_absolute());
        let base = |name: &str, in_home: &str| {
            let given = set(name).filter(|path| path.is_absolute());
            let usual = || home.as_ref().map(|home| home.join(in_home));
            given.or_else(usual).map(|base| base.join("ply"))
        };
        let config = base("XDG_CONFIG_HOME", ".config");
        let config = |name: &str| config.as_ref().map(|config| config.join(name));
        let state = base("XDG_STATE_HOME", ".local/state");
        let state = |name: &str| state.as_ref().map(|state| state.join(name));
        let named = set(CONFIG);
        let sources = HOME_LIBRARIES.iter().flat_map(|(name, in_home, parts)| {
            let given = set(name).filter(|path| path.is_absolute());
            let base = given.or_else(|| home.as_ref().map(|home| home.join(in_home)));
            let below = |base: PathBuf| parts.iter().map(move |part| base.join(part));
            base.into_iter().flat_map(below)
        });
        let system = SYSTEM_LIBRARIES.iter().map(PathBuf::from);
        let libraries = system.chain(sources).collect();
        let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let commands = [config("commands"), in_home(".claude/commands")];
        let skills = [
            config("skills"),
            in_home(".agents/skills"),
            in_home(".claude/skills"),
        ];
        Self {
            instructions: config("AGENTS.md"),
            skills: skills.into_iter().flatten().collect(),
            commands: commands.into_iter().flatten().collect(),
            libraries,
            rules: config("rules.toml"),
            config_is_named: named.is_some(),
            config: named.or_else(|| config("config.toml")),
            logs: state("logs"),
            checkpoints: state("checkpoints"),
            cache: state("cache"),
            tokens: state("mcp"),
        }
    }

    /// Returns the file with the rules that the user allowed for good.
    pub(in crate::program) fn rules(&self) -> Option<&Path> {
        self.rules.as_deref()
    }

    /// Returns what the agent needs of it, with another place for its logs if there is none.
    pub(super) fn for_agent(&self, logs: &Path) -> ply_coder::config::Places {
        ply_coder::config::Places {
            logs: self.logs.as_deref().unwrap_or(logs).to_owned(),
            checkpoints: self.checkpoints.clone(),
            user_rules: self.rules.clone(),
            helper: Some(PathBuf::from(HELPER)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Places {
        Places::find(|name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn files_are_where_the_specification_says() {
        let places = find(&[("HOME", "/home/me"), ("XDG_STATE_HOME", "/state")]);
        let at = |path: &str| Some(PathBuf::from(path));
        assert_eq!(places.config, at("/home/me/.config/ply/config.toml"));
        assert_eq!(places.rules, at("/home/me/.config/ply/rules.toml"));
        assert_eq!(places.logs, at("/state/ply/logs"));
        assert_eq!(places.cache, at("/state/ply/cache"));
        let sources = Path::new("/home/me/.cargo/registry/src").to_owned();
        assert!(places.libraries.contains(&sources));
        assert!(!places.libraries.iter().any(|path| path.ends_with(".cargo")));
        let named = find(&[("HOME", "/home/me"), (CONFIG, "mine.toml")]);
        assert_eq!(named.config, at("mine.toml"));
        assert!(named.config_is_named && !places.config_is_named);
    }

    #[test]
    fn without_a_home_there_is_only_what_the_environment_names() {
        let nothing = find(&[]);
        assert_eq!((nothing.config, nothing.logs), (None, None));
        let config = find(&[("XDG_CONFIG_HOME", "/config")]);
        assert_eq!(config.rules, Some("/config/ply/rules.toml".into()));
        assert_eq!(config.cache, None);
        let named = find(&[(CONFIG, "mine.toml")]);
        assert_eq!(named.config, Some("mine.toml".into()));
    }

    #[test]
    fn the_helper_is_the_file_that_was_started_and_not_its_name() {
        let places = find(&[("HOME", "/home/me")]).for_agent(Path::new("/tmp/x"));
        assert_eq!(places.helper.as_deref(), Some(Path::new(HELPER)));
        assert_eq!(places.logs, Path::new("/home/me/.local/state/ply/logs"));
        let homeless = find(&[]).for_agent(Path::new("/tmp/x"));
        assert_eq!(homeless.logs, Path::new("/tmp/x"));
    }
}
