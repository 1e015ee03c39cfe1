//! Commands by what they do, as the agent judges them.

use std::path::Path;

use ply_coder::permission::{Decision, Effect, Mode, Permissions, Rule, Stores, Verdict};
use ply_coder::tool::Access;

use crate::corpus::{KINDS, commands, project, project_with_secrets};

fn decide(root: &Path, rules: Vec<Rule>, mode: Mode, line: &str) -> Verdict {
    let root = root.canonicalize().unwrap();
    let access = Access::Shell {
        command: line.to_owned(),
        cwd: root.clone(),
    };
    Permissions::new(vec![root], rules, Stores::default()).decide(mode, &[access])
}

fn allow(text: &str) -> Rule {
    Rule::parse(Decision::Allow, text).unwrap()
}

#[track_caller]
fn check(kind: &str, is_right: impl Fn(&str) -> Result<(), String>) {
    let wrong: Vec<String> = commands(kind)
        .iter()
        .filter_map(|line| is_right(line).err().map(|what| format!("{line:?}: {what}")))
        .collect();
    assert!(wrong.is_empty(), "{kind}:\n{}", wrong.join("\n"));
}

#[test]
fn every_command_is_of_its_kind() {
    for (kind, effect) in [
        ("reads", Effect::Reads),
        ("changes", Effect::Changes),
        ("unknown", Effect::Unknown),
        ("runs", Effect::Runs),
        ("network", Effect::Connects),
        ("destroys", Effect::Destroys),
    ] {
        check(kind, |line| {
            let line = line.strip_prefix("cd src && ").unwrap_or(line);
            match Effect::of(line) {
                Ok(found) if found == effect => Ok(()),
                found => Err(format!("{found:?}")),
            }
        });
    }
    check("unclear", |line| match Effect::of(line) {
        Err(_) => Ok(()),
        found => Err(format!("{found:?}")),
    });
}

