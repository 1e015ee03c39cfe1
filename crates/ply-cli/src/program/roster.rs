//! The agents that can be chosen: the one in this program, known ones by name, the user's own, or any command.

mod known;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use ply_client::Command;
use serde::Deserialize;

use self::known::KNOWN;
pub(crate) use self::known::{known_name, registry_id};
use crate::program::agent::places::Places;
use crate::program::agents::lock::{self, Locked};
use crate::program::error::Error;
use crate::program::home;

/// The name of the agent in this program.
pub(crate) const BUILT_IN: &str = "ply";

/// Names that are suggested for one that is not there.
const NEAR_MAX: usize = 5;
/// Changes of a letter that still count as a slip.
pub(crate) const SLIPS_MAX: usize = 2;

/// An agent that was chosen.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    /// What it is called on screens and in reports.
    pub(crate) name: String,
    /// What it is remembered by: a name, or all words of a command.
    pub(crate) key: String,
    /// What starts it.
    pub(crate) command: Command,
    /// How to get it, if it is known and may be missing.
    pub(crate) install: Option<String>,
    /// What it is, in a few words.
    pub(crate) about: String,
    /// Who says that there is such an agent.
    pub(crate) origin: Origin,
}

/// Who says that there is an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is in this program.
    BuiltIn,
    /// The configuration.
    Config,
    /// `ply agents add`, which installed this version.
    Installed(String),
    /// The list of known agents; it may be missing.
    Known,
    /// The command line, with a command in place of a name.
    Command,
}

/// Everything that can be chosen by name.
#[derive(Debug, Clone)]
pub(crate) struct Roster {
    choices: Vec<Choice>,
}

/// The part of the configuration that is about agents.
#[derive(Debug, Default, Deserialize)]
struct File {
    #[serde(default)]
    agents: BTreeMap<String, Entry>,
}

/// `[agents.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

impl Roster {
    /// Reads the roster. Agents of `[agents.NAME]` in the configuration win over installed ones, and those over known ones.
    ///
    /// Without a file, the configuration is where the environment says.
    pub(crate) fn read(config: Option<&Path>) -> Result<Self, Error> {
        let program = std::env::current_exe().map_err(Error::Start)?;
        let built_in = Choice {
            name: BUILT_IN.to_owned(),
            key: BUILT_IN.to_owned(),
            command: Command::new(program).arg("agent"),
            install: None,
            about: "the agent in this program".to_owned(),
            origin: Origin::BuiltIn,
        };
        let own = read_config(config)?;
        let mut choices = Vec::new();
        if !own.contains_key(BUILT_IN) {
            choices.push(built_in);
        }
        choices.extend(own.into_iter().map(Choice::of_config));
        let mut add = |choice: Choice| {
            if choices.iter().all(|known| known.name != choice.name) {
                choices.push(choice);
            }
        };
        if let Some(place) = lock::Place::find(home::variable) {
            let installed = place.read()?.agents;
            for (name, locked) in installed {
                add(Choice::of_installed(&place, name, locked));
            }
        }
        KNOWN.iter().map(Choice::of_known).for_each(add);
        Ok(Self { choices })
    }

    /// Returns the agent of a command line: a command, else a name or the beginning of only one, else the default.
    pub(crate) fn choose(&self, name: Option<&str>, command: &[OsString]) -> Result<Choice, Error> {
        if let Some(choice) = Choice::of_command(command) {
            return Ok(choice);
        }
        let name = name.unwrap_or(BUILT_IN);
        let exact = self.choices.iter().find(|choice| choice.name == name);
        if let Some(choice) = exact {
            return Ok(choice.clone());
        }
        let begins = |choice: &&Choice| !name.is_empty() && choice.name.starts_with(name);
        let beginning: Vec<&Choice> = self.choices.iter().filter(begins).collect();
        match beginning.as_slice() {
            [only] => Ok((*only).clone()),
            _ => Err(self.none(name, &beginning)),
        }
    }

