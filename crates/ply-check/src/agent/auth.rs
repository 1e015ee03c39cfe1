//! Logging in and out. Nobody is logged out or asked to log in by a check unless the subject names a method for it.

use std::collections::BTreeSet;

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::judging::tell;
use crate::peer::Stopped;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "the ways to log in",
        rules: &[
            id::V1_AUTH_01,
            id::V1_AUTH_08,
            id::V1_AUTH_15,
            id::V2_AUTH_03,
            id::V2_AUTH_04,
            id::V2_AUTH_07,
            id::V2_AUTH_08,
        ],
        run: |bench| Box::pin(offered(bench)),
    },
    Probe {
        name: "a way to log in that does not exist",
        rules: &[id::V1_AUTH_02, id::V2_AUTH_01],
        run: |bench| Box::pin(unknown(bench)),
    },
    Probe {
        name: "logging in and out",
        rules: &[
            id::V1_AUTH_03,
            id::V1_AUTH_04,
            id::V1_AUTH_13,
            id::V2_AUTH_01,
            id::V2_AUTH_10,
        ],
        run: |bench| Box::pin(login(bench)),
    },
];

/// Returns the ways to log in that an agent offers.
fn methods(agent: &Agent) -> Vec<Value> {
    let methods = agent.hello.get("authMethods").and_then(Value::as_array);
    methods.cloned().unwrap_or_default()
}

async fn offered(bench: &mut Bench) -> Result<(), Stopped> {
    let terminal = match bench.version {
        Version::V1 => json!({"auth": {"terminal": true}}),
        Version::V2 => json!({"auth": {"terminal": {}}}),
    };
    let agent = bench.greeted().await?;
    let frames = hello_frames(&agent);
    let is_terminal =
        |method: &Value| method.get("type").and_then(Value::as_str) == Some("terminal");
    let is_kept = !methods(&agent).iter().any(is_terminal);
    let saw = "a terminal login is offered to a client that does not support it";
    bench.judge_all(
        &[id::V1_AUTH_08, id::V2_AUTH_07],
        is_kept,
        &agent,
        &frames,
        saw,
    );
    bench.give_back(agent);
    let agent = bench.greeted_with(terminal).await?;
    let frames = hello_frames(&agent);
    let is_list = matches!(agent.hello.get("authMethods"), None | Some(Value::Array(_)));
    let saw = "`authMethods` is not an array";
    bench.judge_all(
        &[id::V1_AUTH_01, id::V2_AUTH_03],
        is_list,
        &agent,
        &frames,
        saw,
    );
    let id = match bench.version {
        Version::V1 => "id",
        Version::V2 => "methodId",
    };
    let methods = methods(&agent);
    let text =
        |method: &Value, key: &str| method.get(key).and_then(Value::as_str).map(str::to_owned);
    let ids: Vec<_> = methods
        .iter()
        .filter_map(|method| text(method, id))
        .collect();
    let distinct: BTreeSet<_> = ids.iter().collect();
    let is_kept = distinct.len() == methods.len();
    let saw = format!("an entry of `authMethods` has no `{id}`, or a duplicate one");
    bench.judge_all(
        &[id::V1_AUTH_01, id::V2_AUTH_03],
        is_kept,
        &agent,
        &frames,
        saw,
    );
    for method in &methods {
        let is_kept = text(method, "name").is_some();
        let saw = "an entry of `authMethods` has no `name`";
        bench.judge_all(
            &[id::V1_AUTH_01, id::V2_AUTH_03],
            is_kept,
            &agent,
            &frames,
            saw,
        );
        let kind = text(method, "type");
        let saw = "an entry of `authMethods` has no `type`";
        bench.judge(id::V2_AUTH_03, kind.is_some(), &agent, &frames, saw);
        let is_kept = kind.is_none_or(|kind| {
            matches!(kind.as_str(), "agent" | "terminal") || kind.starts_with('_')
        });
        let saw = "an authentication type is unknown and does not begin with an underscore";
        bench.judge(id::V2_AUTH_04, is_kept, &agent, &frames, saw);
        let env = method
            .get("env")
            .filter(|env| is_terminal(method) && !env.is_null());
        if let Some(env) = env {
            let saw = "the `env` of a terminal login has the wrong type";
            bench.judge(id::V1_AUTH_15, env.is_object(), &agent, &frames, saw);
            bench.judge(id::V2_AUTH_08, is_env_list(env), &agent, &frames, saw);
        }
    }
    Ok(())
}

