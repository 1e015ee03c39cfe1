//! Looking at a project: what there is, what describes it, how large it is.

use serde_json::json;

use super::commands::Call;
use super::project::{self, Project};
use super::tally::Tally;
use super::turn::{Done, Rounds};

/// Lines of a manifest that are read.
const MANIFEST_LINES: u32 = 1_500;
/// Lines of a README that are read.
const README_LINES: u32 = 200;
/// Manifests that are read.
const MANIFESTS_MAX: usize = 2;
/// Files whose lines are listed one by one.
const COUNTED_MAX: u32 = 2_000;
/// Packages of a workspace whose descriptions are read.
const PACKAGES_MAX: u32 = 100;
/// Names of the file that introduces a project.
const READMES: [&str; 5] = [
    "README.md",
    "README",
    "README.rst",
    "README.txt",
    "readme.md",
];

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The files in the directory itself.
    pub(super) files: Vec<String>,
    /// The directories in it, each with what is in it.
    pub(super) directories: Vec<(String, Vec<String>)>,
    pub(super) tally: Tally,
    pub(super) project: Option<Project>,
    /// Manifests besides the project's.
    pub(super) others: Vec<&'static str>,
    pub(super) readme: Option<String>,
    /// The packages of a workspace, with their descriptions.
    pub(super) packages: Vec<(String, String)>,
}

/// Lists the directory and counts the lines of everything in it.
pub(super) fn look_around() -> Vec<Call> {
    let count = json!({ "pattern": "^", "mode": "count", "limit": COUNTED_MAX });
    vec![list(2), ("grep", count)]
}

/// Lists the directory.
pub(super) fn list(depth: u32) -> Call {
    ("list_dir", json!({ "path": ".", "depth": depth }))
}

/// Reads what describes the project, after a look around.
pub(super) fn read_up(rounds: &Rounds<'_>) -> Vec<Call> {
    let survey = read(rounds);
    let mut calls = Vec::new();
    if let Some(readme) = survey.readme_name() {
        calls.push((
            "read_file",
            json!({ "path": readme, "limit": README_LINES }),
        ));
    }
    calls.extend(survey.manifest_calls());
    let is_package = |(path, _): &&(String, u64)| {
        let name = path.rsplit('/').next().unwrap_or_default();
        project::MANIFESTS.contains(&name) && path.contains('/')
    };
    if survey.tally.files.iter().filter(is_package).count() > 1 {
        calls.push((
            "grep",
            json!({
                "pattern": "^\\s*\"?description\"?\\s*[=:]",
                "glob": "{Cargo.toml,package.json,pyproject.toml}",
                "limit": PACKAGES_MAX,
            }),
        ));
    }
    calls
}

/// Puts together what was found so far.
pub(super) fn read(rounds: &Rounds<'_>) -> Survey {
    let mut survey = Survey::default();
    let listed = rounds.calls("list_dir").find(|done| !done.failed);
    survey.tree(listed);
    let is_count = |done: &Done<'_>| done.argument("mode") == "count";
    survey.tally = Tally::read(rounds.calls("grep").find(is_count));
    survey.readme = survey.readme_name().and_then(|name| rounds.file(name));
    let manifests = project::manifests(&survey.files);
    let mut read = manifests.iter().filter_map(|name| {
        let text = rounds.file(name)?;
        project::read(name, &text, &survey.files, &survey.tally)
    });
    survey.project = read.next().or_else(|| project::of_files(&survey.files));
    let own = survey
        .project
        .as_ref()
        .map(|project| project.manifest.as_str());
    let others = manifests.into_iter().filter(|name| Some(*name) != own);
    survey.others = others.collect();
    let is_descriptions = |done: &Done<'_>| done.argument("pattern").contains("description");
    survey.packages = packages(rounds.calls("grep").find(is_descriptions));
    survey
}

impl Survey {
    /// Reads the list of a directory, two levels deep.
    fn tree(&mut self, listed: Option<Done<'_>>) {
        for line in listed.iter().flat_map(Done::lines) {
            let name = line.trim_start().trim_end_matches('@');
            let is_inner = line.starts_with(' ');
            match (name.strip_suffix('/'), self.directories.last_mut()) {
                (_, Some((_, inner))) if is_inner => inner.push(name.to_owned()),
                (Some(directory), _) => self.directories.push((directory.to_owned(), Vec::new())),
                (None, _) => self.files.push(name.to_owned()),
            }
        }
    }

    fn readme_name(&self) -> Option<&'static str> {
        let mut known = READMES.into_iter();
        known.find(|name| self.files.iter().any(|file| file == name))
    }

    /// Returns the calls that read the manifests.
    pub(super) fn manifest_calls(&self) -> Vec<Call> {
        let manifests = project::manifests(&self.files).into_iter();
        let read = manifests.take(MANIFESTS_MAX);
        read.map(|name| {
            (
                "read_file",
                json!({ "path": name, "limit": MANIFEST_LINES }),
            )
        })
        .collect()
    }

    /// Returns the documents in the directory itself, but for the README.
    pub(super) fn documents(&self) -> Vec<String> {
        let is_document = |name: &&String| {
            let is_text = name.ends_with(".md") || name.ends_with(".rst");
            is_text && !READMES.contains(&name.as_str())
        };
        let mut documents: Vec<_> = self.files.iter().filter(is_document).cloned().collect();
        let has_docs = self
            .directories
            .iter()
            .any(|(name, _)| name == "docs" || name == "doc");
        if has_docs {
            documents.push("docs/".to_owned());
        }
        documents
    }
}

/// Reads `path:line:description = "…"` of each package.
fn packages(found: Option<Done<'_>>) -> Vec<(String, String)> {
    let mut packages = Vec::new();
    for (path, _, text) in found.iter().flat_map(Done::found) {
        let Some((directory, _)) = path.rsplit_once('/') else {
            continue;
        };
        let text = text
            .trim()
            .trim_start_matches('"')
            .trim_start_matches("description");
        let text = text.trim_start_matches(['"', ' ', '=', ':']);
        let text = text.trim_end_matches([',', '"', ' ']);
        let is_known = packages.iter().any(|(known, _)| known == directory);
        if !text.is_empty() && !text.starts_with(['{', '.']) && !is_known {
            packages.push((directory.to_owned(), text.to_owned()));
        }
    }
    packages
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn done(text: &str) -> Done<'_> {
        Done {
            name: "x",
            arguments: &Value::Null,
            text,
            failed: false,
        }
    }

    #[test]
    fn a_tree_is_read_two_levels_deep() {
        let mut survey = Survey::default();
        let text = "a/\n  b/\n  c.rs\nREADME.md\nlink@\n[There is more. Use glob.]";
        survey.tree(Some(done(text)));
        assert_eq!(survey.files, ["README.md", "link"]);
        let inner = ["b/", "c.rs"].map(str::to_owned).to_vec();
        assert_eq!(survey.directories, [("a".to_owned(), inner)]);
    }

    #[test]
    fn packages_are_described_by_their_manifests() {
        let text = "Cargo.toml:2:description = \"All of it\"\na/b/Cargo.toml:3:description = \"Reads: \
                    and writes.\"\na/c/Cargo.toml:3:description.workspace = true\nd/package.json:4:  \
                    \"description\": \"Pours\",\n";
        let expected = [("a/b", "Reads: and writes."), ("d", "Pours")];
        let expected = expected.map(|(path, words)| (path.to_owned(), words.to_owned()));
        assert_eq!(packages(Some(done(text))), expected);
    }
}
