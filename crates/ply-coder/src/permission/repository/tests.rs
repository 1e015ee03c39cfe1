use std::os::unix::fs::symlink;

use super::*;

/// Makes a repository with these settings.
fn repository(settings: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
    fs::create_dir_all(folder.path().join("src")).unwrap();
    fs::write(folder.path().join(".git/config"), settings).unwrap();
    folder
}

const ADDRESSES: Git = Git {
    directory: None,
    shows_addresses: true,
    enters_submodules: true,
};

const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\
                     \turl = git@example.com:me/it.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n";

#[test]
fn a_plain_repository_is_no_trouble_in_any_folder_of_it() {
    let folder = repository(PLAIN);
    for place in ["", "src"] {
        assert_eq!(
            trouble_with_git(&folder.path().join(place), &ADDRESSES),
            None
        );
    }
}

#[test]
fn settings_that_run_programs_are_trouble() {
    for line in [
        "[core]\nfsmonitor = ./evil",
        "[core] fsmonitor = ./evil",
        "[core]FSMonitor=./evil",
        "[diff]\nexternal = ./evil",
        "[diff \"x\"]\n\ttextconv = ./evil",
        "[diff \"x\"]\n\tcommand = ./evil",
        "[filter \"x\"]\n\tclean = ./evil",
        "[filter \"x\"]\n\tprocess = ./evil",
        "[gpg]\n\tprogram = ./evil",
        "[core]\n\tsshCommand = ./evil",
        "[core]\n\thooksPath = evil",
        "[core]\n\tworktree = /home",
        "[include]\n\tpath = evil",
        "[includeIf \"gitdir:/\"]\n\tpath = evil",
        "[log]\n\tshowSignature = true",
        "[remote \"origin\"]\n\tpromisor = true",
    ] {
        let folder = repository(&format!("{PLAIN}{line}\n"));
        assert!(
            trouble_with_git(folder.path(), &Git::default()).is_some(),
            "{line}"
        );
    }
    let large = format!("{PLAIN}[filter \"lfs\"]\n\tprocess = git-lfs filter-process\n");
    assert_eq!(
        trouble_with_git(repository(&large).path(), &Git::default()),
        None
    );
}

#[test]
fn a_hook_that_reading_runs_is_trouble() {
    let folder = repository(PLAIN);
    fs::write(folder.path().join(".git").join(HOOK), "#!/bin/sh\n").unwrap();
    assert!(trouble_with_git(folder.path(), &Git::default()).is_some());
}

#[test]
fn h3_a_folder_that_is_laid_out_as_a_repository_is_a_trap() {
    let folder = repository(PLAIN);
    let trap = folder.path().join("src/trap");
    fs::create_dir_all(trap.join("objects")).unwrap();
    fs::create_dir_all(trap.join("refs")).unwrap();
    assert_eq!(trouble_with_git(&trap, &Git::default()), None);
    fs::write(trap.join("HEAD"), "ref: refs/heads/x\n").unwrap();
    assert!(trouble_with_git(&trap, &Git::default()).is_some());
    assert!(trouble_with_git(&trap.join("objects"), &Git::default()).is_some());
    assert!(differs_below(folder.path(), &trap));
    assert!(!differs_below(folder.path(), &folder.path().join("src")));
    let shared = folder.path().join("src/shared");
    fs::create_dir_all(&shared).unwrap();
    fs::write(shared.join("HEAD"), "ref: refs/heads/x\n").unwrap();
    fs::write(shared.join("commondir"), "../trap\n").unwrap();
    assert!(trouble_with_git(&shared, &Git::default()).is_some());
}

#[test]
fn the_settings_of_a_worktree_are_those_of_its_repository() {
    let main = repository("[diff]\n\texternal = ./evil\n");
    let own = main.path().join(".git/worktrees/w");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    let worktree = tempfile::tempdir().unwrap();
    let line = format!("gitdir: {}\n", own.display());
    fs::write(worktree.path().join(".git"), line).unwrap();
    assert!(trouble_with_git(worktree.path(), &Git::default()).is_some());
    fs::write(main.path().join(".git/config"), PLAIN).unwrap();
    assert_eq!(trouble_with_git(worktree.path(), &Git::default()), None);
    fs::remove_file(worktree.path().join(".git")).unwrap();
    symlink(main.path().join(".git"), worktree.path().join(".git")).unwrap();
    assert!(trouble_with_git(worktree.path(), &Git::default()).is_some());
}

#[test]
fn h7_an_address_with_a_token_is_a_secret() {
    for (line, secret) in [
        ("url = https://me:ghp_x@example.com/a.git", true),
        ("url = https://ghp_x@example.com/a.git", true),
        ("url = \"https://x-access-token:t@example.com/a\"", true),
        ("extraheader = AUTHORIZATION: basic eA==", true),
        ("url = https://example.com/a.git", false),
        ("url = ssh://git@example.com/a.git", false),
        ("url = git@example.com:a.git", false),
        ("email = me@example.com", false),
    ] {
        let folder = repository(&format!("[remote \"origin\"]\n\t{line}\n"));
        let config = folder.path().join(".git/config");
        assert_eq!(is_settings_with_credentials(&config), secret, "{line}");
        let shown = trouble_with_git(folder.path(), &ADDRESSES).is_some();
        assert_eq!(shown, secret, "{line}");
        assert_eq!(
            trouble_with_git(folder.path(), &Git::default()),
            None,
            "{line}"
        );
    }
}

#[test]
fn a_toolchain_of_the_projects_own_is_trouble() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rust-toolchain.toml");
    fs::write(&file, "[toolchain]\nchannel = \"1.90\"\n").unwrap();
    assert_eq!(trouble_with_toolchain(folder.path()), None);
    fs::write(&file, "[toolchain]\npath = \"evil\"\n").unwrap();
    assert!(trouble_with_toolchain(&folder.path().join("src")).is_some());
}

#[test]
fn submodules_are_found_in_the_index() {
    let folder = repository(PLAIN);
    let index = folder.path().join(".git/index");
    fs::write(&index, b"DIRC\0\0\0\x02....\0\0\x81\xa4....").unwrap();
    assert_eq!(trouble_with_git(folder.path(), &ADDRESSES), None);
    fs::write(&index, b"DIRC\0\0\0\x02....\0\0\xe0\0....").unwrap();
    assert!(trouble_with_git(folder.path(), &ADDRESSES).is_some());
    assert_eq!(trouble_with_git(folder.path(), &Git::default()), None);
}
