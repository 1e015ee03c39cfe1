//! Packages of npm and PyPI: installed once, at an exact version, and then run without npx or uvx.

use std::fs;
use std::path::{Component, Path};

use serde::Deserialize;
use serde_json::Value;

use super::index::{Package, is_version};
use super::tool;
use crate::program::error::Error;

/// What was installed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Installed {
    /// The package with its exact version.
    pub(super) source: String,
    pub(super) integrity: Option<String>,
    /// What runs the program, if it does not run by itself.
    pub(super) runner: Option<String>,
    /// The program, below the directory.
    pub(super) program: String,
}

/// Whether packages may run code while they are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scripts {
    Run,
    Ignore,
}

/// Installs a package of npm into a directory.
pub(super) async fn npm(
    package: &Package,
    version: &str,
    directory: &Path,
    scripts: Scripts,
) -> Result<Installed, Error> {
    let parts = package.package.rsplit_once('@');
    // The `@` of `@scope/name` separates nothing.
    let parts = parts.filter(|(name, _)| !name.is_empty());
    let (name, version) = exact(&package.package, parts, version)?;
    let source = format!("{name}@{version}");
    let mut words = vec!["install", "--prefix"];
    let prefix = directory.to_string_lossy();
    words.extend([&*prefix, "--no-audit", "--no-fund", "--save-exact"]);
    if scripts == Scripts::Ignore {
        words.push("--ignore-scripts");
    }
    // Whatever a package is called, it is no option.
    words.extend(["--", &source]);
    tool::run("npm", words, directory).await?;
    let program = npm_program(directory, name)?;
    let is_script = is_script(&directory.join(&program));
    Ok(Installed {
        integrity: integrity(directory, name),
        runner: is_script.then(|| "node".to_owned()),
        source,
        program,
    })
}

/// Installs a package of PyPI into a directory, with Python and all it needs.
pub(super) async fn uv(
    package: &Package,
    version: &str,
    directory: &Path,
) -> Result<Installed, Error> {
    let named = package.package.as_str();
    let parts = named.split_once("==").or_else(|| named.split_once('@'));
    let (name, version) = exact(named, parts, version)?;
    let source = format!("{name}=={version}");
    // It is renamed when it is complete, so its programs must not name their place.
    tool::run("uv", ["venv", "--relocatable", "venv"], directory).await?;
    let python = "venv/bin/python";
    let words = ["pip", "install", "--python", python, "--", &source];
    tool::run("uv", words, directory).await?;
    // `fast-agent-acp[all]` is the package `fast-agent-acp`.
    let bare = name.split('[').next().unwrap_or(name);
    let program = format!("venv/bin/{bare}");
    match directory.join(&program).is_file() {
        true => Ok(Installed {
            source,
            integrity: None,
            runner: None,
            program,
        }),
        false => Err(Error::agents(
            format!("the package `{source}` has no program `{bare}`"),
            "report it to the agent's authors",
        )),
    }
}

/// Returns the name of a package and its exact version: its own, or that of the registry's entry.
fn exact<'a>(
    package: &'a str,
    parts: Option<(&'a str, &'a str)>,
    version: &'a str,
) -> Result<(&'a str, &'a str), Error> {
    let (name, own) = parts.unwrap_or((package, ""));
    let version = if is_version(own) { own } else { version };
    let is_name = name.starts_with(|first: char| first == '@' || first.is_ascii_alphanumeric());
    match is_name && is_version(version) {
        true => Ok((name, version)),
        false => Err(Error::agents(
            format!("the registry names no exact version of `{package}`"),
            "install the agent yourself, and name its command in config.toml",
        )),
    }
}

/// Returns the program of a package, below the directory: its only one, or the one that is called like the package.
fn npm_program(directory: &Path, name: &str) -> Result<String, Error> {
    #[derive(Deserialize)]
    struct Manifest {
        #[serde(default)]
        bin: Value,
    }
    let below = format!("node_modules/{name}");
    let path = directory.join(&below).join("package.json");
    let wrong = |what: String| Error::agents(what, "report it to the agent's authors");
    let text = fs::read(&path).map_err(|source| Error::File {
        path: path.clone(),
        source,
    })?;
    let manifest: Manifest = serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("the package.json of `{name}` is invalid: {error}")))?;
    let own = name.rsplit('/').next().unwrap_or(name);
    let bin = match &manifest.bin {
        Value::String(bin) => Some(bin.as_str()),
        Value::Object(bins) => match (bins.len(), bins.values().next()) {
            (1, Some(only)) => only.as_str(),
            _ => bins.get(own).and_then(Value::as_str),
        },
        _ => None,
    };
    let bin = bin.ok_or_else(|| wrong(format!("the package `{name}` has no program `{own}`")))?;
    let is_inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let program = format!("{below}/{}", bin.trim_start_matches("./"));
    match Path::new(bin).components().all(is_inside) && directory.join(&program).is_file() {
        true => Ok(program),
        false => Err(wrong(format!(
            "the package `{name}` does not contain its program `{bin}`"
        ))),
    }
}

/// Returns whether a file is for node to run.
fn is_script(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let is_named = [".js", ".mjs", ".cjs"]
        .iter()
        .any(|end| name.ends_with(end));
    let text = fs::read(path).unwrap_or_default();
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    is_named || (first.starts_with(b"#!") && first.windows(4).any(|part| part == b"node"))
}

/// Returns the integrity of a package, as npm recorded it.
fn integrity(directory: &Path, name: &str) -> Option<String> {
    let lock = fs::read(directory.join("package-lock.json")).ok()?;
    let lock: Value = serde_json::from_slice(&lock).ok()?;
    let package = lock.get("packages")?.get(format!("node_modules/{name}"))?;
    Some(package.get("integrity")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_exact_or_refused() {
        for (package, parts, version, expected) in [
            (
                "b@1.2.3",
                Some(("b", "1.2.3")),
                "9.9.9",
                Some(("b", "1.2.3")),
            ),
            ("@a/b", None, "1.0.0", Some(("@a/b", "1.0.0"))),
            (
                "b@latest",
                Some(("b", "latest")),
                "1.0.0",
                Some(("b", "1.0.0")),
            ),
            ("b@latest", Some(("b", "latest")), "latest", None),
            ("--prefix=/", None, "1.0.0", None),
        ] {
            assert_eq!(exact(package, parts, version).ok(), expected, "{package}");
        }
    }

    #[test]
    fn the_program_of_a_package_is_its_only_one_or_the_one_with_its_name() {
        let place = tempfile::tempdir().unwrap();
        let package = place.path().join("node_modules/@kitchen/tea");
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("tea"), "#!/usr/bin/env node\n").unwrap();
        let of = |bin: &str| {
            let manifest = format!(r#"{{"name": "x"{bin}}}"#);
            fs::write(package.join("package.json"), manifest).unwrap();
            npm_program(place.path(), "@kitchen/tea").ok()
        };
        let tea = Some("node_modules/@kitchen/tea/tea".to_owned());
        assert_eq!(of(r#", "bin": "./tea""#), tea);
        assert_eq!(of(r#", "bin": {"other": "tea"}"#), tea);
        assert_eq!(of(r#", "bin": {"other": "x", "tea": "tea"}"#), tea);
        for wrong in [
            "",
            r#", "bin": {"a": "tea", "b": "tea"}"#,
            r#", "bin": "../tea""#,
            r#", "bin": "/bin/sh""#,
            r#", "bin": "gone""#,
        ] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert!(is_script(&package.join("tea")));
        assert!(!is_script(Path::new("/bin/sh")));
    }
}
