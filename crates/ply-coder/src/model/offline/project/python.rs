//! `pyproject.toml` and `setup.py`.

use toml::de::{DeTable, DeValue};

use super::Project;

/// Lock files, how what they lock is installed, and how commands run in it.
const LOCKS: [(&str, &str, &str); 3] = [
    ("uv.lock", "uv sync", "uv run "),
    ("poetry.lock", "poetry install", "poetry run "),
    ("pdm.lock", "pdm install", "pdm run "),
];

/// Reads `pyproject.toml`. `files` are those beside it.
pub(super) fn read(text: &str, files: &[String]) -> Option<Project> {
    let root = DeTable::parse(text).ok()?.into_inner();
    let empty = DeTable::new();
    let tools = table(&root, "tool");
    let poetry = tools.and_then(|tools| table(tools, "poetry"));
    let project = table(&root, "project").or(poetry).unwrap_or(&empty);
    let said = |key: &str| {
        let value = project.get(key)?.get_ref();
        let text = value.get("text").map(|text| text.get_ref());
        value.as_str().or_else(|| text?.as_str()).map(str::to_owned)
    };
    let scripts = table(project, "scripts").into_iter().flatten();
    let entries = scripts.map(|(name, target)| {
        let target = target.get_ref().as_str().unwrap_or_default();
        let what = format!("the program `{}`", name.get_ref());
        (target.to_owned(), what)
    });
    Some(Project {
        name: said("name"),
        version: said("version"),
        description: said("description"),
        license: said("license"),
        needs: said("requires-python").map(|version| format!("Python {version}")),
        dependencies: dependencies(project.get("dependencies").map(|it| it.get_ref())),
        entries: entries.collect(),
        ..of_setup(files)
    })
}

/// Returns what the files beside a manifest tell.
pub(super) fn of_setup(files: &[String]) -> Project {
    let lock = LOCKS
        .iter()
        .find(|(lock, ..)| files.iter().any(|file| file == lock));
    let (install, prefix) = lock.map_or(("pip install -e .", ""), |(_, install, prefix)| {
        (*install, *prefix)
    });
    Project {
        kind: "a Python package".to_owned(),
        build: Some(install.to_owned()),
        test: Some(format!("{prefix}python -m pytest")),
        ..Project::default()
    }
}

fn table<'t, 'i>(within: &'t DeTable<'i>, key: &str) -> Option<&'t DeTable<'i>> {
    within.get(key).and_then(|value| value.get_ref().as_table())
}

/// Returns the names in a list of requirements, or the keys of a table of them.
fn dependencies(value: Option<&DeValue<'_>>) -> Vec<String> {
    let name = |text: &str| {
        let is_name = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        text.trim()
            .chars()
            .take_while(|c| is_name(*c))
            .collect::<String>()
    };
    match value {
        Some(DeValue::Array(list)) => {
            let list = list.iter().filter_map(|item| item.get_ref().as_str());
            list.map(name).filter(|name| !name.is_empty()).collect()
        }
        Some(DeValue::Table(all)) => {
            let names = all.keys().map(|name| name.get_ref().clone().into_owned());
            names.filter(|name| name != "python").collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_named_without_their_versions() {
        let text = "[project]\nname = \"pot\"\nlicense = { text = \"MIT\" }\n\
                    dependencies = [\"tea>=1.0\", \"milk[oat] ; extra == 'x'\"]\n\
                    [project.scripts]\npour = \"pot.cli:main\"\n";
        let project = read(text, &["uv.lock".to_owned()]).unwrap();
        assert_eq!(project.dependencies, ["tea", "milk"]);
        assert_eq!(project.license.as_deref(), Some("MIT"));
        assert_eq!(project.build.as_deref(), Some("uv sync"));
        assert_eq!(project.test.as_deref(), Some("uv run python -m pytest"));
        assert_eq!(project.entries[0].0, "pot.cli:main");
    }
}
