//! Who may call a server's tool.

use coder_tests::{Reply, Setup, Tell as _, User, World};
use ply_agent::v2::{self, StopReason, ToolCallStatus};
use ply_client::Event;
use ply_coder::permission::Mode;
use ply_mcp_server::soon;
use serde_json::json;

use crate::{VERSIONS, open, server};

fn echo() -> Reply {
    Reply::call("mcp__files__echo", json!({ "text": "hello" }))
}

#[tokio::test]
async fn the_question_names_the_server_and_the_tool() {
    for versions in VERSIONS {
        for user in [User::Allows, User::Rejects] {
            let setup = Setup {
                versions,
                user,
                ..Setup::default()
            };
            let world = World::with(setup, [echo(), Reply::say("Done.")]).await;
            let session = open(&world, [server("files")]).await;
            let story = soon(session.tell("Echo")).await;
            let asked = world.asked();
            assert_eq!(asked.len(), 1, "{asked:?}");
            assert!(
                asked[0].contains("files") && asked[0].contains("echo"),
                "{asked:?}"
            );
            assert_eq!(
                story.told()[0] == "hello",
                user == User::Allows,
                "{story:#?}"
            );
        }
    }
}

#[tokio::test]
async fn always_is_for_that_tool_alone() {
    let setup = Setup {
        user: User::AllowsAlways,
        ..Setup::default()
    };
    let add = Reply::call("mcp__files__add", json!({ "a": 1, "b": 2 }));
    let script = [echo(), echo(), add, Reply::say("Done.")];
    let world = World::with(setup, script).await;
    let session = open(&world, [server("files")]).await;
    soon(session.tell("Go")).await;
    let asked = world.asked();
    assert_eq!(
        asked.len(),
        2,
        "for the first echo and for the sum: {asked:?}"
    );
    assert!(asked[1].contains("add"), "{asked:?}");
}

#[tokio::test]
async fn h6_a_tool_that_describes_itself_in_another_way_is_asked_about_again() {
    let setup = Setup {
        user: User::AllowsAlways,
        ..Setup::default()
    };
    let grow = Reply::call("mcp__files__grow", json!({}));
    let script = [echo(), echo(), grow, echo(), echo(), Reply::say("Done.")];
    let world = World::with(setup, script).await;
    let session = open(&world, [server("files")]).await;
    soon(session.tell("Go")).await;
    let asked = world.asked();
    let of = |tool: &str| asked.iter().filter(|title| title.contains(tool)).count();
    assert_eq!((of("echo"), of("grow")), (2, 1), "{asked:?}");
}

#[tokio::test]
async fn h6_the_question_has_every_argument_to_its_end() {
    for versions in VERSIONS {
        let setup = Setup {
            versions,
            user: User::Waits,
            ..Setup::default()
        };
        let text = format!("{}\nand then the end", "harmless ".repeat(10_000));
        let call = Reply::call(
            "mcp__files__echo",
            json!({ "text": text, "hidden": "\u{202e}x" }),
        );
        let world = World::with(setup, [call, Reply::say("Done.")]).await;
        let session = open(&world, [server("files")]).await;
        let mut turn = session.prompt("Echo").await.unwrap();
        let question = soon(async {
            loop {
                if let Event::Permission(question) = turn.next().await.unwrap().unwrap() {
                    break question;
                }
            }
        })
        .await;
        let mut request = json!(question.request());
        // What a client may show or not is no place for what the user has to know.
        request["subject"]["toolCall"]["rawInput"].take();
        let card = json!(question.tool_call().unwrap().content);
        let shown = format!("{request}{card}");
        assert!(shown.contains("and then the end"), "{versions:?}");
        assert!(shown.contains("u{202e}"), "{versions:?}");
        question.reject_once().await.unwrap();
        soon(coder_tests::read_story(&session, turn)).await;
    }
}

#[tokio::test]
async fn a_model_hears_that_nobody_is_there_to_approve_a_call() {
    for versions in VERSIONS {
        let setup = Setup {
            versions,
            user: User::Waits,
            ..Setup::default()
        };
        let world = World::with(setup, [echo(), Reply::say("Done.")]).await;
        let session = open(&world, [server("files")]).await;
        let mut turn = session.prompt("Echo").await.unwrap();
        let question = soon(async {
            loop {
                if let Event::Permission(question) = turn.next().await.unwrap().unwrap() {
                    break question;
                }
            }
        })
        .await;
        let options = question.options();
        let rejects =
            |option: &&v2::PermissionOption| option.kind == v2::PermissionOptionKind::RejectOnce;
        let reject = options.iter().find(rejects).unwrap().option_id.clone();
        question.reject_unattended(&reject).await.unwrap();
        let story = soon(coder_tests::read_story(&session, turn)).await;
        let heard = &world.model.request(1).await.tool_results()[0].1;
        assert!(
            heard.starts_with("Nobody is there to approve this"),
            "{story:#?} {heard}"
        );
    }
}

#[tokio::test]
async fn plan_mode_denies_calls_of_servers() {
    for versions in VERSIONS {
        let setup = Setup {
            versions,
            mode: Mode::Plan,
            user: User::Allows,
            ..Setup::default()
        };
        let world = World::with(setup, [echo(), Reply::say("Not now.")]).await;
        let session = open(&world, [server("files")]).await;
        let story = soon(session.tell("Echo")).await;
        assert_eq!(story.calls[0].status, ToolCallStatus::Failed, "{story:#?}");
        assert!(story.told()[0].contains("plan mode"), "{story:#?}");
        assert_eq!(story.stop, Some(StopReason::EndTurn));
        assert_eq!(world.asked().len(), 0, "{versions:?}");
    }
}
