//! The same turns through each API.

use coder_tests::{Api, Reply, Setup, Stop, Story, Usage, World};
use ply_agent::v2::{StopReason, ToolCallStatus};
use serde_json::json;

async fn world(api: Api, script: impl IntoIterator<Item = Reply>) -> World {
    let setup = Setup {
        api,
        ..Setup::default()
    };
    World::with(setup, script).await
}

fn is_end(story: &Story) -> bool {
    story.stop == Some(StopReason::EndTurn)
}

#[tokio::test]
async fn text_is_streamed_and_the_turn_ends() {
    for api in Api::ALL {
        let usage = Usage {
            input: 1_200,
            output: 34,
            cached: 0,
            written: 0,
        };
        let world = world(api, [Reply::say("Hello there.").usage(usage)]).await;
        let story = world.turn("Hi").await;
        assert_eq!(story.text, "Hello there.", "{api:?}");
        assert!(is_end(&story), "{api:?} {story:#?}");
        let usage = story
            .usage
            .unwrap_or_else(|| panic!("{api:?} told no usage"));
        assert_eq!((usage.used, usage.size), (1_234, 200_000), "{api:?}");
    }
}

// Also: V1-PROMPT-09, V2-PROMPT-22.
#[tokio::test]
async fn a_tool_is_called_and_its_result_goes_back() {
    for api in Api::ALL {
        let script = [
            Reply::say("I look.").and_call("read_file", json!({ "path": "a.txt" })),
            Reply::say("It says hello."),
        ];
        let world = world(api, script).await;
        world.write("a.txt", "hello\n");
        let story = world.turn("What is in a.txt?").await;
        assert!(is_end(&story), "{api:?} {story:#?}");
        assert_eq!(story.call("read_file").status, ToolCallStatus::Completed);
        let results = world.model.request(1).await.tool_results();
        assert_eq!(results.len(), 1, "{api:?}");
        assert!(results[0].1.contains("hello"), "{api:?} {results:?}");
    }
}

#[tokio::test]
async fn parallel_calls_are_answered_in_their_order() {
    for api in Api::ALL {
        let script = [
            Reply::call("read_file", json!({ "path": "a.txt" }))
                .and_call("list_dir", json!({ "path": "." }))
                .and_call("read_file", json!({ "path": "missing.txt" })),
            Reply::say("Done."),
        ];
        let world = world(api, script).await;
        world.write("a.txt", "first\n");
        let story = world.turn("Look").await;
        assert!(is_end(&story), "{api:?} {story:#?}");
        let results = world.model.request(1).await.tool_results();
        let texts: Vec<_> = results.iter().map(|(_, text)| text.as_str()).collect();
        assert!(texts[0].contains("first"), "{api:?} {texts:?}");
        assert!(texts[1].contains("a.txt"), "{api:?} {texts:?}");
        assert!(texts[2].contains("missing.txt"), "{api:?} {texts:?}");
        let statuses: Vec<_> = story.calls.iter().map(|call| call.status.clone()).collect();
        use ToolCallStatus::{Completed, Failed};
        assert_eq!(statuses, [Completed, Completed, Failed], "{api:?}");
    }
}

#[tokio::test]
async fn thoughts_are_shown_and_go_back_within_the_turn() {
    for api in [Api::Anthropic, Api::Gemini] {
        let script = [
            Reply::think("A file, then.").and_call("read_file", json!({ "path": "a.txt" })),
            Reply::say("Done."),
        ];
        let world = world(api, script).await;
        world.write("a.txt", "x\n");
        let story = world.turn("Look").await;
        assert_eq!(story.thoughts, "A file, then.", "{api:?}");
        let body = world.model.request(1).await.body.to_string();
        let signed = match api {
            Api::Anthropic => body.contains("\"signature\""),
            _ => body.contains("thoughtSignature"),
        };
        assert!(signed, "{api:?}: {body}");
    }
}

#[tokio::test]
async fn a_refusal_and_a_full_answer_are_stop_reasons() {
    for api in [Api::Chat, Api::Responses, Api::Anthropic, Api::Gemini] {
        let world = world(api, [Reply::say("No.").stop(Stop::Refusal)]).await;
        let story = world.turn("Evil").await;
        assert_eq!(story.stop, Some(StopReason::Refusal), "{api:?} {story:#?}");
    }
    for api in Api::ALL {
        let world = world(api, [Reply::say("And so").stop(Stop::MaxTokens)]).await;
        let story = world.turn("Tell me all").await;
        assert_eq!(
            story.stop,
            Some(StopReason::MaxTokens),
            "{api:?} {story:#?}"
        );
        assert_eq!(story.text, "And so", "{api:?}");
    }
}

#[tokio::test]
async fn a_busy_service_is_asked_again() {
    for api in Api::ALL {
        let script = [
            Reply::status(429).header("retry-after-ms", "1"),
            Reply::status(500).header("retry-after-ms", "1"),
            Reply::say("Here I am."),
        ];
        let world = world(api, script).await;
        let story = world.turn("Hi").await;
        assert_eq!(
            story.text.trim_start_matches(|c| c != 'H'),
            "Here I am.",
            "{api:?} {story:#?}"
        );
        assert!(is_end(&story), "{api:?}");
        assert_eq!(story.notices.len(), 2, "{api:?} {:?}", story.notices);
    }
}

#[tokio::test]
async fn a_cut_answer_goes_on_where_it_ended() {
    for api in Api::ALL {
        let script = [Reply::say("One, two,").and_cut(), Reply::say(" three.")];
        let world = world(api, script).await;
        let story = world.turn("Count").await;
        assert!(story.text.ends_with(" three."), "{api:?} {story:#?}");
        assert!(is_end(&story), "{api:?}");
        let body = world.model.request(1).await.body.to_string();
        assert!(
            body.contains("One, two,") && body.contains("cut off"),
            "{api:?} {body}"
        );
    }
}

#[tokio::test]
async fn a_frame_that_makes_no_sense_costs_a_try() {
    for api in Api::ALL {
        let world = world(api, [Reply::empty().and_malformed(), Reply::say("Fine.")]).await;
        let story = world.turn("Hi").await;
        assert!(story.text.ends_with("Fine."), "{api:?} {story:#?}");
    }
}

#[tokio::test]
async fn bytes_may_come_in_any_pieces() {
    for api in Api::ALL {
        let script = [
            Reply::say("Größe: ")
                .and_call("list_dir", json!({ "path": "." }))
                .split_every(1),
            Reply::say("ok").split_every(3),
        ];
        let world = world(api, script).await;
        let story = world.turn("Hi").await;
        assert_eq!(story.text, "Größe: ok", "{api:?}");
    }
}
