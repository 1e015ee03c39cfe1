//! What an agent does while it waits for an answer of the client.

use std::sync::atomic::{AtomicBool, Ordering};

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::judging::{PING, tell};
use super::junk::code;
use super::options::{self, Modes};
use super::shape;
use super::subject::Subject;
use super::talk::is_state;
use crate::agent::hearing::Wish;
use crate::peer::{Call, Held, Reply, Stopped};
use crate::recording::Frame;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[Probe {
    name: "requests while a question is open",
    rules: &[
        id::V1_RPC_07,
        id::V1_RPC_15,
        id::V1_MODE_03,
        id::V1_CONF_13,
        id::V2_RPC_01,
    ],
    run: |bench| Box::pin(open_question(bench)),
}];

/// A turn that waits for permission.
pub(super) struct Busy {
    /// The prompt.
    pub(super) prompt: Call,
    /// The open question.
    pub(super) question: Held,
}

/// Brings the agent to ask for permission, and leaves the question open; none if it ends its turn without asking.
pub(super) async fn waiting(
    subject: &Subject,
    version: Version,
    agent: &mut Agent,
    session: &str,
) -> Result<Option<Busy>, Stopped> {
    let method = "session/request_permission";
    agent.may_prompt().await?;
    agent.service.on(method, |_| Reply::Hold);
    let blocks = json!([{"type": "text", "text": subject.prompts.change}]);
    let params = json!({"sessionId": session, "prompt": blocks});
    let prompt = agent.begin("session/prompt", params).await?;
    let id = prompt.id.clone();
    // An idle state that was told before the prompt arrived says nothing about its turn.
    let has_begun = AtomicBool::new(false);
    let ends_turn = |frame: &Frame| {
        let is_answer = frame.is_answer() && frame.id() == Some(&id);
        let is_error = is_answer && code(frame).is_some();
        if is_answer || is_state(frame, session, "running") {
            has_begun.store(true, Ordering::Relaxed);
        }
        let is_idle = is_state(frame, session, "idle") && has_begun.load(Ordering::Relaxed);
        match version {
            Version::V1 => is_answer,
            Version::V2 => is_idle || is_error,
        }
    };
    let asks = |frame: &Frame| frame.method() == Some(method);
    let patience = subject.turn_patience;
    let came = agent
        .until(patience, |frame| asks(frame) || ends_turn(frame))
        .await?;
    if came.is_none() {
        agent.hearing.miss(Wish::Turn);
    }
    let question = agent.service.take_held(method);
    Ok(question.map(|question| Busy { prompt, question }))
}

async fn open_question(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted_with(json!({})).await?;
    let setup = agent.setup();
    let (_, opened) = agent.need("session/new", setup).await?;
    let session = opened
        .get("sessionId")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    // An option that cannot be set while nothing runs is locked, which no turn changes.
    let can_set = match option_params(bench.version, &opened) {
        Some(params) => {
            let set = agent.ask("session/set_config_option", params).await?;
            set.result().is_some()
        }
        None => false,
    };
    let Some(busy) = waiting(&bench.subject, bench.version, &mut agent, &session).await? else {
        return Ok(());
    };
    let asked = busy.question.frame;
    // The agent's own id, for a request of ours.
    let call = agent
        .begin_as(busy.question.id.clone(), PING, json!({}))
        .await?;
    let answer = agent.answer(&call).await;
    let is_kept = answer.is_ok();
    let frames = [asked, call.frame];
    let saw = "a request got no response while the agent waited for permission";
    bench.judge_all(
        &[id::V1_RPC_15, id::V2_RPC_01],
        is_kept,
        &agent,
        &frames,
        saw,
    );
    if let Some(Modes { current, .. }) = options::modes_of(&opened) {
        let params = json!({"sessionId": session, "modeId": current});
        let answer = agent.ask("session/set_mode", params).await?;
        let saw = format!(
            "{}, in the middle of a turn",
            tell("session/set_mode", &answer)
        );
        bench.judge(
            id::V1_MODE_03,
            answer.result().is_some(),
            &agent,
            &answer.frames(),
            saw,
        );
    }
    if can_set {
        option_amid(bench, &mut agent, &opened).await?;
    }
    // The question is still there, and its answer reaches it.
    let outcome = json!({"outcome": {"outcome": "cancelled"}});
    let cancel = json!({"sessionId": session});
    agent.notify("session/cancel", cancel).await?;
    agent.respond(&busy.question.id, outcome).await?;
    if bench.version == Version::V1 {
        let ended = agent.answer(&busy.prompt).await;
        let saw = "a request with the id of an open permission request kept the turn from ending";
        bench.judge(
            id::V1_RPC_07,
            is_kept && ended.is_ok(),
            &agent,
            &frames,
            saw,
        );
    }
    Ok(())
}

/// Returns what sets an option to the value it has, if there is one to choose.
fn option_params(version: Version, opened: &Value) -> Option<Value> {
    if version == Version::V2 {
        return None;
    }
    let mut options = opened.get("configOptions")?.as_array()?.iter();
    let option =
        options.find(|option| option.get("type").and_then(Value::as_str) == Some("select"))?;
    let (id, value) = (
        option.get(shape::config_id(version)),
        option.get("currentValue"),
    );
    Some(json!({"sessionId": opened.get("sessionId"), "configId": id, "value": value}))
}

/// Sets an option to the value it has, in the middle of a turn.
async fn option_amid(bench: &mut Bench, agent: &mut Agent, opened: &Value) -> Result<(), Stopped> {
    let Some(params) = option_params(bench.version, opened) else {
        return Ok(());
    };
    let answer = agent.ask("session/set_config_option", params).await?;
    let saw = format!(
        "{}, in the middle of a turn",
        tell("session/set_config_option", &answer)
    );
    bench.judge(
        id::V1_CONF_13,
        answer.result().is_some(),
        agent,
        &answer.frames(),
        saw,
    );
    Ok(())
}
