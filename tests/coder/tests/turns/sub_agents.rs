//! Sub-agents: tasks that are done in a conversation of their own.

use std::time::Duration;

use coder_tests::{Gate, Reply, Setup, Tell as _, User, World, read_story};
use ply_agent::v2::{StopReason, ToolCallStatus};
use ply_client::Supported;
use ply_coder::permission::Mode;
use serde_json::{Value, json};
use tempfile::TempDir;

fn task(description: &str, prompt: &str, access: &str) -> Value {
    json!({ "description": description, "prompt": prompt, "access": access })
}

fn full() -> Setup {
    Setup {
        mode: Mode::Full,
        ..Setup::default()
    }
}

#[tokio::test]
async fn only_the_report_of_a_sub_agent_reaches_the_agent() {
    for versions in [Supported::V1, Supported::V2] {
        let script = [
            Reply::say("I delegate.").and_call("task", task("Find x", "Where is x?", "read")),
            Reply::say("Looking.\n").and_call("read_file", json!({ "path": "a.txt" })),
            Reply::think("so").and_say("x is in a.txt:1."),
            Reply::say("Done."),
        ];
        let setup = Setup {
            versions,
            ..Setup::default()
        };
        let world = World::with(setup, script).await;
        world.write("a.txt", "x marks the spot");
        let story = world.turn("Find x for me").await;
        assert_eq!(story.text, "I delegate.Done.", "{story:#?}");
        assert_eq!(story.thoughts, "");
        assert_eq!(story.stop, Some(StopReason::EndTurn));

        let (parent, child) = (story.call("task"), story.call("read_file"));
        assert_eq!(parent.title.as_deref(), Some("Sub-agent: Find x"));
        assert_eq!(
            child.meta["parentToolCallId"],
            json!(parent.id),
            "{child:#?}"
        );
        assert_eq!(child.meta["ply"]["parent"], json!(parent.id));
        assert_eq!(parent.status, ToolCallStatus::Completed);
        assert_eq!(story.told()[0], "x is in a.txt:1.");

        let first = world.model.request(1).await;
        assert_eq!(first.last_user_text(), "Where is x?");
        assert!(!first.body.to_string().contains("Find x for me"));
        assert!(first.system().contains("You are a sub-agent"));
        let tools = first.tools();
        assert_eq!(tools, ["read_file", "list_dir", "glob", "grep", "think"]);
        assert!(
            world
                .model
                .request(2)
                .await
                .body
                .to_string()
                .contains("marks the spot")
        );

        let last = world.model.request(3).await;
        let results = last.tool_results();
        assert_eq!(results.len(), 1, "{results:?}");
        assert_eq!(results[0].1, "x is in a.txt:1.");
        assert!(!last.system().contains("You are a sub-agent"));
    }
}

#[tokio::test]
async fn a_reopened_session_has_the_task_and_none_of_its_calls() {
    let place = TempDir::new().unwrap();
    let stored = || Setup {
        store: Some(place.path().join("sessions.db")),
        ..Setup::default()
    };
    let script = [
        Reply::call("task", task("Look", "What is here?", "read")),
        Reply::call("list_dir", json!({ "path": "." })),
        Reply::say("Looking on.").and_call("glob", json!({ "pattern": "*" })),
        Reply::say("Nothing is here."),
        Reply::say("Empty."),
    ];
    let first = World::with(stored(), script).await;
    let cwd = first.path();
    let session = first.session().await;
    session.tell("Look").await;
    let id = session.id().clone();
    session.close().await.unwrap();

    let second = World::with(stored(), [Reply::say("As I said.")]).await;
    let session = second
        .agent
        .load_session(id.0.to_string(), cwd)
        .await
        .unwrap();
    let calls = session.with_transcript(|transcript| transcript.tool_calls().count());
    assert_eq!(calls, 3, "clients see all of them");
    session.tell("Again?").await;
    let seen = second.model.request(0).await;
    let results = seen.tool_results();
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!(results[0].1, "Nothing is here.");
    let messages = json!(seen.messages()).to_string();
    for not_ours in ["Looking on.", "list_dir", "glob"] {
        assert!(!messages.contains(not_ours), "{messages}");
    }
}

#[tokio::test]
async fn tasks_that_read_run_side_by_side_and_four_at_a_time() {
    let gates: Vec<_> = (0..4).map(|_| Gate::new()).collect();
    let mut all = Reply::call("task", task("No 0", "Do 0", "read"));
    for number in 1..5 {
        let arguments = task(&format!("No {number}"), &format!("Do {number}"), "read");
        all = all.and_call("task", arguments);
    }
    let mut script = vec![all];
    script.extend(gates.iter().map(|gate| Reply::say("Found.").after(gate)));
    script.push(Reply::say("Found late."));
    script.push(Reply::say("Done."));
    let world = World::with(full(), script).await;
    let session = world.session().await;
    let turn = session.prompt("Go").await.unwrap();
    for gate in &gates {
        gate.reached().await;
    }
    assert_eq!(world.model.requests().len(), 5, "the fifth waits");
    for gate in &gates {
        gate.open();
    }
    let story = read_story(&session, turn).await;
    assert_eq!(story.text, "Done.");
    let mut told = story.told();
    told.sort_unstable();
    assert_eq!(
        told,
        ["Found late.", "Found.", "Found.", "Found.", "Found."]
    );
}

