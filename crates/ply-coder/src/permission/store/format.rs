//! The text of the rules file.
//!
//! ```toml
//! version = 1
//!
//! [user]
//! allow = ["shell(cargo test *)"]
//!
//! [[project]]
//! directory = "/home/me/project"
//! allow = ["shell(git status *)"]
//! ```

use std::fmt;

use serde::Deserialize;

use super::StoreError;
use crate::permission::rule::{Decision, Rule};

const VERSION: u32 = 1;

/// How many rules a section may have, and how many projects a file.
const ENTRIES_MAX: usize = 2000;

/// The whole file. Rules of other projects are kept as they are written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    version: u32,
    #[serde(default)]
    pub(super) user: Section,
    #[serde(default, rename = "project")]
    pub(super) projects: Vec<Project>,
}

/// The rules of one scope, as texts.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    #[serde(default)]
    pub(super) allow: Vec<String>,
    #[serde(default)]
    pub(super) ask: Vec<String>,
    #[serde(default)]
    pub(super) deny: Vec<String>,
}

/// The rules of a project.
#[derive(Debug, Deserialize)]
#[serde(from = "FlatProject")]
pub(super) struct Project {
    pub(super) directory: String,
    pub(super) section: Section,
}

/// The same as it is written; `flatten` would let unknown fields pass.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlatProject {
    directory: String,
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    #[serde(default)]
    deny: Vec<String>,
}

impl From<FlatProject> for Project {
    fn from(flat: FlatProject) -> Self {
        Self {
            directory: flat.directory,
            section: Section {
                allow: flat.allow,
                ask: flat.ask,
                deny: flat.deny,
            },
        }
    }
}

impl Document {
    /// Reads a file's text. A file that is not there yet is one without rules.
    pub(super) fn parse(text: &str) -> Result<Self, StoreError> {
        if text.is_empty() {
            return Ok(Self {
                version: VERSION,
                user: Section::default(),
                projects: Vec::new(),
            });
        }
        let document: Self = toml::from_str(text).map_err(|_| StoreError::Format)?;
        let mut directories: Vec<&str> = document
            .projects
            .iter()
            .map(|one| one.directory.as_str())
            .collect();
        directories.sort_unstable();
        let twice = directories
            .windows(2)
            .any(|pair| pair.first() == pair.last());
        // Of two sections for one project, the second might be the one that denies.
        if document.version != VERSION || twice {
            return Err(StoreError::Format);
        }
        Ok(document)
    }

    /// Returns the section of a project, a new one if need be.
    pub(super) fn project(&mut self, directory: &str) -> Result<&mut Section, StoreError> {
        let place = self
            .projects
            .iter()
            .position(|one| one.directory == directory);
        let place = match place {
            Some(place) => place,
            None if self.projects.len() >= ENTRIES_MAX => return Err(StoreError::Full),
            None => {
                self.projects.push(Project {
                    directory: directory.to_owned(),
                    section: Section::default(),
                });
                self.projects.len() - 1
            }
        };
        let project = self.projects.get_mut(place);
        project.map(|one| &mut one.section).ok_or(StoreError::Full)
    }
}

impl Section {
    pub(super) fn add(&mut self, rule: &Rule) -> Result<(), StoreError> {
        let text = rule.to_string();
        let list = self.list(rule.decision);
        if !list.contains(&text) {
            if list.len() >= ENTRIES_MAX {
                return Err(StoreError::Full);
            }
            list.push(text);
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, rule: &Rule) -> bool {
        let list = self.list(rule.decision);
        let before = list.len();
        // By meaning, as people may have written it otherwise.
        list.retain(|text| Rule::parse(rule.decision, text).as_ref() != Ok(rule));
        list.len() < before
    }

    pub(super) fn list(&mut self, decision: Decision) -> &mut Vec<String> {
        match decision {
            Decision::Allow => &mut self.allow,
            Decision::Ask => &mut self.ask,
            Decision::Deny => &mut self.deny,
        }
    }

    fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.ask.is_empty() && self.deny.is_empty()
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "version = {}", self.version)?;
        if !self.user.is_empty() {
            write!(f, "\n[user]\n{}", self.user)?;
        }
        for project in self.projects.iter().filter(|one| !one.section.is_empty()) {
            let directory = Quoted(&project.directory);
            write!(
                f,
                "\n[[project]]\ndirectory = {directory}\n{}",
                project.section
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = [
            ("allow", &self.allow),
            ("ask", &self.ask),
            ("deny", &self.deny),
        ];
        for (name, texts) in lists.into_iter().filter(|(_, texts)| !texts.is_empty()) {
            writeln!(f, "{name} = [")?;
            for text in texts {
                writeln!(f, "    {},", Quoted(text))?;
            }
            writeln!(f, "]")?;
        }
        Ok(())
    }
}

/// A basic string.
struct Quoted<'q>(&'q str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c.is_control() => write!(f, "\\u{:04X}", u32::from(c))?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}
