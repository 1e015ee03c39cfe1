//! The rules of the file for people who look through them.

use std::path::{Path, PathBuf};

use super::StoreError;
use super::file::{self, Locked};
use super::format::{Document, Section};
use crate::permission::rule::{Decision, Rule};

/// A rule in the rules file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptRule {
    /// The directory of the project that it is for; none for every project.
    pub project: Option<PathBuf>,
    /// What it says.
    pub decision: Decision,
    /// What it matches, as it is written.
    pub text: String,
}

/// Returns every rule of a rules file, those for all projects first. A file that is not there has none.
///
/// # Errors
///
/// The file cannot be read, or is no rules file.
pub fn kept_rules(file: &Path) -> Result<Vec<KeptRule>, StoreError> {
    let (text, _) = file::read(file)?;
    let document = Document::parse(&text)?;
    let sections = std::iter::once(&document.user).chain(&document.projects);
    Ok(sections.flat_map(of_section).collect())
}

/// Takes rules out of a rules file: those that are written like `text` or mean the same, of one project or of
/// all. Returns the rules that are gone. Sessions that run notice it with their next call.
///
/// # Errors
///
/// The file cannot be read or written, or is no rules file.
pub fn revoke(
    file: &Path,
    text: &str,
    project: Option<&Path>,
) -> Result<Vec<KeptRule>, StoreError> {
    let is_meant = |rule: &KeptRule| {
        let here = project.is_none_or(|project| rule.project.as_deref() == Some(project));
        let same = || {
            let wanted = Rule::parse(rule.decision, text);
            wanted.is_ok() && wanted == Rule::parse(rule.decision, &rule.text)
        };
        here && (rule.text == text || same())
    };
    let mut gone = kept_rules(file)?;
    gone.retain(is_meant);
    if gone.is_empty() {
        return Ok(gone);
    }
    let locked = Locked::take(file)?;
    let (content, _) = file::read(file)?;
    let mut document = Document::parse(&content)?;
    for rule in &gone {
        let section = match &rule.project {
            None => Some(&mut document.user),
            Some(directory) => document.find(&directory.to_string_lossy()),
        };
        if let Some(section) = section {
            section
                .list(rule.decision)
                .retain(|text| *text != rule.text);
        }
    }
    locked.replace(&document.to_string())?;
    Ok(gone)
}

fn of_section(section: &Section) -> impl Iterator<Item = KeptRule> {
    let lists = [
        (Decision::Deny, &section.deny),
        (Decision::Ask, &section.ask),
        (Decision::Allow, &section.allow),
    ];
    lists.into_iter().flat_map(move |(decision, texts)| {
        texts.iter().map(move |text| KeptRule {
            project: section.directory.as_ref().map(PathBuf::from),
            decision,
            text: text.clone(),
        })
    })
}