    /// Returns all of them, the default first.
    pub(crate) fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// Says that there is no such agent, and which ones may be meant.
    fn none(&self, name: &str, beginning: &[&Choice]) -> Error {
        let line = |choice: &&Choice| (choice.name.clone(), choice.about.clone());
        let mut near: Vec<_> = beginning.iter().map(line).collect();
        if near.is_empty() {
            let is_near = |choice: &&Choice| {
                slips(&choice.name, name) <= SLIPS_MAX
                    || (!name.is_empty()
                        && (name.contains(&choice.name) || choice.name.contains(name)))
            };
            near = self
                .choices
                .iter()
                .filter(is_near)
                .map(|it| line(&it))
                .collect();
        }
        near.truncate(NEAR_MAX);
        Error::NoAgent {
            name: name.to_owned(),
            near,
            all: self
                .choices()
                .iter()
                .map(|choice| choice.name.clone())
                .collect(),
        }
    }
}

impl Choice {
    /// Returns it with a model to begin with. The agent in this program offers only what is set up or chosen,
    /// and this chooses; others are asked by their options.
    pub(crate) fn with_model(mut self, model: Option<&str>) -> Self {
        if let Some(model) = model.filter(|model| self.key == BUILT_IN && model.contains('/')) {
            self.command = self.command.args(["--model", model]);
        }
        self
    }

    /// Returns the same agent, as the hub runs it.
    pub(crate) fn through_hub(mut self) -> Result<Self, Error> {
        let program = std::env::current_exe().map_err(Error::Start)?;
        let attach = Command::new(program).arg("attach");
        self.command = match self.origin {
            Origin::Command => attach.arg("--").args(self.command.words()),
            _ => attach.arg(&self.name),
        };
        Ok(self)
    }

    /// Whether it can run in the hub. A model that is not on offer is named to the agent that is started, and the hub starts none.
    pub(crate) fn suits_hub(&self, model: Option<&str>) -> bool {
        self.key != BUILT_IN || model.is_none_or(|model| !model.contains('/'))
    }

    /// Returns the agent that a command starts, none if there are no words in it.
    pub(crate) fn of_command(command: &[OsString]) -> Option<Self> {
        let (program, arguments) = command.split_first()?;
        let name = Path::new(program).file_name().unwrap_or(program);
        let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        Some(Self {
            name: name.to_string_lossy().into_owned(),
            key: words.join(" "),
            command: Command::new(program).args(arguments),
            install: None,
            about: String::new(),
            origin: Origin::Command,
        })
    }

    /// Returns the command line that goes on with one of its sessions, with `{}` for the id.
    pub(crate) fn resume(&self) -> String {
        match (self.key == self.name, self.key.as_str()) {
            (true, BUILT_IN) => "ply chat --session {}".to_owned(),
            // A command of one word may be called like a known agent, and is not it.
            (true, name) if self.origin != Origin::Command => {
                format!("ply chat -a {name} --session {{}}")
            }
            (_, words) => format!("ply chat --session {{}} -- {words}"),
        }
    }

    fn of_known(known: &known::Known) -> Self {
        Self {
            name: known.name.to_owned(),
            key: known.name.to_owned(),
            command: known.command.iter().collect(),
            install: Some(known.how_to_get()),
            about: known.about.to_owned(),
            origin: Origin::Known,
        }
    }

    fn of_installed(place: &lock::Place, name: String, locked: Locked) -> Self {
        let known = KNOWN.iter().find(|known| known.name == name);
        Self {
            key: name.clone(),
            command: place.command(&name, &locked),
            name,
            install: None,
            about: known.map_or(locked.about, |known| known.about.to_owned()),
            origin: Origin::Installed(locked.version),
        }
    }

    fn of_config((name, entry): (String, Entry)) -> Self {
        let command = Command::new(&entry.command).args(&entry.args);
        let set = |command: Command, (name, value): (&String, &String)| command.env(name, value);
        Self {
            key: name.clone(),
            name,
            command: entry.env.iter().fold(command, set),
            install: None,
            about: "from config.toml".to_owned(),
            origin: Origin::Config,
        }
    }
}

fn read_config(named: Option<&Path>) -> Result<BTreeMap<String, Entry>, Error> {
    let Some((path, text)) = config_text(named)? else {
        return Ok(BTreeMap::new());
    };
    parse(&text).map_err(|what| Error::Config { path, what })
}

