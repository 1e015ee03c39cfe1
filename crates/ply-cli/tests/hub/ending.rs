//! The hub is stopped, or replaced by another one.

use crate::place::{PLY, Place, text};

const PROMPT: &str = "what can you do?";

#[tokio::test]
async fn an_editor_notices_nothing_of_a_hub_that_is_replaced() {
    let place = Place::new();
    for words in [&[][..], &["--", PLY, "agent"]] {
        let editor = place.attach_to(words).await;
        let session = editor.new_session(place.project()).await.unwrap();
        for _ in 0..3 {
            let said = session.transcript().entries().len();
            let turn = session.prompt(PROMPT).await.unwrap();
            turn.finish().await.unwrap();
            assert!(session.transcript().entries().len() > said);
            let hub = place.hub();
            let told = place.says(&["serve", "--drain"]);
            assert!(told.contains("the hub is stopping"), "{told}");
            place.until(|place| place.hub() != hub).await;
        }
        editor.close().await;
    }
}

#[tokio::test]
async fn the_end_of_the_log_is_shown() {
    let place = Place::new();
    let none = place.ply(&["hub", "logs"]);
    assert!(none.status.success());
    assert_eq!(text(&none.stdout), "");
    assert!(text(&none.stderr).contains("no log yet"));
    let editor = place.attach().await;
    let log = place.runtime().join("ply/hub.log");
    std::fs::write(&log, "one\ntwo\n").unwrap();
    let shown = place.ply(&["hub", "logs"]);
    assert_eq!(text(&shown.stdout), "one\ntwo\n");
    assert!(text(&shown.stderr).contains("hub.log"));
    editor.close().await;
}
