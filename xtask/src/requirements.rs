//! `cargo xtask requirements`: which protocol rules have a test that names them.

mod checks;
mod coverage;
mod id;
mod rules;
mod scan;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use checks::Checks;
use coverage::Coverage;
use rules::Rules;

const RULES: &str = "docs/requirements.toml";
const TABLE: &str = "docs/REQUIREMENTS.md";
/// Where the checker's rules are.
const CHECKER: &str = "crates/ply-check/src/rule/table";
/// Where tests are looked for.
const SOURCES: [&str; 4] = ["bench", "crates", "tests", "xtask"];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Writes nothing and fails if the table or the list of open rules is stale
    #[arg(long, conflicts_with = "list_open")]
    check: bool,
    /// Prints the seed rules without a test, one per line
    #[arg(long)]
    list_open: bool,
}

/// Writes the table, checks it, or lists the rules that are still open.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .ok_or("xtask has no parent directory")?;
    let text = read(&root.join(RULES))?;
    let rules = Rules::parse(&text).map_err(|error| format!("{RULES}: {error}"))?;
    let tests = tests_under(root)?;
    let coverage = Coverage::new(&rules, &tests);
    if arguments.list_open {
        list(&coverage);
        return Ok(());
    }
    let checks = checks_under(root)?;
    let wanted = table::write(&coverage, &checks, &rules);
    let path = root.join(TABLE);
    let mut problems = coverage.problems().to_vec();
    problems.extend(checks.problems(&rules));
    if arguments.check {
        problems.extend(coverage.closed().iter().map(|id| {
            format!("{id} has a test now, but is still in `open` of {RULES}: run `cargo xtask requirements`")
        }));
        // A table that is not there at all is as stale as an old one.
        if fs::read_to_string(&path).ok().as_ref() != Some(&wanted) {
            problems.push(format!("{TABLE} is stale: run `cargo xtask requirements`"));
        }
    } else {
        fs::write(&path, wanted).map_err(|error| format!("{TABLE} cannot be written: {error}"))?;
        if !coverage.closed().is_empty() {
            fs::write(
                root.join(RULES),
                rules::without_open(&text, coverage.closed()),
            )
            .map_err(|error| format!("{RULES} cannot be written: {error}"))?;
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(problems.join("\n").into())
}

#[expect(clippy::print_stdout, reason = "the list is what was asked for")]
fn list(coverage: &Coverage<'_>) {
    for id in coverage.uncovered_seeds() {
        println!("{id}");
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()).into())
}

/// Scans every source file, in the order of their paths.
fn tests_under(root: &Path) -> Result<Vec<scan::Test>> {
    let mut files = Vec::new();
    for directory in SOURCES {
        collect(&root.join(directory), &mut files)?;
    }
    files.sort();
    let mut tests = Vec::new();
    for file in files {
        let shown = file
            .strip_prefix(root)?
            .to_string_lossy()
            .replace('\\', "/");
        tests.extend(scan::tests(&shown, &read(&file)?));
    }
    Ok(tests)
}

/// Gathers the rules of the checker.
fn checks_under(root: &Path) -> Result<Checks> {
    let mut files = Vec::new();
    collect(&root.join(CHECKER), &mut files)?;
    let mut checks = Checks::default();
    for file in files {
        checks.add(&read(&file)?);
    }
    Ok(checks)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(directory)
        .map_err(|error| format!("{} cannot be listed: {error}", directory.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            // What a build left behind is not source.
            if entry.file_name() != "target" {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