fn is_env_list(env: &Value) -> bool {
    let Some(entries) = env.as_array() else {
        return false;
    };
    let names = entries
        .iter()
        .filter_map(|entry| entry.get("name")?.as_str());
    names.collect::<BTreeSet<_>>().len() == entries.len()
}

/// Returns the first two frames, which are the greeting.
fn hello_frames(agent: &Agent) -> Vec<usize> {
    (0..agent.recording().len().min(2)).collect()
}

fn login_method(version: Version) -> &'static str {
    match version {
        Version::V1 => "authenticate",
        Version::V2 => "auth/login",
    }
}

async fn unknown(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let method = login_method(bench.version);
    let answer = agent
        .ask(method, json!({"methodId": "ply-check-no-such-method"}))
        .await?;
    let saw = format!(
        "{}, for a way to log in that was not offered",
        tell(method, &answer)
    );
    bench.judge(
        id::V1_AUTH_02,
        answer.is_error(),
        &agent,
        &answer.frames(),
        &*saw,
    );
    if methods(&agent).is_empty() {
        bench.not_offered(id::V2_AUTH_01, "a way to log in");
    } else {
        let is_kept = answer.error_code().is_some_and(|code| code != -32601);
        bench.judge(id::V2_AUTH_01, is_kept, &agent, &answer.frames(), saw);
    }
    bench.give_back(agent);
    Ok(())
}

async fn login(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted_by_stranger(json!({})).await?;
    let Some(way) = bench.subject.login.clone() else {
        return Ok(());
    };
    let method = login_method(bench.version);
    // Only an agent that wants a login now can be seen to want it again.
    let before = agent.new_session_with(&json!({})).await?;
    let is_gated = before.error_code() == Some(-32000);
    let answer = agent.ask(method, json!({"methodId": way})).await?;
    let is_empty = |result: &Value| {
        result.is_null()
            || result
                .as_object()
                .is_some_and(|object| object.keys().all(|key| key == "_meta"))
    };
    let is_kept = answer.result().is_some_and(is_empty);
    let saw = tell(method, &answer);
    bench.judge_all(
        &[id::V1_AUTH_03, id::V2_AUTH_01],
        is_kept,
        &agent,
        &answer.frames(),
        saw,
    );
    if answer.result().is_none() {
        return Ok(());
    }
    let opened = agent.new_session_with(&json!({})).await?;
    let is_kept = opened.error_code() != Some(-32000);
    let saw = "`session/new` still requires a login";
    if is_gated {
        bench.judge(id::V1_AUTH_04, is_kept, &agent, &opened.frames(), saw);
    }
    let logout = match bench.version {
        Version::V1 if !agent.offers("/auth/logout") => {
            bench.not_offered(id::V1_AUTH_13, "logging out");
            return Ok(());
        }
        Version::V1 => "logout",
        Version::V2 => "auth/logout",
    };
    let answer = agent.ask(logout, json!({})).await?;
    let is_kept = answer.result().is_some_and(is_empty);
    let saw = tell(logout, &answer);
    bench.judge_all(
        &[id::V1_AUTH_13, id::V2_AUTH_01],
        is_kept,
        &agent,
        &answer.frames(),
        saw,
    );
    let opened = agent.new_session_with(&json!({})).await?;
    let is_kept = opened.error_code() == Some(-32000);
    let saw = format!("{}, after logging out", tell("session/new", &opened));
    if is_gated {
        let rules = [id::V1_AUTH_13, id::V2_AUTH_10];
        bench.judge_all(&rules, is_kept, &agent, &opened.frames(), saw);
    }
    // Whoever comes next finds things as they were.
    agent.ask(method, json!({"methodId": way})).await?;
    Ok(())
}