/// Returns the configuration and where it is, if there is one.
pub(crate) fn config_text(named: Option<&Path>) -> Result<Option<(PathBuf, String)>, Error> {
    let places = Places::find(home::variable);
    let (path, is_named) = match (named, places.config) {
        (Some(path), _) => (path.to_owned(), true),
        (None, Some(path)) => (path, places.config_is_named),
        (None, None) => return Ok(None),
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((path, text))),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: PathBuf, error: &io::Error) -> Error {
    let what = format!("it cannot be read: {error}");
    Error::Config { path, what }
}

fn parse(text: &str) -> Result<BTreeMap<String, Entry>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    for (name, entry) in &file.agents {
        if name.is_empty() || entry.command.is_empty() {
            return Err("an agent needs a name and a command".to_owned());
        }
    }
    Ok(file.agents)
}

/// Returns how many letters have to be put in, left out or replaced to make one word of the other.
pub(crate) fn slips(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.chars().enumerate() {
        let mut next = vec![place + 1];
        for (pair, wanted) in row.windows(2).zip(&other) {
            let [diagonal, above] = pair else { continue };
            let replaced = diagonal + usize::from(letter != *wanted);
            let left = next.last().copied().unwrap_or_default();
            next.push(replaced.min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roster(config: &str) -> Roster {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        std::fs::write(&path, config).unwrap();
        Roster::read(Some(&path)).unwrap()
    }

    #[track_caller]
    fn check(name: Option<&str>, expected: Result<&str, &[&str]>) {
        let roster = roster("[agents.mine]\ncommand = \"/bin/mine\"\nargs = [\"--acp\"]\n");
        match (roster.choose(name, &[]), expected) {
            (Ok(choice), Ok(expected)) => assert_eq!(choice.name, expected),
            (Err(Error::NoAgent { near, .. }), Err(expected)) => {
                let near: Vec<_> = near.iter().map(|(name, _)| name.as_str()).collect();
                assert_eq!(near, expected);
            }
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn an_agent_is_chosen_by_name_or_by_the_beginning_of_only_one() {
        check(None, Ok("ply"));
        check(Some("claude"), Ok("claude"));
        check(Some("gem"), Ok("gemini"));
        check(Some("mi"), Ok("mine"));
        check(Some("q"), Err(&["qoder", "qwen"]));
        check(
            Some("c"),
            Err(&["claude", "cline", "codex", "copilot", "cursor"]),
        );
    }

    #[test]
    fn an_agent_that_is_not_there_is_answered_with_near_names() {
        check(Some("cluade"), Err(&["claude"]));
        check(Some("gemni"), Err(&["gemini"]));
        check(Some("claude-code"), Err(&["claude"]));
        check(Some(""), Err(&[]));
        check(Some("nothing-like-it"), Err(&[]));
    }

    #[test]
    fn agents_of_the_user_win_over_known_ones() {
        let own = roster("[agents.claude]\ncommand = \"my-claude\"\nenv = { A = \"b\" }\n");
        let choice = own.choose(Some("claude"), &[]).unwrap();
        assert_eq!(choice.command.program(), "my-claude");
        assert_eq!(choice.install, None);
        let known = roster("model = \"offline\"\n").choose(Some("claude"), &[]);
        assert_eq!(known.unwrap().command.program(), "claude-agent-acp");
    }

    #[test]
    fn a_table_that_says_something_unknown_is_refused() {
        for wrong in [
            "[agents.x]\n",
            "[agents.x]\ncommand = \"\"\n",
            "[agents.x]\ncommand = \"a\"\nshell = true\n",
            "[agents]\nx = 1\n",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_command_is_taken_as_it_is() {
        let words = ["/opt/my agent".into(), "--flag".into()];
        let choice = roster("").choose(Some("claude"), &words).unwrap();
        assert_eq!(choice.name, "my agent");
        assert_eq!(choice.command.program(), "/opt/my agent");
    }

    #[test]
    fn known_names_are_in_order_and_unlike() {
        let names: Vec<_> = KNOWN.iter().map(|known| known.name).collect();
        assert!(names.is_sorted() && !names.contains(&BUILT_IN), "{names:?}");
        assert!(KNOWN.iter().all(|known| !known.command.is_empty()));
    }
}
