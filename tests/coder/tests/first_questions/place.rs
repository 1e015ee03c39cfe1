//! A copy of a project that this one depends on, and the agent in it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use coder_tests::{Setup, User, World};
use ply_coder::model::offline::Offline;
use serde_json::Value;

/// What cargo adds to a project that it unpacked.
const NOT_OF_THE_PROJECT: [&str; 4] = [
    ".cargo-ok",
    ".cargo_vcs_info.json",
    ".cargo-checksum.json",
    "Cargo.toml.orig",
];

/// A project and the agent in it.
pub(crate) struct Place {
    pub(crate) world: World,
}

impl Place {
    /// Copies a package that this workspace depends on, so that it is there wherever these tests are.
    pub(crate) async fn of(package: &str, user: User) -> Self {
        let setup = Setup {
            user,
            configure: Box::new(|config| config.models = vec![Arc::new(Offline::new())]),
            ..Setup::default()
        };
        let world = World::with(setup, []).await;
        copy(&source_of(package), &world.path());
        Self { world }
    }

    /// Makes it a git repository with one commit.
    pub(crate) fn commit(&self) {
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["add", "."],
            &["commit", "-q", "-m", "Import the project"],
        ] {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=a", "-c", "user.email=a@b.example"])
                .args(arguments)
                .current_dir(self.world.path())
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_SYSTEM", "/dev/null");
            let done = git.output().unwrap();
            assert!(done.status.success(), "{arguments:?}: {done:?}");
        }
    }

    /// Replaces what is different each time.
    pub(crate) fn steady(&self, text: &str) -> String {
        let text = text.replace(self.world.path().to_str().unwrap(), "ROOT");
        let is_hash = |word: &str| word.len() == 7 && word.chars().all(|c| c.is_ascii_hexdigit());
        let parts = text.split('`').map(|part| match is_hash(part) {
            true => "HASH",
            false => part,
        });
        parts.collect::<Vec<_>>().join("`")
    }
}

/// Returns where cargo keeps a package. Only what is built here was downloaded, which is why other platforms are left out.
fn source_of(package: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let metadata = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .args(["--filter-platform", &platform])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(metadata.status.success(), "{metadata:?}");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    // There may be two versions; the newer is listed last.
    let found = packages.iter().rfind(|it| it["name"] == package).unwrap();
    let manifest = Path::new(found["manifest_path"].as_str().unwrap());
    manifest.parent().unwrap().to_owned()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if NOT_OF_THE_PROJECT.iter().any(|it| name == *it) {
            continue;
        }
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(name)),
            false => drop(std::fs::copy(entry.path(), to.join(name)).unwrap()),
        }
    }
}
