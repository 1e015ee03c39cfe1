//! One side of a project.

use serde_json::json;

use super::super::commands::Call;
use super::super::readme;
use super::super::survey::Survey;
use super::super::tally::{self, Tally, lines, number, plural};
use super::super::turn::Rounds;
use super::{LISTED_MAX, beginnings, names, packages, starts};

pub(super) fn structure(survey: &Survey) -> String {
    let mut said = String::new();
    for (name, inner) in survey.directories.iter().take(LISTED_MAX) {
        let inside = names(inner);
        let amount = survey.tally.below(name);
        let amount = match survey.tally.is_whole && amount.files > 0 {
            true => format!(" ({}, {})", tally::files(amount.files), lines(amount.lines)),
            false => String::new(),
        };
        said.push_str(&match inside.is_empty() {
            true => format!("- `{name}/`{amount}\n"),
            false => format!("- `{name}/`{amount}: {inside}\n"),
        });
    }
    if survey.directories.len() > LISTED_MAX {
        let more = survey.directories.len() - LISTED_MAX;
        said.push_str(&format!("- and {more} more directories\n"));
    }
    if !survey.files.is_empty() {
        said.push_str(&format!("- at the top level: {}\n", names(&survey.files)));
    }
    if said.is_empty() {
        return "The directory is empty.".to_owned();
    }
    let starts = starts(survey);
    if !starts.is_empty() {
        said.push_str(&format!("\nStart reading at {starts}."));
    }
    if survey.packages.len() > 1 {
        said.push_str(&format!("\n\nThe packages:\n{}", packages(survey)));
    }
    said
}

pub(super) fn size(survey: &Survey) -> String {
    let languages = survey.tally.languages();
    let total = survey.tally.total();
    if total.files == 0 {
        return "There are no text files here.".to_owned();
    }
    let mostly = languages
        .first()
        .map(|(name, _)| format!("Mostly {name}: "));
    let mut said = format!(
        "{}{}, {} (lock files and files that git ignores are not counted).\n\n",
        mostly.unwrap_or_default(),
        plural(total.files, "text file", "text files"),
        lines(total.lines)
    );
    for (name, amount) in languages.iter().take(LISTED_MAX) {
        let (count, files) = (number(amount.lines), tally::files(amount.files));
        said.push_str(&format!("- {name}: {count} lines in {files}\n"));
    }
    let code: u64 = languages.iter().map(|(_, amount)| amount.lines).sum();
    if total.lines > code {
        let rest = lines(total.lines - code);
        said.push_str(&format!("- documents, configuration and data: {rest}\n"));
    }
    let largest = survey.tally.largest(5);
    if survey.tally.is_whole && !largest.is_empty() {
        let largest = largest
            .iter()
            .map(|(path, count)| format!("`{path}` ({})", number(*count)));
        let largest = largest.collect::<Vec<_>>().join(", ");
        said.push_str(&format!("\nThe longest source files, in lines: {largest}."));
    }
    said
}

pub(super) fn dependencies(survey: &Survey) -> String {
    let Some(project) = &survey.project else {
        return "I found no manifest here that lists dependencies.".to_owned();
    };
    let mut said = String::new();
    let kinds = [
        ("Needed", &project.dependencies),
        ("Optional", &project.optional),
        ("For development", &project.development),
    ];
    let has_any = kinds.iter().any(|(_, all)| !all.is_empty());
    if has_any && project.dependencies.is_empty() {
        said.push_str("- Needed: none\n");
    }
    for (what, all) in kinds.iter().filter(|(_, all)| !all.is_empty()) {
        let all: Vec<_> = all.iter().map(|name| format!("`{name}`")).collect();
        said.push_str(&format!("- {what} ({}): {}\n", all.len(), all.join(", ")));
    }
    let manifest = &project.manifest;
    match said.is_empty() {
        true => format!("`{manifest}` lists no dependencies."),
        false => format!("From `{manifest}`:\n\n{said}"),
    }
}

pub(super) fn entries(survey: &Survey) -> String {
    let entries = beginnings(survey);
    if entries.is_empty() {
        let largest = survey.tally.largest(3);
        let largest: Vec<_> = largest
            .iter()
            .map(|(path, _)| format!("`{path}`"))
            .collect();
        return match largest.is_empty() {
            true => "I found no source files here.".to_owned(),
            false => format!(
                "I found no entry point. The longest source files are {}.",
                largest.join(", ")
            ),
        };
    }
    let mut said = "Start here:\n\n".to_owned();
    for (path, what) in entries.iter().take(LISTED_MAX) {
        said.push_str(&format!("- `{path}`: {what}\n"));
    }
    if let Some(examples) = survey
        .project
        .as_ref()
        .map(|it| &it.examples)
        .filter(|it| !it.is_empty())
    {
        said.push_str(&format!("- examples: {}\n", names(examples)));
    }
    if let Some((path, _)) = entries.first() {
        said.push_str(&format!("\n`explain {path}` shows what is in it."));
    }
    said
}

