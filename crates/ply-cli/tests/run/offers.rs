//! Files and terminals for agents of version 1, within the session's directories and what `--permit` allows.

use crate::place::Place;

/// Returns the answer to a request of the agent.
#[track_caller]
fn answer(place: &Place, id: &str) -> String {
    let notes = place.notes();
    let id = format!(r#""id":"{id}""#);
    let line = notes.lines().find(|line| line.contains(&id));
    line.unwrap_or_else(|| panic!("no answer to {id}: {notes}"))
        .to_owned()
}

#[test]
fn without_offer_there_are_no_services() {
    let place = Place::new();
    place
        .run_hostile("", &["--permit", "all", "serve me"])
        .ends_with(0);
    assert!(answer(&place, "svc-1").contains("-32601"));
    assert!(answer(&place, "svc-3").contains("-32601"));
    assert!(!place.notes().contains(r#""readTextFile":true"#));
}

#[test]
fn files_and_terminals_are_offered_and_served() {
    let place = Place::new();
    let arguments = ["--offer", "files,terminals", "--permit", "all"];
    let more = ["--output", "events", "serve me"];
    let ran = place.run_hostile("", &[&arguments[..], &more].concat());
    let ran = ran.ends_with(0);
    let notes = place.notes();
    assert!(notes.contains(r#""readTextFile":true"#), "{notes}");
    assert!(notes.contains(r#""terminal":true"#), "{notes}");
    let made = std::fs::read_to_string(place.path("project/made.txt"));
    assert_eq!(made.unwrap(), "made\n");
    assert!(answer(&place, "svc-2").contains(r#""content":"made\n""#));
    assert!(answer(&place, "svc-4").contains(r#""exitCode":3"#));
    // What the terminal shows is part of what happens.
    let updates = ran.stdout;
    assert!(updates.contains("terminal_output_chunk"), "{updates}");
    assert!(updates.contains(r#""exitCode":3"#), "{updates}");
}

#[test]
fn what_permit_does_not_allow_by_itself_is_refused_and_told() {
    let place = Place::new();
    let arguments = ["--offer", "files,terminals", "--output", "json", "serve me"];
    let ran = place.run_hostile("", &arguments).ends_with(5);
    assert!(!place.path("project/made.txt").exists());
    assert!(answer(&place, "svc-1").contains("does not allow"));
    // Reading is what the agent could do by itself.
    assert!(answer(&place, "svc-2").contains("-32002"));
    assert!(answer(&place, "svc-3").contains("does not allow"));
    let permissions = &ran.json()["permissions"];
    assert_eq!(permissions[0]["kind"], "edit");
    assert_eq!(
        permissions[1]["command"],
        "sh -c 'echo from the terminal; exit 3'"
    );
    assert_eq!(permissions[1]["answer"], "reject_once");
    assert!(ran.stderr.contains("not done for the agent"), "{ran:#?}");
}

#[test]
fn nothing_is_served_outside_the_directories_of_the_session() {
    let place = Place::new();
    let arguments = ["--offer", "files", "--permit", "all", "reach out"];
    place.run_hostile("", &arguments).ends_with(0);
    assert!(answer(&place, "svc-9").contains("outside"));
    assert!(!place.path("out.txt").exists());
    let ran = place.run_hostile("", &["--offer", "printers", "say"]);
    ran.ends_with(2);
}
