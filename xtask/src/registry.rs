//! `cargo xtask registry`: prints the entry of this project in the registry of ACP agents, `agent.json`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::Result;

/// The registry's names of platforms, with the targets that releases are built for.
const TARGETS: [(&str, &str); 2] = [
    ("linux-x86_64", "x86_64-unknown-linux-musl"),
    ("linux-aarch64", "aarch64-unknown-linux-musl"),
];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The address of the repository; releases are expected below it
    #[arg(long, value_name = "URL")]
    repository: String,
    /// A directory with the checksums of the archives (NAME.tar.gz.sha256), to put into the entry
    #[arg(long, value_name = "DIR")]
    archives: Option<PathBuf>,
}

#[expect(clippy::print_stdout, reason = "the entry is what it is for")]
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let entry = entry(&arguments.repository, arguments.archives.as_deref())?;
    println!("{}", serde_json::to_string_pretty(&entry)?);
    Ok(())
}

fn entry(repository: &str, archives: Option<&Path>) -> Result<Value> {
    let repository = repository.trim_end_matches('/');
    if !repository.starts_with("https://") {
        return Err(format!("{repository} is not an https:// address").into());
    }
    let version = env!("CARGO_PKG_VERSION");
    let mut binaries = Map::new();
    for (platform, target) in TARGETS {
        let archive = format!("ply-{target}.tar.gz");
        let mut binary = json!({
            "archive": format!("{repository}/releases/download/v{version}/{archive}"),
            "cmd": "./ply/ply",
            "args": ["agent"],
        });
        if let (Some(directory), Some(fields)) = (archives, binary.as_object_mut()) {
            fields.insert("sha256".to_owned(), checksum(directory, &archive)?.into());
        }
        binaries.insert(platform.to_owned(), binary);
    }
    Ok(json!({
        "id": "ply",
        "name": "Ply",
        "version": version,
        "description": "A coding agent with a sandbox, models of many providers, and sessions that survive crashes",
        "repository": repository,
        "license": "MIT OR Apache-2.0",
        "distribution": {"binary": binaries},
    }))
}

/// Returns the checksum of an archive, as `sha256sum` wrote it.
fn checksum(directory: &Path, archive: &str) -> Result<String> {
    let path = directory.join(format!("{archive}.sha256"));
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let sum = text.split_whitespace().next().unwrap_or_default();
    let is_sum = sum.len() == 64 && sum.chars().all(|char| char.is_ascii_hexdigit());
    match is_sum {
        true => Ok(sum.to_owned()),
        false => Err(format!("{} has no SHA-256 in it", path.display()).into()),
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_has_what_the_registry_wants() {
        let entry = entry("https://example.org/ply/", None).unwrap();
        for name in ["id", "name", "version", "description", "distribution"] {
            assert!(entry.get(name).is_some(), "{name}");
        }
        let binary = &entry["distribution"]["binary"]["linux-x86_64"];
        let version = env!("CARGO_PKG_VERSION");
        let archive = format!(
            "https://example.org/ply/releases/download/v{version}/ply-x86_64-unknown-linux-musl.tar.gz"
        );
        assert_eq!(binary["archive"], archive.as_str());
        assert_eq!(binary["args"], json!(["agent"]));
    }

    #[test]
    fn a_checksum_is_taken_from_the_file_beside_the_archive() {
        let place = tempfile::tempdir().unwrap();
        let sum = "ab".repeat(32);
        for (_, target) in TARGETS {
            let name = format!("ply-{target}.tar.gz");
            let text = format!("{sum}  {name}\n");
            std::fs::write(place.path().join(format!("{name}.sha256")), text).unwrap();
        }
        let entry = entry("https://example.org/ply", Some(place.path())).unwrap();
        let binary = &entry["distribution"]["binary"]["linux-aarch64"];
        assert_eq!(binary["sha256"], sum.as_str());
    }

    #[test]
    fn a_bad_address_and_missing_checksums_are_errors() {
        assert!(entry("ply", None).is_err());
        let missing = entry("https://example.org/ply", Some(Path::new("/nonexistent")));
        assert!(missing.unwrap_err().to_string().contains(".sha256"));
    }
}
