//! A turn with very many calls.

use coder_tests::{Reply, Setup, World, read_story};
use ply_agent::v2::{StopReason, ToolCallStatus};
use ply_coder::permission::Mode;
use serde_json::json;

/// Requests to the model that make calls.
const ANSWERS: usize = 250;
/// Calls of each.
const CALLS: usize = 4;

#[tokio::test]
async fn a_turn_of_a_thousand_calls_grows_no_steeper_at_its_end() {
    let answer = |answer: usize| {
        let reply = (0..CALLS).fold(Reply::empty(), |reply, file| {
            let part = json!({ "path": format!("{file}.txt"), "offset": answer + 1, "limit": 40 });
            reply.and_call("read_file", part)
        });
        // What the service says it counted would make the agent trust in more room.
        reply.no_usage()
    };
    let script = (0..ANSWERS).map(answer);
    let setup = Setup {
        mode: Mode::Full,
        configure: Box::new(|config| config.turn_requests_max = 500),
        facts: Box::new(|facts| facts.window_tokens = 128_000),
        ..Setup::default()
    };
    let world = World::with(setup, script.chain([Reply::say("Done.").no_usage()])).await;
    let lines = |file: usize| (0..400).map(move |line| format!("{file}: this is line {line}\n"));
    for file in 0..CALLS {
        world.write(&format!("{file}.txt"), &lines(file).collect::<String>());
    }
    let session = world.session().await;
    let turn = session.prompt("Read everything").await.unwrap();
    let story = read_story(&session, turn).await;
    assert_eq!(story.stop, Some(StopReason::EndTurn), "{:?}", story.error);
    assert_eq!(story.calls.len(), ANSWERS * CALLS);
    for call in &story.calls {
        assert_eq!(call.status, ToolCallStatus::Completed, "{call:?}");
    }
    // The conversation is as long as the window allows long before the middle; from there on each request costs the same.
    let requests = world.model.requests();
    assert_eq!(requests.len(), ANSWERS + 1);
    let bytes = |from: usize, to: usize| -> usize {
        let some = requests.get(from..to).unwrap().iter();
        some.map(|request| request.body.to_string().len()).sum()
    };
    let (third, last) = (bytes(125, 187), bytes(188, 250));
    assert!(last < third + third / 20, "{third} bytes, then {last}");
}
