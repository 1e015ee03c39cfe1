//! Parameters that a newer client would send.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::super::bench::{Bench, initialize};
use super::super::judging::tell;
use crate::peer::Stopped;
use crate::rule::id;

pub(super) async fn unknown_members(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.start().await?;
    let mut hello = initialize(bench.version, json!({}));
    let info = match bench.version {
        Version::V1 => "/clientInfo",
        Version::V2 => "/info",
    };
    if let Some(info) = hello.pointer_mut(info).and_then(Value::as_object_mut) {
        info.insert("futureField".to_owned(), json!([1]));
        // Version 2 does not say what a title of another type amounts to.
        if bench.version == Version::V1 {
            info.insert("title".to_owned(), json!(7));
        }
    }
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let meta = json!({"traceparent": trace, "example.org/odd": [null]});
    let more = json!({"futureField": {"x": [1]}, "_meta": meta});
    if let (Some(hello), Some(more)) = (hello.as_object_mut(), more.as_object()) {
        hello.extend(more.clone());
    }
    let greeting = agent.ask("initialize", hello).await?;
    let saw = tell("initialize", &greeting);
    let is_kept = greeting.result().is_some();
    bench.judge(id::V1_RPC_17, is_kept, &agent, &greeting.frames(), saw);
    // Without a greeting the rest shows nothing.
    if !is_kept {
        return Ok(());
    }
    agent.hello = greeting.result().cloned().unwrap_or_default();
    bench.log_in(&mut agent).await?;
    for (more, rules, what) in [
        (
            json!({"futureField": {"x": [1]}}),
            &[id::V1_RPC_16, id::V2_EXT_04],
            "a member that it cannot know",
        ),
        (
            json!({"_meta": meta}),
            &[id::V1_EXT_06, id::V2_EXT_04],
            "keys of `_meta` that it cannot know",
        ),
        (
            json!({"_meta": 3}),
            &["", id::V2_EXT_04],
            "a `_meta` that is no object",
        ),
    ] {
        let answer = agent.new_session_with(&more).await?;
        // Having to log in first says nothing about members.
        if answer.error_code() == Some(-32000) {
            return Err(Stopped::Other("the agent wants a login first".to_owned()));
        }
        let saw = format!("{}, with {what}", tell("session/new", &answer));
        let is_kept = answer.result().is_some();
        bench.judge_all(rules, is_kept, &agent, &answer.frames(), saw);
    }
    Ok(())
}
