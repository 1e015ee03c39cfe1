//! What an agent says to a greeting, and whether strange greetings disturb it.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::super::bench::{Agent, Bench, initialize, number};
use super::super::judging::tell;
use crate::peer::{Answer, Stopped};
use crate::rule::id;

/// Capabilities of version 1 that are booleans.
const BOOLEANS: &[&str] = &[
    "/loadSession",
    "/promptCapabilities/image",
    "/promptCapabilities/audio",
    "/promptCapabilities/embeddedContext",
    "/mcpCapabilities/http",
    "/mcpCapabilities/sse",
];
/// Capabilities of version 1 that are objects.
const OBJECTS: &[&str] = &[
    "/promptCapabilities",
    "/mcpCapabilities",
    "/sessionCapabilities",
    "/sessionCapabilities/list",
    "/sessionCapabilities/resume",
    "/sessionCapabilities/close",
    "/sessionCapabilities/delete",
    "/sessionCapabilities/additionalDirectories",
    "/auth",
    "/auth/logout",
];
pub(super) async fn greeting(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.start().await?;
    let params = initialize(bench.version, json!({}));
    let answer = agent.ask("initialize", params).await?;
    let Some(hello) = answer.result().cloned() else {
        return Err(Stopped::Refused {
            method: "initialize".to_owned(),
            message: answer.error_message(),
        });
    };
    let frames = answer.frames();
    let chosen = hello.get("protocolVersion");
    let is_asked = chosen.and_then(Value::as_u64) == Some(number(bench.version));
    if !is_asked {
        if let Some(saw) = not_asked(bench).await? {
            bench.judge(id::V1_INIT_07, false, &agent, &frames, saw);
        }
        return Err(Stopped::Other(
            "the agent does not speak this version".to_owned(),
        ));
    }
    bench.judge_all(&[id::V1_INIT_07, id::V2_INIT_04], true, &agent, &frames, "");
    agent.hello = hello;
    markers(bench, &agent, &answer);
    bench.log_in(&mut agent).await?;
    bench.give_back(agent);
    Ok(())
}

/// Looks at an agent that answered with another version than it was asked for, and says why that is wrong: it may not speak that one.
async fn not_asked(bench: &mut Bench) -> Result<Option<String>, Stopped> {
    for number in [2, 65535] {
        let mut agent = bench.start().await?;
        let mut params = initialize(bench.version, json!({}));
        if let Some(asked) = params.get_mut("protocolVersion") {
            *asked = json!(number);
        }
        let answer = agent.ask("initialize", params).await?;
        let chosen = answer.message.pointer("/result/protocolVersion");
        if bench.version == Version::V1 && chosen.and_then(Value::as_u64) == Some(1) {
            let saw = format!("version {number} was answered with 1, and version 1 with another");
            return Ok(Some(saw));
        }
    }
    Ok(None)
}

fn markers(bench: &mut Bench, agent: &Agent, answer: &Answer) {
    let frames = answer.frames();
    let check = |pointers: &[&str], fits: fn(&Value) -> bool| {
        let strange = pointers.iter().find(|pointer| {
            !agent.capability(pointer).is_null() && !fits(agent.capability(pointer))
        });
        strange.map(|pointer| format!("the capability `{pointer}` has another type"))
    };
    for (rule, saw) in [
        (id::V1_INIT_13, check(BOOLEANS, Value::is_boolean)),
        (id::V1_INIT_14, check(OBJECTS, Value::is_object)),
    ] {
        bench.judge(rule, saw.is_none(), agent, &frames, saw.unwrap_or_default());
    }
}

pub(super) async fn odd_capabilities(bench: &mut Bench) -> Result<(), Stopped> {
    let everything = match bench.version {
        Version::V1 => json!({
            "fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true, "auth": {"terminal": true},
            "elicitation": {"form": {}, "url": {}},
            "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}}
        }),
        Version::V2 => json!({"auth": {"terminal": {}}, "elicitation": {"form": {}, "url": {}}}),
    };
    let strange = match bench.version {
        Version::V1 => json!({"fs": 7, "terminal": "yes", "elicitation": []}),
        Version::V2 => json!({"auth": 7, "elicitation": true}),
    };
    let unknown = json!({"futureFeature": {"x": 1}, "_meta": {"example.org/x": 1}});
    let foreign = json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true});
    for (capabilities, rules, what, has_session) in [
        (
            everything,
            [id::V1_INIT_12, id::V2_INIT_21].as_slice(),
            "a client that can do everything",
            true,
        ),
        (
            strange,
            &[id::V1_INIT_18, id::V2_INIT_20],
            "capabilities of strange types",
            false,
        ),
        (
            unknown,
            &[id::V1_INIT_23],
            "capabilities that it cannot know",
            false,
        ),
        (
            foreign,
            &[id::V2_INIT_14],
            "files and terminals offered",
            true,
        ),
    ] {
        if rules == [id::V2_INIT_14] && bench.version == Version::V1 {
            continue;
        }
        let mut agent = bench.start().await?;
        let params = initialize(bench.version, capabilities);
        let answer = agent.ask("initialize", params).await?;
        let saw = format!("{}, with {what}", tell("initialize", &answer));
        bench.judge_all(
            rules,
            answer.result().is_some(),
            &agent,
            &answer.frames(),
            saw,
        );
        if !has_session || answer.result().is_none() {
            continue;
        }
        agent.hello = answer.result().cloned().unwrap_or_default();
        bench.log_in(&mut agent).await?;
        let opened = agent.new_session_with(&json!({})).await?;
        // A login comes first wherever one is needed, whatever the client can do.
        if opened.error_code() == Some(-32000) {
            continue;
        }
        let saw = format!("{}, with {what}", tell("session/new", &opened));
        bench.judge_all(
            rules,
            opened.result().is_some(),
            &agent,
            &opened.frames(),
            saw,
        );
    }
    Ok(())
}
