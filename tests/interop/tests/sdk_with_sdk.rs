//! The SDK's client over the SDK's agent: what the other suites may rely on.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

use interop_tests::{SdkClient, Settings, Version};

#[path = "scenarios/sdk_client.rs"]
mod scenarios;

scenarios::over! {
    env!("CARGO_BIN_EXE_sdk_agent");
    a_greeting_streams_and_the_session_is_listed,
    a_tool_call_follows_the_answer_to_its_permission_request,
    a_tool_call_shows_its_diff_its_place_and_its_input,
    a_cancel_settles_the_open_permission_request,
    a_cancelled_turn_leaves_the_session_usable,
    a_cancel_drops_the_held_prompt_too,
    held_prompts_are_done_in_order_after_the_first_has_ended,
    a_failed_turn_says_why_and_the_next_prompt_works,
    turns_end_with_every_stop_reason,
    a_plan_is_sent_whole_each_time,
    a_closed_session_comes_back_with_and_without_its_history,
    a_close_ends_the_running_turn,
    modes_are_set_and_unknown_sessions_are_refused,
    a_version_1_agent_uses_the_files_and_terminals_of_the_client,
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_an_error() {
    for version in [Version::V1, Version::V2] {
        let missing = std::env::temp_dir().join("no-such-agent-program");
        let started = SdkClient::start(version, missing, &[], Settings::default()).await;
        let failed = match started {
            Ok(client) => client.initialize().await.is_err(),
            Err(_) => true,
        };
        assert!(failed, "{version:?}");
    }
}
