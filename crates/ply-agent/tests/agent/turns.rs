//! Turns from prompt to end: what is reported when, and that each ends once.

use std::sync::Arc;

use ply_agent::Stop;
use ply_agent::transcript::Entry;
use ply_agent::v2::ToolKind;
use serde_json::json;
use tokio::sync::Notify;

use crate::script::*;
use crate::support::*;

/// Says a word, waits for the gate, says another, and stops.
fn gated(gate: &Arc<Notify>) -> impl ply_agent::Agent + use<> {
    let gate = Arc::clone(gate);
    script(move |turn| {
        let gate = Arc::clone(&gate);
        Box::pin(async move {
            turn.say("one").await?;
            gate.notified().await;
            turn.say("two").await?;
            Ok(Stop::EndTurn)
        })
    })
}

// Also: V1-PROMPT-06, V1-STOP-02, V2-STATE-02.
#[tokio::test(start_paused = true)]
async fn v1_prompt_03_output_comes_while_the_turn_runs_and_the_answer_ends_it() {
    for version in BOTH {
        let gate = Arc::new(Notify::new());
        let mut talk = talk(version, gated(&gate)).await;
        let prompt = talk.prompt("go").await;
        talk.hears("one").await;
        talk.is_quiet().await;
        gate.notify_one();
        let ended = talk.end(prompt).await;
        assert_eq!(said(&ended.seen), "onetwo");
        assert_eq!(ended.stop, "end_turn");
        talk.is_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn v1_prompt_04_one_step_may_hold_words_and_tool_calls() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                turn.think("hm").await?;
                turn.say("Let me look.").await?;
                let call = turn.tool_call("Look").kind(ToolKind::Search).await?;
                call.finish_with("found").await?;
                turn.say("Done.").await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let ended = talk.turn("go").await;
        let kinds = kinds(&ended.seen);
        let mut agents = kinds.iter().filter(|kind| !kind.starts_with("user"));
        let place = |kind: &str| kinds.iter().position(|other| *other == kind);
        assert!(agents.any(|kind| kind.starts_with("tool_call")));
        assert!(place("agent_thought_chunk") < place("agent_message_chunk"));
        assert_eq!(said(&ended.seen), "Let me look.Done.");
        assert_eq!(status(&talk.call("Look")), "completed");
        // Words before and after a tool call are two messages.
        let chunks = updates(&ended.seen).into_iter();
        let chunks = chunks.filter(|update| update["sessionUpdate"] == "agent_message_chunk");
        let ids: Vec<_> = chunks.map(|chunk| &chunk["messageId"]).collect();
        assert_eq!(ids.len(), 2);
        assert_ne!(ids[0], ids[1]);
    }
}

// Also: V1-TOOL-01.
#[tokio::test(start_paused = true)]
async fn v1_prompt_05_a_tool_call_is_written_before_what_it_does_to_the_client() {
    let agent = script(|turn| {
        Box::pin(async move {
            let call = turn.tool_call("Write").kind(ToolKind::Edit).await?;
            call.start().await?;
            turn.write_text_file("a.txt", "text").await?;
            call.finish().await?;
            Ok(Stop::EndTurn)
        })
    });
    let server = ply_agent::serve(agent);
    let capabilities = json!({"fs": {"writeTextFile": true}});
    let mut talk = talk_with(Version::V1, &server, capabilities).await;
    let prompt = talk.prompt("go").await;
    let write = talk.method("fs/write_text_file").await;
    assert_eq!(status(&talk.call("Write")), "in_progress");
    talk.answer(&write, json!({})).await;
    assert_eq!(talk.end(prompt).await.stop, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn v1_prompt_07_every_prompt_is_answered_once() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                turn.say("hm").await?;
                if turn.prompt().text() == "wait" {
                    turn.cancelled().await;
                }
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let mut prompts = Vec::new();
        for _ in 0..3 {
            let waits = talk.prompt("wait").await;
            talk.hears("hm").await;
            talk.cancel().await;
            let goes_on = talk.prompt("go").await;
            prompts.extend([waits, goes_on]);
            assert_eq!(talk.end(waits).await.stop, "cancelled");
            assert_eq!(talk.end(goes_on).await.stop, "end_turn");
        }
        talk.is_quiet().await;
        for prompt in prompts {
            assert_eq!(talk.answers(prompt), 1);
        }
    }
}

// Also: D1.
#[tokio::test(start_paused = true)]
async fn v1_prompt_10_no_update_of_a_turn_comes_after_its_end() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                for number in 0..2000 {
                    turn.say(format!("{number},")).await?;
                }
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let ended = talk.turn("count").await;
        let all: String = (0..2000).map(|number| format!("{number},")).collect();
        assert_eq!(said(&ended.seen), all);
        talk.is_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn d1_what_a_task_left_behind_reports_after_its_turn_is_not_sent() {
    for version in BOTH {
        let gate = Arc::new(Notify::new());
        let agent = {
            let gate = Arc::clone(&gate);
            script(move |turn| {
                let gate = Arc::clone(&gate);
                Box::pin(async move {
                    let call = turn.tool_call("Long").await?;
                    call.start().await?;
                    if turn.prompt().text() == "go" {
                        tokio::spawn(async move {
                            gate.notified().await;
                            // Nothing to say it to any more; how that is answered does not matter.
                            drop(call.add("late").await);
                            drop(call.finish().await);
                        });
                    }
                    Ok(Stop::EndTurn)
                })
            })
        };
        let mut talk = talk(version, agent).await;
        let ended = talk.turn("go").await;
        assert_eq!(ended.stop, "end_turn");
        assert_eq!(status(&talk.call("Long")), "failed");
        gate.notify_one();
        talk.is_quiet().await;
        // Nor within the next turn.
        let ended = talk.turn("again").await;
        assert!(!format!("{:?}", ended.seen).contains("late"));
    }
}

#[tokio::test(start_paused = true)]
async fn v1_prompt_12_the_next_turn_builds_on_the_one_before() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let history = turn.history().await?;
                let messages = history.entries().filter_map(|entry| match entry {
                    Entry::Message(message) => Some(message.text()),
                    _ => None,
                });
                let messages: Vec<_> = messages.collect();
                turn.say(messages.join("|")).await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        assert_eq!(said(&talk.turn("one").await.seen), "one");
        assert_eq!(said(&talk.turn("two").await.seen), "one|one|two");
    }
}

// Also: B12.
#[tokio::test(start_paused = true)]
async fn v1_rpc_15_each_side_serves_requests_while_its_own_are_open() {
    for version in BOTH {
        let agent = script(|turn| {
            Box::pin(async move {
                let call = turn.tool_call("Delete").kind(ToolKind::Delete).await?;
                let decision = call.ask_with("Delete it?").await?;
                call.finish_with(format!("{}", decision.is_allowed()))
                    .await?;
                Ok(Stop::EndTurn)
            })
        });
        let mut talk = talk(version, agent).await;
        let prompt = talk.prompt("go").await;
        let ask = talk.method("session/request_permission").await;
        // The prompt and the question are open; a third request is served.
        let listed = talk.client.ask("session/list", json!({})).await;
        assert!(talk.answered(listed).await["result"]["sessions"].is_array());
        talk.choose(&ask, "allow_once").await;
        let ended = talk.end(prompt).await;
        assert_eq!(ended.stop, "end_turn");
        assert_eq!(status(&talk.call("Delete")), "completed");
    }
}
