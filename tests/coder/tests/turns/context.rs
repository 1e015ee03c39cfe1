//! What the model gets to see.

use coder_tests::{Api, Reply, Setup, Tell as _, World};
use ply_agent::v2;
use ply_coder::model::Facts;
use ply_coder::model::service::{self, Service};
use serde_json::json;

#[tokio::test]
async fn project_instructions_are_read_anew_for_each_prompt() {
    let world = World::new([Reply::say("1"), Reply::say("2")]).await;
    world.write("AGENTS.md", "Use tabs.");
    let session = world.session().await;
    session.tell("Hi").await;
    assert!(world.model.request(0).await.system().contains("Use tabs."));
    world.write("AGENTS.md", "Use spaces.");
    session.tell("Hi").await;
    assert!(
        world
            .model
            .request(1)
            .await
            .system()
            .contains("Use spaces.")
    );
}

#[tokio::test]
async fn a_directory_tells_the_model_its_instructions_when_it_comes_there() {
    let read = |path: &str| Reply::call("read_file", json!({ "path": path }));
    let script = [
        read("web/a.ts"),
        read("web/b.ts"),
        Reply::say("ok"),
        Reply::say("again"),
    ];
    let world = World::new(script).await;
    world.write("AGENTS.md", "Use tabs. @style.md");
    world.write("style.md", "No tables.");
    world.write("web/AGENTS.md", "Use pnpm.");
    for file in ["web/a.ts", "web/b.ts"] {
        world.write(file, "let x = 1;");
    }
    let session = world.session().await;
    let story = session.tell("Look").await;
    session.tell("And?").await;
    let system = world.model.request(0).await.system();
    assert!(system.contains("No tables.") && !system.contains("pnpm"));
    for request in [2, 3] {
        let body = world.model.request(request).await.body.to_string();
        assert_eq!(body.matches("Use pnpm.").count(), 1, "{body}");
    }
    assert!(!story.calls[0].text().contains("pnpm"), "{story:#?}");
}

#[tokio::test]
async fn an_image_that_a_tool_returns_is_told_of_where_it_cannot_be_seen() {
    // As much of a picture as it takes to know it for one, and the same in base64.
    let (bytes, pixel) = (b"\x89PNG\r\n\x1a\n", "iVBORw0KGgo=");
    for sees in [true, false] {
        let setup = Setup {
            facts: Box::new(move |facts| facts.images = sees),
            ..Setup::default()
        };
        let script = [
            Reply::call("read_file", json!({ "path": "a.png" })),
            Reply::say("ok"),
            Reply::say("again"),
        ];
        let world = World::with(setup, script).await;
        std::fs::write(world.path().join("a.png"), bytes).unwrap();
        let session = world.session().await;
        session.tell("Look").await;
        session.tell("And again").await;
        // In the turn itself, and when the history is told again.
        for request in [1, 2] {
            let body = world.model.request(request).await.body.to_string();
            assert_eq!(body.contains(pixel), sees, "{request}: {body}");
            assert_eq!(
                body.contains("which you cannot see"),
                !sees,
                "{request}: {body}"
            );
        }
    }
}

#[tokio::test]
async fn a_model_is_told_where_it_works_and_what_the_user_has_not_committed() {
    let today = || "2026-11-17".to_owned();
    let setup = Setup {
        configure: Box::new(move |config| config.today = Some(today)),
        ..Setup::default()
    };
    let world = World::with(setup, [Reply::say("1")]).await;
    world.write(".git/HEAD", "ref: refs/heads/topic\n");
    world.turn("Hi").await;
    let system = world.model.request(0).await.system();
    for part in [
        "Date: 2026-11-17",
        "branch `topic`",
        "without a sandbox",
        "`cd`",
        "Commit, push",
    ] {
        assert!(system.contains(part), "{part}: {system}");
    }
}

#[tokio::test]
async fn attachments_reach_the_model() {
    for (api, sees) in [
        (Api::Anthropic, true),
        (Api::Chat, true),
        (Api::Gemini, true),
        (Api::Chat, false),
    ] {
        let setup = Setup {
            api,
            facts: Box::new(move |facts| facts.images = sees),
            // One that sees is there to be chosen, or no client would send an image.
            configure: Box::new(|config| {
                let mut facts = Facts::new("seeing/model");
                facts.images = true;
                let service = Service::new(service::Api::Anthropic, "model", facts);
                config.models.push(service::open(service));
            }),
            ..Setup::default()
        };
        let world = World::with(setup, [Reply::say("ok")]).await;
        let session = world.session().await;
        let text = v2::TextResourceContents::new("let x = 1;", "file:///p/x.rs");
        let text = v2::EmbeddedResourceResource::TextResourceContents(text);
        let prompt: Vec<v2::ContentBlock> = vec![
            "Look at these".into(),
            v2::ContentBlock::Image(v2::ImageContent::new("iVBORw0KGgo=", "image/png")),
            v2::ContentBlock::Resource(v2::EmbeddedResource::new(text)),
            v2::ContentBlock::ResourceLink(v2::ResourceLink::new("y.rs", "file:///p/y.rs")),
        ];
        let turn = session.prompt(prompt).await.unwrap();
        let story = coder_tests::read_story(&session, turn).await;
        let told = story
            .notices
            .iter()
            .any(|it| it.contains("cannot take images"));
        assert_eq!(told, !sees, "{story:#?}");
        let body = world.model.request(0).await.body.to_string();
        assert!(
            body.contains("let x = 1;") && body.contains("/p/y.rs"),
            "{api:?} {body}"
        );
        assert_eq!(body.contains("iVBORw0KGgo="), sees, "{api:?} {body}");
        assert_eq!(body.contains("cannot see it"), !sees, "{api:?} {body}");
    }
}

