//! What clients see of tools.

use std::collections::BTreeMap;

use coder_tests::{Reply, Setup, World};
use ply_agent::v2::{self, ToolCallContent, ToolKind};
use ply_client::{ElicitationDecision, Elicitations, Supported};
use ply_coder::permission::Mode;
use serde_json::json;

#[tokio::test]
async fn an_edit_shows_its_place_and_its_diff_on_both_versions() {
    for versions in [Supported::V1, Supported::V2] {
        let script = [
            Reply::call("read_file", json!({ "path": "src/a.rs" })),
            Reply::call(
                "edit_file",
                json!({ "path": "src/a.rs", "edits": [{ "old": "1", "new": "2" }] }),
            ),
            Reply::say("Done."),
        ];
        let setup = Setup {
            versions,
            ..Setup::default()
        };
        let world = World::with(setup, script).await;
        let path = world.write("src/a.rs", "fn a() -> u8 {\n    1\n}\n");
        let story = world.turn("Make it 2").await;
        assert_eq!(world.read("src/a.rs"), "fn a() -> u8 {\n    2\n}\n");
        let call = story.call("edit_file");
        assert_eq!(call.kind, ToolKind::Edit);
        assert_eq!(call.locations[0].path.0, path);
        assert!(
            call.content
                .iter()
                .any(|content| matches!(content, ToolCallContent::Diff(_))),
            "{versions:?} {call:#?}"
        );
    }
}

#[tokio::test]
async fn a_command_shows_its_output_as_it_comes() {
    let script = [
        Reply::call(
            "shell",
            json!({ "command": "echo out; echo err >&2; exit 3" }),
        ),
        Reply::say("Done."),
    ];
    let setup = Setup {
        mode: Mode::Full,
        ..Setup::default()
    };
    let world = World::with(setup, script).await;
    let session = world.session().await;
    let story = coder_tests::Tell::tell(&session, "Run").await;
    let call = story.call("shell");
    assert_eq!(call.kind, ToolKind::Execute);
    let told = story.told()[0];
    assert!(
        told.contains("out") && told.contains("err") && told.contains('3'),
        "{told}"
    );
    let terminal = session.with_transcript(|transcript| {
        let mut entries = transcript.entries();
        entries.find_map(|entry| match entry {
            ply_agent::transcript::Entry::Terminal(terminal) => Some(terminal.text()),
            _ => None,
        })
    });
    assert_eq!(terminal.unwrap().trim(), "out\nerr");
}

#[tokio::test]
async fn a_question_to_the_user_needs_a_client_with_forms() {
    let ask = || {
        Reply::call(
            "ask_user",
            json!({ "question": "Which?", "choices": ["a", "b"] }),
        )
    };
    let world = World::new([ask(), Reply::say("ok")]).await;
    world.turn("Go").await;
    assert!(
        !world
            .model
            .request(0)
            .await
            .tools()
            .contains(&"ask_user".to_owned())
    );

    let answers = |_: &v2::CreateElicitationRequest| {
        let answer = v2::ElicitationContentValue::String("b".to_owned());
        let content = BTreeMap::from([("answer".to_owned(), answer)]);
        let accept = v2::ElicitationAcceptAction::new().content(content);
        ElicitationDecision::Answer(v2::ElicitationAction::Accept(accept))
    };
    let setup = Setup {
        client: Box::new(move |client| {
            client.elicitation(Elicitations::new().forms().decide(answers))
        }),
        ..Setup::default()
    };
    let world = World::with(setup, [ask(), Reply::say("ok")]).await;
    let story = world.turn("Go").await;
    assert!(
        story.told()[0].contains("answered: b"),
        "{:?}",
        story.told()
    );
}
