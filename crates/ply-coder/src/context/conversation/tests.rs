use serde_json::json;

use super::*;

fn facts() -> Facts {
    Facts::new("x")
}

/// Folds updates as a session would.
fn history(updates: Vec<v2::SessionUpdate>) -> History {
    let events: Vec<_> = updates
        .into_iter()
        .map(ply_session::Event::Update)
        .collect();
    History::fold(&events)
}

fn user(id: &str, text: &str) -> v2::SessionUpdate {
    v2::SessionUpdate::UserMessage(v2::UserMessage::new(id).content(vec![text.into()]))
}

fn says(id: &str, text: &str) -> v2::SessionUpdate {
    v2::SessionUpdate::AgentMessageChunk(v2::ContentChunk::new(text.into(), id))
}

fn call(id: &str, step: u64) -> v2::ToolCallUpdate {
    v2::ToolCallUpdate::new(id)
        .name("read_file".to_owned())
        .raw_input(json!({ "path": id }))
        .meta(step_meta(step))
}

fn done(id: &str, step: u64) -> v2::SessionUpdate {
    let call = call(id, step)
        .status(v2::ToolCallStatus::Completed)
        .raw_output(raw_output("read", false));
    v2::SessionUpdate::ToolCallUpdate(call)
}

/// One line per message.
#[track_caller]
fn check(updates: Vec<v2::SessionUpdate>, expected: &[&str]) {
    let messages = project(&history(updates), &facts());
    let lines: Vec<_> = messages.iter().map(line).collect();
    assert_eq!(lines, expected);
}

fn line(message: &Message) -> String {
    match message {
        Message::User(contents) => {
            let texts = contents.iter().map(|content| match content {
                Content::Text(text) => text.as_str(),
                _ => "?",
            });
            format!("user: {}", texts.collect::<Vec<_>>().join(" | "))
        }
        Message::Assistant(parts) => {
            let parts = parts.iter().map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Thought { text, .. } => format!("({text})"),
                Part::Call(call) => format!("{}!", call.id),
            });
            format!("model: {}", parts.collect::<Vec<_>>().join(" "))
        }
        Message::Results(results) => {
            let results = results.iter().map(|result| match result.failed {
                true => format!("{} failed: {}", result.call, result.text),
                false => format!("{}: {}", result.call, result.text),
            });
            format!("results: {}", results.collect::<Vec<_>>().join(", "))
        }
    }
}

#[test]
fn calls_of_one_request_are_one_message() {
    check(
        vec![
            user("u", "go"),
            says("a", "I look."),
            done("c1", 0),
            done("c2", 0),
            done("c3", 1),
            says("b", "So."),
        ],
        &[
            "user: go",
            "model: I look. c1! c2!",
            "results: c1: read, c2: read",
            "model: c3!",
            "results: c3: read",
            "model: So.",
        ],
    );
}

#[test]
fn thoughts_of_the_past_are_left_out() {
    let thought = v2::ContentChunk::new("hm".into(), "t");
    check(
        vec![
            user("u", "go"),
            v2::SessionUpdate::AgentThoughtChunk(thought),
            says("a", "Yes."),
        ],
        &["user: go", "model: Yes."],
    );
}

#[test]
fn a_call_that_was_cut_off_has_a_result_all_the_same() {
    let cancelled = call("c1", 0).status(v2::ToolCallStatus::Cancelled);
    let running = call("c2", 0).status(v2::ToolCallStatus::InProgress);
    check(
        vec![
            user("u", "go"),
            v2::SessionUpdate::ToolCallUpdate(cancelled),
            v2::SessionUpdate::ToolCallUpdate(running),
            user("v", "again"),
        ],
        &[
            "user: go",
            "model: c1! c2!",
            "results: c1 failed: The user interrupted this call; it may have been done in part., \
             c2 failed: This call was cut off; it may have been done in part.",
            "user: again",
        ],
    );
}

#[test]
fn prompts_without_an_answer_are_one_message() {
    check(
        vec![user("u", "one"), user("v", "two")],
        &["user: one | two"],
    );
}

#[test]
fn a_summary_takes_the_place_of_what_came_before() {
    let compaction = v2::CompactionUpdate::new("k", v2::CompactionStatus::Completed)
        .summary(vec![v2::ContentBlock::from("summary")]);
    let failed = v2::CompactionUpdate::new("f", v2::CompactionStatus::Failed);
    check(
        vec![
            user("u", "one"),
            done("c1", 0),
            v2::SessionUpdate::CompactionUpdate(compaction),
            says("a", "On."),
            user("v", "two"),
            v2::SessionUpdate::CompactionUpdate(failed),
        ],
        &["user: summary | one", "model: On.", "user: two"],
    );
}

fn idle(stop: v2::StopReason) -> v2::SessionUpdate {
    let idle = v2::IdleStateUpdate::new().stop_reason(stop);
    v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle))
}

