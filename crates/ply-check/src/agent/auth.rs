//! Logging in and out. Nobody is logged out or asked to log in by a check unless the subject names a method for it.

use std::collections::BTreeSet;

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::judging::tell;
use crate::peer::Stopped;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent(
            "V1-AUTH-01",
            "Every way to log in has an id of its own and a name.",
        )
        .matters("The user cannot choose, or chooses one and gets another.")
        .fix("Give each entry of `authMethods` a unique `id` and a `name`."),
        Rule::agent(
            "V1-AUTH-02",
            "A way to log in that was not offered is refused.",
        )
        .unspecified()
        .matters("The client believes that the user is logged in.")
        .fix("Answer `authenticate` with -32602 if the id is not one of `authMethods`."),
        Rule::agent("V1-AUTH-03", "A successful login returns an empty object.")
            .gate("authMethods")
            .matters("Typed clients report a login that worked as failed.")
            .fix("Answer `{}`."),
        Rule::agent(
            "V1-AUTH-04",
            "After a login, sessions are not refused for want of one.",
        )
        .gate("authMethods")
        .matters("The user logs in again and again.")
        .fix("Look at the new credentials in the running process."),
        Rule::agent(
            "V1-AUTH-08",
            "Logins in a terminal are offered only to clients that can do them.",
        )
        .matters("The user chooses a login that the client cannot run.")
        .fix("Leave methods of type `terminal` out unless the client has `auth.terminal`."),
        Rule::agent(
            "V1-AUTH-13",
            "Logging out returns an empty object, and sessions need a login again.",
        )
        .gate("auth.logout")
        .matters("The user believes to be logged out and is not.")
        .fix("Drop the credentials before answering `{}`."),
        Rule::agent(
            "V1-AUTH-15",
            "The `env` of a login in a terminal is an object of names and values.",
        )
        .matters("The login runs without the variables that it needs.")
        .fix("Send an object here; version 2 has an array."),
        Rule::agent(
            "V2-AUTH-01",
            "Whoever has `authMethods` has `auth/login` and `auth/logout`.",
        )
        .gate("authMethods")
        .matters("The client shows a login that cannot be done.")
        .fix("Implement both methods, or offer none."),
        Rule::agent(
            "V2-AUTH-03",
            "Every way to log in has `methodId`, `type` and `name`.",
        )
        .matters("The client cannot show it, or cannot tell how it is done.")
        .fix("Fill the three members of each entry of `authMethods`."),
        Rule::agent(
            "V2-AUTH-04",
            "Types of login of one's own begin with an underscore.",
        )
        .matters("A later version of the protocol may give the name another meaning.")
        .fix("Put `_` before the name of the type."),
        Rule::agent(
            "V2-AUTH-07",
            "Logins in a terminal are offered only to clients that can do them.",
        )
        .matters("The user chooses a login that the client cannot run.")
        .fix("Leave methods of type `terminal` out unless the client has `auth.terminal`."),
        Rule::agent(
            "V2-AUTH-08",
            "The `env` of a login in a terminal is an array in which no name is there twice.",
        )
        .matters("The login runs without the variables that it needs.")
        .fix("Send an array of `name` and `value`, each name once."),
        Rule::agent(
            "V2-AUTH-10",
            "After logging out, sessions need a login again.",
        )
        .gate("authMethods")
        .matters("The user believes to be logged out and is not.")
        .fix("Drop the credentials before answering `auth/logout`."),
    ],
    probes: &[
        Probe {
            name: "the ways to log in",
            rules: &[
                "V1-AUTH-01",
                "V1-AUTH-08",
                "V1-AUTH-15",
                "V2-AUTH-03",
                "V2-AUTH-04",
                "V2-AUTH-07",
                "V2-AUTH-08",
            ],
            run: |bench| Box::pin(offered(bench)),
        },
        Probe {
            name: "a way to log in that does not exist",
            rules: &["V1-AUTH-02", "V2-AUTH-01"],
            run: |bench| Box::pin(unknown(bench)),
        },
        Probe {
            name: "logging in and out",
            rules: &[
                "V1-AUTH-03",
                "V1-AUTH-04",
                "V1-AUTH-13",
                "V2-AUTH-01",
                "V2-AUTH-10",
            ],
            run: |bench| Box::pin(login(bench)),
        },
    ],
};

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
    let saw = "a login in a terminal is offered to a client that cannot do it";
    bench.judge_all(&["V1-AUTH-08", "V2-AUTH-07"], is_kept, &agent, &frames, saw);
    bench.give_back(agent);
    let agent = bench.greeted_with(terminal).await?;
    let frames = hello_frames(&agent);
    let is_list = matches!(agent.hello.get("authMethods"), None | Some(Value::Array(_)));
    let saw = "`authMethods` is no array";
    bench.judge_all(&["V1-AUTH-01", "V2-AUTH-03"], is_list, &agent, &frames, saw);
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
    let saw = format!("an entry of `authMethods` has no `{id}`, or that of another");
    bench.judge_all(&["V1-AUTH-01", "V2-AUTH-03"], is_kept, &agent, &frames, saw);
    for method in &methods {
        let is_kept = text(method, "name").is_some();
        let saw = "an entry of `authMethods` has no `name`";
        bench.judge_all(&["V1-AUTH-01", "V2-AUTH-03"], is_kept, &agent, &frames, saw);
        let kind = text(method, "type");
        let saw = "an entry of `authMethods` has no `type`";
        bench.judge("V2-AUTH-03", kind.is_some(), &agent, &frames, saw);
        let is_kept = kind.is_none_or(|kind| {
            matches!(kind.as_str(), "agent" | "terminal") || kind.starts_with('_')
        });
        let saw = "a type of login is neither known nor begins with an underscore";
        bench.judge("V2-AUTH-04", is_kept, &agent, &frames, saw);
        let env = method
            .get("env")
            .filter(|env| is_terminal(method) && !env.is_null());
        if let Some(env) = env {
            let saw = "the `env` of a login in a terminal has another shape";
            bench.judge("V1-AUTH-15", env.is_object(), &agent, &frames, saw);
            bench.judge("V2-AUTH-08", is_env_list(env), &agent, &frames, saw);
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
        "V1-AUTH-02",
        answer.error_code().is_some(),
        &agent,
        &answer.frames(),
        &*saw,
    );
    if methods(&agent).is_empty() {
        bench.not_offered("V2-AUTH-01", "a way to log in");
    } else {
        let is_kept = answer.error_code().is_some_and(|code| code != -32601);
        bench.judge("V2-AUTH-01", is_kept, &agent, &answer.frames(), saw);
    }
    bench.give_back(agent);
    Ok(())
}

