//! Sessions: how they begin, and what belongs to which.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::judging::{QUIET, tell};
use crate::peer::Stopped;
use crate::rule::id;
use crate::topic::Probe;

/// How many sessions are made to compare their ids.
const SESSIONS: usize = 6;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "several sessions at once",
        rules: &[
            id::V1_SESS_01,
            id::V1_SESS_09,
            id::V1_EXT_01,
            id::V1_RPC_12,
            id::V2_SESS_01,
            id::V2_RPC_01,
        ],
        run: |bench| Box::pin(several(bench)),
    },
    Probe {
        name: "what a new session brings",
        rules: &[
            id::V1_SESS_10,
            id::V1_SESS_11,
            id::V2_SESS_03,
            id::V2_SESS_05,
        ],
        run: |bench| Box::pin(setup(bench)),
    },
    Probe {
        name: "a session in another directory",
        rules: &[id::V1_SESS_03, id::V2_SESS_08],
        run: |bench| Box::pin(elsewhere(bench)),
    },
];

async fn several(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let mut calls = Vec::new();
    for _ in 0..SESSIONS {
        let setup = agent.setup();
        calls.push(agent.begin("session/new", setup).await?);
    }
    let mut ids = Vec::new();
    let mut frames = Vec::new();
    for call in &calls {
        let answer = agent.answer(call).await?;
        let Some(result) = answer.result() else {
            return Err(Stopped::Refused {
                method: "session/new".to_owned(),
                message: answer.error_message(),
            });
        };
        frames.extend(answer.frames());
        let id = result.get("sessionId").and_then(Value::as_str);
        let is_kept = id.is_some_and(|id| !id.is_empty() && !ids.iter().any(|known| known == id));
        let saw = "a session has no id, or the id of another";
        let rules = [id::V1_SESS_01, id::V1_SESS_09, id::V2_SESS_01];
        bench.judge_all(&rules, is_kept, &agent, &answer.frames(), saw);
        ids.extend(id.map(str::to_owned));
    }
    bench.give_back(agent);
    Ok(())
}

async fn setup(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let (answer, result) = {
        let setup = agent.setup();
        agent.need("session/new", setup).await?
    };
    agent.listen(QUIET).await?;
    let id = result.get("sessionId").and_then(Value::as_str);
    let names_it = |frame: &crate::Frame| frame.session() == id && frame.method().is_some();
    let early: Vec<_> = agent
        .heard_since(answer.request)
        .into_iter()
        .filter(|frame| frame.number < answer.frame && names_it(frame))
        .map(|frame| frame.number)
        .collect();
    let saw = "an update about a session came before the response that names it";
    let frames = [answer.frames().to_vec(), early.clone()].concat();
    bench.judge(id::V1_SESS_11, early.is_empty(), &agent, &frames, saw);
    let is_shaped = |key: &str, fits: fn(&Value) -> bool, or_null: bool| match result.get(key) {
        None => true,
        Some(Value::Null) => or_null,
        Some(value) => fits(value),
    };
    let is_kept = is_shaped("modes", Value::is_object, true)
        && is_shaped("configOptions", Value::is_array, true);
    let saw = "`modes` is not an object, or `configOptions` is not an array";
    bench.judge(id::V1_SESS_10, is_kept, &agent, &answer.frames(), saw);
    let is_kept = is_shaped("configOptions", Value::is_array, false)
        && is_shaped("availableCommands", Value::is_array, false);
    let saw = "`configOptions` or `availableCommands` is not an array";
    bench.judge(id::V2_SESS_05, is_kept, &agent, &answer.frames(), saw);
    if bench.version == Version::V2 {
        let bare = json!({"cwd": agent.cwd});
        let answer = agent.ask("session/new", bare).await?;
        let saw = format!("{}, without `mcpServers`", tell("session/new", &answer));
        bench.judge(
            id::V2_SESS_03,
            answer.result().is_some(),
            &agent,
            &answer.frames(),
            saw,
        );
    }
    bench.give_back(agent);
    Ok(())
}

/// Makes a session below the directory of the process, and looks where the agent lists it.
async fn elsewhere(bench: &mut Bench) -> Result<(), Stopped> {
    let rules = [id::V1_SESS_03, id::V2_SESS_08];
    let mut agent = bench.greeted().await?;
    if !can_list(&agent) {
        // Nothing else shows the directory without a model.
        bench.give_back(agent);
        return Ok(());
    }
    let below = agent.cwd.join("ply-check-below");
    let made = tokio::fs::create_dir_all(&below).await;
    made.map_err(|error| Stopped::Other(format!("cannot create a directory: {error}")))?;
    let below = tokio::fs::canonicalize(&below).await.unwrap_or(below);
    let opened = agent.new_session_with(&json!({"cwd": below})).await?;
    if opened.error_code() == Some(-32000) {
        return Err(Stopped::Other("the agent wants a login first".to_owned()));
    }
    let id = opened.message.pointer("/result/sessionId").cloned();
    let saw = tell("session/new", &opened);
    bench.judge_all(&rules, id.is_some(), &agent, &opened.frames(), saw);
    let (listed, result) = agent.need("session/list", json!({})).await?;
    let entries = result.get("sessions").and_then(Value::as_array);
    let entry = entries.and_then(|entries| {
        entries
            .iter()
            .find(|entry| entry.get("sessionId") == id.as_ref())
    });
    // Agents may list a session only once something was said in it.
    if let Some(entry) = entry {
        let cwd = entry.get("cwd").and_then(Value::as_str).unwrap_or_default();
        let is_kept = std::path::Path::new(cwd) == below;
        let saw = "the session is listed in another directory than it was created in";
        bench.judge_all(&rules, is_kept, &agent, &listed.frames(), saw);
    }
    bench.give_back(agent);
    Ok(())
}

/// Returns whether an agent lists its sessions.
pub(super) fn can_list(agent: &Agent) -> bool {
    match agent.hello.get("agentCapabilities") {
        Some(_) => agent.offers("/sessionCapabilities/list"),
        None => agent.offers("/session"),
    }
}