#[tokio::test]
async fn old_outputs_are_left_out_before_the_window_is_full() {
    let setup = Setup {
        facts: Box::new(|facts| facts.window_tokens = 60_000),
        ..Setup::default()
    };
    let read = |name: &str| Reply::call("read_file", json!({ "path": name })).no_usage();
    let script = [
        read("a"),
        read("b"),
        read("c"),
        read("d"),
        Reply::say("Done."),
    ];
    let world = World::with(setup, script).await;
    for name in ["a", "b", "c", "d"] {
        world.write(name, &format!("{name} {}\n", "x".repeat(1_900)).repeat(30));
    }
    let story = world.turn("Read all").await;
    assert_eq!(story.text, "Done.", "{story:#?}");
    let results = world.model.request(4).await.tool_results();
    assert_eq!(results.len(), 4);
    assert!(
        results[0].1.contains("left out"),
        "{}",
        &results[0].1[..100]
    );
    assert!(results[3].1.len() > 50_000, "the newest is whole");
}

#[tokio::test]
async fn a_full_window_is_summed_up_by_the_model() {
    let setup = Setup {
        facts: Box::new(|facts| facts.window_tokens = 40_000),
        ..Setup::default()
    };
    let script = [
        Reply::say("1").no_usage(),
        Reply::say("## Goal\nBooks"),
        Reply::say("2"),
    ];
    let world = World::with(setup, script).await;
    let session = world.session().await;
    session.tell(&"long words ".repeat(6_000)).await;
    let story = session.tell(&"more words ".repeat(6_000)).await;
    assert!(story.text.ends_with('2'), "{story:#?}");
    assert_eq!(world.model.requests().len(), 3);
    assert!(
        world
            .model
            .request(2)
            .await
            .body
            .to_string()
            .contains("## Goal")
    );
    let compacted = session.with_transcript(|transcript| {
        transcript
            .entries()
            .any(|entry| matches!(entry, ply_agent::transcript::Entry::Compaction(_)))
    });
    assert!(compacted, "the client is told");
}

#[tokio::test]
async fn a_window_that_instructions_fill_is_not_summed_up_at_every_step() {
    let setup = Setup {
        facts: Box::new(|facts| facts.window_tokens = 2_000),
        ..Setup::default()
    };
    // Whatever it is asked, a model with such a window calls a tool, and is done after three.
    let script = (0..12).map(|_| {
        Reply::computed(|seen| {
            let reply = match seen.body.to_string() {
                body if body.contains("Sum up the conversation") => Reply::say("## Goal\nLook"),
                body if body.matches("tool_result").count() > 2 => Reply::say("Done."),
                _ => Reply::call("list_dir", json!({ "path": "." })),
            };
            // What a service counts would correct our estimate of how full the window is.
            reply.no_usage()
        })
    });
    let world = World::with(setup, script).await;
    let story = world.turn("Look").await;
    assert_eq!(story.text, "Done.", "{story:#?}");
    let bodies = world
        .model
        .requests()
        .into_iter()
        .map(|seen| seen.body.to_string());
    let summaries = bodies.filter(|body| body.contains("Sum up the conversation"));
    assert_eq!(summaries.count(), 1);
}

#[tokio::test]
async fn whoever_turned_compaction_off_is_told_that_the_window_is_full() {
    let setup = Setup {
        configure: Box::new(|config| config.compact = false),
        ..Setup::default()
    };
    let world = World::with(setup, [Reply::overflow()]).await;
    let story = world.turn("Look").await;
    assert!(story.error.is_some(), "{story:#?}");
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn the_session_gets_a_title_and_the_plan_is_shown() {
    let plan = json!({ "steps": [
        { "step": "Look", "status": "completed" },
        { "step": "Leap", "status": "in_progress" },
    ] });
    let world = World::new([Reply::call("update_plan", plan), Reply::say("Done.")]).await;
    let session = world.session().await;
    let story = session.tell("Fix the parser\nplease").await;
    let title = session.with_transcript(|transcript| transcript.info().title.clone());
    assert_eq!(title.as_deref(), Some("Fix the parser"));
    assert_eq!(story.plan.len(), 2);
    assert_eq!(
        story.plan[1],
        ("Leap".to_owned(), v2::PlanEntryStatus::InProgress)
    );
}
