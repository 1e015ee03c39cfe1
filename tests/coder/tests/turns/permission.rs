//! What the dispatcher lets through, in each mode.

use coder_tests::{Api, Reply, Setup, Tell as _, User, World};
use ply_agent::v2::{StopReason, ToolCallContent, ToolCallStatus};
use ply_client::{Event, Supported};
use ply_coder::permission::Mode;
use serde_json::json;

fn setup(mode: Mode, user: User) -> Setup {
    Setup {
        mode,
        user,
        ..Setup::default()
    }
}

fn all_sorts() -> [Reply; 2] {
    [
        Reply::call("write_file", json!({ "path": "new.txt", "content": "x" }))
            .and_call("shell", json!({ "command": "touch ran" }))
            .and_call("delete", json!({ "path": "old.txt" })),
        Reply::say("Done."),
    ]
}

/// Runs calls of all sorts and returns which ones had an effect, and how often the user was asked.
async fn run(mode: Mode, user: User) -> (bool, bool, bool, usize) {
    let world = World::with(setup(mode, user), all_sorts()).await;
    world.write("old.txt", "x");
    let story = world.turn("Go").await;
    assert_eq!(story.stop, Some(StopReason::EndTurn), "{mode:?} {story:#?}");
    let there = |name: &str| world.path().join(name).exists();
    (
        there("new.txt"),
        there("ran"),
        !there("old.txt"),
        world.asked().len(),
    )
}

#[tokio::test]
async fn each_mode_asks_for_what_it_says() {
    assert_eq!(
        run(Mode::Plan, User::Allows).await,
        (false, false, false, 0)
    );
    assert_eq!(run(Mode::Ask, User::Allows).await, (true, true, true, 3));
    assert_eq!(
        run(Mode::Ask, User::Rejects).await,
        (false, false, false, 3)
    );
    assert_eq!(
        run(Mode::AutoEdit, User::Rejects).await,
        (true, false, false, 2)
    );
    assert_eq!(run(Mode::Full, User::Rejects).await, (true, true, true, 0));
}

#[tokio::test]
async fn a_rejection_is_a_result_and_the_turn_goes_on() {
    let script = [
        Reply::call("shell", json!({ "command": "make install" })),
        Reply::say("Then not."),
    ];
    let world = World::with(setup(Mode::Ask, User::Rejects), script).await;
    let story = world.turn("Install").await;
    assert_eq!(story.text, "Then not.");
    assert_eq!(story.stop, Some(StopReason::EndTurn));
    assert_eq!(story.call("shell").status, ToolCallStatus::Failed);
    assert!(story.told()[0].contains("rejected"), "{:?}", story.told());
}

#[tokio::test]
async fn always_means_the_rule_that_was_shown() {
    let shell = |command: &str| Reply::call("shell", json!({ "command": command }));
    let script = [
        shell("mkdir -p made"),
        shell("mkdir -p made"),
        shell("mkdir -p made; touch pwned"),
        Reply::say("Done."),
    ];
    let world = World::with(setup(Mode::Ask, User::AllowsAlways), script).await;
    world.turn("Go").await;
    let asked = world.asked();
    assert_eq!(
        asked.len(),
        2,
        "asked for the first and for the compound one: {asked:?}"
    );
}

#[tokio::test]
async fn plan_mode_holds_for_everything_that_acts_and_the_model_is_told() {
    let world = World::with(setup(Mode::Plan, User::Allows), all_sorts()).await;
    world.write("old.txt", "x");
    let story = world.turn("Go").await;
    for told in story.told() {
        assert!(told.contains("plan"), "{told}");
    }
    assert!(world.model.request(0).await.system().contains("Mode: plan"));
}

