//! Who answers when the agent asks, where nobody sits at a terminal.

use serde_json::Value;

use crate::place::Place;

#[track_caller]
fn check(permit: &str, prompt: &str, code: i32, answer: &str, by: &str) {
    let ran = Place::new().run_hostile("", &["--permit", permit, "--output", "json", prompt]);
    let object = ran.ends_with(code).json();
    let asked = object["permissions"].as_array().unwrap();
    assert_eq!(asked.len(), 1, "{object:#}");
    let found = (&asked[0]["answer"], &asked[0]["by"]);
    assert_eq!(
        found,
        (&Value::from(answer), &Value::from(by)),
        "{object:#}"
    );
}

#[test]
fn all_allows_once_and_deny_rejects() {
    check("all", "edit", 0, "allow_once", "policy");
    check("deny", "edit", 5, "reject_once", "policy");
}

#[test]
fn reads_allows_what_only_looks() {
    check("reads", "glance", 0, "allow_once", "policy");
    check("reads", "edit", 5, "reject_once", "nobody");
    // It says that it reads, and would change a file.
    check("reads", "read", 5, "reject_once", "nobody");
}

#[test]
fn a_policy_decides_by_its_rules() {
    let place = Place::new();
    let rules = "[[rule]]\nkind = \"edit\"\npath = \"/w/*.txt\"\naction = \"allow\"\n";
    let rules = place.write("rules.toml", rules);
    let rules = format!("policy:{}", rules.display());
    check(&rules, "edit", 0, "allow_once", "policy");
    check(&rules, "read", 5, "reject_once", "policy");
}

#[test]
fn h1_a_rule_that_denies_has_what_the_agent_does_not_tell() {
    let place = Place::new();
    let rules = "[[rule]]\nkind = \"read\"\naction = \"allow\"\n\
                 [[rule]]\npath = \"**/.env\"\naction = \"deny\"\n";
    let rules = place.write("rules.toml", rules);
    let rules = format!("policy:{}", rules.display());
    check(&rules, "glance", 5, "reject_once", "policy");
}

#[test]
fn a_policy_that_is_not_understood_starts_no_agent() {
    let place = Place::new();
    for rules in [
        "[[rule]]\naction = \"permit\"\n",
        "default = \"allow\"\n",
        "{",
    ] {
        let rules = place.write("rules.toml", rules);
        let rules = format!("policy:{}", rules.display());
        place
            .run_hostile("", &["--permit", &rules, "edit"])
            .ends_with(2);
    }
    place
        .run_hostile("", &["--permit", "policy:/no/such/file", "edit"])
        .ends_with(2);
    assert_eq!(place.notes(), "");
}

#[test]
fn nobody_is_asked_where_nobody_is() {
    let place = Place::new();
    let ran = place
        .run_hostile("", &["--permit", "ask", "edit"])
        .ends_with(2);
    assert!(ran.stderr.contains("needs a terminal"), "{ran:#?}");
    assert_eq!(place.notes(), "");
}
