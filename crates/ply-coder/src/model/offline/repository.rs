//! What a project is, in words: as a whole, or one side of it.

mod sides;

use super::commands::plan;
use super::intent::Aspect;
use super::project::Project;
use super::script::Reply;
use super::survey::{self, Survey};
use super::tally::{self, lines};
use super::turn::Rounds;
use super::{readme, words};

const STEPS: [&str; 3] = [
    "Look around",
    "Read what describes the project",
    "Explain it",
];
/// Directories, packages or files that are listed.
const LISTED_MAX: usize = 10;
/// Names in one sentence.
const NAMED_MAX: usize = 8;
/// Bytes of a description of one package.
const DESCRIPTION_BYTES_MAX: usize = 110;

/// Returns what comes after so many rounds.
pub(super) fn next(aspect: Aspect, rounds: &Rounds<'_>) -> Reply {
    let has_plan = aspect == Aspect::Overview;
    let mut calls = match rounds.count() {
        0 => survey::look_around(),
        1 if aspect == Aspect::Tests => {
            let mut calls = survey::read_up(rounds);
            calls.push(sides::count_tests());
            calls
        }
        1 => survey::read_up(rounds),
        _ => Vec::new(),
    };
    if has_plan && rounds.count() < STEPS.len() {
        let done = match rounds.count() {
            2 => STEPS.len(),
            round => round,
        };
        calls.insert(0, ("update_plan", plan(STEPS.into_iter(), done)));
    }
    if !calls.is_empty() {
        return Reply {
            calls,
            ..Reply::default()
        };
    }
    let survey = survey::read(rounds);
    let said = match aspect {
        Aspect::Overview => overview(&survey),
        Aspect::Structure => sides::structure(&survey),
        Aspect::Size => sides::size(&survey),
        Aspect::Dependencies => sides::dependencies(&survey),
        Aspect::Entries => sides::entries(&survey),
        Aspect::Commands => sides::commands(&survey),
        Aspect::Tests => sides::tests(&survey, rounds),
        Aspect::Usage => sides::usage(&survey),
        Aspect::License => sides::license(&survey),
        Aspect::Features => sides::features(&survey),
        Aspect::Facts => sides::facts(&survey),
    };
    Reply::say(words::signed(&said))
}

fn overview(survey: &Survey) -> String {
    let mut said = format!("{}\n\n", headline(survey));
    for paragraph in paragraphs(survey) {
        said.push_str(&format!("{paragraph}\n\n"));
    }
    if survey.packages.len() > 1 {
        said.push_str(&format!("{}\n\n", packages(survey)));
    }
    let mut list = vec![("Size", survey.tally.sentence())];
    if survey.packages.len() < 2 {
        list.push(("Layout", layout(survey)));
    }
    list.push(("Start reading", starts(survey)));
    if let Some(project) = &survey.project {
        list.push(("Depends on", needed(project)));
        list.push(("Commands", ways(project)));
    }
    list.push(("More to read", names(&survey.documents())));
    for (what, words) in list.iter().filter(|(_, words)| !words.is_empty()) {
        said.push_str(&format!("- **{what}**: {words}\n"));
    }
    said.push_str(&format!("\nAsk next: {}", suggestions(survey)));
    said
}

/// Says what it is in one sentence.
fn headline(survey: &Survey) -> String {
    let title = survey.readme.as_deref().and_then(readme::title);
    let project = survey.project.as_ref();
    let kind = project.map_or("a directory without a manifest that I know", |it| &it.kind);
    let name = project.and_then(|project| project.name.clone()).or(title);
    let version = project.and_then(|project| project.version.as_deref());
    let packages = match survey.packages.len() {
        0 | 1 => String::new(),
        many => format!(" of {many} packages"),
    };
    match (name, version) {
        (Some(name), Some(version)) => format!("**{name}** {version} is {kind}{packages}."),
        (Some(name), None) => format!("**{name}** is {kind}{packages}."),
        (None, _) => format!("This is {kind}{packages}."),
    }
}

/// Returns what the manifest and the README say it is for.
fn paragraphs(survey: &Survey) -> Vec<String> {
    let project = survey.project.as_ref();
    let description = project.and_then(|project| project.description.clone());
    let readme = survey.readme.as_deref().and_then(readme::paragraph);
    match (description, readme) {
        // Often the one is a part of the other.
        (Some(short), Some(long)) if is_alike(&short, &long) => {
            vec![if short.len() > long.len() {
                short
            } else {
                long
            }]
        }
        (short, long) => {
            let short = short.map(|short| match short.ends_with(['.', '!', '?']) {
                true => short,
                false => format!("{short}."),
            });
            short.into_iter().chain(long).collect()
        }
    }
}

fn is_alike(one: &str, other: &str) -> bool {
    let letters = |text: &str| {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.take(30).collect::<String>().to_lowercase()
    };
    letters(one) == letters(other)
}