async fn login(bench: &mut Bench) -> Result<(), Stopped> {
    let gated = ["V1-AUTH-03", "V1-AUTH-04", "V1-AUTH-13", "V2-AUTH-10"];
    let mut agent = bench.greeted_by_stranger(json!({})).await?;
    if methods(&agent).is_empty() {
        bench.none_offered(&gated, "a way to log in");
        bench.give_back(agent);
        return Ok(());
    }
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
        &["V1-AUTH-03", "V2-AUTH-01"],
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
    let saw = "`session/new` still wants a login";
    if is_gated {
        bench.judge("V1-AUTH-04", is_kept, &agent, &opened.frames(), saw);
    }
    let logout = match bench.version {
        Version::V1 if !agent.offers("/auth/logout") => {
            bench.not_offered("V1-AUTH-13", "logging out");
            return Ok(());
        }
        Version::V1 => "logout",
        Version::V2 => "auth/logout",
    };
    let answer = agent.ask(logout, json!({})).await?;
    let is_kept = answer.result().is_some_and(is_empty);
    let saw = tell(logout, &answer);
    bench.judge_all(
        &["V1-AUTH-13", "V2-AUTH-01"],
        is_kept,
        &agent,
        &answer.frames(),
        saw,
    );
    let opened = agent.new_session_with(&json!({})).await?;
    let is_kept = opened.error_code() == Some(-32000);
    let saw = format!("{}, after logging out", tell("session/new", &opened));
    if is_gated {
        let rules = ["V1-AUTH-13", "V2-AUTH-10"];
        bench.judge_all(&rules, is_kept, &agent, &opened.frames(), saw);
    }
    // Whoever comes next finds things as they were.
    agent.ask(method, json!({"methodId": way})).await?;
    Ok(())
}
