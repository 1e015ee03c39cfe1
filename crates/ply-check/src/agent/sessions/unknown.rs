//! Requests for sessions that do not exist.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::super::bench::{Agent, Bench};
use super::super::judging::tell;
use crate::peer::{Answer, Stopped};

/// A session that no agent has.
const NOBODY: &str = "ply-check-no-such-session";

pub(super) async fn everywhere(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    // An agent that wants a login first refuses everything, for another reason.
    agent.new_session().await?;
    match bench.version {
        Version::V1 => first_version(bench, &mut agent).await?,
        Version::V2 => second_version(bench, &mut agent).await?,
    }
    bench.give_back(agent);
    Ok(())
}

async fn first_version(bench: &mut Bench, agent: &mut Agent) -> Result<(), Stopped> {
    let blocks = json!([{"type": "text", "text": "hi"}]);
    let setup = json!({"sessionId": NOBODY, "cwd": agent.cwd, "mcpServers": []});
    for (method, capability, params) in [
        (
            "session/prompt",
            None,
            json!({"sessionId": NOBODY, "prompt": blocks}),
        ),
        (
            "session/set_mode",
            None,
            json!({"sessionId": NOBODY, "modeId": "x"}),
        ),
        (
            "session/set_config_option",
            None,
            json!({"sessionId": NOBODY, "configId": "x", "value": "x"}),
        ),
        ("session/load", Some("/loadSession"), setup.clone()),
        ("session/resume", Some("/sessionCapabilities/resume"), setup),
    ] {
        if capability.is_some_and(|capability| !agent.offers(capability)) {
            continue;
        }
        let answer = agent.ask(method, params).await?;
        let saw = format!(
            "{}, for a session that does not exist",
            tell(method, &answer)
        );
        let is_kept = answer.error_code().is_some();
        bench.judge("V1-SESS-13", is_kept, agent, &answer.frames(), &*saw);
        if method == "session/load" {
            bench.judge("V1-LOAD-14", is_kept, agent, &answer.frames(), &*saw);
        }
        // Agents without modes do not know the methods to set them.
        let may_be_unknown = method.starts_with("session/set_");
        if answer.error_code() == Some(-32601) && may_be_unknown {
            continue;
        }
        // Codes that say something else are wrong; an inner error is only unkind.
        let is_kept = !matches!(
            answer.error_code(),
            Some(-32700 | -32600 | -32601 | -32000 | -32800)
        );
        bench.judge("V1-ERR-01", is_kept, agent, &answer.frames(), saw);
    }
    if !agent.offers("/loadSession") {
        bench.not_offered("V1-LOAD-14", "loading sessions");
    }
    if agent.offers("/sessionCapabilities/close") {
        let answer = agent
            .ask("session/close", json!({"sessionId": NOBODY}))
            .await?;
        let is_kept = answer.result().is_some() || answer.error_code().is_some();
        let saw = tell("session/close", &answer);
        bench.judge("V1-CLOSE-04", is_kept, agent, &answer.frames(), saw);
    } else {
        bench.not_offered("V1-CLOSE-04", "closing sessions");
    }
    Ok(())
}

async fn second_version(bench: &mut Bench, agent: &mut Agent) -> Result<(), Stopped> {
    if !agent.offers("/session") {
        bench.not_offered("V2-SESS-09", "sessions");
        return Ok(());
    }
    let blocks = json!([{"type": "text", "text": "hi"}]);
    for (method, params) in [
        (
            "session/prompt",
            json!({"sessionId": NOBODY, "prompt": blocks}),
        ),
        (
            "session/resume",
            json!({"sessionId": NOBODY, "cwd": agent.cwd}),
        ),
        (
            "session/set_config_option",
            json!({"sessionId": NOBODY, "configId": "x", "type": "id", "value": "x"}),
        ),
    ] {
        let answer = agent.ask(method, params).await?;
        // Not every agent has options.
        if method.starts_with("session/set_") && answer.error_code() == Some(-32601) {
            continue;
        }
        let saw = format!(
            "{}, for a session that does not exist",
            tell(method, &answer)
        );
        let rules = ["V2-SESS-09", "V2-ERR-01"];
        let is_kept = is_not_found(&answer, NOBODY);
        let saw = match answer.error_code() {
            Some(-32002) => format!("{saw}, but without its id in `data.sessionId`"),
            _ => saw,
        };
        bench.judge_all(&rules, is_kept, agent, &answer.frames(), saw);
    }
    Ok(())
}

/// Returns whether an answer says that a session is not known, in the words of version 2.
pub(in super::super) fn is_not_found(answer: &Answer, session: &str) -> bool {
    let named = answer.message.pointer("/error/data/sessionId");
    answer.error_code() == Some(-32002) && named.and_then(Value::as_str) == Some(session)
}
