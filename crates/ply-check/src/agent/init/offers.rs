//! What an agent offers, against what it does.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::super::bench::{Agent, Bench};
use super::super::judging::tell;
use crate::peer::Stopped;
use crate::rule::id;

/// A session that no agent has.
const NOBODY: &str = "ply-check-no-such-session";

/// Methods of version 1 and the capability that each needs.
const GATED: &[(&str, &str)] = &[
    ("session/load", "/loadSession"),
    ("session/list", "/sessionCapabilities/list"),
    ("session/resume", "/sessionCapabilities/resume"),
    ("session/close", "/sessionCapabilities/close"),
    ("session/delete", "/sessionCapabilities/delete"),
];

pub(super) async fn methods(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    match bench.version {
        Version::V1 => first_version(bench, &mut agent).await?,
        Version::V2 => second_version(bench, &mut agent).await?,
    }
    bench.give_back(agent);
    Ok(())
}

/// Returns parameters that fit every session method, for a session that does not exist.
fn params(agent: &Agent) -> Value {
    let blocks = json!([{"type": "text", "text": "hi"}]);
    let cwd = &agent.cwd;
    json!({"sessionId": NOBODY, "cwd": cwd, "mcpServers": [], "prompt": blocks})
}

async fn first_version(bench: &mut Bench, agent: &mut Agent) -> Result<(), Stopped> {
    for (method, capability) in GATED {
        let offered = agent.offers(capability);
        let fitting = params(agent);
        let answer = agent.ask(method, fitting).await?;
        // What is not offered may be refused with any code.
        let is_there = match offered {
            true => answer.error_code() != Some(-32601),
            false => answer.result().is_some(),
        };
        let state = match offered {
            true => "offered",
            false => "not offered",
        };
        let saw = format!("{}, though it is {state}", tell(method, &answer));
        bench.judge(
            id::V1_INIT_16,
            is_there == offered,
            agent,
            &answer.frames(),
            saw,
        );
    }
    // Nobody is to be logged out by a check, so it is tried only where it must not work.
    if !agent.offers("/auth/logout") {
        let answer = agent.ask("logout", json!({})).await?;
        let is_kept = answer.is_error();
        let saw = "`logout` works although it is not advertised";
        bench.judge(id::V1_INIT_16, is_kept, agent, &answer.frames(), saw);
    }
    let fitting = params(agent);
    let answer = agent.ask("session/prompt", fitting).await?;
    let is_kept = answer.error_code() != Some(-32601);
    let saw = tell("session/prompt", &answer);
    bench.judge(id::V1_INIT_15, is_kept, agent, &answer.frames(), saw);
    // Version 2 only; what it would do here is not defined.
    for method in ["auth/login", "tool_call/cancel", "terminal/cancel"] {
        let fitting = json!({"sessionId": NOBODY, "methodId": NOBODY, "toolCallId": NOBODY, "terminalId": NOBODY});
        let answer = agent.ask(method, fitting).await?;
        let is_kept = answer.result().is_none();
        let saw = format!("{}, which is of version 2", tell(method, &answer));
        bench.judge(id::V1_INIT_10, is_kept, agent, &answer.frames(), saw);
    }
    Ok(())
}

async fn second_version(bench: &mut Bench, agent: &mut Agent) -> Result<(), Stopped> {
    for method in ["session/load", "session/set_mode", "authenticate", "logout"] {
        let mut fitting = params(agent);
        if let Some(fitting) = fitting.as_object_mut() {
            fitting.insert("modeId".to_owned(), json!(NOBODY));
            fitting.insert("methodId".to_owned(), json!(NOBODY));
        }
        let answer = agent.ask(method, fitting).await?;
        // Whoever looks for the session serves the method.
        let is_kept = answer.result().is_none() && answer.error_code() != Some(-32002);
        let saw = format!("{}, which is of version 1", tell(method, &answer));
        bench.judge(id::V2_INIT_07, is_kept, agent, &answer.frames(), saw);
    }
    if !agent.offers("/session") {
        bench.not_offered(id::V2_INIT_10, "sessions");
        return Ok(());
    }
    for method in [
        "session/list",
        "session/resume",
        "session/close",
        "session/prompt",
    ] {
        let fitting = match method {
            "session/list" => json!({}),
            _ => params(agent),
        };
        let answer = agent.ask(method, fitting).await?;
        let is_kept = answer.error_code() != Some(-32601);
        let saw = tell(method, &answer);
        bench.judge(id::V2_INIT_10, is_kept, agent, &answer.frames(), saw);
    }
    Ok(())
}