#[tokio::test]
async fn tasks_that_write_go_one_after_the_other_and_questions_name_them() {
    let write = |name: &str| json!({ "path": name, "content": "x" });
    let script = [
        Reply::call("task", task("Make a", "Write a", "write"))
            .and_call("task", task("Make b", "Write b", "write")),
        Reply::call("write_file", write("a")),
        Reply::call(
            "shell",
            json!({ "command": "touch c; sh -c 'echo $((1 + 1))'" }),
        ),
        Reply::say("a is there."),
        Reply::call("write_file", write("b")),
        Reply::say("b is there."),
        Reply::say("Done."),
    ];
    let world = World::with(Setup::default(), script).await;
    let story = world.turn("Go").await;
    assert_eq!(story.text, "Done.", "{story:#?}");
    assert_eq!(world.read("a") + &world.read("b") + &world.read("c"), "xx");
    let asked = world.asked();
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert!(asked[0].ends_with("(sub-agent: Make a)"), "{asked:?}");
    assert!(asked[1].ends_with("(sub-agent: Make a)"), "{asked:?}");
    assert!(asked[2].ends_with("(sub-agent: Make b)"), "{asked:?}");
    let tools = world.model.request(1).await.tools();
    assert!(tools.contains(&"shell".to_owned()), "{tools:?}");
    for withheld in ["task", "ask_user", "update_plan"] {
        assert!(!tools.contains(&withheld.to_owned()), "{tools:?}");
    }
}

#[tokio::test]
async fn a_sub_agent_that_fails_is_a_result_and_the_turn_goes_on() {
    let script = [
        Reply::call("task", task("One", "Do it", "read")),
        Reply::status(403),
        Reply::call("task", task("Two", "Do it", "read")),
        Reply::say("So far:").and_call("list_dir", json!({ "path": "." })),
        Reply::say("Still:").and_call("glob", json!({ "pattern": "*" })),
        Reply::say("Further:").and_call("glob", json!({ "pattern": "*.rs" })),
        Reply::call("task", task("Three", "Do it", "read")),
        Reply::empty(),
        Reply::empty(),
    ];
    let setup = Setup {
        configure: Box::new(|config| config.turn_requests_max = 3),
        ..full()
    };
    let world = World::with(setup, script).await;
    let story = world.turn("Go").await;
    assert_eq!(story.error, None);
    assert_eq!(story.stop, Some(StopReason::MaxTurnRequests));
    let tasks = story
        .calls
        .iter()
        .filter(|call| call.name.as_deref() == Some("task"));
    let tasks: Vec<_> = tasks.collect();
    for call in &tasks {
        assert_eq!(call.status, ToolCallStatus::Failed);
    }
    let told = |place: usize| tasks[place].raw_output.as_ref().unwrap()["text"].to_string();
    assert!(
        told(0).contains("The sub-agent did not finish"),
        "{}",
        told(0)
    );
    assert!(told(1).contains("limit of 3 requests"), "{}", told(1));
    assert!(
        told(1).contains("Further:") && !told(1).contains("Still:"),
        "{}",
        told(1)
    );
    assert!(told(2).contains("gave no answer"), "{}", told(2));
}

#[tokio::test]
async fn a_sub_agent_shortens_its_own_conversation_and_not_the_agents() {
    let script = [
        Reply::call("task", task("Look", "What is here?", "read")),
        Reply::call("list_dir", json!({ "path": "." })),
        Reply::overflow(),
        Reply::say("## Goal\nLooking around."),
        Reply::say("Nothing."),
        Reply::say("Done."),
        Reply::say("Bye."),
    ];
    let world = World::with(full(), script).await;
    let session = world.session().await;
    let story = session.tell("The first prompt").await;
    assert_eq!(story.text, "Done.", "{story:#?}");
    let after = world.model.request(4).await;
    assert!(after.body.to_string().contains("Looking around."));
    assert!(after.last_user_text().contains("What is here?"));
    session.tell("The second").await;
    let body = world.model.request(6).await.body.to_string();
    assert!(
        body.contains("The first prompt") && body.contains("Done."),
        "{body}"
    );
    assert!(!body.contains("Looking around."), "{body}");
}

#[tokio::test]
async fn a_cancel_ends_sub_agents_and_what_they_started() {
    let command = "echo $$ > child; exec sleep 1000";
    let gate = Gate::new();
    let script = [
        Reply::call("task", task("Run", "Run it", "write")),
        Reply::call("shell", json!({ "command": command })),
        Reply::call("task", task("Ask", "Ask it", "read")),
        Reply::hang(&gate),
        Reply::say("Still here."),
    ];
    let setup = Setup {
        user: User::Rejects,
        ..full()
    };
    let world = World::with(setup, script).await;
    let session = world.session().await;
    for round in 0..2 {
        let turn = session.prompt("Go").await.unwrap();
        match round {
            0 => world.appears("child").await,
            _ => gate.reached().await,
        }
        session.cancel().await.unwrap();
        let story = tokio::time::timeout(Duration::from_secs(2), read_story(&session, turn)).await;
        let story = story.expect("the turn ends in time");
        assert_eq!(story.stop, Some(StopReason::Cancelled), "{story:#?}");
        for call in &story.calls {
            assert_eq!(call.status, ToolCallStatus::Cancelled, "{call:#?}");
        }
    }
    let pid = world.read("child");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    assert_eq!(session.tell("And now?").await.text, "Still here.");
}
