//! Models that are trained to change files by patches.

use coder_tests::{Api, Reply, Setup, Tell as _, User, World};
use ply_agent::v2::{ToolCallStatus, ToolKind};
use ply_coder::permission::Mode;
use serde_json::json;

fn patching(mode: Mode, user: User) -> Setup {
    Setup {
        api: Api::Responses,
        mode,
        user,
        facts: Box::new(|facts| facts.patches = true),
        ..Setup::default()
    }
}

fn patch(lines: &str) -> Reply {
    let input = format!("*** Begin Patch\n{lines}*** End Patch");
    Reply::call("apply_patch", json!({ "input": input }))
}

fn read(path: &str) -> Reply {
    Reply::call("read_file", json!({ "path": path }))
}

const PATCH: &str = "*** Add File: src/new.rs\n+pub fn new() {}\n*** Update File: src/lib.rs\n*** Move to: src/core.rs\n\
                     @@ fn two() {\n-    1\n+    2\n*** Delete File: old.txt\n";
const LIB: &str = "fn one() {\n    1\n}\n\nfn two() {\n    1\n}\n";

#[tokio::test]
async fn a_patch_creates_changes_moves_and_deletes_and_is_taken_back_as_one() {
    let script = [
        patch(PATCH),
        read("src/lib.rs"),
        patch(PATCH),
        Reply::say("Done."),
    ];
    let world = World::with(patching(Mode::AutoEdit, User::Allows), script).await;
    world.write("src/lib.rs", LIB);
    world.write("old.txt", "old\n");
    let session = world.session().await;
    let story = session.tell("Change things").await;
    let tools = world.model.request(0).await.tools();
    assert!(tools.iter().any(|tool| tool == "apply_patch"), "{tools:?}");
    let is_other = |tool: &String| tool == "edit_file" || tool == "write_file";
    assert!(!tools.iter().any(is_other), "{tools:?}");
    // What was not read is not changed, and then nothing of the patch is done.
    assert_eq!(story.calls[0].status, ToolCallStatus::Failed);
    assert!(story.told()[0].contains("read it with read_file"));
    let call = &story.calls[2];
    assert_eq!(call.status, ToolCallStatus::Completed, "{story:#?}");
    assert_eq!(call.kind, ToolKind::Edit);
    // Deleting is asked about, and with it the whole patch.
    assert_eq!(world.asked().len(), 1, "{:?}", world.asked());
    assert_eq!(call.title.as_deref(), Some("Patch `src/new.rs` and 2 more"));
    assert_eq!(call.content.len(), 4, "{:#?}", call.content);
    assert_eq!(
        world.read("src/core.rs"),
        "fn one() {\n    1\n}\n\nfn two() {\n    2\n}\n"
    );
    assert_eq!(world.read("src/new.rs"), "pub fn new() {}\n");
    assert!(!world.path().join("old.txt").exists());
    assert!(!world.path().join("src/lib.rs").exists());
    session.tell("/undo").await;
    assert_eq!(world.read("src/lib.rs"), LIB);
    assert_eq!(world.read("old.txt"), "old\n");
    assert!(!world.path().join("src/new.rs").exists());
    assert!(!world.path().join("src/core.rs").exists());
}

#[tokio::test]
async fn the_user_is_asked_about_a_patch_and_may_reject_it() {
    let script = [read("src/lib.rs"), patch(PATCH), Reply::say("Well.")];
    let world = World::with(patching(Mode::Ask, User::Rejects), script).await;
    world.write("src/lib.rs", LIB);
    world.write("old.txt", "old\n");
    let story = world.turn("Change things").await;
    assert_eq!(world.asked().len(), 1, "{:?}", world.asked());
    assert_eq!(story.calls.last().unwrap().status, ToolCallStatus::Failed);
    assert_eq!(world.read("src/lib.rs"), LIB);
    assert_eq!(world.read("old.txt"), "old\n");
}

#[tokio::test]
async fn a_patch_that_does_not_fit_says_what_is_there() {
    let wrong = "*** Update File: src/lib.rs\n fn two() {\n-    3\n+    4\n }\n";
    let script = [read("src/lib.rs"), patch(wrong), Reply::say("Well.")];
    let world = World::with(patching(Mode::Full, User::Rejects), script).await;
    world.write("src/lib.rs", LIB);
    let story = world.turn("Change things").await;
    let told = story.told()[1];
    assert!(told.contains("Nothing of the patch was done."), "{told}");
    assert!(told.contains("5\tfn two() {"), "{told}");
    assert_eq!(world.read("src/lib.rs"), LIB);
}

#[tokio::test]
async fn other_models_get_no_patches() {
    let world = World::new([Reply::say("Hi.")]).await;
    world.turn("Hi").await;
    let tools = world.model.request(0).await.tools();
    assert!(!tools.iter().any(|tool| tool == "apply_patch"), "{tools:?}");
    assert!(tools.iter().any(|tool| tool == "edit_file"), "{tools:?}");
}
