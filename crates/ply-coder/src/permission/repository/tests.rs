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
    shows: None,
};

fn trouble_with_git(here: &Path, git: &Git) -> Option<&'static str> {
    super::trouble_with_git(here, git, |_| true)
}

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
        "[Pager]\n\tlog = ./evil",
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

/// Returns an index with files of these modes.
fn index(files: &[(u32, &str)]) -> Vec<u8> {
    let mut bytes = b"DIRC\0\0\0\x02".to_vec();
    bytes.extend(u32::try_from(files.len()).unwrap().to_be_bytes());
    for (mode, name) in files {
        let start = bytes.len();
        bytes.extend([0; 24]);
        bytes.extend(mode.to_be_bytes());
        bytes.extend([0xab; 12 + 20]);
        bytes.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
        bytes.extend(name.as_bytes());
        let length = (bytes.len() - start + 1).next_multiple_of(8);
        bytes.resize(start + length, 0);
    }
    bytes.extend([0; 20]);
    bytes
}

#[test]
fn submodules_are_found_in_the_index() {
    let folder = repository(PLAIN);
    let file = folder.path().join(".git/index");
    fs::write(&file, index(&[(0o100_644, "a"), (0o100_755, "b/c")])).unwrap();
    assert_eq!(trouble_with_git(folder.path(), &ADDRESSES), None);
    fs::write(&file, index(&[(0o100_644, "a"), (0o160_000, "sub")])).unwrap();
    assert!(trouble_with_git(folder.path(), &ADDRESSES).is_some());
    assert_eq!(trouble_with_git(folder.path(), &Git::default()), None);
    fs::write(&file, "damaged").unwrap();
    assert!(trouble_with_git(folder.path(), &ADDRESSES).is_some());
}

#[test]
fn a_repository_that_names_another_ones_settings_is_judged_by_those() {
    let folder = repository(PLAIN);
    let other = folder.path().join("other");
    fs::create_dir_all(&other).unwrap();
    fs::write(folder.path().join(".git/commondir"), "../other\n").unwrap();
    fs::write(other.join("config"), "[core]\n\tfsmonitor = ./evil\n").unwrap();
    assert!(trouble_with_git(folder.path(), &Git::default()).is_some());
}

#[test]
fn h7_tracked_secrets_are_not_shown_unasked() {
    let folder = repository(PLAIN);
    let here = folder.path();
    let files = index(&[(0o100_644, "config/.env"), (0o100_644, "src/a.rs")]);
    fs::write(here.join(".git/index"), files).unwrap();
    fs::write(here.join("src/a.rs"), "").unwrap();
    let is_asked = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let reads = crate::permission::look::reads(&words).expect(line);
        let Some(crate::permission::look::Need::Repository(git)) = reads.needs else {
            panic!("{line}");
        };
        let may_read = |path: &Path| !path.ends_with(".env");
        super::trouble_with_git(here, &git, may_read).is_some()
    };
    for line in [
        "git diff",
        "git diff HEAD~1",
        "git diff --cached",
        "git diff HEAD src/a.rs *.env",
        "git diff -l5 HEAD",
        "git diff --stat -p HEAD",
        "git log -p",
        "git log -p -- config",
        "git log --word-diff",
        "git log -L1,2:src/a.rs HEAD",
        "git show",
        "git show HEAD",
        "git show --stat abab",
        "git show main -- :/config",
        "git stash show -p",
        "git diff-tree -p HEAD",
        "git grep key HEAD",
        "git grep key -- config",
        "git cat-file -p abababab",
        "git range-diff a b c",
    ] {
        assert!(is_asked(line), "{line}");
    }
    for line in [
        "git log",
        "git log --stat",
        "git show --stat HEAD",
        "git show HEAD src/a.rs",
        "git show HEAD -- src",
        "git diff HEAD~1 src/a.rs",
        "git diff --name-only HEAD",
        "git diff -- src/a.rs",
        "git grep -l key",
        "git grep key src",
        "git cat-file -p HEAD",
        "git stash show",
        "git status",
    ] {
        assert!(!is_asked(line), "{line}");
    }
}

#[test]
fn without_a_repository_git_compares_any_files() {
    let folder = tempfile::tempdir().unwrap();
    let shows = Git {
        shows: Some(Shows {
            changes: true,
            ..Shows::default()
        }),
        ..Git::default()
    };
    // The folders above may be in a repository, though not on machines that test this.
    assert!(trouble_with_git(folder.path(), &shows).is_some());
    assert_eq!(trouble_with_git(folder.path(), &Git::default()), None);
}

#[test]
fn h7_options_that_show_what_attributes_leave_out_are_asked_about() {
    for line in [
        "git log -p --text",
        "git log -p -a",
        "git diff --binary",
        "git show --binary HEAD",
        "git grep -a key",
        "git grep --text key",
        "git whatchanged -p",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert!(crate::permission::look::reads(&words).is_none(), "{line}");
    }
}
