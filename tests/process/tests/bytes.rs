//! Bytes between real processes (fault rows A1, A3, A14, A15, A17, B11).

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use ply_rpc::transport::child::{Command, Grace};
use ply_rpc::{CallError, Options};
use process_tests::{start, start_with, within};
use serde_json::{Value, json};

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture");

fn fixture(args: &[&str]) -> Command {
    Command::new(FIXTURE).args(args)
}

#[tokio::test]
async fn a1_every_frame_between_twelve_kinds_of_noise_arrives() {
    let mut running = start(fixture(&["noise"])).await;
    for index in 0..1200 {
        assert_eq!(
            running.update().await,
            ("update".to_owned(), json!([index]))
        );
    }
    let noise = running.peer.noise();
    // Blank lines are no noise, and what is glued before a frame is stripped.
    assert_eq!(noise.lines, 800);
    assert_eq!(noise.first_lines[0], "Welcome to the agent");
    assert!(
        noise
            .first_lines
            .iter()
            .all(|line| !line.contains('\u{1b}')),
        "{:?}",
        noise.first_lines
    );
    assert!(running.end(Grace::default()).await.success());
}

#[tokio::test]
async fn a3_stray_prints_of_the_agent_go_to_standard_error() {
    let mut running = start(fixture(&["agent"])).await;
    assert_eq!(
        within(10, running.peer.call::<Value>("print", &()))
            .await
            .unwrap(),
        true
    );
    assert_eq!(
        within(10, running.peer.call::<Value>("echo", &json!([1])))
            .await
            .unwrap(),
        json!([1])
    );
    assert_eq!(running.peer.noise().lines, 0);
    running.peer.close();
    within(10, running.child.end(Grace::default()))
        .await
        .unwrap();
    let stderr = String::from_utf8(running.child.stderr_tail()).unwrap();
    assert!(stderr.contains("a stray print\na stray puts\n"), "{stderr}");
}

#[tokio::test]
async fn a14_frames_of_sixteen_tasks_do_not_mix_in_the_pipe() {
    let running = start(fixture(&["agent"])).await;
    let tasks: Vec<_> = (0..16)
        .map(|task| {
            let peer = running.peer.clone();
            tokio::spawn(async move {
                let text = "x".repeat(1 << 20);
                for index in 0..4 {
                    let params = json!([task, index, text]);
                    assert_eq!(peer.call::<Value>("echo", &params).await.unwrap(), params);
                    for small in 0..100 {
                        let params = json!([task, index, small]);
                        assert_eq!(peer.call::<Value>("echo", &params).await.unwrap(), params);
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        within(120, task).await.unwrap();
    }
    running.end(Grace::default()).await;
}

/// Pipes of 4 KiB cut most writes short and make the rest wait. Interrupted calls are in the link's own tests.
#[tokio::test]
async fn a15_short_writes_resume_at_the_exact_byte() {
    let running = start(fixture(&["agent"]).pipe_bytes(4096)).await;
    for size in [1, 100, 5000, 70_000, 300_000] {
        let params = json!(["é".repeat(size)]);
        let echoed = within(60, running.peer.call::<Value>("echo", &params)).await;
        assert_eq!(echoed.unwrap(), params);
    }
    assert_eq!(running.peer.noise().lines, 0);
    running.end(Grace::default()).await;
}

#[tokio::test]
async fn a17_an_answer_is_not_left_in_a_buffer() {
    let running = start(fixture(&["agent"])).await;
    for index in 0..1000 {
        let answer = within(5, running.peer.call::<Value>("echo", &json!([index]))).await;
        assert_eq!(answer.unwrap(), json!([index]));
    }
    running.end(Grace::default()).await;
}

#[tokio::test]
async fn b11_two_sides_that_answer_each_other_fall_silent() {
    for (options, answers) in [(Options::agent(), 10), (Options::client(), 0)] {
        // It sends a thousand lines of garbage, and from then on whatever it is sent.
        let mut running = start_with(fixture(&["garbage-echo"]), options).await;
        // Our own question comes back as a question, and its refusal as our answer.
        let error = within(10, running.peer.call::<Value>("question", &()))
            .await
            .unwrap_err();
        assert!(matches!(error, CallError::Peer(error) if error.code == -32601));
        assert_eq!(running.peer.noise().lines, 1000);
        running.peer.close();
        within(10, running.child.end(Grace::default()))
            .await
            .unwrap();
        let stderr = String::from_utf8(running.child.stderr_tail()).unwrap();
        // What it read: the answers to garbage, the question, the refusal.
        assert_eq!(stderr, format!("{} lines\n", answers + 2));
    }
}
