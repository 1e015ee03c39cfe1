//! Ply's client and the SDK's over agents behind the hub's runner: every version of the client with every version of the agent.
//!
//! Scenarios are left out where what they ask for cannot pass the runner: the SDK's agent says its titles only in its own listing and
//! keeps sessions only in memory, version 1 has no cancelled calls and is always
//! offered files, and version 2 has no whole texts of edited files.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

#[path = "scenarios/ply_client.rs"]
#[expect(dead_code, reason = "not every scenario is for every agent")]
mod scenarios;

#[path = "scenarios/sdk_client.rs"]
#[expect(dead_code, reason = "not every scenario is for every agent")]
mod sdk_scenarios;

mod ply_client_over_an_sdk_agent_of_version_1 {
    use super::scenarios;

    const PROGRAM: scenarios::Program = scenarios::Program {
        path: env!("CARGO_BIN_EXE_down_sdk_v1"),
        speaks_both: true,
    };

    scenarios::over! {
        PROGRAM;
        a_greeting_becomes_a_prompt_a_thought_and_one_message,
        a_tool_call_follows_the_answer_to_its_permission_request,
        a_cancelled_turn_takes_the_late_update_in_and_the_next_prompt_works,
        a_plan_is_replaced_by_its_update,
        a_turn_that_fails_says_why_and_the_next_prompt_works,
        prompts_sent_together_are_done_in_order,
        a_closed_session_ends_its_running_turn,
        a_version_1_agent_reads_files_through_the_client,
        a_version_1_agent_runs_commands_in_a_terminal_of_the_client,
    }
}

mod ply_client_over_an_sdk_agent_of_version_2 {
    use super::scenarios;

    const PROGRAM: scenarios::Program = scenarios::Program {
        path: env!("CARGO_BIN_EXE_down_sdk_v2"),
        speaks_both: true,
    };

    scenarios::over! {
        PROGRAM;
        a_greeting_becomes_a_prompt_a_thought_and_one_message,
        a_tool_call_follows_the_answer_to_its_permission_request,
        a_cancelled_turn_takes_the_late_update_in_and_the_next_prompt_works,
        a_plan_is_replaced_by_its_update,
        a_turn_that_fails_says_why_and_the_next_prompt_works,
        prompts_sent_together_are_done_in_order,
        a_closed_session_ends_its_running_turn,
        an_agent_is_not_offered_what_the_client_does_not_serve,
    }
}

mod ply_client_over_an_agent_of_ply {
    use super::scenarios;

    const PROGRAM: scenarios::Program = scenarios::Program {
        path: env!("CARGO_BIN_EXE_down_ply"),
        speaks_both: true,
    };

    scenarios::over! {
        PROGRAM;
        a_greeting_becomes_a_prompt_a_thought_and_one_message,
        a_tool_call_follows_the_answer_to_its_permission_request,
        a_dismissed_or_cancelled_question_ends_the_turn_cancelled,
        a_cancelled_turn_takes_the_late_update_in_and_the_next_prompt_works,
        a_plan_is_replaced_by_its_update,
        a_turn_that_fails_says_why_and_the_next_prompt_works,
        prompts_sent_together_are_done_in_order,
        sessions_are_listed_closed_and_set_to_another_mode,
        a_closed_session_ends_its_running_turn,
    }
}

mod sdk_client_over_an_sdk_agent_of_version_1 {
    use super::sdk_scenarios as scenarios;

    scenarios::over! {
        env!("CARGO_BIN_EXE_down_sdk_v1");
        a_tool_call_shows_its_diff_its_place_and_its_input,
        a_cancelled_turn_leaves_the_session_usable,
        a_failed_turn_says_why_and_the_next_prompt_works,
        a_plan_is_sent_whole_each_time,
        a_close_ends_the_running_turn,
        a_version_1_agent_uses_the_files_and_terminals_of_the_client,
    }
}

mod sdk_client_over_an_sdk_agent_of_version_2 {
    use super::sdk_scenarios as scenarios;

    scenarios::over! {
        env!("CARGO_BIN_EXE_down_sdk_v2");
        a_tool_call_follows_the_answer_to_its_permission_request,
        a_cancel_settles_the_open_permission_request,
        a_cancelled_turn_leaves_the_session_usable,
        a_failed_turn_says_why_and_the_next_prompt_works,
        turns_end_with_every_stop_reason,
        a_plan_is_sent_whole_each_time,
        a_close_ends_the_running_turn,
    }
}

mod a_killed_agent {
    use std::time::Duration;

    use ply_client::{Client, Event};
    use ply_hub::down::{Caller, Downstream, Services, child};

    const DEADLINE: Duration = Duration::from_secs(30);

    /// Starts the SDK's agent through a shell that notes its process and leaves something on standard error.
    async fn hub(version: &str, pid: &std::path::Path) -> Downstream {
        let program = env!("CARGO_BIN_EXE_sdk_agent");
        let pid = pid.display();
        let line =
            format!("echo $$ > {pid}; echo the plums are gone >&2; exec {program} {version}");
        let launch = child("sh").args(["-c", &line]);
        let started = Downstream::start(launch, Caller::new(), Services::default());
        started.await.unwrap()
    }

    #[tokio::test]
    async fn is_told_in_words_and_its_session_is_not_made_anew() {
        for version in ["v1", "v2"] {
            let name = format!("ply-killed-{version}-{}", std::process::id());
            let pid = std::env::temp_dir().join(name);
            let server = ply_agent::serve(hub(version, &pid).await);
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            let (reader, writer) = tokio::io::split(theirs);
            let serving = server.clone();
            tokio::spawn(async move { serving.over(reader, writer).await });
            let agent = Client::new().connect(ours).await.unwrap();
            let session = agent.new_session("/").await.unwrap();
            let mut turn = session.prompt("wait").await.unwrap();
            let work = async {
                loop {
                    match turn.next().await {
                        Some(Ok(Event::Message(_))) => {
                            let pid = std::fs::read_to_string(&pid).unwrap();
                            let kill = std::process::Command::new("kill")
                                .args(["-9", pid.trim()])
                                .status();
                            assert!(kill.unwrap().success());
                        }
                        Some(Ok(_)) => {}
                        Some(Err(error)) => return error.to_string(),
                        None => panic!("the turn ended without an error"),
                    }
                }
            };
            let error = tokio::time::timeout(DEADLINE, work).await.unwrap();
            assert!(error.contains("SIGKILL"), "{error}");
            assert!(error.contains("the plums are gone"), "{error}");
            let transcript = session.transcript();
            assert!(transcript.tool_calls().all(|call| call.is_finished()));
            let again = session.prompt("hello").await.unwrap().finish();
            let error = tokio::time::timeout(DEADLINE, again).await.unwrap();
            let error = error.unwrap_err().to_string();
            assert!(error.contains("make a new session"), "{error}");
            server.shutdown().await;
            std::fs::remove_file(&pid).unwrap();
        }
    }
}
