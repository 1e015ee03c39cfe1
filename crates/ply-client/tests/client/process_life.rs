//! Agents in processes of their own: how they start, die, and come back.

use std::path::Path;
use std::time::Duration;

use ply_client::{
    Agent, Client, Command, Error, Files, Grace, PostMortem, ReportKind, StartFailure, TurnError,
    Version,
};

const AGENT: &str = include_str!("process_life/agent.sh");

fn command(capabilities: &str) -> Command {
    Command::from(["sh", "-c", AGENT]).env("CAPS", capabilities)
}

fn client() -> Client {
    let mut grace = Grace::default();
    grace.after_close = Duration::from_millis(200);
    grace.after_term = Duration::from_millis(500);
    Client::new().grace(grace)
}

async fn agent(capabilities: &str) -> Agent {
    client().spawn(command(capabilities)).await.unwrap()
}

const LONG: Duration = Duration::from_secs(30);
const RESUMES: &str = r#"{"sessionCapabilities":{"resume":{}}}"#;
const LOADS: &str = r#"{"loadSession":true}"#;

/// Kills the agent from outside and waits until the client has noticed.
async fn murder(agent: &Agent) -> PostMortem {
    let id = agent.process_id().unwrap().to_string();
    let killed = std::process::Command::new("kill")
        .args(["-9", &id])
        .status();
    assert!(killed.unwrap().success());
    agent.closed().await
}

