//! What a project says about itself in its manifest.

mod cargo;
mod node;
mod python;

use super::tally::Tally;

/// What is known of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Project {
    /// The file that says it.
    pub(super) manifest: String,
    /// What it is, such as "a Rust library".
    pub(super) kind: String,
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
    pub(super) description: Option<String>,
    pub(super) license: Option<String>,
    /// What it needs to be built, such as "Rust 1.88, edition 2024".
    pub(super) needs: Option<String>,
    pub(super) authors: Vec<String>,
    pub(super) repository: Option<String>,
    pub(super) dependencies: Vec<String>,
    /// Dependencies that are used only where somebody asks for them.
    pub(super) optional: Vec<String>,
    /// Dependencies of tests and tools.
    pub(super) development: Vec<String>,
    /// Switches that change what is built.
    pub(super) features: Vec<String>,
    /// Where to begin reading, with what each file is.
    pub(super) entries: Vec<(String, String)>,
    pub(super) examples: Vec<String>,
    pub(super) build: Option<String>,
    pub(super) test: Option<String>,
    pub(super) run: Option<String>,
    /// Whether it is made of several packages.
    pub(super) is_workspace: bool,
}

/// Manifests that are understood, the most telling first.
pub(super) const MANIFESTS: [&str; 5] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "go.mod",
    "setup.py",
];

/// Files from which no more is known than how to build and test, with what they stand for.
const PLAIN: [(&str, &str, &str, &str); 10] = [
    ("pom.xml", "a Java project", "mvn package", "mvn test"),
    (
        "build.gradle",
        "a Gradle project",
        "./gradlew build",
        "./gradlew test",
    ),
    (
        "build.gradle.kts",
        "a Gradle project",
        "./gradlew build",
        "./gradlew test",
    ),
    (
        "Gemfile",
        "a Ruby project",
        "bundle install",
        "bundle exec rake test",
    ),
    (
        "composer.json",
        "a PHP project",
        "composer install",
        "composer test",
    ),
    ("mix.exs", "an Elixir project", "mix compile", "mix test"),
    (
        "Package.swift",
        "a Swift package",
        "swift build",
        "swift test",
    ),
    ("build.zig", "a Zig project", "zig build", "zig build test"),
    (
        "CMakeLists.txt",
        "a CMake project",
        "cmake -B build && cmake --build build",
        "ctest --test-dir build",
    ),
    ("Makefile", "a project with a Makefile", "make", "make test"),
];

/// Returns the manifests among the files of a directory, the most telling first.
pub(super) fn manifests(files: &[String]) -> Vec<&'static str> {
    let known = MANIFESTS.into_iter();
    known
        .filter(|name| files.iter().any(|file| file == name))
        .collect()
}

/// Reads a manifest. `files` are those beside it.
pub(super) fn read(manifest: &str, text: &str, files: &[String], tally: &Tally) -> Option<Project> {
    let mut project = match manifest {
        "Cargo.toml" => cargo::read(text, tally)?,
        "package.json" => node::read(text, files)?,
        "pyproject.toml" => python::read(text, files)?,
        "setup.py" => python::of_setup(files),
        "go.mod" => of_go(text, tally),
        _ => return None,
    };
    manifest.clone_into(&mut project.manifest);
    Some(project)
}

/// Returns what the files alone tell of a project.
pub(super) fn of_files(files: &[String]) -> Option<Project> {
    let known = PLAIN
        .iter()
        .find(|(name, ..)| files.iter().any(|file| file == name));
    known.map(|(manifest, kind, build, test)| Project {
        manifest: (*manifest).to_owned(),
        kind: (*kind).to_owned(),
        build: Some((*build).to_owned()),
        test: Some((*test).to_owned()),
        ..Project::default()
    })
}

fn of_go(text: &str, tally: &Tally) -> Project {
    let lines = text.lines().map(str::trim);
    let mut dependencies = Vec::new();
    let (mut name, mut needs, mut in_block) = (None, None, false);
    for line in lines {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("module"), Some(module)) => name = Some(module.to_owned()),
            (Some("go"), Some(version)) => needs = Some(format!("Go {version}")),
            (Some("require"), Some("(")) => in_block = true,
            (Some(")"), _) => in_block = false,
            (Some("require"), Some(module)) => dependencies.push(module.to_owned()),
            (Some(module), Some(_)) if in_block && !line.ends_with("// indirect") => {
                dependencies.push(module.to_owned());
            }
            _ => {}
        }
    }
    let mains = tally.files.iter().map(|(path, _)| path);
    let mains = mains.filter(|path| *path == "main.go" || path.ends_with("/main.go"));
    Project {
        kind: "a Go module".to_owned(),
        name,
        needs,
        dependencies,
        entries: mains.take(4).map(|path| entry(path, "a program")).collect(),
        build: Some("go build ./...".to_owned()),
        test: Some("go test ./...".to_owned()),
        ..Project::default()
    }
}

fn entry(path: &str, what: &str) -> (String, String) {
    (path.to_owned(), what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_go_module_names_what_it_needs_itself() {
        let text = "module example.com/pot\n\ngo 1.22\n\nrequire (\n\texample.com/tea v1.0.0\n\t\
                    example.com/leaf v1.0.0 // indirect\n)\n";
        let project = of_go(text, &Tally::default());
        assert_eq!(project.name.as_deref(), Some("example.com/pot"));
        assert_eq!(project.needs.as_deref(), Some("Go 1.22"));
        assert_eq!(project.dependencies, ["example.com/tea"]);
    }

    #[test]
    fn files_alone_tell_how_to_build() {
        let files = ["Makefile", "main.c"].map(str::to_owned);
        let project = of_files(&files).unwrap();
        assert_eq!(project.test.as_deref(), Some("make test"));
        assert_eq!(of_files(&[]), None);
    }
}
