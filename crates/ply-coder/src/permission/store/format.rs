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
    pub(super) projects: Vec<Section>,
}

/// The rules of one scope, as texts.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    /// Which project they are for; none for those of the user.
    pub(super) directory: Option<String>,
    #[serde(default)]
    pub(super) allow: Vec<String>,
    #[serde(default)]
    pub(super) ask: Vec<String>,
    #[serde(default)]
    pub(super) deny: Vec<String>,
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
        let directories = document.projects.iter().map(|one| one.directory.as_deref());
        let mut directories: Vec<_> = directories.collect();
        directories.sort_unstable();
        let twice = directories
            .windows(2)
            .any(|pair| pair.first() == pair.last());
        let misplaced = document.user.directory.is_some() || directories.contains(&None);
        // Of two sections for one project, the second might be the one that denies.
        if document.version != VERSION || twice || misplaced {
            return Err(StoreError::Format);
        }
        Ok(document)
    }

    /// Returns the section of a project, if there is one.
    pub(super) fn find(&mut self, directory: &str) -> Option<&mut Section> {
        let mut projects = self.projects.iter_mut();
        projects.find(|one| one.directory.as_deref() == Some(directory))
    }

    /// Returns the section of a project, a new one if need be.
    pub(super) fn project(&mut self, directory: &str) -> Result<&mut Section, StoreError> {
        if self.find(directory).is_none() {
            if self.projects.len() >= ENTRIES_MAX {
                return Err(StoreError::Full);
            }
            self.projects.push(Section {
                directory: Some(directory.to_owned()),
                ..Section::default()
            });
        }
        self.find(directory).ok_or(StoreError::Full)
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
        for project in self.projects.iter().filter(|one| !one.is_empty()) {
            write!(f, "\n[[project]]\n{project}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(directory) = &self.directory {
            writeln!(f, "directory = {}", Quoted(directory))?;
        }
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
