//! `ply permits`: rules are listed and revoked.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use crate::place::{PLY, Place};

fn permits(place: &Place, arguments: &[&str]) -> Output {
    Command::new(PLY)
        .arg("permits")
        .args(arguments)
        .env_clear()
        .env("HOME", place.path("home"))
        .current_dir(place.project())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A place with a rule for the project, one for another, one for all and one of the configuration.
fn place() -> Place {
    let place = Place::new();
    let file = place.path("home/.config/ply/rules.toml");
    let project = place.project().display().to_string();
    let rules = format!(
        "version = 1\n\n[user]\nallow = [\"shell(git status *)\"]\ndeny = [\"read(secret/**)\"]\n\n\
         [[project]]\ndirectory = \"{project}\"\nallow = [\"shell(cargo test *)\"]\n\n\
         [[project]]\ndirectory = \"/elsewhere\"\nallow = [\"shell(cargo test *)\"]\n"
    );
    std::fs::write(&file, rules).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    place.configure("[permissions]\nask = [\"shell(git push *)\"]\n");
    place
}

#[test]
fn rules_are_listed_with_where_they_hold() {
    let place = place();
    let project = place.project().display().to_string();
    let listed = permits(&place, &["rules"]);
    assert_eq!(
        text(&listed.stdout),
        format!(
            "ask\tshell(git push *)\tconfig.toml\ndeny\tread(secret/**)\teverywhere\n\
             allow\tshell(git status *)\teverywhere\nallow\tshell(cargo test *)\t{project}\n\
             allow\tshell(cargo test *)\t/elsewhere\n"
        ),
        "{}",
        text(&listed.stderr)
    );
    let here = permits(&place, &["rules", "--cwd", "."]);
    assert!(!text(&here.stdout).contains("/elsewhere"));
    let json = permits(&place, &["rules", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json[0]["source"], "config");
    assert_eq!(json[4]["project"], "/elsewhere");
}

#[test]
fn a_rule_is_revoked_where_it_is_asked_to_be() {
    let place = place();
    let revoked = permits(&place, &["revoke", "shell(cargo test *)", "--cwd", "."]);
    assert!(revoked.status.success(), "{}", text(&revoked.stderr));
    assert_eq!(text(&revoked.stdout).lines().count(), 1);
    let left = text(&permits(&place, &["rules"]).stdout);
    assert!(
        left.contains("/elsewhere") && left.lines().count() == 4,
        "{left}"
    );
    permits(
        &place,
        &["revoke", "shell(cargo  test  *)", "read(secret/**)"],
    );
    let left = text(&permits(&place, &["rules"]).stdout);
    assert_eq!(left.lines().count(), 2, "{left}");
    let again = permits(&place, &["revoke", "shell(cargo test *)"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("ply permits rules"));
}
