//! The install script, with an archive that is here already.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A program that says what it was asked for.
const PROGRAM: &str = "#!/bin/sh\ncase $1 in --version) echo ply 9.9.9;; man) echo page >\"$2/ply.1\";; *) echo \"$@\";; esac\n";

fn sh(directory: &Path, line: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(directory);
    command.output().unwrap()
}

/// Returns a directory with an archive and its checksum.
fn packed() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("ply")).unwrap();
    std::fs::write(place.path().join("ply/ply"), PROGRAM).unwrap();
    let made = sh(
        place.path(),
        "chmod +x ply/ply && tar -czf ply.tar.gz ply && sha256sum ply.tar.gz > ply.tar.gz.sha256",
    );
    assert!(made.status.success(), "{made:?}");
    place
}

fn install(place: &TempDir) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../install/install.sh");
    let mut command = Command::new("sh");
    command
        .arg(script)
        .env("PREFIX", prefix(place))
        .env("PLY_ARCHIVE", place.path().join("ply.tar.gz"));
    command.output().unwrap()
}

fn prefix(place: &TempDir) -> PathBuf {
    place.path().join("prefix")
}

#[test]
fn the_install_script_installs_program_completions_and_pages() {
    let place = packed();
    let ran = install(&place);
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{ran:?}");
    assert!(told.contains("installed ply 9.9.9 to "), "{told}");
    for name in [
        "bin/ply",
        "share/man/man1/ply.1",
        "share/bash-completion/completions/ply",
        "share/zsh/site-functions/_ply",
        "share/fish/vendor_completions.d/ply.fish",
    ] {
        assert!(prefix(&place).join(name).is_file(), "{name}");
    }
}

#[test]
fn a_damaged_archive_is_not_installed() {
    let place = packed();
    std::fs::write(place.path().join("ply.tar.gz"), "damaged").unwrap();
    let ran = install(&place);
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(!ran.status.success());
    assert!(
        told.contains("wrong checksum") && told.contains("hint: "),
        "{told}"
    );
    assert!(!prefix(&place).exists());
}
