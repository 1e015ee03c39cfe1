//! What an agent says to a greeting, and whether strange greetings disturb it.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::super::bench::{Agent, Bench, initialize, number};
use super::super::judging::tell;
use super::super::shape;
use crate::peer::{Answer, Stopped};

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
/// Capabilities of version 2; all are objects.
const MARKERS: &[&str] = &[
    "/session",
    "/session/prompt",
    "/session/prompt/image",
    "/session/prompt/audio",
    "/session/prompt/embeddedContext",
    "/session/mcp",
    "/session/mcp/stdio",
    "/session/mcp/http",
    "/session/delete",
    "/session/additionalDirectories",
    "/auth",
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
    let (info, capabilities) = match bench.version {
        Version::V1 => ("agentInfo", "agentCapabilities"),
        Version::V2 => ("info", "capabilities"),
    };
    // In version 1 capabilities that are left out are the default ones.
    let has_capabilities = match hello.get(capabilities) {
        None => bench.version == Version::V1,
        Some(capabilities) => capabilities.is_object(),
    };
    let is_named = hello.get(info).is_some_and(is_identity);
    let is_whole = chosen.is_some_and(Value::is_u64) && has_capabilities;
    let saw = "the answer lacks a version that is a number, or capabilities that are an object";
    bench.judge("V1-INIT-05", is_whole, &agent, &frames, saw);
    let is_whole = is_whole && hello.get(info).is_some_and(Value::is_object);
    let saw = "the answer lacks `protocolVersion`, `info` or `capabilities`";
    bench.judge("V2-INIT-02", is_whole, &agent, &frames, saw);
    let saw = format!("`{info}` lacks a name or a version");
    bench.judge_all(
        &["V1-INIT-06", "V2-INIT-03"],
        is_named,
        &agent,
        &frames,
        saw,
    );
    if !is_asked {
        if let Some(saw) = not_asked(bench).await? {
            bench.judge("V1-INIT-07", false, &agent, &frames, saw);
        }
        return Err(Stopped::Other(
            "the agent does not speak this version".to_owned(),
        ));
    }
    bench.judge_all(&["V1-INIT-07", "V2-INIT-04"], true, &agent, &frames, "");
    agent.hello = hello;
    markers(bench, &agent, &answer);
    let known = shape::unknown_member(shape::Place::Hello, &agent.hello);
    let saw = known
        .map(|member| format!("`{member}` is no member of this version, and is not in a `_meta`"));
    bench.judge(
        "V1-EXT-01",
        saw.is_none(),
        &agent,
        &frames,
        saw.unwrap_or_default(),
    );
    let odd = shape::snake_member(&agent.hello);
    let saw = odd
        .as_ref()
        .map(|member| format!("`{member}` is not camelCase"));
    bench.judge_all(
        &["V1-RPC-12", "V2-RPC-01"],
        odd.is_none(),
        &agent,
        &frames,
        saw.unwrap_or_default(),
    );
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

fn is_identity(info: &Value) -> bool {
    let has = |key| info.get(key).is_some_and(Value::is_string);
    has("name") && has("version")
}

fn markers(bench: &mut Bench, agent: &Agent, answer: &Answer) {
    let frames = answer.frames();
    let check = |pointers: &[&str], fits: fn(&Value) -> bool| {
        let strange = pointers.iter().find(|pointer| {
            !agent.capability(pointer).is_null() && !fits(agent.capability(pointer))
        });
        strange.map(|pointer| format!("the capability `{pointer}` has another type"))
    };
    for (rule, version, saw) in [
        (
            "V1-INIT-13",
            Version::V1,
            check(BOOLEANS, Value::is_boolean),
        ),
        ("V1-INIT-14", Version::V1, check(OBJECTS, Value::is_object)),
        ("V2-INIT-09", Version::V2, check(MARKERS, Value::is_object)),
    ] {
        if version == bench.version {
            bench.judge(rule, saw.is_none(), agent, &frames, saw.unwrap_or_default());
        }
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
            ["V1-INIT-12", "V2-INIT-21"].as_slice(),
            "a client that can do everything",
            true,
        ),
        (
            strange,
            &["V1-INIT-18", "V2-INIT-20"],
            "capabilities of strange types",
            false,
        ),
        (
            unknown,
            &["V1-INIT-23"],
            "capabilities that it cannot know",
            false,
        ),
        (
            foreign,
            &["V2-INIT-14"],
            "files and terminals offered",
            true,
        ),
    ] {
        if rules == ["V2-INIT-14"] && bench.version == Version::V1 {
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
