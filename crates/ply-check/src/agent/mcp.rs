//! MCP servers of a session.

use std::path::PathBuf;

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::judging::tell;
use super::talk::talk;
use crate::peer::Stopped;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

/// A program that is not there.
const NOWHERE: &str = "/nonexistent/ply-check/mcp-server";
/// How often, and how far apart, it is looked whether a server was started.
const LOOKS: usize = 15;
const BETWEEN_LOOKS: std::time::Duration = std::time::Duration::from_millis(20);

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-MCP-01", "MCP servers on standard streams are supported.")
            .matters("The tools that the user has set up are not there.")
            .fix("Start the command of each server and speak MCP with it."),
        Rule::agent("V1-MCP-06", "An entry of `mcpServers` that cannot be read is refused with -32602.")
            .matters("A server is missing and nobody says so.")
            .fix("Read all entries before the session is made, and refuse the request if one does not fit."),
        Rule::agent("V1-SESS-07", "The agent connects to the MCP servers that the client names.")
            .should()
            .matters("The tools that the user has set up are not there.")
            .fix("Connect to each of them when the session begins."),
        Rule::agent("V1-SESS-18", "A server that cannot be started does not keep the session from beginning.")
            .unspecified()
            .matters("One broken entry in the settings shuts the user out.")
            .fix("Begin the session without the server, and say what failed."),
        Rule::agent("V2-MCP-02", "`args`, `env` and `headers` of a server may be left out.")
            .gate("session.mcp")
            .matters("Clients that send the shortest form cannot make a session.")
            .fix("Take a missing one for an empty array."),
        Rule::agent("V2-MCP-03", "A variable that is named twice is refused, or its last value counts.")
            .should()
            .gate("session.mcp.stdio")
            .matters("A server runs with settings that the user has overwritten.")
            .fix("Answer -32602, or take the last value."),
        Rule::agent("V2-MCP-04", "The agent connects to the MCP servers that the client names.")
            .should()
            .gate("session.mcp")
            .matters("The tools that the user has set up are not there.")
            .fix("Connect to each of them when the session begins."),
        Rule::agent("V2-SESS-04", "A kind of MCP server that is not supported makes the agent refuse the request with -32602.")
            .gate("session")
            .matters("A server is missing and nobody says so.")
            .fix("Compare the type of each entry with the offered ones before the session is made."),
    ],
    probes: &[
        Probe {
            name: "an MCP server that is not there",
            rules: &["V1-SESS-18", "V2-MCP-02"],
            run: |bench| Box::pin(unreachable(bench)),
        },
        Probe {
            name: "MCP servers that cannot be read",
            rules: &["V1-MCP-06", "V2-SESS-04", "V2-RPC-06", "V2-ERR-02", "V2-MCP-03"],
            run: |bench| Box::pin(unreadable(bench)),
        },
        Probe {
            name: "an MCP server that is there",
            rules: &["V1-MCP-01", "V1-SESS-07", "V2-MCP-04"],
            run: |bench| Box::pin(reachable(bench)),
        },
    ],
};

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
        bench.not_offered("V2-MCP-02", "MCP servers on standard streams");
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
                "V1-SESS-18",
                answer.result().is_some(),
                &agent,
                &answer.frames(),
                &*saw,
            );
            // In version 2 a failure of the server is the agent's choice, but the shape is lawful.
            let is_kept = answer.error_code() != Some(-32602);
            bench.judge("V2-MCP-02", is_kept, &agent, &answer.frames(), saw);
            bench.give_back(agent);
        }
        Err(stopped) => {
            let last = agent.recording().len().saturating_sub(1);
            let saw = format!("with a server whose program is not there: {stopped}");
            bench.judge("V1-SESS-18", false, &agent, &[last], saw);
        }
    }
    Ok(())
}

async fn unreadable(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    agent.new_session().await?;
    let http = json!({"type": "http", "name": "x", "url": "https://127.0.0.1:9/"});
    let entries: Vec<(Value, &str, &[&str])> = match bench.version {
        Version::V1 => vec![
            (
                json!({"name": "x", "args": [], "env": []}),
                "an entry without `command`",
                &["V1-MCP-06"],
            ),
            (json!("x"), "an entry that is a text", &["V1-MCP-06"]),
        ],
        Version::V2 => vec![
            (
                json!({"type": "_ply_check", "name": "x"}),
                "a type that it cannot know",
                &["V2-SESS-04", "V2-ERR-02"],
            ),
            (
                json!({"type": "stdio", "name": "x"}),
                "an entry without `command`",
                &["V2-RPC-06"],
            ),
            (
                http,
                "a server over HTTP, which is not offered",
                &["V2-SESS-04", "V2-ERR-02"],
            ),
        ],
    };
    for (entry, what, rules) in entries {
        if what.contains("HTTP") && agent.offers("/session/mcp/http") {
            continue;
        }
        let answer = agent
            .new_session_with(&json!({"mcpServers": [entry]}))
            .await?;
        let is_kept = answer.error_code() == Some(-32602);
        let saw = format!("{}, with {what}", tell("session/new", &answer));
        bench.judge_all(rules, is_kept, &agent, &answer.frames(), saw);
    }
    if agent.offers("/session/mcp/stdio") {
        let twice = json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]);
        let note = Note::new(agent.cwd.clone()).await;
        let mut entry = server(
            Version::V2,
            "/bin/sh",
            &["-c", r#"printf '%s' "$A" > "$0""#, &note.path()],
        );
        if let Some(entry) = entry.as_object_mut() {
            entry.insert("env".to_owned(), twice);
        }
        let answer = agent
            .new_session_with(&json!({"mcpServers": [entry]}))
            .await?;
        let told = note.wait_for(|told| !told.is_empty()).await;
        if told.is_some() || answer.error_code().is_some() {
            let is_kept = told.as_deref().is_none_or(|value| value == "2");
            let saw = "of a variable that was named twice, the first value counts";
            bench.judge("V2-MCP-03", is_kept, &agent, &answer.frames(), saw);
        }
    } else if bench.version == Version::V2 {
        bench.not_offered("V2-MCP-03", "MCP servers on standard streams");
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
        bench.not_offered("V2-MCP-04", "MCP servers on standard streams");
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
    bench.judge("V1-MCP-01", !is_refused, &agent, &answer.frames(), saw);
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
    let rules = ["V1-SESS-07", "V2-MCP-04"];
    let saw = "a session began and had a turn, and its MCP server was not connected to";
    bench.judge_all(&rules, told.is_some(), &agent, &answer.frames(), saw);
    Ok(())
}
