//! Searching a directory does not open the secrets in it.

use coder_tests::{Reply, Setup, User, World};
use ply_coder::permission::{Decision, Mode, Rule};
use serde_json::{Value, json};

async fn search(mode: Mode, user: User, arguments: Value) -> (String, Vec<String>) {
    let setup = Setup {
        mode,
        user,
        ..Setup::default()
    };
    let script = [Reply::call("grep", arguments), Reply::say("Done.")];
    let world = World::with(setup, script).await;
    world.write("src/main.rs", "let token = 1;\n");
    world.write(".env", "token=a\n");
    world.write("deploy/key.pem", "token b\n");
    world.write("deploy/.aws/config", "token c\n");
    world.write(".env.example", "token=\n");
    let story = world.turn("Search").await;
    (story.told()[0].to_owned(), world.asked())
}

#[tokio::test]
async fn a_search_leaves_secrets_out_and_says_so() {
    for mode in Mode::ALL {
        let (told, asked) = search(mode, User::Rejects, json!({ "pattern": "token" })).await;
        let expected = ".env.example:1:token=\nsrc/main.rs:1:let token = 1;\n\
                        \n[3 files that need permission were not searched; name one as path if it matters.]";
        assert_eq!(told, expected, "{mode:?}");
        assert_eq!(asked.len(), 0, "{asked:?}");
    }
    let below = json!({ "pattern": "token", "path": "deploy", "glob": "*.pem" });
    let (told, _) = search(Mode::Ask, User::Rejects, below).await;
    assert_eq!(
        told,
        "[Nothing matches.]\n[1 file that needs permission was not searched; name one as path if it matters.]"
    );
}

#[tokio::test]
async fn a_secret_that_is_named_is_asked_for() {
    let named = json!({ "pattern": "token", "path": ".env" });
    let (told, asked) = search(Mode::Ask, User::Rejects, named.clone()).await;
    assert!(told.contains("rejected"), "{told}");
    assert_eq!(asked.len(), 1, "{asked:?}");
    let (told, _) = search(Mode::Ask, User::Allows, named).await;
    assert_eq!(told, ".env:1:token=a\n");
}

#[tokio::test]
async fn a_search_obeys_rules_about_what_may_be_read() {
    let setup = Setup {
        mode: Mode::Full,
        configure: Box::new(|config| {
            let rule = Rule::parse(Decision::Deny, "read(private/**)");
            config.rules = vec![rule.unwrap()];
        }),
        ..Setup::default()
    };
    let script = [
        Reply::call("grep", json!({ "pattern": "token" })),
        Reply::say("Done."),
    ];
    let world = World::with(setup, script).await;
    world.write("private/a.txt", "token a\n");
    world.write("b.txt", "token b\n");
    let story = world.turn("Search").await;
    let told = story.told()[0];
    assert!(
        told.contains("token b") && !told.contains("token a"),
        "{told}"
    );
}

#[tokio::test]
async fn a_root_that_looks_like_a_secret_is_the_users_choice() {
    let script = [
        Reply::call("grep", json!({ "pattern": "token" })),
        Reply::say("Done."),
    ];
    let world = World::new(script).await;
    world.write(".docker/project/a.txt", "token\n");
    let session = world
        .agent
        .new_session(world.path().join(".docker/project"));
    let session = session.await.unwrap();
    let story = coder_tests::Tell::tell(&session, "Search").await;
    assert_eq!(story.told()[0], "a.txt:1:token\n");
}
