//! Every point at which the connection can be cut.

use ply_agent::Server;

use crate::editor::{Busy, Cut, Scene, Wire, joined};

/// Lets an editor talk to a server, with one cut at most; returns what it saw, and whether it was cut.
async fn converse(version: u64, cut: Option<Cut>) -> (Vec<serde_json::Value>, bool) {
    let server = Server::new(Busy);
    let mut scene = Scene::new(version);
    let mut lines = scene.begin();
    let mut wire = Wire::new(&server);
    lines.extend(scene.connect());
    let was_cut = scene.pass(&mut wire, lines, cut).await;
    if was_cut {
        drop(wire);
        scene.lose();
        let mut wire = Wire::new(&server);
        let lines = scene.connect();
        scene.pass(&mut wire, lines, None).await;
    }
    (joined(&scene.editor.seen), was_cut)
}

async fn cut_everywhere(version: u64) {
    let (whole, _) = converse(version, None).await;
    assert!(whole.len() > 20, "{whole:#?}");
    for loses_last in [false, true] {
        for after in 1.. {
            let cut = Cut { after, loses_last };
            let (seen, was_cut) = converse(version, Some(cut)).await;
            if !was_cut {
                assert!(after > 30, "the conversation has {after} lines");
                break;
            }
            for (at, (expected, seen)) in whole.iter().zip(&seen).enumerate() {
                assert_eq!(seen, expected, "line {at}, {cut:?}");
            }
            assert_eq!(seen.len(), whole.len(), "{cut:?}\n{seen:#?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_v1_editor_sees_the_same_wherever_its_connection_is_cut() {
    cut_everywhere(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_v2_editor_sees_the_same_wherever_its_connection_is_cut() {
    cut_everywhere(2).await;
}
