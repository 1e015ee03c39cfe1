//! Several clients of one session, at once and one after the other.

use ply_agent::transcript::what_v1_can_carry;
use serde_json::{Value, json};

use crate::actor::{Actor, hear, run};
use crate::fold::{v1_fold, v2_fold, without_prompts};
use crate::support::*;

fn of(session: &str) -> Value {
    json!({"sessionId": session, "cwd": "/work", "mcpServers": []})
}

fn chooses(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

fn everything_v1_shows() -> Value {
    json!({"session": {"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}}})
}

// Also: E1, E2, E5.
#[tokio::test(start_paused = true)]
async fn e2_both_versions_see_the_same_session_live_and_replayed() {
    let server = Actor::new().serve();
    let mut new = v2_with(&server, json!({})).await;
    let session = new.session().await;
    let mut old = v1_with(&server, everything_v1_shows()).await;
    old.ok("session/load", of(&session)).await;
    let mut asked = v2_with(&server, json!({})).await;
    asked.ok("session/resume", of(&session)).await;

    for script in ["say a\nthink b", "everything", "ask", "everything\nsay c"] {
        new.prompt(&session, script).await;
        if script == "ask" {
            let question = asked.method("session/request_permission").await;
            asked.answer(&question, chooses("allow_once")).await;
        }
        new.idle().await;
    }
    // The version 1 client is behind by no more than what is on its way.
    actor_says_end(&mut new, &mut old, &session).await;

    let journal = v2_fold(&new.log, &session);
    assert_eq!(
        what_v1_can_carry(&v1_fold(&old.log, &session)),
        what_v1_can_carry(&journal),
        "the version 1 view differs"
    );
    let mut late = v1_with(&server, everything_v1_shows()).await;
    late.ok("session/load", of(&session)).await;
    assert_eq!(
        what_v1_can_carry(&v1_fold(&late.log, &session)),
        what_v1_can_carry(&journal),
        "the replayed version 1 view differs"
    );
    let mut params = of(&session);
    params["replayFrom"] = json!({"type": "start"});
    let mut late = v2_with(&server, json!({})).await;
    late.ok("session/resume", params).await;
    assert_eq!(
        v2_fold(&late.log, &session).normalized(),
        journal.normalized()
    );
}

async fn actor_says_end(new: &mut Client, old: &mut Client, session: &str) {
    run(new, session, "say the end").await;
    old.until(|message| said(std::slice::from_ref(message)).ends_with("the end"))
        .await;
}

// Also: E2.
#[tokio::test(start_paused = true)]
async fn e2_a_version_1_client_that_loads_in_the_middle_of_a_turn_sees_all_of_it() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut new = v2_with(&server, json!({})).await;
    let session = new.session().await;
    run(&mut new, &session, "everything").await;
    new.prompt(
        &session,
        "say a\nwait\nsay b\neverything\nwait\nthink c\nwait\nsay d",
    )
    .await;
    let mut joined = Vec::new();
    for _ in 0..3 {
        // The turn stands at a wait once nothing else can run.
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        let mut old = v1_with(&server, everything_v1_shows()).await;
        old.ok("session/load", of(&session)).await;
        joined.push(old);
        actor.gate.add_permits(1);
    }
    new.idle().await;
    run(&mut new, &session, "say the end").await;
    let whole = what_v1_can_carry(&v2_fold(&new.log, &session));
    for mut old in joined {
        old.until(|message| said(std::slice::from_ref(message)).ends_with("the end"))
            .await;
        assert_eq!(what_v1_can_carry(&v1_fold(&old.log, &session)), whole);
    }
}

// Also: V1-LOAD-04.
#[tokio::test(start_paused = true)]
async fn e1_a_turn_goes_on_when_its_client_is_killed_and_the_next_one_sees_it_all() {
    for version in [1, 2] {
        let actor = Actor::new();
        let server = actor.serve();
        let mut first = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = first.session().await;
        first.prompt(&session, "say before\nwait\nsay  after").await;
        first
            .until(|message| said(std::slice::from_ref(message)) == "before")
            .await;
        first.vanish().await;
        // Also if nobody comes for a while.
        tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
        let mut second = v1_with(&server, json!({})).await;
        let id = second.ask("session/load", of(&session)).await;
        assert_eq!(
            said(&second.answered(id).await),
            "before",
            "version {version}"
        );
        actor.gate.add_permits(1);
        second
            .until(|message| said(std::slice::from_ref(message)) == " after")
            .await;
        // The next prompt finds a session at rest.
        assert_eq!(hear(&mut second, &session, "say next").await, "next");
    }
}

#[tokio::test(start_paused = true)]
async fn e1_a_turn_goes_on_when_its_client_only_hangs_up() {
    for version in [1, 2] {
        let actor = Actor::new();
        let server = actor.serve();
        let mut first = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = first.session().await;
        first.prompt(&session, "say before\nwait\nsay  after").await;
        first
            .until(|message| said(std::slice::from_ref(message)) == "before")
            .await;
        // Closes its output and waits for what still comes.
        first.leave().await;
        actor.gate.add_permits(1);
        let mut second = v1_with(&server, json!({})).await;
        second.ok("session/load", of(&session)).await;
        assert_eq!(
            hear(&mut second, &session, "say next")
                .await
                .replace(" after", ""),
            "next"
        );
        assert!(
            said(&second.log).contains("before after"),
            "version {version}: {:?}",
            second.log
        );
    }
}

#[tokio::test(start_paused = true)]
async fn e1_a_turn_ends_without_clients_and_the_session_with_it() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut first = v2_with(&server, json!({})).await;
    let session = first.session().await;
    first.prompt(&session, "say before\nwait\nsay  after").await;
    first
        .until(|message| said(std::slice::from_ref(message)) == "before")
        .await;
    first.vanish().await;
    assert!(actor.closed.lock().unwrap().is_empty());
    actor.gate.add_permits(1);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(actor.closed.lock().unwrap().last(), Some(&session));
    let mut second = v1_with(&server, json!({})).await;
    let id = second.ask("session/load", of(&session)).await;
    assert_eq!(said(&second.answered(id).await), "before after");
}

// Also: D12, V1-PERM-01.
#[tokio::test(start_paused = true)]
async fn d13_a_question_outlives_its_client_and_the_next_one_is_asked() {
    for version in [1, 2] {
        let server = Actor::new().serve();
        let mut first = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        let session = first.session().await;
        first.prompt(&session, "ask").await;
        first.method("session/request_permission").await;
        first.vanish().await;
        tokio::time::sleep(std::time::Duration::from_secs(24 * 3600)).await;
        let mut second = match version {
            1 => v1_with(&server, json!({})).await,
            _ => v2_with(&server, json!({})).await,
        };
        second.ok("session/resume", of(&session)).await;
        let question = second.method("session/request_permission").await;
        second.answer(&question, chooses("allow_once")).await;
        let seen = second
            .until(|message| !said(std::slice::from_ref(message)).is_empty())
            .await;
        assert_eq!(
            said(&seen),
            "chose Some(\"allow_once\")",
            "version {version}"
        );
    }
}

// Also: V2-STATE-05.
#[tokio::test(start_paused = true)]
async fn d14_the_first_answer_counts_and_the_other_client_s_question_is_taken_back() {
    let server = Actor::new().serve();
    let mut new = v2_with(&server, json!({})).await;
    let session = new.session().await;
    let mut old = v1_with(&server, json!({})).await;
    old.ok("session/resume", of(&session)).await;
    for (choice, by_old) in [("allow_once", true), ("reject_once", false)] {
        new.prompt(&session, "ask").await;
        let (of_new, of_old) = (
            new.method("session/request_permission").await,
            old.method("session/request_permission").await,
        );
        let (first, second) = match by_old {
            true => ((&mut old, &of_old), (&mut new, &of_new)),
            false => ((&mut new, &of_new), (&mut old, &of_old)),
        };
        first.0.answer(first.1, chooses(choice)).await;
        let taken_back = second.0.method("$/cancel_request").await;
        assert_eq!(taken_back["params"]["requestId"], second.1["id"]);
        // Too late.
        second.0.answer(second.1, chooses("allow_always")).await;
        let seen = new.idle().await;
        assert_eq!(said(&seen), format!("chose Some({choice:?})"));
        let heard = old
            .until(|message| said(std::slice::from_ref(message)).contains(choice))
            .await;
        assert!(!said(&heard).contains("allow_always"));
    }
}

#[tokio::test(start_paused = true)]
async fn prompts_of_two_clients_take_turns_and_each_gets_its_own_answer() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut one = v1_with(&server, json!({})).await;
    let session = one.session().await;
    let mut two = v1_with(&server, json!({})).await;
    two.ok("session/resume", of(&session)).await;
    let first = one.prompt(&session, "say one\nwait").await;
    one.until(|message| said(std::slice::from_ref(message)) == "one")
        .await;
    let second = two.prompt(&session, "say two\nwait").await;
    actor.gate.add_permits(1);
    let seen = one.answered(first).await;
    assert_eq!(said(&seen), "");
    actor.gate.add_permits(1);
    let seen = two.answered(second).await;
    assert_eq!(said(&seen), "onetwo");
    assert_eq!(seen.last().unwrap()["result"]["stopReason"], "end_turn");
    // Each is shown the other's prompt and not its own.
    let prompts = |log: &[Value]| {
        let all = without_prompts(log).len();
        log.len() - all
    };
    assert_eq!(prompts(&two.log), 1);
    one.until(|message| said(std::slice::from_ref(message)) == "two")
        .await;
    assert_eq!(prompts(&one.log), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_takes_its_held_prompts_along() {
    let actor = Actor::new();
    let server = actor.serve();
    let mut one = v2_with(&server, json!({})).await;
    let session = one.session().await;
    let mut two = v2_with(&server, json!({})).await;
    two.ok("session/resume", of(&session)).await;
    one.prompt(&session, "say one\nwait").await;
    two.until(|message| said(std::slice::from_ref(message)) == "one")
        .await;
    two.prompt(&session, "say never").await;
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    two.vanish().await;
    actor.gate.add_permits(1);
    one.idle().await;
    let recalled = hear(&mut one, &session, "recall").await;
    assert!(!recalled.contains("never"), "{recalled}");
}
