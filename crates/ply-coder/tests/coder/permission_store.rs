//! The file with the rules that the user keeps.
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ply_coder::permission::{
    Decision, Mode, Permissions, RULES_FILE_BYTES_MAX, Rule, Scope, StoreError, Stores, Verdict,
};
use ply_coder::tool::Access;

/// A folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("permission-store")
        .join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn session(file: &Path, project: &str) -> Permissions {
    let stores = Stores {
        user: Some(file.to_owned()),
        project: Some(PathBuf::from(project)),
        ..Stores::default()
    };
    Permissions::new(vec![PathBuf::from(project)], Vec::new(), stores)
}

fn allow(text: &str) -> Rule {
    Rule::parse(Decision::Allow, text).unwrap()
}

fn shell(command: &str, project: &str) -> [Access; 1] {
    [Access::Shell {
        command: command.to_owned(),
        cwd: PathBuf::from(project),
    }]
}

fn is_allowed(permissions: &Permissions, command: &str, project: &str) -> bool {
    permissions.decide(Mode::Ask, &shell(command, project)) == Verdict::Allow
}

fn write(file: &Path, text: &str) {
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn kept_rules_hold_in_the_next_session_and_in_their_scope_only() {
    let file = folder("scopes").join("ply/rules.toml");
    let first = session(&file, "/p");
    first.remember(Scope::Once, allow("shell(a)")).unwrap();
    first.remember(Scope::Session, allow("shell(b)")).unwrap();
    first
        .remember(Scope::Project, allow("shell(c 'x \" y' *)"))
        .unwrap();
    first.remember(Scope::User, allow("shell(d)")).unwrap();
    let seen = |permissions: &Permissions, project: &str| {
        ["a", "b", "c 'x \" y' z", "d"].map(|command| is_allowed(permissions, command, project))
    };
    assert_eq!(seen(&first, "/p"), [false, true, true, true]);
    assert_eq!(
        seen(&session(&file, "/p"), "/p"),
        [false, false, true, true]
    );
    assert_eq!(
        seen(&session(&file, "/p/sub"), "/p/sub"),
        [false, false, false, true]
    );
    assert_eq!(
        seen(&session(&file, "/q"), "/q"),
        [false, false, false, true]
    );
}

#[test]
fn the_file_reads_as_people_would_write_it() {
    let file = folder("text").join("rules.toml");
    let permissions = session(&file, "/p");
    permissions
        .remember(Scope::User, allow("shell(cargo test *)"))
        .unwrap();
    permissions
        .remember(
            Scope::User,
            Rule::parse(Decision::Deny, "shell(git push *)").unwrap(),
        )
        .unwrap();
    permissions
        .remember(Scope::Project, allow("shell(rg 'a\\b')"))
        .unwrap();
    permissions
        .remember(Scope::Project, allow("shell(rg 'a\\b')"))
        .unwrap();
    let expected = "version = 1\n\n[user]\nallow = [\n    \"shell(cargo test *)\",\n]\ndeny = [\n    \
                    \"shell(git push *)\",\n]\n\n[[project]]\ndirectory = \"/p\"\nallow = [\n    \
                    \"shell(rg 'a\\\\b')\",\n]\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
}

#[test]
fn only_the_user_may_read_the_file_and_its_folder() {
    let file = folder("bits").join("ply/rules.toml");
    session(&file, "/p")
        .remember(Scope::User, allow("shell(a)"))
        .unwrap();
    let bits = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(bits(&file), 0o600);
    assert_eq!(bits(file.parent().unwrap()), 0o700);
}

#[test]
fn a_session_sees_what_another_keeps_and_forgets() {
    let file = folder("shared").join("rules.toml");
    let (one, two) = (session(&file, "/p"), session(&file, "/p"));
    assert!(!is_allowed(&two, "a", "/p"));
    one.remember(Scope::Project, allow("shell(a)")).unwrap();
    assert!(is_allowed(&two, "a", "/p"));
    assert!(two.forget(Scope::Project, &allow("shell(a)")).unwrap());
    assert!(!two.forget(Scope::Project, &allow("shell(a)")).unwrap());
    assert!(!is_allowed(&one, "a", "/p"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "version = 1\n");
}

#[test]
fn rules_are_listed_with_their_scopes() {
    let file = folder("list").join("rules.toml");
    let stores = Stores {
        user: Some(file),
        project: Some(PathBuf::from("/p")),
        ..Stores::default()
    };
    let permissions = Permissions::new(vec!["/p".into()], vec![allow("shell(a)")], stores);
    permissions
        .remember(Scope::Session, allow("shell(b)"))
        .unwrap();
    permissions
        .remember(Scope::Project, allow("shell(c)"))
        .unwrap();
    permissions
        .remember(Scope::User, allow("shell(d)"))
        .unwrap();
    let rules: Vec<String> = permissions
        .rules()
        .unwrap()
        .iter()
        .map(|(scope, rule)| format!("{scope:?} {rule}"))
        .collect();
    assert_eq!(
        rules,
        [
            "User shell(a)",
            "User shell(d)",
            "Project shell(c)",
            "Session shell(b)"
        ]
    );
    assert!(
        permissions
            .forget(Scope::Session, &allow("shell(b)"))
            .unwrap()
    );
    assert!(!permissions.forget(Scope::User, &allow("shell(a)")).unwrap());
}

#[test]
fn a_rule_written_by_hand_denies_in_every_mode() {
    let file = folder("hand").join("rules.toml");
    write(
        &file,
        "version = 1\n[user]\ndeny = ['shell(git push *)']\nallow = [\"shell(git *)\"]\n",
    );
    let permissions = session(&file, "/p");
    for mode in Mode::ALL {
        let verdict = permissions.decide(mode, &shell("git push", "/p"));
        assert!(matches!(verdict, Verdict::Deny(_)), "{mode:?}");
    }
    assert!(is_allowed(&permissions, "git status", "/p"));
}

#[test]
fn hostile_content_allows_nothing_and_is_not_written_over() {
    let hostile = [
        "allow = ['shell(a)']",
        "version = 2\n[user]\nallow = ['shell(a)']",
        "version = 1\n[user]\nallow = ['shell(a)']\nalow = []",
        "version = 1\n[user]\nallow = ['shell(a)', 'shell(b; c)']",
        "version = 1\n[user]\nallow = ['shell(a)', 7]",
        "version = 1\n[user]\nallow = 'shell(a)'",
        "version = 1\nallow = ['shell(a)']",
        "version = 1\n[user]\nallow = ['shell(a)'",
        "version = 1\n[[project]]\ndirectory = '/p'\nallow = ['shell(a)']\n[[project]]\ndirectory = '/p'\ndeny = ['shell(a)']",
        "version = 1\n[[project]]\nallow = ['shell(a)']",
        "version = 1\n[[project]]\ndirectory = '/p'\nallow = ['shell(a)']\nextra = 1",
        "\0",
        "version = 1\n[user]\nallow = ['shell(a)\u{202e}']",
    ];
    let file = folder("hostile").join("rules.toml");
    for text in hostile {
        write(&file, text);
        let permissions = session(&file, "/p");
        assert!(!is_allowed(&permissions, "a", "/p"), "{text:?}");
        // What the user denied is not known, so nothing else is allowed either.
        for access in [Access::Read("/p/x".into()), Access::Write("/p/x".into())] {
            let Verdict::Ask(question) = permissions.decide(Mode::Full, &[access]) else {
                panic!("{text:?} asks");
            };
            assert!(question.description.contains("Your rules are not known"));
            assert!(question.remember.is_empty());
        }
        assert!(
            permissions
                .remember(Scope::User, allow("shell(b)"))
                .is_err(),
            "{text:?}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn a_file_that_others_can_write_is_not_trusted() {
    let file = folder("exposed").join("rules.toml");
    write(&file, "version = 1\n[user]\nallow = ['shell(a)']");
    for bits in [0o620, 0o602, 0o666] {
        fs::set_permissions(&file, fs::Permissions::from_mode(bits)).unwrap();
        let permissions = session(&file, "/p");
        assert!(!is_allowed(&permissions, "a", "/p"));
        assert!(matches!(permissions.rules(), Err(StoreError::Exposed)));
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(is_allowed(&session(&file, "/p"), "a", "/p"));
}

#[test]
fn a_file_that_is_none_or_too_long_is_not_trusted() {
    let folder = folder("odd");
    let long = folder.join("long.toml");
    let padding = "#".repeat(usize::try_from(RULES_FILE_BYTES_MAX).unwrap());
    write(
        &long,
        &format!("version = 1\n[user]\nallow = ['shell(a)']\n{padding}"),
    );
    assert!(matches!(
        session(&long, "/p").rules(),
        Err(StoreError::TooLong)
    ));
    assert!(!is_allowed(&session(&long, "/p"), "a", "/p"));
    let directory = folder.join("directory.toml");
    fs::create_dir(&directory).unwrap();
    assert!(matches!(
        session(&directory, "/p").rules(),
        Err(StoreError::Read(_))
    ));
    let bytes = folder.join("bytes.toml");
    fs::write(&bytes, b"version = 1\n# \xff").unwrap();
    assert!(matches!(
        session(&bytes, "/p").rules(),
        Err(StoreError::Format)
    ));
}

#[test]
fn a_repaired_file_holds_at_once() {
    let file = folder("repair").join("rules.toml");
    write(&file, "version = ");
    let permissions = session(&file, "/p");
    assert!(!is_allowed(&permissions, "pwd", "/p"));
    write(&file, "version = 1");
    assert!(is_allowed(&permissions, "pwd", "/p"));
}

#[test]
fn a_project_brings_no_rules_of_its_own() {
    let folder = folder("project");
    let project = folder.join("p");
    fs::create_dir_all(project.join(".ply")).unwrap();
    let text = "version = 1\n[user]\nallow = ['shell(a)']";
    for name in [".ply/rules.toml", ".ply/config.toml", "rules.toml"] {
        write(&project.join(name), text);
    }
    let project = project.to_str().unwrap();
    let permissions = session(&folder.join("user/rules.toml"), project);
    assert!(!is_allowed(&permissions, "a", project));
    permissions
        .remember(Scope::Project, allow("shell(b)"))
        .unwrap();
    assert_eq!(
        fs::read_to_string(Path::new(project).join(".ply/rules.toml")).unwrap(),
        text
    );
}

#[test]
fn a_link_to_the_file_stays_one() {
    let folder = folder("link");
    let (file, link) = (folder.join("real.toml"), folder.join("link.toml"));
    write(&file, "version = 1");
    symlink(&file, &link).unwrap();
    session(&link, "/p")
        .remember(Scope::User, allow("shell(a)"))
        .unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(is_allowed(&session(&file, "/p"), "a", "/p"));
}

#[test]
fn without_a_file_rules_live_as_long_as_the_session() {
    let permissions = Permissions::new(vec!["/p".into()], Vec::new(), Stores::default());
    for scope in [Scope::Project, Scope::User] {
        let kept = permissions.remember(scope, allow("shell(a)"));
        assert!(matches!(kept, Err(StoreError::Nowhere)));
    }
    let Verdict::Ask(question) = permissions.decide(Mode::Ask, &shell("cargo test", "/p")) else {
        panic!("it asks");
    };
    let scopes: Vec<Scope> = question.remember.iter().map(|one| one.scope).collect();
    assert_eq!(scopes, [Scope::Session]);
}

#[test]
fn a_lock_that_is_not_given_back_ends_in_an_error() {
    let file = folder("locked").join("rules.toml");
    let lock = fs::File::create(file.with_extension("toml.lock")).unwrap();
    lock.lock().unwrap();
    let permissions = session(&file, "/p");
    assert!(matches!(
        permissions.remember(Scope::User, allow("shell(a)")),
        Err(StoreError::Locked)
    ));
    drop(lock);
    permissions
        .remember(Scope::User, allow("shell(a)"))
        .unwrap();
}

/// How many rules each writer keeps.
const RULES_EACH: usize = 25;

/// The part of another process in the test below; without its variables it does nothing.
#[test]
fn another_process_keeps_rules_when_it_is_asked_to() {
    let (Ok(file), Ok(name)) = (
        std::env::var("PLY_TEST_RULES"),
        std::env::var("PLY_TEST_WRITER"),
    ) else {
        return;
    };
    let permissions = session(Path::new(&file), "/p");
    for number in 0..RULES_EACH {
        let scope = if number % 2 == 0 {
            Scope::User
        } else {
            Scope::Project
        };
        permissions
            .remember(scope, allow(&format!("shell({name} {number})")))
            .unwrap();
    }
}

#[test]
fn no_rule_is_lost_when_processes_write_at_once() {
    let file = folder("processes").join("rules.toml");
    let writer = |name: &str| {
        Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "permission_store::another_process_keeps_rules_when_it_is_asked_to",
            ])
            .env("PLY_TEST_RULES", &file)
            .env("PLY_TEST_WRITER", name)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let names = ["one", "two", "three"];
    let children = names.map(writer);
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let permissions = session(&file, "/p");
    for name in names {
        for number in 0..RULES_EACH {
            assert!(
                is_allowed(&permissions, &format!("{name} {number}"), "/p"),
                "{name} {number}"
            );
        }
    }
    assert_eq!(permissions.rules().unwrap().len(), names.len() * RULES_EACH);
}
