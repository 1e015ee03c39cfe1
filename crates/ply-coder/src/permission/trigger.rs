//! Changes by which a file makes other programs run commands that nobody asks about.
//!
//! Most files of this sort are guarded by their names. These are edited all the time for other reasons, so
//! it depends on what is changed in them.

use std::path::Path;

use serde_json::{Map, Value};

/// Scripts that package managers run when packages are installed.
#[rustfmt::skip]
const INSTALL_SCRIPTS: &[&str] = &[
    "preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare", "prepublish", "prepublishOnly",
    "prepack", "postpack", "dependencies", "pre-install-cmd", "post-install-cmd", "pre-update-cmd", "post-update-cmd",
    "pre-autoload-dump", "post-autoload-dump", "post-root-package-install", "post-create-project-cmd",
];

/// Parts of `package.json` by which a commit, an editor or a package manager runs what they say.
#[rustfmt::skip]
const OTHER_SCRIPTS: &[&str] = &[
    "husky", "lint-staged", "pre-commit", "simple-git-hooks", "gitHooks", "commitlint", "eslintConfig", "stylelint",
    "packageManager",
];

const SCRIPTS: &str = "Package managers, commits and editors run some of its settings without being asked to, and these \
                       change.";
const BUILD_SCRIPT: &str =
    "Cargo and editors run the build script that it names, and that changes.";
const MACROS: &str = "Cargo and editors run the macros of a package that it makes one of macros.";

/// Returns why a change of a file is worth a question in every mode, if it is. What is not known counts as
/// changed.
pub(crate) fn trigger(path: &Path, old: Option<&str>, new: Option<&str>) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    match name.as_str() {
        "package.json" | "composer.json" => {
            let Some(new) = new else { return Some(SCRIPTS) };
            let before = old.map(install_scripts).unwrap_or_default();
            (install_scripts(new) != before).then_some(SCRIPTS)
        }
        "cargo.toml" => {
            let Some(new) = new else {
                return Some(BUILD_SCRIPT);
            };
            let (before, after) = (Package::read(old.unwrap_or_default()), Package::read(new));
            let found = old.is_none() && path.with_file_name("build.rs").exists();
            if after.build != before.build
                || (found && after.build != Some(toml::Value::Boolean(false)))
            {
                return Some(BUILD_SCRIPT);
            }
            (after.macros && !before.macros).then_some(MACROS)
        }
        _ => None,
    }
}

fn install_scripts(text: &str) -> Map<String, Value> {
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    let scripts = file.get("scripts").and_then(Value::as_object).cloned();
    let mut scripts = scripts.unwrap_or_default();
    scripts.retain(|name, _| INSTALL_SCRIPTS.contains(&name.as_str()));
    let others = OTHER_SCRIPTS.iter().filter_map(|name| {
        let part = file.get(name)?.clone();
        Some((format!(".{name}"), part))
    });
    scripts.extend(others);
    scripts
}

/// What of a package is run when it is built.
#[derive(Debug, Default)]
struct Package {
    build: Option<toml::Value>,
    macros: bool,
}

impl Package {
    fn read(text: &str) -> Self {
        let file: toml::Table = toml::from_str(text).unwrap_or_default();
        let member = |table: &str, key: &str| file.get(table)?.get(key).cloned();
        let macros = ["proc-macro", "proc_macro"]
            .iter()
            .any(|key| member("lib", key).and_then(|value| value.as_bool()) == Some(true));
        Self {
            build: member("package", "build"),
            macros,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, old: Option<&str>, new: &str, expected: Option<&str>) {
        assert_eq!(trigger(Path::new(path), old, Some(new)), expected, "{new}");
    }

    #[test]
    fn h3_scripts_that_installing_runs_are_noticed_and_others_are_not() {
        let with = |name: &str| format!("{{\"scripts\": {{\"{name}\": \"x\"}}}}");
        check(
            "/p/package.json",
            Some("{}"),
            &with("postinstall"),
            Some(SCRIPTS),
        );
        check("/p/package.json", None, &with("prepare"), Some(SCRIPTS));
        check(
            "/p/a/PACKAGE.json",
            Some("{}"),
            &with("preinstall"),
            Some(SCRIPTS),
        );
        check(
            "/p/composer.json",
            Some("{}"),
            &with("post-install-cmd"),
            Some(SCRIPTS),
        );
        check("/p/package.json", Some("{}"), &with("test"), None);
        for part in [
            "lint-staged",
            "simple-git-hooks",
            "husky",
            "packageManager",
            "eslintConfig",
        ] {
            let with = format!("{{\"{part}\": {{\"x\": \"y\"}}}}");
            check("/p/package.json", Some("{}"), &with, Some(SCRIPTS));
            check("/p/package.json", Some(&with), &with, None);
        }
        let same = with("postinstall");
        check("/p/package.json", Some(&same), &same, None);
        check("/p/package.json", Some("{}"), "{\"name\": \"x\"}", None);
        check("/p/other.json", Some("{}"), &with("postinstall"), None);
        assert!(trigger(Path::new("/p/package.json"), None, None).is_some());
    }

    #[test]
    fn h3_a_build_script_by_another_name_is_noticed() {
        let plain = "[package]\nname = \"x\"\n";
        let named = "[package]\nname = \"x\"\nbuild = \"src/data.rs\"\n";
        let macros = "[package]\nname = \"x\"\n[lib]\nproc-macro = true\n";
        check("/p/Cargo.toml", Some(plain), named, Some(BUILD_SCRIPT));
        check("/p/Cargo.toml", None, named, Some(BUILD_SCRIPT));
        check("/p/Cargo.toml", Some(named), named, None);
        check("/p/Cargo.toml", Some(plain), macros, Some(MACROS));
        check(
            "/p/Cargo.toml",
            Some(plain),
            "[package]\nname = \"y\"\n[dependencies]\n",
            None,
        );
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("build.rs"), "").unwrap();
        let file = folder.path().join("Cargo.toml");
        assert_eq!(trigger(&file, None, Some(plain)), Some(BUILD_SCRIPT));
        assert_eq!(trigger(&file, Some(plain), Some(plain)), None);
    }
}
