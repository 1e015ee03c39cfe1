//! `ply run` where a hub runs.

use crate::place::{Place, text};

const PROMPT: &str = "what can you do?";

fn open(place: &Place) -> Vec<serde_json::Value> {
    let open = place.says(&["hub", "sessions", "--json"]);
    serde_json::from_str(&open).unwrap()
}

#[tokio::test]
async fn a_run_joins_a_session_that_an_editor_has_open() {
    let place = Place::new();
    let editor = place.attach().await;
    let session = editor.new_session(place.project()).await.unwrap();
    let turn = session.prompt(PROMPT).await.unwrap();
    turn.finish().await.unwrap();
    let said = session.transcript().entries().len();
    let id = &*session.id().0;
    place.says(&["run", "--session", id, "--output", "final", PROMPT]);
    place
        .until(|_| session.transcript().entries().len() > said)
        .await;
    assert_eq!(open(&place).len(), 1, "the session is still open");
    let listed = place.says(&["sessions", "ls", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["live"]["state"], "idle");
    assert_eq!(listed[0]["live"]["clients"], 1);
    // Without the hub it belongs to another process.
    let alone = place.ply(&["run", "--no-hub", "--session", id, PROMPT]);
    assert!(!alone.status.success(), "{}", text(&alone.stdout));
    editor.close().await;
}

#[tokio::test]
async fn the_session_of_a_run_ends_with_it() {
    let place = Place::new();
    let editor = place.attach().await;
    place.says(&["run", "--output", "final", PROMPT]);
    assert_eq!(open(&place), [] as [serde_json::Value; 0]);
    let kept = place.says(&["sessions", "ls"]);
    assert_eq!(kept.lines().count(), 1, "{kept}");
    editor.close().await;
}

#[tokio::test]
async fn detached_work_goes_on_without_anybody() {
    let place = Place::new();
    let id = place.says(&["run", "--detach", PROMPT]);
    let id = id.trim();
    place
        .until(|place| {
            let open = open(place);
            let live = open.iter().find(|live| live["id"] == id).unwrap();
            live["state"] == "idle" && live["clients"] == 0
        })
        .await;
    let shown = place.says(&["sessions", "show", id]);
    assert!(shown.contains(PROMPT), "{shown}");
    assert!(shown.len() > 3 * PROMPT.len(), "an answer: {shown}");
}

#[tokio::test]
async fn the_doctor_says_what_is_there_and_what_is_wrong() {
    let place = Place::new();
    let said = place.says(&["hub", "doctor"]);
    assert_eq!(
        said.lines().filter(|line| line.starts_with("ok")).count(),
        4,
        "{said}"
    );
    let editor = place.attach().await;
    let said = place.says(&["hub", "doctor"]);
    assert!(said.contains("the hub runs"), "{said}");
    let other = place.ply(&["hub", "--store", "other.db", "doctor"]);
    let said = text(&other.stdout);
    assert!(!other.status.success(), "{said}");
    assert!(said.contains("wrong"), "{said}");
    editor.close().await;
}

#[test]
fn the_hub_becomes_a_service_of_the_users_systemd() {
    let place = Place::new();
    let said = place.says(&["serve", "--install"]);
    assert!(
        said.contains("systemctl --user enable --now ply-hub"),
        "{said}"
    );
    let unit = place
        .project()
        .join("../.config/systemd/user/ply-hub.service");
    let unit = std::fs::read_to_string(unit).unwrap();
    assert!(unit.contains(crate::place::PLY), "{unit}");
}
