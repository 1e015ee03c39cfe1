//! What a client gives a session: its directory, more directories, and MCP servers.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::agent::{Agent, Refusal};

/// For what a session is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    New,
    Load,
    Resume,
}

/// Reads the setup, connects the servers, and returns the directory.
pub(crate) fn read(agent: &Agent, params: &Value, kind: Kind) -> Result<PathBuf, Refusal> {
    let cwd = params.get("cwd").unwrap_or(&Value::Null);
    let cwd = match kind {
        Kind::Load if agent.is("comes-back-in-relative-directories") => {
            cwd.as_str().map(PathBuf::from).unwrap_or_default()
        }
        _ => absolute(agent, cwd)?,
    };
    for more in list(params, "additionalDirectories")? {
        let path = more.as_str().map(PathBuf::from);
        let is_fine = path.is_some_and(|path| path.is_absolute());
        if !is_fine && !agent.is("takes-relative-roots") {
            return Err(Refusal::params("An additional directory is not absolute"));
        }
    }
    let must_have_servers = (!agent.is_v2() || agent.is("wants-servers")) && kind != Kind::Resume;
    if must_have_servers && !params.get("mcpServers").is_some_and(Value::is_array) {
        return Err(Refusal::params("`mcpServers` is missing"));
    }
    for server in list(params, "mcpServers")? {
        match command(agent, server) {
            Ok(Some(_)) if agent.is("refuses-servers") => {
                return Err(Refusal::params("There are no servers"));
            }
            Ok(Some(_)) if agent.is("never-starts-servers") => {}
            Ok(Some(command)) => connect(agent, command)?,
            Ok(None) => {}
            Err(_) if agent.is("skips-odd-servers") => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(cwd)
}

/// Returns a path that must be absolute.
pub(crate) fn absolute(agent: &Agent, path: &Value) -> Result<PathBuf, Refusal> {
    let path = path.as_str().map(PathBuf::from);
    let path = path.ok_or_else(|| Refusal::params("`cwd` is no text"))?;
    let takes_any = agent.is("takes-relative-directories") || agent.is("odd-relative-directories");
    match path.is_absolute() || takes_any {
        true => Ok(path),
        false => Err(Refusal::params("`cwd` is not absolute")),
    }
}

fn list<'a>(params: &'a Value, key: &str) -> Result<&'a [Value], Refusal> {
    match params.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(entries)) => Ok(entries),
        Some(_) => Err(Refusal::params("A list is no array")),
    }
}

/// Returns the command of a server on standard streams; none for one that is elsewhere.
fn command(agent: &Agent, server: &Value) -> Result<Option<Command>, Refusal> {
    let is_v2 = agent.is_v2();
    let has = |key: &str| server.get(key).is_some_and(Value::is_string);
    match server
        .get("type")
        .map(|kind| kind.as_str().unwrap_or_default())
    {
        None if is_v2 => return Err(Refusal::params("A server has no `type`")),
        None => {}
        Some("stdio") if is_v2 => {}
        Some("http") if !is_v2 && has("name") && has("url") => return Ok(None),
        Some(_) => {
            return Err(Refusal::params(
                "A server is of a kind that is not supported",
            ));
        }
    }
    let odd = || Refusal::params("A server cannot be read");
    let program = server.get("command").and_then(Value::as_str);
    let program = program.filter(|_| has("name")).ok_or_else(odd)?;
    let mut command = Command::new(program);
    // Version 2 lets both be left out.
    let has_lists = ["args", "env"].map(|key| server.get(key).is_some_and(Value::is_array));
    let must_have_lists = !is_v2 || agent.is("wants-lists-of-servers");
    if must_have_lists && has_lists.contains(&false) {
        return Err(odd());
    }
    for word in list(server, "args")? {
        command.arg(word.as_str().ok_or_else(odd)?);
    }
    let mut variables: Vec<_> = list(server, "env")?.iter().collect();
    if agent.is("first-variables-count") {
        variables.reverse();
    }
    for variable in variables {
        let text = |key: &str| variable.get(key).and_then(Value::as_str).ok_or_else(odd);
        command.env(text("name")?, text("value")?);
    }
    Ok(Some(command))
}

/// Starts a server and greets it. One that cannot be started is done without.
fn connect(agent: &Agent, mut command: Command) -> Result<(), Refusal> {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::null());
    let Ok(mut server) = command.stderr(Stdio::null()).kill_on_drop(true).spawn() else {
        return match agent.is("dead-servers-end-sessions") {
            true => Err(Refusal::new(-32603, "A server cannot be started")),
            false => Ok(()),
        };
    };
    if let Some(mut input) = server.stdin.take() {
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "mutant", "version": "1.0.0"}});
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        tokio::spawn(async move {
            // A server that does not listen is its own fault.
            drop(input.write_all(format!("{hello}\n").as_bytes()).await);
        });
    }
    agent.state().servers.push(server);
    Ok(())
}
