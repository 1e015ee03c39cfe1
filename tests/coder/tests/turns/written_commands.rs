//! Commands that are Markdown files.

use std::path::PathBuf;

use coder_tests::{Reply, Setup, Tell as _, World};
use ply_agent::v2;
use tempfile::TempDir;

fn stored(store: &TempDir, user: &TempDir) -> Setup {
    let user: PathBuf = user.path().to_path_buf();
    Setup {
        store: Some(store.path().join("sessions.db")),
        configure: Box::new(move |config| config.commands = vec![user]),
        ..Setup::default()
    }
}

fn commands(session: &ply_client::Session) -> Vec<String> {
    session.with_transcript(|transcript| {
        let commands = transcript.commands().iter();
        let names = commands.filter_map(|command| match command {
            v2::AvailableCommand::Command(command) => Some(command.name.clone()),
            _ => None,
        });
        names.collect()
    })
}

#[tokio::test]
async fn a_command_becomes_its_text_for_the_model_and_stays_what_was_typed() {
    let (store, user) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let fix =
        "---\ndescription: Fixes a file\nargument-hint: <file>\n---\nRepair $1, then look at $2.";
    std::fs::write(user.path().join("fix.md"), fix).unwrap();
    std::fs::write(user.path().join("help.md"), "never").unwrap();
    let first = World::with(
        stored(&store, &user),
        [Reply::say("Done."), Reply::say("Sure.")],
    )
    .await;
    first.write(".claude/commands/git/commit.md", "Commit it.");
    let cwd = first.path();
    let session = first.session().await;
    let listed = commands(&session);
    let (own, written) = listed.split_at(listed.len() - 2);
    assert_eq!(written, ["git:commit", "fix"]);
    assert!(own.iter().any(|name| name == "help"), "{own:?}");
    let story = session.tell("/fix 'a b.rs' c.rs").await;
    assert_eq!(story.text, "Done.", "{story:#?}");
    let body = first.model.request(0).await.body.to_string();
    assert!(body.contains("Repair a b.rs, then look at c.rs."), "{body}");
    assert!(!body.contains("/fix"), "{body}");
    let typed = session.with_transcript(|transcript| {
        let mut entries = transcript.entries();
        let first = entries.next().and_then(|entry| entry.as_message());
        first.map(|message| message.text())
    });
    assert_eq!(typed.as_deref(), Some("/fix 'a b.rs' c.rs"));
    assert_eq!(story.calls[0].title.as_deref(), Some("Command `/fix`"));

    // The file is gone, and the model is told the same, in this turn and in another life.
    std::fs::remove_file(user.path().join("fix.md")).unwrap();
    session.tell("And then?").await;
    assert_eq!(commands(&session).last().unwrap(), "git:commit");
    let body = first.model.request(1).await.body.to_string();
    assert!(body.contains("Repair a b.rs, then look at c.rs."), "{body}");
    let id = session.id().0.to_string();
    session.close().await.unwrap();
    let second = World::with(stored(&store, &user), [Reply::say("On.")]).await;
    let session = second.agent.load_session(id, cwd).await.unwrap();
    session.tell("Go on").await;
    let body = second.model.request(0).await.body.to_string();
    assert!(body.contains("Repair a b.rs, then look at c.rs."), "{body}");
    assert!(!body.contains("/fix"), "{body}");
}

#[tokio::test]
async fn what_is_attached_to_a_command_stays_attached() {
    let world = World::new([Reply::say("ok")]).await;
    world.write(".ply/commands/look.md", "Look closely.");
    let session = world.session().await;
    let prompt: Vec<v2::ContentBlock> = vec![
        "/look ".into(),
        v2::ContentBlock::ResourceLink(v2::ResourceLink::new("y.rs", "file:///p/y.rs")),
    ];
    let turn = session.prompt(prompt).await.unwrap();
    coder_tests::read_story(&session, turn).await;
    let body = world.model.request(0).await.body.to_string();
    assert!(
        body.contains("Look closely.") && body.contains("/p/y.rs"),
        "{body}"
    );
}

#[tokio::test]
async fn a_full_window_keeps_what_the_command_stands_for() {
    let setup = Setup {
        facts: Box::new(|facts| facts.window_tokens = 40_000),
        ..Setup::default()
    };
    let script = [
        Reply::say("1").no_usage(),
        Reply::say("## Goal\nBooks"),
        Reply::say("2"),
        Reply::say("3"),
    ];
    let world = World::with(setup, script).await;
    world.write(".ply/commands/books.md", "Sort the books by colour.");
    let session = world.session().await;
    session.tell(&"long words ".repeat(6_000)).await;
    session
        .tell(&format!("/books {}", "more words ".repeat(6_000)))
        .await;
    session.tell("Next").await;
    for request in [2, 3] {
        let body = world.model.request(request).await.body.to_string();
        assert!(body.contains("## Goal"), "{body}");
        assert!(body.contains("Sort the books by colour."), "{request}");
        assert!(!body.contains("/books"), "{request}");
    }
}

#[tokio::test]
async fn help_lists_commands_and_new_ones_are_offered_with_the_next_prompt() {
    let world = World::new([Reply::say("ok")]).await;
    let session = world.session().await;
    world.write(
        ".ply/commands/tidy.md",
        "---\ndescription: Tidies up\n---\nTidy.",
    );
    let story = session.tell("/help").await;
    assert!(story.text.contains("`/tidy`: Tidies up"), "{}", story.text);
    session.tell("Hi").await;
    assert_eq!(commands(&session).last().unwrap(), "tidy");
}

#[tokio::test]
async fn a_command_that_would_be_endless_is_refused() {
    let world = World::new([]).await;
    world.write(".ply/commands/many.md", &"$ARGUMENTS ".repeat(1_000));
    let story = world.turn(&format!("/many {}", "x".repeat(1_000))).await;
    assert!(story.text.contains("longer than 256 KiB"), "{}", story.text);
    assert_eq!(world.model.requests().len(), 0);
}
