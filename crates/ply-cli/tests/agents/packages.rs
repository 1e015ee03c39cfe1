//! Agents that are packages.

use std::fs;

use serde_json::{Value, json};

use crate::place::Place;

fn tea(version: &str) -> Value {
    json!({
        "id": "tea-acp", "name": "Tea", "version": version, "description": "Makes tea",
        "preview": {"version": "9.0.0"},
        "distribution": {"npx": {"package": format!("@kitchen/tea@{version}"), "env": {"TEA": "green"}}}
    })
}

#[test]
fn an_agent_is_installed_at_an_exact_version_and_then_found_by_its_name() {
    let place = Place::new();
    place.registry.index(json!([tea("1.2.3")]));
    assert_eq!(
        place.says(&["agents", "add", "tea"]),
        "installed\ttea-acp\t1.2.3\n"
    );
    let log = fs::read_to_string(place.path().join("npm.log")).unwrap();
    for word in ["--ignore-scripts", "--no-audit", "-- @kitchen/tea@1.2.3"] {
        assert!(log.contains(word), "{word}: {log}");
    }
    let locked = &place.lock()["agents"]["tea-acp"];
    assert_eq!(locked["source"], "@kitchen/tea@1.2.3");
    assert_eq!(locked["integrity"], "sha512-tea");
    assert_eq!(locked["runner"], "node");

    let listed = place.says(&["agents"]);
    assert!(
        listed.contains("installed 1.2.3") && listed.contains("Makes tea"),
        "{listed}"
    );
    let listed: Value = serde_json::from_str(&place.says(&["agents", "list", "--json"])).unwrap();
    let row = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "tea-acp");
    assert_eq!(row.unwrap()["state"], "installed");

    let said = place.says(&["run", "-a", "tea", "--no-hub", "hello"]);
    assert!(!said.trim().is_empty());
    let checked = place.says(&["agents", "doctor", "tea-acp"]);
    assert!(checked.contains("ok     tea-acp: starts as"), "{checked}");
}

#[test]
fn a_known_name_stands_for_its_id_in_the_registry() {
    let place = Place::new();
    let mut claude = tea("0.5.1");
    claude["id"] = "claude-acp".into();
    place.registry.index(json!([claude]));
    assert_eq!(
        place.says(&["agents", "add", "claude"]),
        "installed\tclaude\t0.5.1\n"
    );
    assert_eq!(place.installed(), ["agents.lock", "claude"]);
    let listed = place.says(&["agents"]);
    let row = listed.lines().find(|line| line.contains(" claude "));
    assert!(row.unwrap().contains("installed 0.5.1"), "{listed}");
}

#[test]
fn an_update_installs_the_new_version_and_remove_takes_all_of_them_away() {
    let place = Place::new();
    place.registry.index(json!([tea("1.2.3")]));
    place.says(&["agents", "add", "tea"]);
    let again = place.ply(&["agents", "add", "tea-acp"]);
    assert!(
        again.out.is_empty() && again.told.contains("already installed"),
        "{again:?}"
    );
    place.registry.index(json!([tea("1.3.0")]));
    assert_eq!(
        place.says(&["agents", "update"]),
        "installed\ttea-acp\t1.3.0\n"
    );
    // The one before may be running.
    for version in ["1.2.3", "1.3.0"] {
        assert!(place.agents().join("tea-acp").join(version).is_dir());
    }
    let same = place.ply(&["agents", "update", "tea-acp"]);
    assert!(same.told.contains("up to date"), "{same:?}");
    assert_eq!(
        place.says(&["agents", "remove", "tea-acp"]),
        "removed\ttea-acp\n"
    );
    assert_eq!(place.installed(), ["agents.lock"]);
    assert!(
        place
            .fails(&["agents", "remove", "tea-acp"])
            .contains("not installed")
    );
}

#[test]
fn an_installation_that_fails_changes_nothing_and_says_what_npm_said() {
    let place = Place::new();
    place.registry.index(json!([{
        "id": "broken", "name": "Broken", "version": "1.0.0", "distribution": {"npx": {"package": "broken"}}
    }]));
    let told = place.fails(&["agents", "add", "broken"]);
    assert!(told.contains("npm error 404 no such package"), "{told}");
    assert_eq!(place.installed(), Vec::<String>::new());
    fs::remove_file(place.path().join("bin/npm")).unwrap();
    let mut command = place.command(&["agents", "add", "broken"]);
    command.env("PATH", place.path().join("bin"));
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("`npm` is needed") && told.contains("nodejs.org"),
        "{told}"
    );
}

#[test]
fn a_registry_that_is_not_one_is_told_apart() {
    let place = Place::new();
    assert!(
        place
            .fails(&["agents", "add", "tea"])
            .contains("404 Not Found")
    );
    place.registry.put("registry.json", "<html>");
    assert!(
        place
            .fails(&["agents", "add", "tea"])
            .contains("is not the index")
    );
    let insecure = place.fails(&[
        "agents",
        "add",
        "tea",
        "--registry",
        "http://example.com/r.json",
    ]);
    assert!(insecure.contains("https://"), "{insecure}");
    place.registry.index(json!([tea("1.2.3")]));
    assert!(
        place
            .fails(&["agents", "add", "coffee"])
            .contains("no agent `coffee`")
    );
    let all = place.says(&["agents", "list", "--all"]);
    assert!(
        all.contains("In the registry") && all.contains("tea-acp"),
        "{all}"
    );
}

#[test]
fn a_damaged_lock_file_is_named() {
    let place = Place::new();
    fs::create_dir_all(place.agents()).unwrap();
    fs::write(place.agents().join("agents.lock"), "{").unwrap();
    let said = place.ply(&["agents"]);
    assert_eq!(said.code, Some(2));
    assert!(said.told.contains("agents.lock"), "{said:?}");
}