fn packages(survey: &Survey) -> String {
    let rank = |path: &str| {
        let first = path.split('/').next().unwrap_or_default();
        !matches!(first, "crates" | "packages" | "libs" | "apps" | "src")
    };
    let mut all: Vec<_> = survey.packages.iter().collect();
    all.sort_by_key(|(path, _)| rank(path));
    let shown = all.iter().take(LISTED_MAX).map(|(path, description)| {
        let description = readme::sentences(&readme::plain(description), DESCRIPTION_BYTES_MAX);
        format!("- `{path}`: {description}")
    });
    let mut shown: Vec<_> = shown.collect();
    if all.len() > LISTED_MAX {
        let rest: Vec<_> = all
            .iter()
            .skip(LISTED_MAX)
            .map(|(path, _)| path.clone())
            .collect();
        shown.push(format!("- and {}", names(&rest)));
    }
    shown.join("\n")
}

fn layout(survey: &Survey) -> String {
    let amount = |name: &str| {
        let amount = survey.tally.below(name);
        match amount.files {
            0 => String::new(),
            _ => format!(" ({}, {})", tally::files(amount.files), lines(amount.lines)),
        }
    };
    let is_seen = |(name, _): &&(String, Vec<String>)| !name.starts_with('.');
    let all = survey.directories.iter().filter(is_seen);
    let shown = all
        .take(NAMED_MAX)
        .map(|(name, _)| match survey.tally.is_whole {
            true => format!("`{name}/`{}", amount(name)),
            false => format!("`{name}/`"),
        });
    let mut shown: Vec<_> = shown.collect();
    if survey.directories.len() > NAMED_MAX {
        shown.push(format!("{} more", survey.directories.len() - NAMED_MAX));
    }
    shown.join(", ")
}

/// Returns where to begin reading.
fn beginnings(survey: &Survey) -> Vec<(String, String)> {
    let own = survey.project.as_ref().map(|it| it.entries.clone());
    let own = own.filter(|entries| !entries.is_empty());
    own.unwrap_or_else(|| {
        let files = survey.tally.files.iter().map(|(path, _)| path.as_str());
        let mains = files.filter(|path| is_main(path)).take(4);
        mains
            .map(|path| {
                let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
                let package = directory.strip_suffix("/src").unwrap_or(directory);
                let what = match package {
                    "" | "src" => "the program".to_owned(),
                    package => format!("the program in `{package}`"),
                };
                (path.to_owned(), what)
            })
            .collect()
    })
}

/// Says whether a program begins in a file, by its name.
fn is_main(path: &str) -> bool {
    let asides = ["test", "example", "bench", "fuzz", "fixture"];
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let is_script = matches!(
        tally::language_of(path),
        Some("JavaScript" | "TypeScript" | "Python")
    );
    let is_main = match stem {
        "main" | "__main__" => tally::language_of(path).is_some(),
        "index" | "app" => is_script && path.matches('/').count() <= 1,
        _ => false,
    };
    is_main && !asides.iter().any(|aside| path.contains(aside))
}

fn starts(survey: &Survey) -> String {
    let entries = beginnings(survey).into_iter().take(4);
    let entries = entries.map(|(path, what)| format!("`{path}` ({what})"));
    entries.collect::<Vec<_>>().join(", ")
}

fn needed(project: &Project) -> String {
    let mut said = match project.dependencies.len() {
        0 => "nothing".to_owned(),
        _ => names(&project.dependencies),
    };
    let more = [
        (project.optional.len(), "optional"),
        (project.development.len(), "for development only"),
    ];
    let more = more.iter().filter(|(count, _)| *count > 0);
    let more: Vec<_> = more
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !more.is_empty() {
        said.push_str(&format!(" (plus {})", more.join(", ")));
    }
    said
}

fn ways(project: &Project) -> String {
    let ways = [
        ("build", &project.build),
        ("test", &project.test),
        ("run", &project.run),
    ];
    let ways = ways.iter().filter_map(|(what, command)| {
        let command = command.as_ref()?;
        Some(format!("{what} with `{command}`"))
    });
    ways.collect::<Vec<_>>().join(", ")
}

fn suggestions(survey: &Survey) -> String {
    let path = beginnings(survey).into_iter().next().map(|(path, _)| path);
    let path = path.or_else(|| {
        survey
            .tally
            .largest(1)
            .first()
            .map(|(path, _)| (*path).to_owned())
    });
    let mut all: Vec<String> = path
        .map(|path| format!("`explain {path}`"))
        .into_iter()
        .collect();
    all.extend(
        [
            "`where is NAME defined?`",
            "`what changed?`",
            "`run the tests`",
        ]
        .map(str::to_owned),
    );
    format!("{}.", all.join(", "))
}

/// Returns names in a sentence, and how many more there are.
fn names(all: &[String]) -> String {
    let shown = all.iter().take(NAMED_MAX).map(|name| format!("`{name}`"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