#[test]
fn every_kind_has_its_commands_and_none_stands_twice() {
    let mut all: Vec<String> = KINDS.iter().flat_map(|kind| commands(kind)).collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn what_only_reads_runs_unasked_and_nothing_else_does() {
    let project = project();
    check("reads", |line| {
        match decide(project.path(), Vec::new(), Mode::Ask, line) {
            Verdict::Allow => Ok(()),
            verdict => Err(format!("{verdict:?}")),
        }
    });
    for kind in [
        "changes", "unknown", "runs", "network", "destroys", "unclear",
    ] {
        for mode in [Mode::Ask, Mode::AutoEdit] {
            check(kind, |line| {
                match decide(project.path(), Vec::new(), mode, line) {
                    Verdict::Ask(_) => Ok(()),
                    verdict => Err(format!("{mode:?} {verdict:?}")),
                }
            });
        }
    }
    check("reads", |line| {
        match decide(project.path(), Vec::new(), Mode::Plan, line) {
            Verdict::Deny(_) => Ok(()),
            verdict => Err(format!("{verdict:?}")),
        }
    });
}

#[test]
fn no_rule_is_offered_for_what_destroys_or_cannot_be_read() {
    let project = project();
    for kind in ["destroys", "unclear"] {
        check(kind, |line| {
            match decide(project.path(), Vec::new(), Mode::Ask, line) {
                Verdict::Ask(question) if question.remember.is_empty() => Ok(()),
                verdict => Err(format!("{verdict:?}")),
            }
        });
    }
}

#[test]
fn a_rule_for_every_command_allows_none_that_runs_others() {
    let project = project();
    let hidden = [
        "awk", "sed", "rg", "sort", "tar", "split", "find", "fd", "env", "xargs", "git", "bash",
        "python3", "sudo", "less", "vim",
    ];
    check("runs", |line| {
        let first = line.split_whitespace().next().unwrap_or_default();
        let verdict = decide(project.path(), vec![allow("shell(*)")], Mode::Ask, line);
        match verdict {
            Verdict::Allow if hidden.contains(&first) => Err("allowed".to_owned()),
            _ => Ok(()),
        }
    });
}

#[test]
fn h2_an_option_of_git_that_writes_is_no_log() {
    let project = project();
    for line in [
        "git log -1 --format=evil --output=.git/config",
        "git log -1 --format=evil --output .git/config",
        "git log -1 --outpu=.git/config",
        "git diff --output=.git/hooks/pre-commit",
        "git show --output=x",
    ] {
        for rules in [
            vec![],
            vec![allow("shell(git log *)"), allow("shell(git diff *)")],
        ] {
            let verdict = decide(project.path(), rules, Mode::Ask, line);
            assert!(matches!(verdict, Verdict::Ask(_)), "{line}: {verdict:?}");
        }
    }
}

#[test]
fn h7_a_command_that_reads_a_secret_is_asked_about_in_every_mode() {
    let project = project_with_secrets();
    for mode in [Mode::Ask, Mode::AutoEdit, Mode::Full] {
        check("secrets", |line| {
            let rules = ["cat", "head", "cp", "git show", "git cat-file", "git log"];
            let rules = rules.map(|it| allow(&format!("shell({it} *)"))).to_vec();
            match decide(project.path(), rules, mode, line) {
                Verdict::Ask(_) => Ok(()),
                verdict => Err(format!("{mode:?} {verdict:?}")),
            }
        });
    }
    // Git shows them as text again, or as they once were.
    for mode in [Mode::Ask, Mode::AutoEdit, Mode::Full] {
        for line in [
            "git log -p --text",
            "git diff -a HEAD~1",
            "git show --tex HEAD",
            "git format-patch --stdout -a HEAD~3",
            "git blame HEAD~3 -- gone/.env",
        ] {
            let words = [
                "git log",
                "git diff",
                "git show",
                "git format-patch",
                "git blame",
            ];
            let rules = words.map(|it| allow(&format!("shell({it} *)"))).to_vec();
            let verdict = decide(project.path(), rules, mode, line);
            assert!(
                matches!(verdict, Verdict::Ask(_)),
                "{mode:?} {line}: {verdict:?}"
            );
        }
    }
    for line in [
        "grep -r KEY .",
        "rg --hidden KEY",
        "rg -uu KEY",
        "rg -g '.env' KEY",
        "rg x",
        "git grep KEY",
        "cat .e*",
        "git show HEAD:.env",
        "git log -p -- .env",
        "git remote -v",
        "git remote get-url o",
        "diff -r . docs",
        "diff . docs",
    ] {
        let verdict = decide(project.path(), Vec::new(), Mode::Ask, line);
        assert!(matches!(verdict, Verdict::Ask(_)), "{line}: {verdict:?}");
    }
}

#[test]
fn h7_a_secret_by_the_id_of_its_object_is_asked_about_in_every_mode() {
    let project = project();
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        let who = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
        let git = git.args(who).args(words).current_dir(project.path());
        let output = git.env("HOME", project.path()).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "-q"]);
    std::fs::write(project.path().join(".env"), "KEY=hunter2\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "with a secret"]);
    let (secret, plain) = (
        git(&["rev-parse", "HEAD:.env"]),
        git(&["rev-parse", "HEAD:README.md"]),
    );
    git(&["rm", "-q", ".env"]);
    git(&["commit", "-q", "-m", "without it"]);
    let commit = git(&["rev-parse", "HEAD~1"]);
    let rules = || {
        let rules = ["show", "cat-file", "diff", "grep"];
        rules
            .map(|it| allow(&format!("shell(git {it} *)")))
            .to_vec()
    };
    let check = || {
        let short = secret.get(..8).unwrap();
        for line in [
            format!("git show {secret}"),
            format!("git show --stat {short}"),
            format!("git cat-file -p {short}"),
            format!("git cat-file blob {secret}"),
            format!("git show {secret}^{{blob}}"),
            format!("git diff {short} {plain}"),
            format!("git diff {short}..{plain}"),
            format!("git grep KEY {short}"),
            format!("git -C . show {short}"),
            format!("cd src && git show {short}"),
            format!("bash -c 'git show {short}'"),
            format!("git show {short} | head"),
        ] {
            for mode in [Mode::Ask, Mode::AutoEdit, Mode::Full] {
                let verdict = decide(project.path(), rules(), mode, &line);
                let Verdict::Ask(question) = verdict else {
                    panic!("{mode:?} {line}: {verdict:?}");
                };
                assert!(question.remember.is_empty(), "{line}: {question:?}");
            }
        }
        for line in [
            format!("git show {commit}"),
            format!("git show {}", commit.get(..7).unwrap()),
            format!("git diff {commit}..HEAD"),
            format!("git cat-file -p {plain}"),
            format!("git show {commit}:README.md"),
            "git grep -- KEY src".to_owned(),
        ] {
            for mode in [Mode::Ask, Mode::Full] {
                let verdict = decide(project.path(), Vec::new(), mode, &line);
                let is_known = mode == Mode::Ask || !line.contains(&plain);
                assert_eq!(
                    verdict == Verdict::Allow,
                    is_known,
                    "{mode:?} {line}: {verdict:?}"
                );
            }
        }
    };
    check();
    git(&["gc", "-q", "--prune=now"]);
    check();
}

