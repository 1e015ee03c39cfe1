//! `Cargo.toml`.

use toml::de::{DeTable, DeValue};

use super::{Project, entry};
use crate::model::offline::tally::Tally;

/// Reads the manifest of a package, a workspace, or both.
pub(super) fn read(text: &str, tally: &Tally) -> Option<Project> {
    let root = DeTable::parse(text).ok()?.into_inner();
    let workspace = table(&root, "workspace");
    let shared = workspace.and_then(|workspace| table(workspace, "package"));
    let package = table(&root, "package");
    let said = |key: &str| {
        let own = package.and_then(|package| string(package, key));
        let own = own.or_else(|| shared.and_then(|shared| string(shared, key)));
        own.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let entries = entries(&root, said("name").as_deref(), tally);
    let has_program = entries.iter().any(|(_, what)| what.contains("program"));
    let has_library = entries.iter().any(|(_, what)| what.contains("library"));
    let kind = match (workspace.is_some(), has_library, has_program) {
        (true, ..) => "a Rust workspace",
        (false, true, true) => "a Rust library with a program",
        (false, false, true) => "a Rust program",
        _ => "a Rust library",
    };
    let (dependencies, optional) = dependencies(&root, "dependencies");
    let (development, _) = dependencies_of(&root, "dev-dependencies");
    let has_default = workspace.is_some_and(|it| it.contains_key("default-members"));
    Some(Project {
        kind: kind.to_owned(),
        name: package
            .and_then(|package| string(package, "name"))
            .map(str::to_owned),
        version: said("version"),
        description: said("description"),
        license: said("license"),
        needs: needs(said("rust-version"), said("edition")),
        authors: authors(package.or(shared)),
        repository: said("repository"),
        dependencies: match workspace.and_then(|workspace| table(workspace, "dependencies")) {
            Some(all) if dependencies.is_empty() => foreign(all),
            _ => dependencies,
        },
        optional,
        development,
        features: features(&root),
        entries,
        examples: examples(&root, tally),
        build: Some("cargo build".to_owned()),
        test: Some("cargo test".to_owned()),
        run: (has_program || has_default).then(|| "cargo run".to_owned()),
        is_workspace: workspace.is_some(),
        ..Project::default()
    })
}

fn table<'t, 'i>(within: &'t DeTable<'i>, key: &str) -> Option<&'t DeTable<'i>> {
    within.get(key).and_then(|value| value.get_ref().as_table())
}

fn string<'t>(within: &'t DeTable<'_>, key: &str) -> Option<&'t str> {
    within.get(key).and_then(|value| value.get_ref().as_str())
}

fn needs(version: Option<String>, edition: Option<String>) -> Option<String> {
    match (version, edition) {
        (Some(version), Some(edition)) => Some(format!("Rust {version}, edition {edition}")),
        (Some(version), None) => Some(format!("Rust {version}")),
        (None, Some(edition)) => Some(format!("Rust, edition {edition}")),
        (None, None) => None,
    }
}

/// Returns the names of the authors, without their addresses.
fn authors(package: Option<&DeTable<'_>>) -> Vec<String> {
    let authors = package.and_then(|package| package.get("authors")?.get_ref().as_array());
    let authors = authors.into_iter().flatten();
    let names = authors.filter_map(|author| author.get_ref().as_str());
    let names = names.map(|author| author.split('<').next().unwrap_or(author).trim());
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the dependencies of a kind, those for some systems only included: needed ones, and optional
/// ones.
fn dependencies(root: &DeTable<'_>, kind: &str) -> (Vec<String>, Vec<String>) {
    let (mut needed, mut optional) = dependencies_of(root, kind);
    for target in table(root, "target").into_iter().flat_map(DeTable::values) {
        if let Some(target) = target.get_ref().as_table() {
            let (more, more_optional) = dependencies_of(target, kind);
            needed.extend(more);
            optional.extend(more_optional);
        }
    }
    for names in [&mut needed, &mut optional] {
        names.sort();
        names.dedup();
    }
    (needed, optional)
}

fn dependencies_of(root: &DeTable<'_>, kind: &str) -> (Vec<String>, Vec<String>) {
    let Some(all) = table(root, kind) else {
        return (Vec::new(), Vec::new());
    };
    let is_optional = |value: &DeValue<'_>| {
        let optional = value.get("optional").map(|it| it.get_ref().as_bool());
        optional == Some(Some(true))
    };
    let (optional, needed): (Vec<_>, Vec<_>) = all
        .iter()
        .partition(|(_, value)| is_optional(value.get_ref()));
    let names = |those: Vec<(&toml::Spanned<std::borrow::Cow<'_, str>>, _)>| {
        let mut names: Vec<String> = those
            .into_iter()
            .map(|(name, _)| name.get_ref().clone().into_owned())
            .collect();
        names.sort();
        names
    };
    (names(needed), names(optional))
}

/// Returns the dependencies that are not part of the workspace itself.
fn foreign(all: &DeTable<'_>) -> Vec<String> {
    let own = |value: &DeValue<'_>| value.get("path").is_some();
    let names = all.iter().filter(|(_, value)| !own(value.get_ref()));
    let mut names: Vec<String> = names
        .map(|(name, _)| name.get_ref().clone().into_owned())
        .collect();
    names.sort();
    names
}

fn features(root: &DeTable<'_>) -> Vec<String> {
    let features = table(root, "features").into_iter().flat_map(DeTable::keys);
    let mut features: Vec<_> = features
        .map(|name| name.get_ref().clone().into_owned())
        .filter(|name| name != "default")
        .collect();
    features.sort();
    features
}

/// Returns the library and the programs.
fn entries(root: &DeTable<'_>, name: Option<&str>, tally: &Tally) -> Vec<(String, String)> {
    let mut entries = Vec::new();
    let library = table(root, "lib").and_then(|library| string(library, "path"));
    if let Some(path) = library.or_else(|| tally.has("src/lib.rs").then_some("src/lib.rs")) {
        entries.push(entry(path, "the library"));
    }
    for (bin, path) in targets(root, "bin") {
        let path = path.unwrap_or_else(|| match tally.has("src/main.rs") {
            true => "src/main.rs".to_owned(),
            false => format!("src/bin/{bin}.rs"),
        });
        entries.push((path, format!("the program `{bin}`")));
    }
    let has_main = entries.iter().any(|(path, _)| path == "src/main.rs");
    if tally.has("src/main.rs") && !has_main {
        let what = match name {
            Some(name) => format!("the program `{name}`"),
            None => "the program".to_owned(),
        };
        entries.push(("src/main.rs".to_owned(), what));
    }
    entries
}

/// Returns what `[[bin]]` or `[[example]]` names, with the path of each.
fn targets(root: &DeTable<'_>, kind: &str) -> Vec<(String, Option<String>)> {
    let all = root.get(kind).and_then(|all| all.get_ref().as_array());
    let all = all.into_iter().flatten();
    let all = all.filter_map(|target| target.get_ref().as_table());
    all.filter_map(|target| {
        let name = string(target, "name")?.to_owned();
        Some((name, string(target, "path").map(str::to_owned)))
    })
    .collect()
}

fn examples(root: &DeTable<'_>, tally: &Tally) -> Vec<String> {
    let named = targets(root, "example").into_iter();
    let mut examples: Vec<String> = named
        .map(|(name, path)| path.unwrap_or_else(|| format!("examples/{name}.rs")))
        .collect();
    let files = tally.files.iter().map(|(path, _)| path.as_str());
    let is_example = |path: &&str| {
        let name = path.strip_prefix("examples/");
        name.is_some_and(|name| name.ends_with(".rs") && !name.contains('/'))
    };
    examples.extend(files.filter(is_example).map(str::to_owned));
    examples.sort();
    examples.dedup();
    examples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_tells_its_name_and_what_it_depends_on() {
        let text = "[package]\nname = \"pot\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\
                    authors = [\"A B <a@b.example>\"]\ndescription = \"\"\"\nHolds\ntea.\"\"\"\n\
                    [[bin]]\nname = \"pour\"\npath = \"src/pour.rs\"\n[dependencies]\ntea = \"1\"\n\
                    milk = { version = \"1\", optional = true }\n[dev-dependencies]\ncup = \"1\"\n";
        let project = read(text, &Tally::default()).unwrap();
        assert_eq!(project.name.as_deref(), Some("pot"));
        assert_eq!(project.description.as_deref(), Some("Holds tea."));
        assert_eq!(project.kind, "a Rust program");
        assert_eq!(project.authors, ["A B"]);
        assert_eq!(project.dependencies, ["tea"]);
        assert_eq!(project.optional, ["milk"]);
        assert_eq!(project.development, ["cup"]);
        assert_eq!(
            project.entries,
            [entry("src/pour.rs", "the program `pour`")]
        );
    }

    #[test]
    fn a_workspace_shares_what_its_packages_leave_out() {
        let text = "[workspace]\nmembers = [\"crates/*\"]\n[workspace.package]\nlicense = \"MIT\"\n\
                    [workspace.dependencies]\nown = { path = \"crates/own\" }\nserde = \"1\"\n";
        let project = read(text, &Tally::default()).unwrap();
        assert!(project.is_workspace);
        assert_eq!(project.license.as_deref(), Some("MIT"));
        assert_eq!(project.dependencies, ["serde"]);
    }

    #[test]
    fn what_is_no_toml_tells_nothing() {
        assert_eq!(read("[package", &Tally::default()), None);
    }
}
