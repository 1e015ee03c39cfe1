//! MCP servers of a session.

use std::path::PathBuf;

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::judging::tell;
use super::talk::talk;
use crate::peer::Stopped;
use crate::rule::id;
use crate::topic::Probe;

/// A program that is not there.
const NOWHERE: &str = "/nonexistent/ply-check/mcp-server";
/// How often, and how far apart, it is looked whether a server was started.
const LOOKS: usize = 15;
const BETWEEN_LOOKS: std::time::Duration = std::time::Duration::from_millis(20);

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "an MCP server that is not there",
        rules: &[id::V1_SESS_18, id::V2_MCP_02],
        run: |bench| Box::pin(unreachable(bench)),
    },
    Probe {
        name: "an MCP server with a variable that is named twice",
        rules: &[id::V2_MCP_03],
        run: |bench| Box::pin(named_twice(bench)),
    },
    Probe {
        name: "an MCP server that is there",
        rules: &[id::V1_MCP_01, id::V1_SESS_07, id::V2_MCP_04],
        run: |bench| Box::pin(reachable(bench)),
    },
];

/// Returns a server on standard streams, in the words of a version.
fn server(version: Version, command: &str, args: &[&str]) -> Value {
    match version {
        Version::V1 => json!({"name": "ply-check", "command": command, "args": args, "env": []}),
        Version::V2 => {
            json!({"type": "stdio", "name": "ply-check", "command": command, "args": args})
        }
    }
}

fn has_stdio(version: Version, agent: &Agent) -> bool {
    version == Version::V1 || agent.offers("/session/mcp/stdio")
}

async fn unreachable(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    if !has_stdio(bench.version, &agent) {
        bench.not_offered(id::V2_MCP_02, "MCP servers on standard streams");
        bench.give_back(agent);
        return Ok(());
    }
    // Without this, a refusal could have any reason.
    agent.new_session().await?;
    let servers = match bench.version {
        Version::V1 => json!([server(Version::V1, NOWHERE, &[])]),
        Version::V2 => json!([{"type": "stdio", "name": "ply-check", "command": NOWHERE}]),
    };
    let patience = agent.patience;
    // Some agents try for a while before they give up.
    agent.patience *= 3;
    let answer = agent
        .new_session_with(&json!({"mcpServers": servers}))
        .await;
    agent.patience = patience;
    match answer {
        Ok(answer) => {
            let saw = format!(
                "{}, with a server whose program is not there",
                tell("session/new", &answer)
            );
            bench.judge(
                id::V1_SESS_18,
                answer.result().is_some(),
                &agent,
                &answer.frames(),
                &*saw,
            );
            // In version 2 a failure of the server is the agent's choice, but the shape is lawful.
            let is_kept = answer.error_code() != Some(-32602);
            bench.judge(id::V2_MCP_02, is_kept, &agent, &answer.frames(), saw);
            bench.give_back(agent);
        }
        Err(stopped) => {
            let last = agent.recording().len().saturating_sub(1);
            let saw = format!("with a server whose program does not exist: {stopped}");
            bench.judge(id::V1_SESS_18, false, &agent, &[last], saw);
        }
    }
    Ok(())
}

async fn named_twice(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    agent.new_session().await?;
    let twice = json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]);
    let note = Note::new(agent.cwd.clone()).await;
    let command = ["-c", r#"printf '%s' "$A" > "$0""#, &note.path()];
    let mut entry = server(Version::V2, "/bin/sh", &command);
    if let Some(entry) = entry.as_object_mut() {
        entry.insert("env".to_owned(), twice);
    }
    let servers = json!({"mcpServers": [entry]});
    let answer = agent.new_session_with(&servers).await?;
    let told = note.wait_for(|told| !told.is_empty()).await;
    if told.is_some() || answer.is_error() {
        let is_kept = told.as_deref().is_none_or(|value| value == "2");
        let saw = "when a variable is listed twice, the agent uses the first value";
        bench.judge(id::V2_MCP_03, is_kept, &agent, &answer.frames(), saw);
    }
    bench.give_back(agent);
    Ok(())
}

/// A file in which a server notes something.
struct Note(PathBuf);

impl Note {
    async fn new(cwd: PathBuf) -> Self {
        let path = cwd.join("ply-check-mcp.txt");
        drop(tokio::fs::remove_file(&path).await);
        Self(path)
    }

    fn path(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }

    /// Waits a while for words that fit.
    async fn wait_for(&self, fits: impl Fn(&str) -> bool) -> Option<String> {
        for _ in 0..LOOKS {
            let told = tokio::fs::read_to_string(&self.0).await.unwrap_or_default();
            if fits(&told) {
                return Some(told);
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        None
    }
}

/// Gives a server that notes what it is told first. Agents may connect later than the session begins, so a turn is waited for too.
async fn reachable(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    if !has_stdio(bench.version, &agent) {
        bench.not_offered(id::V2_MCP_04, "MCP servers on standard streams");
        bench.give_back(agent);
        return Ok(());
    }
    // A session without a server must be possible, or a refusal shows nothing.
    agent.new_session().await?;
    let note = Note::new(agent.cwd.clone()).await;
    let script = r#"read -r line; printf '%s' "$line" > "$0""#;
    let entry = server(bench.version, "/bin/sh", &["-c", script, &note.path()]);
    let patience = agent.patience;
    agent.patience *= 3;
    let answer = agent
        .new_session_with(&json!({"mcpServers": [entry]}))
        .await;
    agent.patience = patience;
    let answer = answer?;
    let session = answer
        .message
        .pointer("/result/sessionId")
        .and_then(Value::as_str);
    let is_refused = answer.error_code() == Some(-32602);
    let saw = format!(
        "{}, with a server on standard streams",
        tell("session/new", &answer)
    );
    bench.judge(id::V1_MCP_01, !is_refused, &agent, &answer.frames(), saw);
    let Some(session) = session.map(str::to_owned) else {
        return Ok(());
    };
    let greeted = |told: &str| told.contains("initialize");
    let mut told = note.wait_for(greeted).await;
    if told.is_none() {
        // Some connect when a prompt needs tools.
        talk(&bench.subject, bench.version, &mut agent, &session).await?;
        told = note.wait_for(greeted).await;
    }
    let rules = [id::V1_SESS_07, id::V2_MCP_04];
    let saw = "a session ran a turn without connecting to its MCP server";
    bench.judge_all(&rules, told.is_some(), &agent, &answer.frames(), saw);
    Ok(())
}
