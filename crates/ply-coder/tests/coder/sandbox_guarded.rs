//! What the sandbox guards in the workspace itself, and how much of the machine it leaves to others.

use std::os::unix::fs::{MetadataExt as _, symlink};

use ply_coder::shell::{Confinement, Exit};

use crate::sandbox_support::Place;
use crate::shell_support::Card;

#[tokio::test]
async fn h15_files_in_memory_count_as_memory_and_room_on_the_disk_stays() {
    let Some(place) = Place::unattended(|sandbox| {
        sandbox.bounds.memory = Some(256 << 20);
    })
    .await
    else {
        return;
    };
    // Nothing maps what is written to it.
    let ran = place
        .run("head -c 400M /dev/zero >/dev/shm/big; sleep 1000")
        .await;
    assert_eq!(ran.exit, Exit::Signal(9), "{ran:?}");
    assert!(ran.output.contains("256 MiB of memory"), "{ran:?}");
    let root = place.scratch.dir("root");
    let about = rustix::fs::statvfs(&root).unwrap();
    let free = about.f_bavail * about.f_frsize;
    let Some(place) = Place::unattended(|sandbox| {
        sandbox.bounds.free = Some(free - (64 << 20));
    })
    .await
    else {
        return;
    };
    // Others use the disk too, so it is more than what is left.
    let ran = place
        .run("head -c 512M /dev/urandom >big; sync big; sleep 1000")
        .await;
    assert_eq!(ran.exit, Exit::Signal(9), "{ran:?}");
    assert!(ran.output.contains("MiB are free at"), "{ran:?}");
}

#[tokio::test]
async fn h15_no_program_is_left_that_runs_as_the_user_for_others() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    place.works("cp /bin/true tool && mkdir dir").await;
    for confinement in [Confinement::Unattended, Confinement::Workspace] {
        place.processes.confine(confinement);
        for attempt in [
            "chmod u+s tool",
            "chmod 4755 tool",
            "chmod g+s tool",
            "chmod 6755 dir",
            "install -m 4755 /bin/true other",
            "perl -e 'exit !chmod(04755, q(tool))'",
            "perl -e 'open my $f, q(<), q(tool); exit !chmod(04755, $f)'",
            "perl -e 'use Fcntl; exit !sysopen(my $f, q(made), O_CREAT | O_WRONLY, 04755)'",
            "perl -e 'use Fcntl; exit !sysopen(my $f, q(made), O_CREAT | O_RDWR | O_EXCL, 02755)'",
        ] {
            place.fails(attempt).await;
        }
        // mknod, mknodat, creat, openat2, fchmodat2.
        #[cfg(target_arch = "x86_64")]
        for attempt in [
            "exit !(syscall(133, q(made), 0104755, 0) == 0)",
            "exit !(syscall(259, -100, q(made), 0104755, 0) == 0)",
            "exit !(syscall(85, q(made), 04755) >= 0)",
            "my $h = pack(q(Q3), 0101, 04755, 0); exit !(syscall(437, -100, q(made), $h, 24) >= 0)",
            "exit !(syscall(452, -100, q(tool), 04755, 0) == 0)",
        ] {
            place.fails(&format!("perl -e '{attempt}'")).await;
        }
        for file in ["tool", "dir", "made", "other"] {
            let about = place.root.join(file).metadata();
            let mode = about.map_or(0, |about| about.mode());
            assert_eq!(mode & 0o6000, 0, "{file} {mode:o}");
        }
        place
            .works("rm -f made other; chmod 755 tool; chmod 1777 dir; ./tool")
            .await;
        place
            .works("perl -e 'use Fcntl; exit !sysopen(my $f, q(own), O_RDONLY, 04755)'")
            .await;
    }
}

#[tokio::test]
async fn h15_a_repository_behind_a_link_is_not_changed_or_replaced() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    std::fs::create_dir_all(place.root.join("data/git/hooks")).unwrap();
    std::fs::write(place.root.join("data/git/config"), "before").unwrap();
    symlink("data/git", place.root.join(".git")).unwrap();
    let link = place.root.join(".git");
    for attempt in [
        "echo x >.git/config",
        "echo x >data/git/config",
        "rm .git",
        "mv .git moved",
        "mkdir new && mv -T new .git",
        "ln -sfn /tmp .git",
        "mv data elsewhere",
        "perl -e 'exit !rename(q(own), q(.git))'",
        "perl -e 'exit !unlink(q(.git))'",
    ] {
        place.fails(attempt).await;
        let target = std::fs::read_link(&link).unwrap();
        assert_eq!(target, std::path::Path::new("data/git"), "{attempt}");
        let now = std::fs::read_to_string(link.join("config")).unwrap();
        assert_eq!(now, "before", "{attempt}");
        place.works("rm -rf new moved").await;
    }
    // Git finds the same repository.
    let real = place.root.join("data/git");
    let said = place.works("cat .git").await;
    assert_eq!(said, format!("gitdir: {}\n", real.display()));
}