#[test]
fn h3_git_is_asked_about_in_a_folder_that_pretends_to_be_a_repository() {
    let project = project();
    let trap = project.path().join("vendor/trap");
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(trap.join(folder)).unwrap();
    }
    std::fs::write(trap.join("HEAD"), "ref: refs/heads/x\n").unwrap();
    std::fs::write(trap.join("config"), "[core]\n\tfsmonitor = ./evil\n").unwrap();
    for line in [
        "cd vendor/trap && git status",
        "git -C vendor/trap status",
        "cd vendor/trap/refs && git log",
    ] {
        for rules in [
            vec![],
            vec![allow("shell(git status *)"), allow("shell(git log *)")],
        ] {
            let verdict = decide(project.path(), rules, Mode::Ask, line);
            assert!(matches!(verdict, Verdict::Ask(_)), "{line}: {verdict:?}");
        }
    }
    let fine = decide(
        project.path(),
        Vec::new(),
        Mode::Ask,
        "cd vendor && git status",
    );
    assert_eq!(fine, Verdict::Allow);
}

#[test]
fn rules_hold_in_folders_below_but_not_for_scripts_of_theirs() {
    let project = project();
    std::fs::create_dir_all(project.path().join("vendor/.git")).unwrap();
    let rules = || {
        vec![
            allow("shell(cargo test *)"),
            allow("shell(./build.sh)"),
            allow("shell(git add *)"),
        ]
    };
    for (line, allowed) in [
        ("cd src && cargo test", true),
        ("cd src && git add main.rs", true),
        ("cd src && ./build.sh", false),
        ("./build.sh", true),
        ("cd vendor && git add x", false),
        ("cd vendor && cargo test", true),
        ("cd .. && cargo test", false),
    ] {
        let verdict = decide(project.path(), rules(), Mode::Ask, line);
        assert_eq!(verdict == Verdict::Allow, allowed, "{line}: {verdict:?}");
    }
}

#[test]
fn a_rule_with_a_star_does_not_reach_into_guarded_places() {
    let project = project();
    let rules =
        || ["cp", "touch", "mkdir", "git add", "tee"].map(|it| allow(&format!("shell({it} *)")));
    for (line, allowed) in [
        ("cp README.md x", true),
        ("cp README.md .git/hooks/pre-commit", false),
        ("cp README.md .github/workflows/ci.yml", false),
        ("cp .env x", false),
        ("touch a.txt", true),
        ("touch .envrc", false),
        ("touch sub/HEAD", false),
        ("mkdir -p .git/hooks", false),
        ("git add .github/workflows/ci.yml", true),
        ("git add .env", false),
    ] {
        let verdict = decide(project.path(), rules().to_vec(), Mode::Ask, line);
        assert_eq!(verdict == Verdict::Allow, allowed, "{line}: {verdict:?}");
    }
}

#[test]
fn touch_is_offered_a_rule_as_mkdir_is() {
    let project = project();
    for (line, rule) in [
        ("mkdir x", Some("shell(mkdir x)")),
        ("touch a.txt", Some("shell(touch a.txt)")),
        ("touch .envrc", None),
        ("touch .git/hooks/pre-commit", None),
        ("rm a.txt", None),
    ] {
        let Verdict::Ask(question) = decide(project.path(), Vec::new(), Mode::Ask, line) else {
            panic!("{line} is asked about");
        };
        let offered = question.remember.first().map(|one| one.rule.to_string());
        assert_eq!(offered.as_deref(), rule, "{line}");
    }
}

