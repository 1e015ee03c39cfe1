//! Versions that the agent does not have.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::super::bench::{Bench, initialize};
use super::super::judging::tell;
use crate::peer::Stopped;
use crate::rule::id;

/// The newest version that there is.
const NEWEST: u64 = 2;
/// What an agent says that has no version at or below the asked one.
const UNSUPPORTED_VERSION: i64 = -32022;

/// Greets with another version number and with the rest of a lawful greeting.
fn greeting(version: Version, number: Value) -> Value {
    let mut params = initialize(version, json!({}));
    if let Some(params) = params.as_object_mut() {
        params.insert("protocolVersion".to_owned(), number);
    }
    params
}

/// The rules on the number that an unknown version is answered with.
const NUMBER: [&str; 2] = [id::V1_INIT_08, id::V2_INIT_04];

pub(super) async fn unknown(bench: &mut Bench) -> Result<(), Stopped> {
    let mut chosen = Vec::new();
    // A newer client speaks in words that an older agent may not know.
    let newer = json!({
        "protocolVersion": 99, "info": [1], "capabilities": "all", "clientInfo": [1],
        "clientCapabilities": 3
    });
    let greetings = [
        (greeting(bench.version, json!(99)), NUMBER),
        (greeting(bench.version, json!(65535)), NUMBER),
        (
            greeting(Version::V2, json!(65535)),
            [id::V1_INIT_21, id::V2_INIT_04],
        ),
        (newer, ["", id::V2_INIT_18]),
    ];
    for (params, rules) in greetings {
        let mut agent = bench.start().await?;
        let answer = agent.ask("initialize", params).await?;
        let version = answer
            .result()
            .and_then(|hello| hello.get("protocolVersion"))
            .and_then(Value::as_u64);
        let is_kept = version.is_some_and(|version| (1..=NEWEST).contains(&version));
        let saw = match version {
            Some(version) => format!("an unknown version got the response {version}"),
            None => format!(
                "{}, for a version that does not exist",
                tell("initialize", &answer)
            ),
        };
        let frames = answer.frames();
        if version.is_some() {
            // What is wrong with the number is one finding, whatever else was in the greeting.
            bench.judge_all(&NUMBER, is_kept, &agent, &frames, saw);
            bench.judge_all(&rules, true, &agent, &frames, "");
        } else {
            bench.judge_all(&rules, false, &agent, &frames, saw);
        }
        chosen.extend(version);
        // Its newest is the same one each time.
        let is_same = chosen.iter().all(|version| Some(version) == chosen.first());
        let saw = "unknown versions got different responses";
        bench.judge_all(&NUMBER, is_same, &agent, &frames, saw);
    }
    // An agent that repeats any number repeats 0 too.
    match chosen.iter().any(|version| *version > NEWEST) {
        true => Ok(()),
        false => older_than_all(bench).await,
    }
}

/// Asks for version 0, which no agent has: the newer rule is an error, the older one the agent's own version.
async fn older_than_all(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.start().await?;
    let params = greeting(Version::V1, json!(0));
    let answer = agent.ask("initialize", params).await?;
    let data = answer.message.pointer("/error/data");
    let has = |key: &str| data.is_some_and(|data| data.get(key).is_some());
    let is_kept = match answer.error_code() {
        Some(UNSUPPORTED_VERSION) => has("requested") && has("supported"),
        Some(_) => false,
        None => {
            let version = answer.message.pointer("/result/protocolVersion");
            let version = version.and_then(Value::as_u64);
            version.is_some_and(|version| (1..=NEWEST).contains(&version))
        }
    };
    let saw = format!("{}, for version 0", tell("initialize", &answer));
    let rules = [id::V2_INIT_05, id::V2_ERR_01];
    bench.judge_all(&rules, is_kept, &agent, &answer.frames(), saw);
    Ok(())
}

pub(super) async fn older(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.start().await?;
    let params = initialize(Version::V1, json!({}));
    let answer = agent.ask("initialize", params).await?;
    let version = answer.message.pointer("/result/protocolVersion");
    let is_kept = version.and_then(Value::as_u64) == Some(1);
    let saw = "a client that requests version 1 does not get it";
    bench.judge(id::V2_INIT_08, is_kept, &agent, &answer.frames(), saw);
    Ok(())
}

pub(super) async fn incomplete(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.start().await?;
    let answer = agent.ask("initialize", json!({})).await?;
    let is_kept = answer.error_code() == Some(-32602);
    let saw = format!("{}, without a version", tell("initialize", &answer));
    let rules = [id::V1_RPC_11, id::V2_RPC_01];
    bench.judge_all(&rules, is_kept, &agent, &answer.frames(), saw);
    if bench.version == Version::V2 {
        let params = json!({"protocolVersion": 2, "capabilities": {}});
        let answer = agent.ask("initialize", params).await?;
        let is_kept = answer.is_error();
        let saw = "a version 2 `initialize` without `info` was accepted";
        bench.judge(id::V2_INIT_03, is_kept, &agent, &answer.frames(), saw);
    }
    Ok(())
}
