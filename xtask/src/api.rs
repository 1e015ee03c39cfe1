//! The list of public items of the library crates, kept in the repository so that a change of the API shows in review.
//!
//! It is read from the sources, without the compiler: what macros expand to is not seen, so calls of macros are listed as
//! they are written.

mod item;
mod list;
mod scope;
mod source;
mod text;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::Result;

/// The crates whose API authors of agents and clients see, by their directories under `crates`.
const CRATES: &[&str] = &[
    "ply",
    "ply-agent",
    "ply-client",
    "ply-journal",
    "ply-roots",
    "ply-json",
    "ply-rpc",
    "ply-session",
    "ply-wire",
];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Fail if a list is out of date, and write nothing.
    #[arg(long)]
    check: bool,
}

#[expect(clippy::print_stderr, reason = "tells what has changed")]
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut stale = Vec::new();
    for name in CRATES {
        let root = repository.join("crates").join(name).join("src/lib.rs");
        let list = list::list(&source::Source::load(&name.replace('-', "_"), &root)?);
        let path = file(&repository, name);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if old == list {
            continue;
        }
        for line in changes(&old, &list) {
            eprintln!("{line}");
        }
        match arguments.check {
            true => stale.push(*name),
            false => {
                std::fs::create_dir_all(repository.join("docs/api"))?;
                std::fs::write(&path, list)?;
            }
        }
    }
    match stale.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "the public API of {} differs from docs/api; if that is intended, run `cargo xtask api`",
            stale.join(", ")
        )
        .into()),
    }
}

fn file(repository: &Path, name: &str) -> PathBuf {
    repository.join("docs/api").join(format!("{name}.txt"))
}

/// Returns the lines that only one of the two lists has.
fn changes(old: &str, new: &str) -> Vec<String> {
    let only = |sign: char, these: &str, those: &str| {
        let those: std::collections::HashSet<_> = those.lines().collect();
        let lines = these.lines().filter(|line| !those.contains(line));
        lines
            .map(|line| format!("{sign} {line}"))
            .collect::<Vec<_>>()
    };
    let mut lines = only('-', old, new);
    lines.extend(only('+', new, old));
    lines
}