pub(super) fn commands(survey: &Survey) -> String {
    let Some(project) = &survey.project else {
        return "I found no manifest that I know, so I cannot say how this is built. The README may."
            .to_owned();
    };
    let mut said = format!("This is {} (see `{}`).\n\n", project.kind, project.manifest);
    let ways = [
        ("Build", &project.build),
        ("Test", &project.test),
        ("Run", &project.run),
    ];
    for (what, command) in ways {
        if let Some(command) = command {
            said.push_str(&format!("- {what}: `{command}`\n"));
        }
    }
    if project.test.is_none() {
        said.push_str("- Test: the manifest defines no test command\n");
    }
    if let Some(needs) = &project.needs {
        said.push_str(&format!("- Needs: {needs}\n"));
    }
    if let Some(first) = project.examples.first() {
        let name = first
            .rsplit('/')
            .next()
            .and_then(|name| name.strip_suffix(".rs"));
        if let Some(name) = name.filter(|_| project.manifest == "Cargo.toml") {
            said.push_str(&format!("- Run an example: `cargo run --example {name}`\n"));
        }
    }
    said.push_str("\nSay `run the tests` to run them here; you are asked first.");
    said
}

/// How tests are marked, in the languages that there are.
const TESTS: &str =
    "^\\s*(#\\[(\\w+::)*test\\]|(async )?def test_|(it|test)\\(|@Test\\b|func Test\\w+\\()";

/// Counts the tests.
pub(super) fn count_tests() -> Call {
    (
        "grep",
        json!({ "pattern": TESTS, "mode": "count", "limit": 500 }),
    )
}

pub(super) fn tests(survey: &Survey, rounds: &Rounds<'_>) -> String {
    let counted = rounds
        .calls("grep")
        .find(|done| done.argument("pattern") == TESTS);
    let mut files = Tally::read(counted).files;
    files.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let total: u64 = files.iter().map(|(_, count)| count).sum();
    let mut said = match total {
        0 => "I found no tests here.\n".to_owned(),
        _ => {
            let (tests, places) = (
                plural(total, "test", "tests"),
                tally::files(files.len() as u64),
            );
            let mut said =
                format!("{tests} in {places}, counted by their attributes or names:\n\n");
            for (path, count) in files.iter().take(LISTED_MAX) {
                said.push_str(&format!("- `{path}`: {count}\n"));
            }
            if files.len() > LISTED_MAX {
                said.push_str(&format!("- and {} more files\n", files.len() - LISTED_MAX));
            }
            said
        }
    };
    let test = survey.project.as_ref().and_then(|it| it.test.as_ref());
    if let Some(test) = test.filter(|_| total > 0) {
        said.push_str(&format!(
            "\n`{test}` runs them. Say `run the tests` to do it here; you are asked first."
        ));
    }
    said
}

pub(super) fn usage(survey: &Survey) -> String {
    let example = survey.readme.as_deref().and_then(readme::example);
    let examples = survey.project.as_ref().map(|it| names(&it.examples));
    let mut said = match &example {
        Some(example) => format!("The README's first example:\n\n{example}\n"),
        None => "The README has no example.\n".to_owned(),
    };
    if let Some(examples) = examples.filter(|it| !it.is_empty()) {
        let more = if example.is_some() {
            "More examples"
        } else {
            "Examples"
        };
        said.push_str(&format!("\n{more}: {examples}."));
    }
    said
}

/// Says what may be done with it, first of all.
pub(super) fn license(survey: &Survey) -> String {
    let files = license_files(survey);
    let manifest = survey.project.as_ref();
    let named = manifest.and_then(|it| Some((it.license.as_ref()?, &it.manifest)));
    let text = match files.is_empty() {
        true => "I found no license file.".to_owned(),
        false => format!("The text is in {}.", names(&files)),
    };
    match named {
        Some((license, manifest)) => {
            format!("The license is {license}, according to `{manifest}`. {text}")
        }
        None if files.is_empty() => {
            "I found neither a license file nor a manifest that names a license.".to_owned()
        }
        None => text,
    }
}

pub(super) fn features(survey: &Survey) -> String {
    let project = survey.project.as_ref();
    match project.filter(|it| !it.features.is_empty()) {
        Some(project) => format!(
            "`{}` has {}: {}.\n\nThe README may say what they are for: `explain README.md`.",
            project.manifest,
            plural(project.features.len() as u64, "feature", "features"),
            project
                .features
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        None => "No manifest here lists features. Ask `explain this repository` for what it does."
            .to_owned(),
    }
}

fn license_files(survey: &Survey) -> Vec<String> {
    let begins = ["LICENSE", "LICENCE", "COPYING", "UNLICENSE"];
    let files = survey.files.iter().filter(|name| {
        let name = name.to_ascii_uppercase();
        begins.iter().any(|begin| name.starts_with(begin))
    });
    files.cloned().collect()
}

pub(super) fn facts(survey: &Survey) -> String {
    let Some(project) = &survey.project else {
        return "I found no manifest here that says so.".to_owned();
    };
    let listed = |all: &Vec<String>| (!all.is_empty()).then(|| all.join(", "));
    let facts = [
        ("Name", project.name.clone()),
        ("Version", project.version.clone()),
        ("License", project.license.clone()),
        ("Needs", project.needs.clone()),
        ("Authors", listed(&project.authors)),
        ("Repository", project.repository.clone()),
    ];
    let mut said = format!("From `{}`:\n\n", project.manifest);
    for (what, fact) in facts {
        if let Some(fact) = fact {
            said.push_str(&format!("- {what}: {fact}\n"));
        }
    }
    said
}
