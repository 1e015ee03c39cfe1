//! Saying what a repository is: look around, read what describes it, put that into words.

use serde_json::json;

use super::grammar::plan;
use super::script::Reply;
use crate::model::CallResult;
use crate::text;

const STEPS: [&str; 3] = [
    "Look around",
    "Read what describes the project",
    "Explain it",
];
/// Files that say what a project is, the most telling first.
const TELLING: [&str; 10] = [
    "README.md",
    "README",
    "README.rst",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "go.mod",
    "pom.xml",
    "Makefile",
    "ARCHITECTURE.md",
];
/// How many of them are read.
const READ_MAX: usize = 4;
/// Lines of each that are read.
const READ_LINES: u32 = 120;
/// How a project of each kind is built and tested.
const BUILDS: [(&str, &str); 6] = [
    ("Cargo.toml", "Rust: `cargo build`, `cargo test`"),
    ("package.json", "JavaScript: `npm install`, `npm test`"),
    ("pyproject.toml", "Python: `pip install -e .`, `pytest`"),
    ("go.mod", "Go: `go build ./...`, `go test ./...`"),
    ("pom.xml", "Java: `mvn verify`"),
    ("Makefile", "`make`"),
];

/// Returns what comes after so many rounds of results.
pub(super) fn next(rounds: &[&[CallResult]]) -> Reply {
    match rounds {
        [] => Reply {
            thought: Some(
                "I look at the files first, then at those that describe the rest.".to_owned(),
            ),
            text: "I will look at what is here.\n".to_owned(),
            calls: vec![
                ("update_plan", plan(STEPS.into_iter(), 0)),
                ("list_dir", json!({ "path": ".", "depth": 1 })),
            ],
        },
        [first] => {
            let listing = listing(first);
            let telling = TELLING
                .iter()
                .filter(|name| listing.files.iter().any(|file| file == *name));
            let read = telling
                .take(READ_MAX)
                .map(|name| ("read_file", json!({ "path": name, "limit": READ_LINES })));
            let mut calls = vec![("update_plan", plan(STEPS.into_iter(), 1))];
            calls.extend(read);
            Reply {
                calls,
                ..Reply::default()
            }
        }
        [_, _] => Reply {
            calls: vec![("update_plan", plan(STEPS.into_iter(), STEPS.len()))],
            ..Reply::default()
        },
        [first, second, ..] => Reply::say(explanation(&listing(first), second)),
    }
}

/// What is in the directory.
#[derive(Debug, Default)]
struct Listing {
    directories: Vec<String>,
    files: Vec<String>,
}

fn listing(results: &[CallResult]) -> Listing {
    let mut listing = Listing::default();
    let found = results
        .iter()
        .find(|result| result.name == "list_dir" && !result.failed);
    for line in found.map_or("", |result| &result.text).lines() {
        let name = line.trim();
        match name.strip_suffix('/') {
            Some(directory) if !directory.is_empty() => {
                listing.directories.push(directory.to_owned());
            }
            // Notes of the tool are sentences.
            _ if name.is_empty() || name.contains(' ') => {}
            _ => listing.files.push(name.to_owned()),
        }
    }
    listing
}

fn explanation(listing: &Listing, results: &[CallResult]) -> String {
    let mut words = String::new();
    let read = results
        .iter()
        .filter(|result| result.name == "read_file" && !result.failed);
    let texts: Vec<String> = read.map(|result| without_numbers(&result.text)).collect();
    let about = texts.iter().find_map(|text| first_paragraph(text));
    match about {
        Some(about) => words.push_str(&format!("{about}\n\n")),
        None => words.push_str("Nothing here says what this project is.\n\n"),
    }
    if !listing.directories.is_empty() {
        words.push_str("Directories: ");
        words.push_str(&join(&listing.directories));
        words.push_str(".\n");
    }
    if !listing.files.is_empty() {
        words.push_str("Files beside them: ");
        words.push_str(&join(&listing.files));
        words.push_str(".\n");
    }
    let builds = BUILDS
        .iter()
        .filter(|(file, _)| listing.files.iter().any(|found| found == file));
    for (file, how) in builds {
        words.push_str(&format!("From `{file}`: {how}.\n"));
    }
    words.push_str(
        "\nThis came from Ply's offline model, which follows rules and understands nothing. With a \
         key such as ANTHROPIC_API_KEY or OPENAI_API_KEY a language model answers instead.\n",
    );
    words
}

fn join(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Takes away the line numbers that the tool puts before each line.
fn without_numbers(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let rest = line
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix('\t').unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the first heading with the first paragraph, or the description of a manifest.
fn first_paragraph(text: &str) -> Option<String> {
    let mut heading = None;
    let mut paragraph = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(title) = line.strip_prefix("# ") {
            heading.get_or_insert(title);
        } else if let Some(description) = line.strip_prefix("description") {
            let description = description.trim_start_matches([' ', '=', ':', '"']);
            return Some(description.trim_end_matches(['"', ',']).to_owned());
        } else if line.is_empty() {
            if !paragraph.is_empty() {
                break;
            }
        } else if line.starts_with(char::is_alphabetic) {
            paragraph.push_str(line);
            paragraph.push(' ');
        }
    }
    let paragraph = text::head(paragraph.trim(), 600);
    match (heading, paragraph) {
        (None, "") => None,
        (None, paragraph) => Some(paragraph.to_owned()),
        (Some(heading), "") => Some(format!("**{heading}**")),
        (Some(heading), paragraph) => Some(format!("**{heading}**: {paragraph}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readme_tells_what_it_is_about() {
        let text = without_numbers(
            "     1\t# Ply\n     2\t\n     3\tThe protocol, end to end.\n     4\t\n     5\tMore.",
        );
        assert_eq!(
            first_paragraph(&text).unwrap(),
            "**Ply**: The protocol, end to end."
        );
    }

    #[test]
    fn a_manifest_has_a_description() {
        let text = "[package]\nname = \"x\"\ndescription = \"Does it.\"\n";
        assert_eq!(first_paragraph(text).unwrap(), "Does it.");
    }
}
