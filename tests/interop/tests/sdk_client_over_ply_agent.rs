//! The SDK's client over an agent made with Ply, on both versions.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

#[path = "scenarios/sdk_client.rs"]
mod scenarios;

scenarios::over! {
    env!("CARGO_BIN_EXE_ply_agent");
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
