//! What Ply's client sees of an agent, whoever made it.

use std::path::PathBuf;
use std::time::Duration;

use ply_client::{
    Agent, Client, Command, Event, Files, Permission, Session, SessionFilter, Supported, Terminals,
    Transcript, Turn, TurnEnd, TurnError, v2,
};
use ply_wire::transcript::Entry;
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(20);
const CWD: &str = "/project";
const BOTH: [&str; 2] = ["v1", "v2"];

/// An agent's program. Each scenario takes one.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(crate) path: &'static str,
    /// Whether it speaks both versions, so that the client has to choose; otherwise an argument says which one.
    pub(crate) speaks_both: bool,
}

/// Makes a test of each scenario over one agent.
macro_rules! over {
    ($program:expr; $($scenario:ident),* $(,)?) => {
        $(
            #[tokio::test]
            async fn $scenario() {
                scenarios::$scenario($program).await;
            }
        )*
    };
}
pub(crate) use over;

async fn start(program: Program, version: &str, client: Client) -> Agent {
    let client = match (program.speaks_both, version) {
        (false, _) => client,
        (true, "v1") => client.versions(Supported::V1),
        (true, _) => client.versions(Supported::V2),
    };
    let command = Command::new(program.path).arg(version);
    let agent = timeout(DEADLINE, client.spawn(command)).await;
    agent.expect("the agent starts in time").unwrap()
}

/// Starts an agent with a session for each version.
async fn sessions(program: Program) -> Vec<(Agent, Session)> {
    let mut sessions = Vec::new();
    for version in BOTH {
        let agent = start(program, version, Client::new()).await;
        let session = agent.new_session(CWD).await.unwrap();
        sessions.push((agent, session));
    }
    sessions
}

/// Ends the agent and checks that it never had to be put up with.
async fn finish(agent: Agent) {
    assert!(agent.reports().is_empty(), "{:?}", agent.reports());
    let last = timeout(DEADLINE, agent.close()).await;
    let last = last.expect("the agent ends in time");
    assert!(
        last.status.is_some_and(|status| status.success()),
        "{last:?}"
    );
}

/// Reads a turn to its end, with an answer for each event that needs one.
async fn read(
    turn: &mut Turn,
    mut on_event: impl AsyncFnMut(&Turn, &Event),
) -> Result<TurnEnd, TurnError> {
    let work = async {
        while let Some(event) = turn.next().await {
            on_event(turn, &event?).await;
        }
        Ok(turn.end().unwrap().clone())
    };
    let end = timeout(DEADLINE, work).await;
    end.expect("the turn ends in time")
}

/// Prompts and reads to the end; questions are left to be cancelled.
async fn prompt(session: &Session, text: &str) -> Result<TurnEnd, TurnError> {
    let mut turn = session.prompt(text).await.unwrap();
    read(&mut turn, async |_, _| {}).await
}

async fn ask(session: &Session, answer: impl AsyncFn(&Turn, &Permission)) -> TurnEnd {
    let mut turn = session.prompt("tool").await.unwrap();
    let end = read(&mut turn, async |turn, event| {
        if let Event::Permission(permission) = event {
            assert_eq!(permission.options().len(), 4);
            answer(turn, permission).await;
        }
    });
    end.await.unwrap()
}

fn status(session: &Session) -> v2::ToolCallStatus {
    let transcript = session.transcript();
    transcript.tool_calls().last().unwrap().status.clone()
}

fn said(session: &Session) -> String {
    session.transcript().last_agent_text()
}

/// Shows the transcript without the ids of messages, which an agent of version 1 need not give.
fn shown(transcript: &Transcript) -> Vec<String> {
    let show = |entry: &Entry| match entry {
        Entry::Message(message) => format!("{:?}: {}", message.kind, message.text()),
        entry => format!("{entry:?}"),
    };
    transcript.entries().map(show).collect()
}

pub(crate) async fn a_greeting_becomes_a_prompt_a_thought_and_one_message(program: Program) {
    for (agent, session) in sessions(program).await {
        let end = prompt(&session, "hello").await.unwrap();
        assert_eq!(end.stop_reason, Some(v2::StopReason::EndTurn));
        let expected = [
            "User: hello",
            "Thought: A greeting.",
            "Agent: Hello, world.",
        ];
        assert_eq!(shown(&session.transcript()), expected);
        finish(agent).await;
    }
}

