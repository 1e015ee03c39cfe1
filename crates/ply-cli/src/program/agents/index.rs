//! The index of the ACP registry.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::download;
use crate::program::error::Error;
use crate::program::home;
use crate::program::roster::{SLIPS_MAX, registry_id, slips};

/// The index of the ACP registry.
const REGISTRY: &str = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json";
/// The variable that names another one.
const VARIABLE: &str = "PLY_REGISTRY";
/// Names that are suggested for one that is not there.
const NEAR_MAX: usize = 5;

/// The agents of a registry.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) agents: Vec<Entry>,
}

/// An agent of a registry, with what is needed to install it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    #[serde(default)]
    pub(super) description: String,
    pub(super) distribution: Distribution,
}

/// The ways to get an agent.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Distribution {
    /// Programs, by platform.
    #[serde(default)]
    pub(super) binary: BTreeMap<String, Binary>,
    pub(super) npx: Option<Package>,
    pub(super) uvx: Option<Package>,
}

/// A program for one platform.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Binary {
    pub(super) archive: String,
    /// The program in the archive.
    pub(super) cmd: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    pub(super) sha256: Option<String>,
}

/// A package of npm or PyPI.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Package {
    pub(super) package: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
}

impl Index {
    /// Downloads the index: from the given address, else from where the environment says.
    pub(super) async fn fetch(url: Option<String>) -> Result<Self, Error> {
        let set = home::variable(VARIABLE).and_then(|url| url.into_string().ok());
        let url = url.or(set.filter(|url| !url.is_empty()));
        let url = url.as_deref().unwrap_or(REGISTRY);
        let bytes = download::small(url).await?;
        Self::read(&bytes).map_err(|what| {
            Error::agents(
                format!("{url} is not the index of an agent registry: {what}"),
                "check `--registry` and PLY_REGISTRY",
            )
        })
    }

    /// Reads the index. Entries that this version does not understand are left out, so that a new kind of entry breaks no other.
    fn read(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct File {
            agents: Vec<serde_json::Value>,
        }
        let file: File = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let entries = file.agents.into_iter();
        let entries = entries.filter_map(|entry| serde_json::from_value::<Entry>(entry).ok());
        // Both become names of directories.
        let is_safe = |entry: &Entry| is_id(&entry.id) && is_version(&entry.version);
        let agents = entries.filter(is_safe).collect();
        Ok(Self { agents })
    }

    /// Finds an agent: by the id that a known name stands for, by its id with or without `-acp`, or by an unambiguous prefix.
    pub(super) fn find(&self, name: &str) -> Result<&Entry, Error> {
        let by_id = |id: &str| self.agents.iter().find(|entry| entry.id == id);
        let found = by_id(registry_id(name))
            .or_else(|| by_id(name))
            .or_else(|| by_id(&format!("{name}-acp")));
        if let Some(entry) = found {
            return Ok(entry);
        }
        let begins = |entry: &&Entry| entry.id.starts_with(name);
        let beginning: Vec<&Entry> = self.agents.iter().filter(begins).collect();
        match beginning.as_slice() {
            [only] => Ok(only),
            [] => Err(self.none(name)),
            several => {
                let ids = several.iter().take(NEAR_MAX).map(|entry| &*entry.id);
                let ids = ids.collect::<Vec<_>>().join(", ");
                Err(Error::agents(
                    format!("`{name}` is ambiguous in the registry"),
                    format!("give one of: {ids}"),
                ))
            }
        }
    }

    fn none(&self, name: &str) -> Error {
        let is_near = |id: &&str| slips(id, name) <= SLIPS_MAX || id.contains(name);
        let ids = self.agents.iter().map(|entry| &*entry.id).filter(is_near);
        let near = ids.take(NEAR_MAX).collect::<Vec<_>>().join(", ");
        let hint = match near.is_empty() {
            true => "`ply agents list --all` lists the agents of the registry".to_owned(),
            false => format!("similar names: {near}"),
        };
        Error::agents(format!("the registry has no agent `{name}`"), hint)
    }
}

fn is_id(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_lowercase())
        && id
            .chars()
            .all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-')
}

/// Returns whether a text is an exact version, such as `1.2.3` or `1.2.3-rc.1`, and not a range or a tag.
pub(super) fn is_version(version: &str) -> bool {
    version.starts_with(|first: char| first.is_ascii_digit())
        && version.contains('.')
        && version
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || ".-+_".contains(char))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Index {
        let entry = |id: &str, version: &str| {
            serde_json::json!({"id": id, "name": id, "version": version,
                "distribution": {"npx": {"package": format!("{id}@{version}")}}})
        };
        let file = serde_json::json!({"version": "1.0.0", "extensions": [], "agents": [
            entry("claude-acp", "0.5.1"),
            entry("tea", "1.0.0"),
            entry("teapot", "1.0.0"),
            entry("coffee-acp", "1.0.0"),
            entry("../evil", "1.0.0"),
            entry("odd", "latest"),
            {"id": "new-kind", "distribution": 7},
        ]});
        Index::read(file.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn agents_are_found_by_known_name_id_and_prefix() {
        let index = index();
        for (name, id) in [
            ("claude", "claude-acp"),
            ("claude-acp", "claude-acp"),
            ("tea", "tea"),
            ("teap", "teapot"),
            ("coffee", "coffee-acp"),
        ] {
            assert_eq!(index.find(name).unwrap().id, id, "{name}");
        }
    }

    #[test]
    fn names_that_are_not_there_are_answered_with_similar_ones() {
        let index = index();
        let hint = |name: &str| index.find(name).unwrap_err().hint().unwrap();
        assert_eq!(hint("te"), "give one of: tea, teapot");
        assert_eq!(hint("tpot"), "similar names: teapot");
        assert!(hint("nothing").contains("--all"));
    }

    #[test]
    fn entries_that_are_unsafe_or_unknown_are_left_out() {
        let index = index();
        assert_eq!(index.agents.len(), 4);
        assert!(Index::read(b"<html>").is_err());
    }

    #[test]
    fn only_exact_versions_count() {
        for (version, expected) in [
            ("1.2.3", true),
            ("0.1.0-rc.2+b", true),
            ("latest", false),
            ("^1.2", false),
            ("../1.2", false),
            ("1", false),
            ("", false),
        ] {
            assert_eq!(is_version(version), expected, "{version}");
        }
    }
}
