//! The place of the greeting: first, and once.

use ply_wire::negotiate::Version;
use serde_json::json;

use super::super::bench::{Bench, initialize};
use super::super::judging::{QUIET, tell};
use crate::peer::Stopped;
use crate::rule::id;

pub(super) async fn early(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.start().await?;
    let cancel = json!({"sessionId": "ply-check-no-such-session"});
    let told = agent.notify("session/cancel", cancel).await?;
    let answer = agent.new_session_with(&json!({})).await?;
    let is_kept = match bench.version {
        Version::V1 => answer.is_error(),
        Version::V2 => answer.error_code() == Some(-32600),
    };
    let rules = [id::V1_INIT_19, id::V2_INIT_17];
    let saw = format!("{}, before `initialize`", tell("session/new", &answer));
    bench.judge_all(&rules, is_kept, &agent, &answer.frames(), saw);
    agent.listen(QUIET).await?;
    let heard = agent.heard_since(told);
    let answers = heard.iter().filter(|frame| frame.is_answer());
    let is_kept = answers.count() == 1;
    let saw = "a notification before `initialize` got a response";
    bench.judge(id::V2_INIT_17, is_kept, &agent, &[told], saw);
    let hello = agent
        .ask("initialize", initialize(bench.version, json!({})))
        .await?;
    let saw = format!(
        "{}, after requests that came too early",
        tell("initialize", &hello)
    );
    bench.judge_all(
        &rules,
        hello.result().is_some(),
        &agent,
        &hello.frames(),
        saw,
    );
    Ok(())
}

pub(super) async fn again(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted_with(json!({})).await?;
    agent.new_session().await?;
    let params = initialize(bench.version, json!({}));
    let answer = agent.ask("initialize", params).await?;
    let is_kept = answer.error_code() == Some(-32600);
    let saw = format!("{}, after `session/new`", tell("initialize", &answer));
    bench.judge(id::V2_INIT_16, is_kept, &agent, &answer.frames(), saw);
    let after = agent.new_session_with(&json!({})).await?;
    let frames = [answer.frames(), after.frames()].concat();
    let is_kept = after.result().is_some();
    let saw = format!(
        "{}, after a second `initialize`",
        tell("session/new", &after)
    );
    let rules = [id::V1_INIT_20, id::V2_INIT_16];
    bench.judge_all(&rules, is_kept, &agent, &frames, saw);
    Ok(())
}