pub(crate) async fn a_tool_call_follows_the_answer_to_its_permission_request(program: Program) {
    for (agent, session) in sessions(program).await {
        let end = ask(&session, async |_, ask| ask.allow_once().await.unwrap()).await;
        assert_eq!(end.stop_reason, Some(v2::StopReason::EndTurn));
        assert_eq!(said(&session), "done");
        let transcript = session.transcript();
        let call = transcript.tool_calls().last().unwrap();
        assert_eq!(call.status, v2::ToolCallStatus::Completed);
        assert_eq!(call.kind, v2::ToolKind::Edit);
        assert!(matches!(call.content[1], v2::ToolCallContent::Diff(_)));
        assert!(call.raw_input.is_some() && call.locations.len() == 1);

        ask(&session, async |_, ask| ask.allow_always().await.unwrap()).await;
        assert_eq!(said(&session), "done");
        ask(&session, async |_, ask| ask.reject_once().await.unwrap()).await;
        assert_eq!(said(&session), "rejected");
        ask(&session, async |_, ask| ask.reject_always().await.unwrap()).await;
        assert_eq!(status(&session), v2::ToolCallStatus::Failed);
        finish(agent).await;
    }
}

pub(crate) async fn a_dismissed_or_cancelled_question_ends_the_turn_cancelled(program: Program) {
    for (agent, session) in sessions(program).await {
        let end = ask(&session, async |_, ask| ask.cancel().await);
        assert!(end.await.is_cancelled(), "dismissed");
        let end = ask(&session, async |turn, ask| {
            turn.cancel().await.unwrap();
            timeout(DEADLINE, ask.closed()).await.unwrap();
        });
        assert!(end.await.is_cancelled(), "cancelled");
        assert!(prompt(&session, "hello").await.is_ok());
        // One that the program drops is answered with an error, of which an agent with a bare `?` dies.
        if program.speaks_both {
            let end = prompt(&session, "tool").await.unwrap();
            assert!(!end.is_cancelled(), "dropped");
            assert_eq!(said(&session), "rejected");
        }
        finish(agent).await;
    }
}

pub(crate) async fn a_cancelled_turn_takes_the_late_update_in_and_the_next_prompt_works(
    program: Program,
) {
    for (agent, session) in sessions(program).await {
        let mut turn = session.prompt("wait").await.unwrap();
        let end = read(&mut turn, async |turn, event| {
            if matches!(event, Event::Message(_)) {
                turn.cancel().await.unwrap();
            }
        });
        assert!(end.await.unwrap().is_cancelled());
        let transcript = session.transcript();
        assert!(transcript.tool_calls().all(|call| call.is_finished()));
        let end = prompt(&session, "hello").await.unwrap();
        assert_eq!(end.stop_reason, Some(v2::StopReason::EndTurn));
        assert_eq!(said(&session), "Hello, world.");
        finish(agent).await;
    }
}

pub(crate) async fn a_plan_is_replaced_by_its_update(program: Program) {
    for (agent, session) in sessions(program).await {
        prompt(&session, "plan").await.unwrap();
        let transcript = session.transcript();
        let plans: Vec<_> = transcript.plans().collect();
        assert_eq!(plans.len(), 1);
        let done = |entry: &&v2::PlanEntry| entry.status == v2::PlanEntryStatus::Completed;
        let entries = plans[0].entries().unwrap();
        assert_eq!((entries.len(), entries.iter().filter(done).count()), (3, 2));
        finish(agent).await;
    }
}

pub(crate) async fn a_turn_that_fails_says_why_and_the_next_prompt_works(program: Program) {
    for (agent, session) in sessions(program).await {
        match prompt(&session, "fail").await.unwrap_err() {
            TurnError::Failed { code, message, .. } => {
                assert_eq!((code, message.as_str()), (-32603, "the model is gone"));
            }
            other => panic!("{other:?}"),
        }
        assert!(prompt(&session, "refuse").await.unwrap().is_refused());
        let end = prompt(&session, "tokens").await.unwrap();
        assert_eq!(end.stop_reason, Some(v2::StopReason::MaxTokens));
        assert!(prompt(&session, "hello").await.is_ok());
        finish(agent).await;
    }
}

pub(crate) async fn prompts_sent_together_are_done_in_order(program: Program) {
    for (agent, session) in sessions(program).await {
        let mut first = session.prompt("first").await.unwrap();
        let mut second = session.prompt("second").await.unwrap();
        assert!(read(&mut first, async |_, _| {}).await.is_ok());
        assert!(read(&mut second, async |_, _| {}).await.is_ok());
        let expected = [
            "User: first",
            "Agent: first",
            "User: second",
            "Agent: second",
        ];
        assert_eq!(shown(&session.transcript()), expected);
        finish(agent).await;
    }
}