#[test]
fn a_prompt_that_was_cancelled_is_not_carried_out_with_the_next_one() {
    let note = format!("user: delete all | {} | look", notes::note(INTERRUPTED));
    check(
        vec![
            user("u", "delete all"),
            idle(v2::StopReason::Cancelled),
            user("v", "look"),
        ],
        &[&note],
    );
    let note = format!("user: {} | look", notes::note(INTERRUPTED));
    check(
        vec![
            user("u", "go"),
            says("a", "I beg"),
            idle(v2::StopReason::Cancelled),
            user("v", "look"),
            says("b", "Seen."),
            idle(v2::StopReason::EndTurn),
        ],
        &["user: go", "model: I beg", &note, "model: Seen."],
    );
}

#[test]
fn a_call_whose_arguments_never_came_was_never_made() {
    let begun = v2::ToolCallUpdate::new("c1")
        .name("write_file".to_owned())
        .status(v2::ToolCallStatus::Failed);
    check(
        vec![
            user("u", "go"),
            v2::SessionUpdate::ToolCallUpdate(begun),
            says("a", "Again."),
        ],
        &["user: go", "model: Again."],
    );
}

#[test]
fn images_of_tools_are_seen_again_by_models_that_see() {
    let image = v2::ContentBlock::Image(v2::ImageContent::new("AAAA", "image/png"));
    let image = v2::ToolCallContent::Content(Box::new(v2::Content::new(image)));
    let shown = call("c1", 0)
        .status(v2::ToolCallStatus::Completed)
        .content(vec![image])
        .raw_output(raw_output("an image", false));
    let history = history(vec![
        user("u", "go"),
        v2::SessionUpdate::ToolCallUpdate(shown),
    ]);
    for sees in [true, false] {
        let mut facts = facts();
        facts.images = sees;
        let messages = project(&history, &facts);
        let Some(Message::Results(results)) = messages.last() else {
            panic!("{messages:?}")
        };
        assert_eq!(results[0].images.len(), usize::from(sees));
    }
}

#[test]
fn commands_are_not_for_the_model() {
    check(
        vec![
            user("u", "/help"),
            says("a", "I am Ply."),
            user("v", "go"),
            says("b", "Gone."),
        ],
        &["user: go", "model: Gone."],
    );
}

#[test]
fn a_conversation_whose_beginning_is_lost_still_begins_with_the_user() {
    let note = format!(
        "user: {}",
        notes::note("the beginning of the conversation is lost")
    );
    check(vec![says("a", "So.")], &[&note, "model: So."]);
}

#[test]
fn a_repaired_conversation_pairs_every_call() {
    let call = |id: &str| {
        Part::Call(Call {
            id: id.to_owned(),
            name: "shell".to_owned(),
            arguments: json!({}),
            signatures: vec!["s".to_owned()],
        })
    };
    let result = |id: &str| CallResult {
        call: id.to_owned(),
        name: "shell".to_owned(),
        text: "ok".to_owned(),
        images: Vec::new(),
        failed: false,
    };
    let thought = Part::Thought {
        text: "hm".to_owned(),
        signature: Some("s".to_owned()),
    };
    let mut messages = vec![
        Message::User(vec![Content::Text("go".to_owned())]),
        Message::Assistant(vec![thought.clone(), call("a"), call("b")]),
        Message::Results(vec![result("a"), result("stray")]),
        Message::Assistant(vec![thought]),
        Message::Assistant(vec![call("c")]),
    ];
    repair(&mut messages);
    let lines: Vec<_> = messages.iter().map(line).collect();
    let cut = format!("failed: {CUT_OFF}");
    let expected = [
        "user: go".to_owned(),
        "model: a! b!".to_owned(),
        format!("results: a: ok, b {cut}"),
        "model: c!".to_owned(),
        format!("results: c {cut}"),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn calls_of_sub_agents_are_none_of_the_models() {
    let child = |id: &str, step| {
        let call = call(id, step)
            .status(v2::ToolCallStatus::Completed)
            .raw_output(raw_output("read", false))
            .meta(child_meta(step, &v2::ToolCallId::new("task")));
        v2::SessionUpdate::ToolCallUpdate(call)
    };
    check(
        vec![
            user("u", "go"),
            done("task", 0),
            done("other", 0),
            child("x", 0),
            child("y", 1),
            says("a", "Done."),
        ],
        &[
            "user: go",
            "model: task! other!",
            "results: task: read, other: read",
            "model: Done.",
        ],
    );
}

#[test]
fn words_for_a_turn_come_after_the_results_of_the_request_that_ran() {
    check(
        vec![
            user("u1", "go"),
            done("a", 0),
            user("u2", "/help in German"),
            done("b", 0),
            done("c", 1),
            user("u3", "and briefly"),
            says("m1", "Gut."),
        ],
        &[
            "user: go",
            "model: a! b!",
            "results: a: read, b: read",
            "user: /help in German",
            "model: c!",
            "results: c: read",
            "user: and briefly",
            "model: Gut.",
        ],
    );
}
