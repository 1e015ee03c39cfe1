//! `package.json`.

use serde_json::Value;

use super::{Project, entry};

/// Lock files, and the package manager that writes each.
const LOCKS: [(&str, &str); 4] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
];

/// Reads the manifest. `files` are those beside it.
pub(super) fn read(text: &str, files: &[String]) -> Option<Project> {
    let root: Value = serde_json::from_str(text).ok()?;
    let said = |key: &str| root.get(key).and_then(Value::as_str).map(str::to_owned);
    let names = |key: &str| {
        let all = root.get(key).and_then(Value::as_object);
        let names = all.into_iter().flat_map(serde_json::Map::keys);
        names.cloned().collect::<Vec<_>>()
    };
    let lock = LOCKS
        .iter()
        .find(|(lock, _)| files.iter().any(|file| file == lock));
    let manager = lock.map_or("npm", |(_, manager)| *manager);
    let scripts = names("scripts");
    let script = |name: &str| {
        let is_there = scripts.iter().any(|script| script == name);
        is_there.then(|| format!("{manager} run {name}"))
    };
    let mut entries = Vec::new();
    if let Some(main) = said("module").or_else(|| said("main")) {
        entries.push((main, "what importers get".to_owned()));
    }
    match root.get("bin") {
        Some(Value::String(path)) => entries.push(entry(path, "the program")),
        Some(Value::Object(programs)) => {
            for (name, path) in programs {
                let path = path.as_str().unwrap_or_default();
                entries.push((path.to_owned(), format!("the program `{name}`")));
            }
        }
        _ => {}
    }
    let is_typed = files.iter().any(|file| file == "tsconfig.json");
    let language = if is_typed { "TypeScript" } else { "JavaScript" };
    let is_workspace = root.get("workspaces").is_some();
    let what = if is_workspace { "workspace" } else { "package" };
    Some(Project {
        kind: format!("a {language} {what}"),
        name: said("name"),
        version: said("version"),
        description: said("description").filter(|it| !it.is_empty()),
        license: said("license"),
        needs: root
            .pointer("/engines/node")
            .and_then(Value::as_str)
            .map(|version| format!("Node {version}")),
        repository: said("repository"),
        dependencies: names("dependencies"),
        development: names("devDependencies"),
        entries,
        build: Some(match script("build") {
            Some(build) => format!("{manager} install && {build}"),
            None => format!("{manager} install"),
        }),
        test: scripts
            .iter()
            .any(|script| script == "test")
            .then(|| format!("{manager} test")),
        run: script("start").or_else(|| script("dev")),
        is_workspace,
        ..Project::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_run_by_the_manager_whose_lock_is_there() {
        let text = r#"{"name": "pot", "scripts": {"test": "x", "build": "y", "dev": "z"},
                       "dependencies": {"tea": "1"}, "bin": {"pour": "bin/pour.js"}}"#;
        let project = read(text, &["pnpm-lock.yaml".to_owned()]).unwrap();
        assert_eq!(project.kind, "a JavaScript package");
        assert_eq!(
            project.build.as_deref(),
            Some("pnpm install && pnpm run build")
        );
        assert_eq!(project.test.as_deref(), Some("pnpm test"));
        assert_eq!(project.run.as_deref(), Some("pnpm run dev"));
        assert_eq!(
            project.entries,
            [entry("bin/pour.js", "the program `pour`")]
        );
    }

    #[test]
    fn without_a_script_there_is_no_test_command() {
        assert_eq!(read("{}", &[]).unwrap().test, None);
    }
}