pub(crate) async fn a_loaded_session_shows_what_was_live_and_a_resumed_one_nothing(
    program: Program,
) {
    for (agent, session) in sessions(program).await {
        prompt(&session, "hello").await.unwrap();
        ask(&session, async |_, ask| ask.allow_once().await.unwrap()).await;
        prompt(&session, "plan").await.unwrap();
        let live = session.transcript();
        session.close().await.unwrap();

        let resumed = agent.resume_session(session.id().clone(), CWD).await;
        let resumed = resumed.unwrap();
        // The plan as it stands may be shown, but nothing of what was said and done.
        let shown_again = resumed.transcript();
        assert_eq!(shown_again.messages().count(), 0);
        assert_eq!(shown_again.tool_calls().count(), 0);
        assert_eq!(resumed.config_options().len(), 1);
        resumed.close().await.unwrap();

        let loaded = agent.load_session(session.id().clone(), CWD).await;
        let loaded = loaded.unwrap();
        assert_eq!(shown(&loaded.transcript()), shown(&live));
        assert!(prompt(&loaded, "hello").await.is_ok());
        finish(agent).await;
    }
}

pub(crate) async fn sessions_are_listed_closed_and_set_to_another_mode(program: Program) {
    for (agent, session) in sessions(program).await {
        prompt(&session, "hello").await.unwrap();
        let listed = agent.list_sessions(SessionFilter::all()).await.unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(&listed[0].session_id, session.id());
        assert_eq!(listed[0].title.as_deref(), Some("hello"));

        let code = v2::SessionConfigOptionValue::id("code");
        session.set_config_option("mode", code).await.unwrap();
        match &session.config_options()[0].kind {
            v2::SessionConfigKind::Select(mode) => assert_eq!(&*mode.current_value.0, "code"),
            other => panic!("{other:?}"),
        }
        session.close().await.unwrap();
        assert!(agent.load_session("nobody", CWD).await.is_err());
        finish(agent).await;
    }
}

pub(crate) async fn a_closed_session_ends_its_running_turn(program: Program) {
    for (agent, session) in sessions(program).await {
        let mut turn = session.prompt("wait").await.unwrap();
        let end = read(&mut turn, async |_, event| {
            if matches!(event, Event::Message(_)) {
                timeout(DEADLINE, session.close()).await.unwrap().unwrap();
            }
        });
        match end.await {
            Ok(end) => assert!(end.is_cancelled(), "{end:?}"),
            Err(error) => assert!(matches!(error, TurnError::SessionClosed), "{error:?}"),
        }
        finish(agent).await;
    }
}

/// A directory of its own that goes with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let name = format!("ply-interop-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What cannot be removed is the system's to clear.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

pub(crate) async fn a_version_1_agent_reads_files_through_the_client(program: Program) {
    let directory = Directory::new("files");
    let path = directory.0.join("notes.txt");
    std::fs::write(&path, "from the editor").unwrap();
    let agent = start(program, "v1", Client::new().files(Files::new())).await;
    let session = agent.new_session(&directory.0).await.unwrap();
    let read = format!("read {}", path.display());
    prompt(&session, &read).await.unwrap();
    assert_eq!(said(&session), "from the editor");
    let outside = Directory::new("outside");
    let path = outside.0.join("notes.txt");
    std::fs::write(&path, "not for the agent").unwrap();
    let read = format!("read {}", path.display());
    prompt(&session, &read).await.unwrap();
    assert!(said(&session).starts_with("read failed"));
    finish(agent).await;
}

pub(crate) async fn a_version_1_agent_runs_commands_in_a_terminal_of_the_client(program: Program) {
    let directory = Directory::new("terminal");
    let agent = start(program, "v1", Client::new().terminals(Terminals::new())).await;
    let session = agent.new_session(&directory.0).await.unwrap();
    prompt(&session, "term echo hi").await.unwrap();
    assert_eq!(said(&session), "0: hi\n");
    assert_eq!(status(&session), v2::ToolCallStatus::Completed);
    finish(agent).await;
}

pub(crate) async fn an_agent_is_not_offered_what_the_client_does_not_serve(program: Program) {
    for (agent, session) in sessions(program).await {
        prompt(&session, "read /project/notes.txt").await.unwrap();
        assert_eq!(said(&session), "no files");
        prompt(&session, "term echo hi").await.unwrap();
        assert_eq!(said(&session), "no terminal");
        finish(agent).await;
    }
}