#[tokio::test]
async fn the_mode_can_change_within_a_session_on_both_versions() {
    for versions in [Supported::V1, Supported::V2] {
        let write = |name: &str| Reply::call("write_file", json!({ "path": name, "content": "x" }));
        let script = [write("a"), Reply::say("1"), write("b"), Reply::say("2")];
        let setup = Setup {
            versions,
            api: Api::Chat,
            ..setup(Mode::Plan, User::Allows)
        };
        let world = World::with(setup, script).await;
        let session = world.session().await;
        session.tell("Write a").await;
        assert!(!world.path().join("a").exists());
        session.set_mode("full").await.unwrap();
        session.tell("Write b").await;
        assert!(world.path().join("b").exists(), "{versions:?}");
        assert_eq!(world.asked().len(), 0);
    }
}

#[tokio::test]
async fn the_diff_is_there_before_the_user_decides_and_goes_with_a_rejection() {
    let script = [
        Reply::call("read_file", json!({ "path": "a.txt" })),
        Reply::call(
            "edit_file",
            json!({ "path": "a.txt", "edits": [{ "old": "one", "new": "two" }] }),
        ),
        Reply::say("Done."),
    ];
    let world = World::with(setup(Mode::Ask, User::Waits), script).await;
    world.write("a.txt", "one\n");
    let session = world.session().await;
    let mut turn = session.prompt("Change it").await.unwrap();
    let question = loop {
        if let Event::Permission(question) = turn.next().await.unwrap().unwrap() {
            break question;
        }
    };
    let has_diff = || {
        session.with_transcript(|transcript| {
            let contents = transcript.tool_calls().flat_map(|call| &call.content);
            contents
                .into_iter()
                .any(|content| matches!(content, ToolCallContent::Diff(_)))
        })
    };
    assert!(has_diff(), "the user decides about what they see");
    question.reject_once().await.unwrap();
    coder_tests::read_story(&session, turn).await;
    assert_eq!(world.read("a.txt"), "one\n");
    assert!(
        !has_diff(),
        "a change that was not made is not shown as one"
    );
}

#[tokio::test]
async fn a_call_that_waits_is_judged_by_the_mode_of_the_moment() {
    let script = [
        Reply::call(
            "shell",
            json!({ "command": "echo x > began; while [ ! -e go ]; do :; done" }),
        )
        .and_call("shell", json!({ "command": "touch second" })),
        Reply::say("Done."),
    ];
    let world = World::with(setup(Mode::Full, User::Allows), script).await;
    let session = world.session().await;
    let turn = session.prompt("Go").await.unwrap();
    world.appears("began").await;
    session.set_mode("plan").await.unwrap();
    world.write("go", "");
    let story = coder_tests::read_story(&session, turn).await;
    assert_eq!(story.stop, Some(StopReason::EndTurn));
    assert!(!world.path().join("second").exists(), "{:?}", story.told());
}

#[tokio::test]
async fn the_agents_own_files_are_asked_about_behind_links_too() {
    let write = |path: &str| Reply::call("write_file", json!({ "path": path, "content": "x" }));
    let script = [
        write("dotfiles/ply/rules.toml"),
        write("mine.toml"),
        write("dotfiles/other"),
        Reply::say("Done."),
    ];
    let home = tempfile::tempdir().unwrap();
    let (folder, config) = (home.path().join("ply"), home.path().join("config.toml"));
    let places = (folder.join("rules.toml"), config.clone());
    let setup = Setup {
        configure: Box::new(move |config| {
            config.user_rules = Some(places.0);
            config.own = vec![places.1];
        }),
        ..setup(Mode::AutoEdit, User::Rejects)
    };
    let world = World::with(setup, script).await;
    std::fs::create_dir_all(world.path().join("dotfiles/ply")).unwrap();
    std::os::unix::fs::symlink(world.path().join("dotfiles/ply"), folder).unwrap();
    // It points to what is not there yet.
    std::os::unix::fs::symlink(world.path().join("mine.toml"), config).unwrap();
    world.turn("Go").await;
    assert_eq!(world.asked().len(), 2, "{:?}", world.asked());
    assert!(!world.path().join("dotfiles/ply/rules.toml").exists());
    assert!(!world.path().join("mine.toml").exists());
    assert!(world.path().join("dotfiles/other").exists());
}