#[tokio::test]
async fn h3_a_repository_that_a_command_makes_is_disarmed_told_and_guarded_from_then_on() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    let ran = place.run("echo nothing").await;
    assert!(ran.notes.is_empty(), "{ran:?}");
    let plant = "mkdir -p docs/objects docs/refs && echo 'ref: refs/heads/x' >docs/HEAD && \
                 printf '[core]\\n\\tfsmonitor = touch owned\\n' >docs/config";
    let ran = place.run(plant).await;
    let [note] = ran.notes.as_slice() else {
        panic!("{ran:?}");
    };
    assert!(note.contains("docs/HEAD was renamed to"), "{note}");
    assert!(ran.text().ends_with("rename it back]"), "{ran:?}");
    // The user's next command runs nothing of it.
    let mut status = std::process::Command::new("git");
    let status = status.arg("status").current_dir(place.root.join("docs"));
    // Whether it finds another repository further up is no matter.
    status.output().unwrap();
    assert!(!place.root.join("docs/owned").exists() && !place.root.join("owned").exists());
    for attempt in [
        "echo x >>docs/config",
        "mv docs/HEAD.disarmed docs/HEAD",
        "echo 'ref: refs/heads/x' >docs/HEAD",
    ] {
        place.fails(attempt).await;
    }
    let ran = place.run("git init -q a").await;
    assert!(
        ran.notes
            .iter()
            .any(|note| note.contains("a/.git; tell the user")),
        "{ran:?}"
    );
    assert!(place.root.join("a/.git/HEAD").exists());
    place.fails("echo x >a/.git/hooks/pre-commit").await;
    // What the user made is theirs, and guarded at once.
    std::fs::create_dir_all(place.root.join("users/.git")).unwrap();
    let ran = place.fails("echo x >users/.git/config").await;
    let made = |note: &String| note.contains("it made");
    assert!(!ran.notes.iter().any(made), "{ran:?}");
}

#[tokio::test]
async fn h7_passwords_of_the_workspace_are_not_seen_unless_somebody_allowed_it() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    std::fs::create_dir(place.root.join("app")).unwrap();
    for file in [".env", "app/.env.local"] {
        std::fs::write(place.root.join(file), "KEY=hunter2").unwrap();
    }
    std::fs::write(place.root.join(".env.example"), "KEY=").unwrap();
    for attempt in [
        "cat .env app/.env.local",
        "cat .e* app/.e*",
        "grep -r hunter .",
        "cat $(echo LmVudg== | base64 -d)",
        "mv .env x; cp .env y; ln .env z; cat x y z",
    ] {
        let ran = place.run(attempt).await;
        assert!(!ran.output.contains("hunter2"), "{attempt}: {ran:?}");
    }
    assert_eq!(place.works("cat .env.example").await, "KEY=");
    let mut line = place.line("cat .env");
    line.looks = true;
    assert_eq!(place.run_line(&line).await.output, "");
    line.secrets = true;
    assert_eq!(place.run_line(&line).await.output, "KEY=hunter2");
    place.processes.confine(Confinement::Workspace);
    assert_eq!(place.works("cat .env").await, "KEY=hunter2");
}

#[tokio::test]
async fn what_only_looks_writes_nothing_and_has_no_network() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    for confinement in [Confinement::Workspace, Confinement::Unattended] {
        place.processes.confine(confinement);
        for attempt in [
            "echo x >new".to_owned(),
            "echo x >own".to_owned(),
            format!("exec 3<>/dev/tcp/127.0.0.1/{port}"),
        ] {
            let mut line = place.line(&attempt);
            line.looks = true;
            let ran = place.run_line(&line).await;
            assert_ne!(ran.exit, Exit::Code(0), "{attempt}: {ran:?}");
        }
        assert_eq!(
            std::fs::read_to_string(place.root.join("own")).unwrap(),
            "own"
        );
        let mut line = place.line("cat own; echo x >../temp/x");
        line.looks = true;
        assert_eq!(place.run_line(&line).await.output, "own");
    }
    // A project among temporary files is there too.
    let Some(among) = Place::unattended(|sandbox| {
        let around = sandbox.temporary[0].parent().unwrap();
        sandbox.temporary = vec![around.to_owned()];
    })
    .await
    else {
        return;
    };
    let mut line = among.line("cat own; echo x >own; echo x >../x && cat ../x");
    line.looks = true;
    let said = among.run_line(&line).await.output;
    assert!(said.starts_with("own") && said.ends_with("x\n"), "{said}");
    let own = std::fs::read_to_string(among.root.join("own")).unwrap();
    assert_eq!(own, "own");
    // Where there is no sandbox it runs like others.
    let plain = place.scratch.processes();
    let mut line = place.line("cat own");
    line.looks = true;
    let ran = plain.run(&line, &Card::new()).await.unwrap();
    assert_eq!(ran.output, "own");
}

