//! Paths that lead elsewhere than they say, and files that a tool is given by words that are not known.

use std::os::unix::fs::symlink;
use std::path::Path;

use ply_client::v2::{PermissionOption, PermissionOptionKind};
use serde_json::{Value, json};

use super::super::arguments::PermitArgument;
use super::super::permit::{By, Permit, Verdict};
use super::super::subject::Subject;
use super::{Action, Rules};

/// A project with links, and a place outside.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    for folder in ["w/src", "w/private", "w/.git/hooks", "outside", "other"] {
        std::fs::create_dir_all(at.join(folder)).unwrap();
    }
    for file in ["w/.env", "w/a", "outside/notes", "other/a"] {
        std::fs::write(at.join(file), "").unwrap();
    }
    symlink("../../outside", at.join("w/src/out")).unwrap();
    symlink("../.git/hooks", at.join("w/src/hooks")).unwrap();
    symlink("private", at.join("w/public")).unwrap();
    symlink("w", at.join("link")).unwrap();
    place
}

fn given(kind: &str, input: &Value) -> Subject {
    Subject::given(kind, input)
}

fn reads(permit: &Permit, subject: &Subject) -> bool {
    let options = PermissionOption::new("y", "x", PermissionOptionKind::AllowOnce);
    matches!(
        permit.decide(subject, &[options]),
        Verdict::Answer(Some(_), By::Policy)
    )
}

#[test]
fn h2_a_rule_for_a_folder_goes_as_far_as_its_links_stay_there() {
    let place = place();
    let rules = "default = \"ask\"\n[[rule]]\nkind = [\"read\", \"edit\"]\npath = \"src/**\"\naction = \"allow\"\n\
                 [[rule]]\nkind = \"read\"\npath = \"**\"\naction = \"allow\"\n\
                 [[rule]]\npath = \"private/**\"\naction = \"deny\"\n";
    let rules = Rules::parse(rules).unwrap();
    for cwd in [place.path().join("w"), place.path().join("link")] {
        for (kind, path, expected) in [
            ("edit", "src/a", Action::Allow),
            ("edit", "src/new/a", Action::Allow),
            ("edit", "src/out/a", Action::Ask),
            ("edit", "src/out/new/a", Action::Ask),
            ("edit", "src/hooks/pre-commit", Action::Ask),
            ("edit", "src/hooks/new/a", Action::Ask),
            ("read", "private/notes", Action::Deny),
            ("read", "public/notes", Action::Deny),
            ("read", "public/new/notes", Action::Deny),
        ] {
            for path in [Path::new(path).to_owned(), cwd.join(path)] {
                let subject = given(kind, &json!({ "path": path }));
                assert_eq!(rules.decide(&subject, &cwd), expected, "{kind} {path:?}");
            }
        }
    }
}

#[test]
fn a_pattern_for_whole_paths_means_what_links_in_its_beginning_lead_to() {
    let place = place();
    let at = place.path().display();
    let rules = format!(
        "default = \"ask\"\n[[rule]]\nkind = \"read\"\npath = \"{at}/link/src/*\"\naction = \"allow\"\n"
    );
    let rules = Rules::parse(&rules).unwrap();
    for (path, expected) in [("link/src/a", Action::Allow), ("link/a", Action::Ask)] {
        let subject = given("read", &json!({ "path": place.path().join(path) }));
        assert_eq!(rules.decide(&subject, place.path()), expected, "{path}");
    }
}

#[test]
fn h7_reads_allows_no_file_outside_and_no_secret_by_whatever_word() {
    let place = place();
    let cwd = place.path().join("w");
    let permit = Permit::new(Some(&PermitArgument::Reads), false, cwd.clone()).unwrap();
    let permit = permit.reading([place.path().join("other")]);
    for input in [
        json!({ "path": "a" }),
        json!({ "absolute_path": cwd.join("a") }),
        json!({ "path": place.path().join("other/a") }),
        json!({ "pattern": "**/.env", "path": "src" }),
        json!({ "glob": "*.rs", "query": "id_rsa" }),
        json!({ "files": ["a", "src/b"], "limit": 3 }),
        json!({ "files": [{ "name": "a" }], "uri": "file:///a%20b" }),
    ] {
        assert!(reads(&permit, &given("read", &input)), "{input}");
    }
    for input in [
        json!({ "path": ".env" }),
        json!({ "absolute_path": ".ENV" }),
        json!({ "paths": ["a", ".env"] }),
        json!({ "file": { "path": ".env" } }),
        json!({ "uri": "file:///x/%2eenv" }),
        json!({ "uri": "file:///x/a.pem" }),
        json!({ "glob": ".env*" }),
        json!({ "glob": "**/*.pem" }),
        json!({ "any": { "thing": [["keys/id_rsa"]] } }),
        json!({ "path": "src/out/notes" }),
        json!({ "path": place.path().join("outside/notes") }),
        json!({ "path": place.path() }),
        json!({ "path": "/etc/passwd" }),
        json!({ "many": vec!["a"; 2000] }),
    ] {
        for kind in ["read", "search"] {
            assert!(!reads(&permit, &given(kind, &input)), "{kind} {input}");
        }
    }
}

#[test]
fn h7_a_rule_for_all_files_means_no_credentials_of_programs() {
    let home = std::env::var("HOME").unwrap();
    let rules = "default = \"ask\"\n[[rule]]\nkind = [\"read\", \"search\"]\naction = \"allow\"\n";
    let decide = |rules: &str, kind: &str, path: &str| {
        let subject = given(kind, &json!({ "path": path }));
        Rules::parse(rules)
            .unwrap()
            .decide(&subject, Path::new("/w"))
    };
    for path in [".config/gh/hosts.yml", ".claude/x.json", ".mozilla"] {
        let path = format!("{home}/{path}");
        assert_eq!(decide(rules, "read", &path), Action::Ask, "{path}");
    }
    assert_eq!(
        decide(rules, "read", &format!("{home}/notes")),
        Action::Allow
    );
    // Whatever is below it is searched.
    assert_eq!(decide(rules, "search", &home), Action::Ask);
    let named = format!("{rules}[[rule]]\npath = \"{home}/.config/gh/*\"\naction = \"allow\"\n");
    let path = format!("{home}/.config/gh/hosts.yml");
    assert_eq!(decide(&named, "read", &path), Action::Allow);
}