#[test]
fn sources_of_dependencies_may_be_read_and_not_changed() {
    let project = project();
    let library = tempfile::tempdir().unwrap();
    let library = library.path().canonicalize().unwrap();
    std::fs::create_dir_all(library.join("dep/src")).unwrap();
    std::fs::write(library.join("dep/src/lib.rs"), "x\n").unwrap();
    std::fs::write(library.join("dep/key.pem"), "x\n").unwrap();
    let root = project.path().canonicalize().unwrap();
    let permissions = Permissions::new(vec![root.clone()], Vec::new(), Stores::default())
        .reading(vec![library.clone()]);
    let file = library.join("dep/src/lib.rs");
    let shell = |command: String| Access::Shell {
        command,
        cwd: root.clone(),
    };
    for (access, allowed) in [
        (Access::Read(file.clone()), true),
        (Access::Read(library.join("dep/key.pem")), false),
        (Access::Write(file.clone()), false),
        (Access::Delete(file.clone()), false),
        (shell(format!("cat {}", file.display())), true),
        (
            shell(format!("rg x {}", library.join("dep/src").display())),
            true,
        ),
        (
            shell(format!("cat {}", library.join("dep/key.pem").display())),
            false,
        ),
        (shell(format!("touch {}", file.display())), false),
        (shell("cat /etc/passwd".to_owned()), false),
    ] {
        let verdict = permissions.decide(Mode::Ask, std::slice::from_ref(&access));
        assert_eq!(
            verdict == Verdict::Allow,
            allowed,
            "{access:?}: {verdict:?}"
        );
    }
    let plan = permissions.decide(Mode::Plan, &[Access::Read(file)]);
    assert_eq!(plan, Verdict::Allow);
}

#[test]
fn h7_no_file_escapes_by_its_place_in_a_pattern_or_behind_a_link() {
    let project = project();
    let at = |name: &str| project.path().join(name);
    std::fs::create_dir(at("odd")).unwrap();
    std::fs::write(at("odd/SECRET.key"), "x\n").unwrap();
    std::fs::write(at("odd/a.txt"), "x\n").unwrap();
    std::fs::create_dir(at("options")).unwrap();
    std::fs::write(at("options/-o"), "x\n").unwrap();
    std::fs::create_dir_all(at("linked/in")).unwrap();
    std::os::unix::fs::symlink("/etc", at("linked/in/etc")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", at("passwd")).unwrap();
    for line in [
        "grep odd/*",
        "rg odd/*",
        "jq odd/*",
        "cat odd/?ECRET.key",
        "cd options && sort *",
        "cd options && cat ?o",
        "cat passwd",
        "cat linked/in/etc/passwd",
        "cat linked/*/etc/passwd",
        "diff -r linked docs",
        "diff linked/in docs",
        "cat /etc/passwd",
        "cat ../../../../etc/passwd",
        "cat src/../../etc/passwd",
        "ls /",
        "find / -name x",
        "find . -newer /etc/passwd",
        "git diff /etc/passwd README.md",
        "git -C / status",
        "git -C .. log",
        "grep -f /etc/passwd README.md",
        "tar tf host:a.tar",
        "strings @README.md",
        "date 01010000",
        "jq 'import \"/etc/x\" as $x; .'",
        "time ls -la",
        "git submodule foreach make",
        "hostname evil",
    ] {
        let verdict = decide(project.path(), Vec::new(), Mode::Ask, line);
        assert!(matches!(verdict, Verdict::Ask(_)), "{line}: {verdict:?}");
    }
}

#[test]
fn h3_a_toolchain_or_settings_of_the_project_make_harmless_commands_worth_a_question() {
    let project = project();
    let check = |line: &str, allowed: bool| {
        let verdict = decide(project.path(), Vec::new(), Mode::Ask, line);
        assert_eq!(verdict == Verdict::Allow, allowed, "{line}: {verdict:?}");
    };
    check("cargo --version", true);
    std::fs::write(
        project.path().join("rust-toolchain.toml"),
        "[toolchain]\npath = \"x\"\n",
    )
    .unwrap();
    check("cargo --version", false);
    check("git status", true);
    std::fs::write(
        project.path().join(".git/config"),
        "[core]\n\tfsmonitor = ./evil\n",
    )
    .unwrap();
    check("git status", false);
    check("git log -1", false);
    check("ls", true);
}