#[tokio::test]
async fn input_for_a_process_that_was_let_out_reaches_beyond_the_sandbox() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    let mut outside = place.line("exec cat");
    outside.outside = true;
    let inside = place.line("exec cat");
    for line in [&outside, &inside] {
        place.processes.start(line).await.unwrap();
    }
    place.processes.confine(Confinement::Workspace);
    place.processes.start(&inside).await.unwrap();
    place.processes.confine(Confinement::Unattended);
    let listed = place.processes.list();
    let beyond: Vec<_> = listed.iter().map(|process| process.beyond).collect();
    assert_eq!(beyond, [true, false, true]);
    place.processes.end_all().await;
}

#[tokio::test]
async fn cargo_test_works_with_packages_that_were_downloaded() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    let files = [
        (
            "Cargo.toml",
            "[workspace]\n[package]\nname = \"pot\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
             [dependencies]\nitoa = \"1\"\n",
        ),
        (
            "src/lib.rs",
            "//! ```\n//! assert_eq!(2 + 2, 4);\n//! ```\n\n\
             #[test]\nfn it_pours() {\n    assert_eq!(itoa::Buffer::new().format(7), \"7\");\n}\n",
        ),
    ];
    std::fs::create_dir(place.root.join("src")).unwrap();
    for (file, text) in files {
        std::fs::write(place.root.join(file), text).unwrap();
    }
    let mut lock = std::process::Command::new("cargo");
    let lock = lock.args(["generate-lockfile", "--offline"]);
    let locked = lock.current_dir(&place.root).output().unwrap();
    // This workspace uses the package itself, so it was downloaded.
    assert!(locked.status.success(), "{locked:?}");
    // Tests in documentation are compiled in temporary files.
    let line = place.line("cargo test --quiet 2>&1");
    let ran = place.processes.run(&line, &Card::new()).await.unwrap();
    assert_eq!(ran.exit, Exit::Code(0), "{ran:?}");
    assert_eq!(ran.output.matches("1 passed").count(), 2, "{ran:?}");
}

#[tokio::test]
async fn h7_git_shows_no_secret_that_its_history_has_and_no_token_of_its_settings() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        let who = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
        let git = git.args(who).args(words).current_dir(&place.root);
        let output = git.env("HOME", &place.outside).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    };
    git(&["init", "-q"]);
    for (file, text) in [
        (".env", "PASSWORD=hunter2\n"),
        (".env.example", "SHOWN=1\n"),
    ] {
        std::fs::write(place.root.join(file), text).unwrap();
    }
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "with a secret"]);
    git(&["rm", "-q", ".env"]);
    git(&["commit", "-q", "-m", "without it"]);
    git(&["remote", "add", "up", "https://me:t0ken@example.com/x.git"]);
    let mut line = place.line("git log -p; git grep -n . HEAD~1; git diff HEAD~1; git show HEAD~1");
    for (confinement, looks) in [
        (Confinement::Unattended, false),
        (Confinement::Workspace, true),
    ] {
        place.processes.confine(confinement);
        line.looks = looks;
        let ran = place.run_line(&line).await;
        assert!(ran.output.contains("SHOWN=1"), "{ran:?}");
        assert!(ran.output.contains("b/.env"), "{ran:?}");
        assert!(!ran.output.contains("hunter2"), "{confinement:?}: {ran:?}");
    }
    // Whatever settings, variables and files of the project say about it.
    std::fs::write(place.root.join(".gitattributes"), ".env diff\n").unwrap();
    std::fs::write(
        place.root.join(".git/info/attributes"),
        "*.x -diff\n*.env* diff",
    )
    .unwrap();
    for command in [
        "git log -p",
        "env -i PATH=\"$PATH\" git log -p",
        "GIT_CONFIG_COUNT=0 git log -p",
        "git -c core.attributesFile=/dev/null log -p",
    ] {
        let mut line = place.line(command);
        for (confinement, looks) in [
            (Confinement::Unattended, false),
            (Confinement::Workspace, true),
        ] {
            place.processes.confine(confinement);
            line.looks = looks;
            let ran = place.run_line(&line).await;
            assert!(ran.output.contains("SHOWN=1"), "{ran:?}");
            assert!(!ran.output.contains("hunter2"), "{confinement:?}: {ran:?}");
        }
    }
    place.processes.confine(Confinement::Unattended);
    let settings = place
        .works("cat .gi?/config; git remote -v; git status")
        .await;
    assert!(settings.contains("repositoryformatversion"), "{settings}");
    assert!(!settings.contains("t0ken"), "{settings}");
    place.fails("umount .git/config; rm -f .git/config").await;
    // Who allowed it sees both.
    let mut line = place.line("git log -p; git remote -v");
    line.secrets = true;
    let ran = place.run_line(&line).await;
    assert!(
        ran.output.contains("hunter2") && ran.output.contains("t0ken"),
        "{ran:?}"
    );
}
