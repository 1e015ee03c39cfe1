//! A home of its own, a registry, and the programs that installations need.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::registry::Registry;

pub(crate) const PLY: &str = env!("CARGO_BIN_EXE_ply");

/// Makes what npm makes: a package whose program is the agent of this project, and a lock file.
const NPM: &str = r#"#!/bin/sh
echo "$@" >> "$HOME/npm.log"
while [ $# -gt 0 ]; do
    case "$1" in
        --prefix) prefix=$2 ;;
        --) package=$2 ;;
    esac
    shift
done
name=${package%@*}
[ "$name" = broken ] && { echo "npm error 404 no such package" >&2; exit 1; }
mkdir -p "$prefix/node_modules/$name"
cd "$prefix"
echo '{"bin": {"tea": "./tea.js"}}' > "node_modules/$name/package.json"
printf '#!/usr/bin/env node\nexec PLY agent\n' > "node_modules/$name/tea.js"
echo "{\"packages\": {\"node_modules/$name\": {\"integrity\": \"sha512-tea\"}}}" > package-lock.json
"#;

/// Runs shell scripts, which is all that there are here.
const NODE: &str = "#!/bin/sh\nexec /bin/sh \"$@\"\n";

pub(crate) struct Place {
    dir: TempDir,
    pub(crate) registry: Registry,
}

/// What a command said, and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) told: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        fs::create_dir(dir.path().join("project")).unwrap();
        let place = Self {
            dir,
            registry: Registry::start(),
        };
        place.program(&bin.join("npm"), &NPM.replace("PLY", PLY));
        place.program(&bin.join("node"), NODE);
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the directory that agents are installed in.
    pub(crate) fn agents(&self) -> PathBuf {
        self.path().join(".local/share/ply/agents")
    }

    pub(crate) fn lock(&self) -> Value {
        let text = fs::read(self.agents().join("agents.lock")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// Returns the names in the directory that agents are installed in, without hidden ones that mean nothing.
    pub(crate) fn installed(&self) -> Vec<String> {
        let entries = fs::read_dir(self.agents()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name != ".changing").collect();
        names.sort();
        names
    }

    /// Writes a program.
    pub(crate) fn program(&self, path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PLY);
        let bin = self.path().join("bin");
        command
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("PLY_REGISTRY", self.registry.url("registry.json"))
            .env("PLY_MODEL", "offline")
            .current_dir(self.path().join("project"))
            .args(words);
        command
    }

    pub(crate) fn ply(&self, words: &[&str]) -> Said {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(words).output().unwrap();
        Said {
            code: status.code(),
            out: String::from_utf8(stdout).unwrap(),
            told: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Runs a command that works, and returns what it printed.
    #[track_caller]
    pub(crate) fn says(&self, words: &[&str]) -> String {
        let said = self.ply(words);
        assert_eq!(said.code, Some(0), "{words:?}: {said:#?}");
        said.out
    }

    /// Runs a command that fails, and returns what it told.
    #[track_caller]
    pub(crate) fn fails(&self, words: &[&str]) -> String {
        let said = self.ply(words);
        assert_eq!(said.code, Some(1), "{words:?}: {said:#?}");
        assert!(said.told.contains("  hint: "), "{said:#?}");
        said.told
    }
}