fn is_alive(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

async fn gone(process: u32) {
    let gone = async {
        while is_alive(process) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, gone).await.unwrap();
}

async fn interrupted(agent: &Agent, prompt: &str) -> PostMortem {
    let session = agent.new_session("/").await.unwrap();
    let turn = session.prompt(prompt).await.unwrap();
    match turn.finish().await.unwrap_err() {
        TurnError::Interrupted(end) => *end,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn c1_a_death_in_the_turn_is_told_with_status_and_last_words() {
    use std::os::unix::process::ExitStatusExt as _;
    for (prompt, code, signal) in [
        ("exit 0", Some(0), None),
        ("exit 1", Some(1), None),
        ("die", None, Some(9)),
    ] {
        let agent = agent("{}").await;
        let end = interrupted(&agent, prompt).await;
        let status = end.status.unwrap();
        assert_eq!((status.code(), status.signal()), (code, signal));
        assert!(end.stderr_tail.contains("starts"), "{end}");
        assert_eq!(end.stderr_tail.contains("giving up"), prompt == "exit 1");
    }
}

#[tokio::test]
async fn c2_an_agent_that_died_between_turns_is_started_again_and_the_session_resumed() {
    let agent = agent(RESUMES).await;
    let session = agent.new_session("/").await.unwrap();
    for round in 1..=10 {
        let turn = session.prompt("say").await.unwrap();
        turn.finish().await.unwrap();
        let transcript = session.transcript();
        assert_eq!(transcript.messages().count(), 2 * round);
        murder(&agent).await;
    }
}

#[tokio::test]
async fn an_agent_that_echoes_version_2_is_started_again_with_version_1() {
    let agent = client().spawn(command(RESUMES).env("ECHOES", "1"));
    let agent = agent.await.unwrap();
    assert_eq!(agent.version(), Version::V1);
    let echoed = |agent: &Agent| {
        let reports = agent.reports().into_iter();
        let echoed = reports.filter(|report| report.kind == ReportKind::VersionEchoed);
        echoed.map(|report| report.count).sum::<u64>()
    };
    assert_eq!(echoed(&agent), 1);
    let session = agent.new_session("/").await.unwrap();
    session.prompt("say").await.unwrap().finish().await.unwrap();
    // Its next life is not asked in vain.
    let end = murder(&agent).await;
    assert!(end.stderr_tail.contains("asked for version 1"), "{end}");
    session.prompt("say").await.unwrap().finish().await.unwrap();
    assert_eq!(echoed(&agent), 1);
}

// Also: V1-INIT-20.
#[tokio::test]
async fn an_agent_that_ends_when_it_is_told_of_services_is_greeted_once_in_version_1() {
    let client = client().files(Files::new());
    let agent = client.spawn(command(RESUMES).env("ONCE", "1")).await;
    let agent = agent.unwrap();
    let session = agent.new_session("/").await.unwrap();
    session.prompt("say").await.unwrap().finish().await.unwrap();
    murder(&agent).await;
    session.prompt("say").await.unwrap().finish().await.unwrap();
}

// Also: E6.
#[tokio::test]
async fn c2_what_is_loaded_again_is_not_there_twice() {
    let agent = agent(LOADS).await;
    let session = agent.new_session("/").await.unwrap();
    session.prompt("say").await.unwrap().finish().await.unwrap();
    let before = session.transcript();
    murder(&agent).await;
    session.prompt("say").await.unwrap().finish().await.unwrap();
    let after = session.transcript();
    assert_eq!(after.messages().count(), 4);
    assert!(
        before
            .entries()
            .zip(after.entries())
            .all(|(old, new)| old == new)
    );
}

#[tokio::test]
async fn c2_an_agent_that_opens_no_old_sessions_gets_a_new_one() {
    let agent = agent("{}").await;
    let session = agent.new_session("/").await.unwrap();
    murder(&agent).await;
    let lost = session.prompt("say").await;
    assert!(matches!(lost, Err(Error::NotOffered { .. })));
    let session = agent.new_session("/").await.unwrap();
    session.prompt("say").await.unwrap().finish().await.unwrap();
}

#[tokio::test]
async fn c3_an_agent_that_closes_its_output_is_gone_and_ended() {
    let agent = agent("{}").await;
    let process = agent.process_id().unwrap();
    let end = interrupted(&agent, "mute").await;
    assert!(end.status.is_none(), "it still ran");
    agent.closed().await;
    assert!(!is_alive(process));
    let reports = agent.reports();
    assert!(
        reports
            .iter()
            .any(|report| report.kind == ReportKind::ClosedOutput)
    );
}

#[tokio::test]
async fn c1_a_death_is_noticed_even_if_a_child_holds_the_output_open() {
    use std::os::unix::process::ExitStatusExt as _;
    let agent = agent("{}").await;
    let end = tokio::time::timeout(LONG, interrupted(&agent, "leave a child"));
    let end = end.await.unwrap();
    assert_eq!(end.status.unwrap().signal(), Some(9), "{end}");
    agent.closed().await;
}

#[tokio::test]
async fn an_agent_is_not_started_again_before_its_old_life_is_over() {
    let agent = agent(RESUMES).await;
    let old = agent.process_id().unwrap();
    let session = agent.new_session("/").await.unwrap();
    // An agent that was of use is started again without a wait.
    session.prompt("say").await.unwrap().finish().await.unwrap();
    let lost = session.prompt("mute").await.unwrap().finish().await;
    assert!(matches!(lost, Err(TurnError::Interrupted(_))));
    let turn = session.prompt("say").await.unwrap();
    assert!(!is_alive(old));
    turn.finish().await.unwrap();
}

#[tokio::test]
async fn prompts_at_the_same_time_wait_until_the_session_is_open_again() {
    let agent = agent(LOADS).await;
    let session = agent.new_session("/").await.unwrap();
    session.prompt("say").await.unwrap().finish().await.unwrap();
    murder(&agent).await;
    let (one, two) = tokio::join!(session.prompt("say"), session.prompt("say"));
    one.unwrap().finish().await.unwrap();
    two.unwrap().finish().await.unwrap();
    assert_eq!(session.transcript().messages().count(), 6);
}

#[tokio::test]
async fn prompts_that_are_given_up_while_the_agent_comes_back_change_nothing() {
    for capabilities in [LOADS, RESUMES] {
        let agent = agent(capabilities).await;
        let session = agent.new_session("/").await.unwrap();
        let mut events = session.events();
        let mut said = 0;
        for patience_ms in [0, 2, 5, 10, 20, 40] {
            said += 1;
            let turn = session.prompt("say").await.unwrap();
            tokio::time::timeout(LONG, turn.finish())
                .await
                .unwrap()
                .unwrap();
            murder(&agent).await;
            let patience = std::time::Duration::from_millis(patience_ms);
            if let Ok(turn) = tokio::time::timeout(patience, session.prompt("say")).await {
                said += 1;
                turn.unwrap().finish().await.unwrap();
            }
        }
        let told = session.transcript().messages().count();
        assert_eq!(told, 2 * said, "{capabilities}");
        agent.close().await;
        let mut heard = 0;
        let listening = async {
            while let Some(told) = events.next().await {
                heard += usize::from(matches!(told.event, ply_client::Event::Message(_)));
            }
        };
        tokio::time::timeout(LONG, listening).await.unwrap();
        assert_eq!(heard, said, "{capabilities}");
    }
}

#[tokio::test]
async fn a_session_that_the_new_life_does_not_know_is_closed_only_here() {
    let agent = agent(RESUMES).await;
    let session = agent.new_session("/").await.unwrap();
    murder(&agent).await;
    let other = agent.new_session("/").await.unwrap();
    // This agent cannot close sessions, and must not be asked to.
    session.close().await.unwrap();
    let closed = session.prompt("say").await;
    assert!(matches!(closed, Err(Error::SessionClosed)));
    other.prompt("say").await.unwrap().finish().await.unwrap();
}

#[tokio::test]
async fn closing_while_the_agent_starts_again_leaves_nothing_running() {
    let hold = std::env::temp_dir().join(format!("ply-hold-{}", std::process::id()));
    let command = command(RESUMES).env("HOLD", &hold);
    let agent = client().spawn(command).await.unwrap();
    let session = agent.new_session("/").await.unwrap();
    let mut events = session.events();
    murder(&agent).await;
    let made = std::process::Command::new("mkfifo").arg(&hold).status();
    assert!(made.unwrap().success());
    let prompting = tokio::spawn(async move { session.prompt("say").await.map(drop) });
    let pipe = hold.clone();
    let process = tokio::task::spawn_blocking(move || std::fs::read_to_string(pipe).unwrap());
    let process: u32 = process.await.unwrap().trim().parse().unwrap();
    agent.close().await;
    let pipe = hold.clone();
    let going = tokio::task::spawn_blocking(move || std::fs::write(pipe, "go\n").unwrap());
    going.await.unwrap();
    let refused = prompting.await.unwrap();
    std::fs::remove_file(&hold).unwrap();
    assert!(matches!(refused, Err(Error::Closed)), "{refused:?}");
    gone(process).await;
    let ended = async { while events.next().await.is_some() {} };
    tokio::time::timeout(LONG, ended).await.unwrap();
}

#[tokio::test]
async fn c16_an_agent_that_fails_at_its_start_says_why() {
    let broken = std::env::temp_dir().join(format!("ply-broken-{}", std::process::id()));
    let command = command(RESUMES).env("BROKEN", &broken);
    let agent = client().spawn(command).await.unwrap();
    let session = agent.new_session("/").await.unwrap();
    session.prompt("say").await.unwrap().finish().await.unwrap();
    std::fs::write(&broken, "").unwrap();
    murder(&agent).await;
    match session.prompt("say").await.unwrap_err() {
        Error::Start {
            reason: StartFailure::Ended,
            end,
        } => {
            assert_eq!(end.status.unwrap().code(), Some(3));
            assert!(end.stderr_tail.contains("the configuration is broken"));
        }
        other => panic!("{other}"),
    }
    std::fs::remove_file(&broken).unwrap();
    session.prompt("say").await.unwrap().finish().await.unwrap();
}

#[tokio::test]
async fn an_agent_that_does_not_stop_can_be_killed() {
    let agent = agent(RESUMES).await;
    let process = agent.process_id().unwrap();
    let session = agent.new_session("/").await.unwrap();
    let turn = session.prompt("hang").await.unwrap();
    turn.cancel().await.unwrap();
    agent.kill().await;
    assert!(turn.finish().await.unwrap().is_cancelled());
    assert!(!is_alive(process));
    session.prompt("say").await.unwrap().finish().await.unwrap();
}

#[tokio::test]
async fn closing_ends_the_process_and_nothing_starts_it_again() {
    let agent = agent(RESUMES).await;
    let process = agent.process_id().unwrap();
    let session = agent.new_session("/").await.unwrap();
    let end = agent.close().await;
    assert_eq!(end.status.unwrap().code(), Some(0), "its input ended");
    assert!(!is_alive(process));
    assert!(matches!(session.prompt("say").await, Err(Error::Closed)));
}

#[tokio::test]
async fn dropping_every_handle_ends_the_process() {
    let agent = agent(RESUMES).await;
    let process = agent.process_id().unwrap();
    let session = agent.new_session("/").await.unwrap();
    drop(agent);
    session.prompt("say").await.unwrap().finish().await.unwrap();
    drop(session);
    gone(process).await;
}

async fn start_failure(command: impl Into<Command>) -> (StartFailure, PostMortem, String) {
    let error = client().spawn(command).await.unwrap_err();
    let text = error.to_string();
    match error {
        Error::Start { reason, end } => (reason, *end, text),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_program_that_is_no_agent_fails_fast_and_says_what_it_did() {
    let (reason, _, text) = start_failure(["cat"]).await;
    assert!(matches!(reason, StartFailure::Echo), "{text}");
    let (reason, end, text) =
        start_failure(["sh", "-c", "echo usage: x; echo bad >&2; exit 2"]).await;
    assert!(matches!(reason, StartFailure::Ended), "{text}");
    assert_eq!(end.status.unwrap().code(), Some(2));
    assert_eq!(end.noise.first_lines, ["usage: x"]);
    assert_eq!(end.stderr_tail, "bad");
    assert!(text.contains("usage: x") && text.contains("bad"), "{text}");
}

// Also: C14.
#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let error = ply_client::spawn(["ply-no-such-program"])
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Spawn(_)));
    assert!(error.to_string().contains("ply-no-such-program"), "{error}");
}
