//! Ply's client over an agent made with the official SDK, on both versions.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

use std::time::Duration;

use ply_client::{Client, Command, Supported};
use tokio::time::timeout;

#[path = "scenarios/ply_client.rs"]
mod scenarios;

const PROGRAM: scenarios::Program = scenarios::Program {
    path: env!("CARGO_BIN_EXE_sdk_agent"),
    speaks_both: false,
};

const DEADLINE: Duration = Duration::from_secs(20);

scenarios::over! {
    PROGRAM;
    a_greeting_becomes_a_prompt_a_thought_and_one_message,
    a_tool_call_follows_the_answer_to_its_permission_request,
    a_dismissed_or_cancelled_question_ends_the_turn_cancelled,
    a_cancelled_turn_takes_the_late_update_in_and_the_next_prompt_works,
    a_plan_is_replaced_by_its_update,
    a_turn_that_fails_says_why_and_the_next_prompt_works,
    prompts_sent_together_are_done_in_order,
    a_loaded_session_shows_what_was_live_and_a_resumed_one_nothing,
    sessions_are_listed_closed_and_set_to_another_mode,
    a_closed_session_ends_its_running_turn,
    a_version_1_agent_reads_files_through_the_client,
    a_version_1_agent_runs_commands_in_a_terminal_of_the_client,
    an_agent_is_not_offered_what_the_client_does_not_serve,
}

#[tokio::test]
async fn a_client_of_the_other_version_alone_is_told_so() {
    for (version, other) in [("v1", Supported::V2), ("v2", Supported::V1)] {
        let program = Command::new(PROGRAM.path).arg(version);
        let spawned = Client::new().versions(other).spawn(program);
        let spawned = timeout(DEADLINE, spawned).await.unwrap();
        assert!(spawned.is_err(), "{version}");
    }
}
