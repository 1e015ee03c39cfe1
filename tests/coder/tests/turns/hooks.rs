//! Hooks: the user's own commands, around calls and at the end of a turn.

use coder_tests::{Reply, Setup, Tell as _, World};
use ply_agent::v2::{StopReason, ToolCallStatus};
use ply_coder::hooks::{Event, Hook};
use serde_json::{Value, json};
use tempfile::TempDir;

async fn world(hooks: Vec<Hook>, script: impl IntoIterator<Item = Reply>) -> World {
    let setup = Setup {
        configure: Box::new(move |config| config.hooks = hooks),
        ..Setup::default()
    };
    World::with(setup, script).await
}

fn write(path: &str) -> Reply {
    Reply::call("write_file", json!({ "path": path, "content": "new\n" }))
}

#[tokio::test]
async fn a_hook_blocks_a_call_before_anybody_is_asked() {
    let command = "cat > told.json; echo 'that file is generated' >&2; exit 2";
    let hook = Hook::new(Event::BeforeTool, command).for_tools("write_*");
    let script = [write("a.txt"), Reply::say("I see.")];
    let world = world(vec![hook.unwrap()], script).await;
    let session = world.session().await;
    let story = session.tell("Write it").await;
    assert_eq!(story.text, "I see.", "{story:#?}");
    assert_eq!(story.call("write_file").status, ToolCallStatus::Failed);
    assert!(story.told()[0].contains("blocked this call. that file is generated"));
    assert!(world.asked().is_empty() && !world.path().join("a.txt").exists());
    let told: Value = serde_json::from_str(&world.read("told.json")).unwrap();
    assert_eq!(
        told,
        json!({
            "event": "before-tool",
            "session_id": &*session.id().0,
            "cwd": world.path(),
            "tool": "write_file",
            "arguments": { "path": "a.txt", "content": "new\n" },
        })
    );
}

#[tokio::test]
async fn a_hook_adds_to_the_result_of_a_call() {
    let command = "cat > told.json; echo 'run the formatter' >&2; exit 2";
    let hooks = vec![
        Hook::new(Event::AfterTool, "exit 1"),
        Hook::new(Event::AfterTool, command),
        Hook::new(Event::BeforeTool, "exit 2")
            .for_tools("shell")
            .unwrap(),
    ];
    let world = world(hooks, [write("a.txt"), Reply::say("ok"), Reply::say("ok")]).await;
    let session = world.session().await;
    let story = session.tell("Write it").await;
    assert_eq!(story.call("write_file").status, ToolCallStatus::Completed);
    assert_eq!(world.read("a.txt"), "new\n");
    let told: Value = serde_json::from_str(&world.read("told.json")).unwrap();
    assert_eq!(told["failed"], json!(false));
    assert!(!told["result"].as_str().unwrap().is_empty());
    // One that fails is told of and changes nothing.
    let notices = story.notices.join("\n");
    assert!(
        notices.contains("after-tool hook `exit 1` failed"),
        "{notices}"
    );
    session.tell("And?").await;
    for request in [1, 2] {
        let results = world.model.request(request).await.tool_results();
        assert!(results[0].1.contains("run the formatter"), "{results:?}");
    }
}

#[tokio::test]
async fn a_hook_has_the_turn_go_on_until_it_is_content() {
    let command = "test -e done.txt || { echo 'done.txt is missing' >&2; exit 2; }";
    let hook = Hook::new(Event::TurnEnd, command);
    let script = [
        Reply::say("Finished."),
        write("done.txt"),
        Reply::say("Now it is."),
        Reply::say("Yes."),
    ];
    let world = world(vec![hook], script).await;
    let session = world.session().await;
    let story = session.tell("Do it").await;
    assert_eq!(story.stop, Some(StopReason::EndTurn), "{story:#?}");
    assert_eq!(world.read("done.txt"), "new\n");
    session.tell("Sure?").await;
    for request in [1, 3] {
        let body = world.model.request(request).await.body.to_string();
        assert_eq!(body.matches("done.txt is missing").count(), 1, "{body}");
    }
}

#[tokio::test]
async fn a_hook_that_is_never_content_does_not_keep_the_turn() {
    let hook = Hook::new(Event::TurnEnd, "cat >> told.txt; exit 2");
    let script = (1..=4).map(|number| Reply::say(number.to_string()));
    let world = world(vec![hook], script).await;
    let story = world.turn("Do it").await;
    assert_eq!(story.stop, Some(StopReason::EndTurn), "{story:#?}");
    assert_eq!(world.model.requests().len(), 4);
    assert!(story.notices.iter().any(|it| it.contains("objects still")));
    assert!(world.read("told.txt").contains("\"continued\":3"));
}

#[tokio::test]
async fn a_cancel_ends_a_hook_and_what_it_started() {
    let hook = Hook::new(
        Event::BeforeTool,
        "sleep 1000 & echo $! > pid.new; mv pid.new pid; wait",
    );
    let world = world(vec![hook], [write("a.txt")]).await;
    let session = world.session().await;
    let turn = session.prompt("Write it").await.unwrap();
    world.appears("pid").await;
    let began = tokio::time::Instant::now();
    session.cancel().await.unwrap();
    let story = coder_tests::read_story(&session, turn).await;
    assert_eq!(story.stop, Some(StopReason::Cancelled), "{story:#?}");
    assert!(began.elapsed().as_secs() < 2);
    let pid = world.read("pid");
    // It was killed before the turn ended; the system may take a moment to take it away.
    let ended = async {
        let stat = format!("/proc/{}/stat", pid.trim());
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(std::time::Duration::from_secs(2), ended).await;
    assert!(ended.is_ok(), "{pid} is still running");
    assert!(!world.path().join("a.txt").exists());
}

#[tokio::test]
async fn the_project_has_no_hooks() {
    let elsewhere = TempDir::new().unwrap();
    let world = world(Vec::new(), [Reply::say("ok")]).await;
    let path = elsewhere.path().join("ran");
    let hook = format!(
        "[[hooks]]\nevent = \"turn-end\"\ncommand = \"touch {}\"\n",
        path.display()
    );
    for file in [".ply/config.toml", "config.toml", ".ply/hooks.toml"] {
        world.write(file, &hook);
    }
    world.turn("Hi").await;
    assert!(!path.exists());
}