#[tokio::test]
async fn a_listing_through_a_link_out_of_the_project_is_asked_about() {
    let shell = |command: &str| Reply::call("shell", json!({ "command": command }));
    let script = [
        shell("ls etc"),
        shell("cd etc && ls"),
        shell("cd keys && ls"),
        shell("ls src"),
        shell("cd within && ls"),
        Reply::say("Done."),
    ];
    let world = World::with(setup(Mode::Ask, User::Rejects), script).await;
    world.write("src/a.rs", "");
    world.write(".ssh/known", "");
    for (target, name) in [("/etc", "etc"), (".ssh", "keys"), ("src", "within")] {
        std::os::unix::fs::symlink(target, world.path().join(name)).unwrap();
    }
    let story = world.turn("Look").await;
    assert_eq!(
        world.asked(),
        ["Run `ls etc`", "Run `cd etc && ls`", "Run `cd keys && ls`"]
    );
    assert!(story.told()[4].contains("a.rs"), "{:?}", story.told());
}

#[tokio::test]
async fn what_only_reads_runs_unasked() {
    let shell = |command: &str| Reply::call("shell", json!({ "command": command }));
    let script = [
        shell("git status"),
        shell("cat src/a.rs | head -2"),
        shell("cd src && ls *.rs"),
        shell("cat .env"),
        Reply::say("Done."),
    ];
    let world = World::with(setup(Mode::Ask, User::Rejects), script).await;
    world.write("src/a.rs", "fn a() {}\n");
    world.write(".env", "KEY=1\n");
    let story = world.turn("Look").await;
    assert_eq!(world.asked(), ["Run `cat .env`"]);
    assert!(story.told()[1].contains("fn a() {}"), "{:?}", story.told());
    assert!(!story.told()[3].contains("KEY=1"));
}

#[tokio::test]
async fn h7_a_secret_of_the_project_is_asked_about_in_every_mode() {
    for mode in Mode::ALL {
        let script = [
            Reply::call("read_file", json!({ "path": ".env" })),
            Reply::call("read_file", json!({ "path": ".git/config" })),
            Reply::say("Done."),
        ];
        let world = World::with(setup(mode, User::Rejects), script).await;
        world.write(".env", "KEY=1\n");
        world.write(
            ".git/config",
            "[remote \"o\"]\nurl = https://me:token@example.com/a\n",
        );
        let story = world.turn("Look").await;
        assert_eq!(world.asked().len(), 2, "{mode:?}");
        assert!(
            story
                .told()
                .iter()
                .all(|told| !told.contains("KEY") && !told.contains("me:token"))
        );
    }
}

#[tokio::test]
async fn h3_edits_that_make_others_run_something_are_asked_about_in_full_mode() {
    let write = |path: &str, content: &str| {
        Reply::call("write_file", json!({ "path": path, "content": content }))
    };
    let script = [
        write("bare/config", "[core]\nfsmonitor = ./evil\n"),
        write("bare/objects/x", ""),
        write("bare/refs/x", ""),
        write("bare/HEAD", "ref: refs/heads/x\n"),
        write(
            "package.json",
            "{\"scripts\": {\"postinstall\": \"./evil\"}}\n",
        ),
        write("web/package.json", "{\"scripts\": {\"test\": \"x\"}}\n"),
        write("build.rs", "fn main() {}\n"),
        Reply::say("Done."),
    ];
    let world = World::with(setup(Mode::Full, User::Rejects), script).await;
    world.turn("Go").await;
    assert_eq!(world.asked().len(), 3, "{:?}", world.asked());
    assert!(world.path().join("bare/config").exists());
    assert!(!world.path().join("bare/HEAD").exists());
    assert!(!world.path().join("package.json").exists());
    assert!(world.path().join("web/package.json").exists());
    assert!(!world.path().join("build.rs").exists());
}
