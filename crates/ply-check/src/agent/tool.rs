//! Tool calls: how they are announced, how they go on and how they end.

use super::bench::Bench;
use super::turn::{self, Choice, permit};
use crate::peer::Stopped;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[Probe {
    name: "a turn with a tool",
    rules: &[
        id::V1_TOOL_01,
        id::V1_TOOL_02,
        id::V1_TOOL_03,
        id::V1_TOOL_04,
        id::V1_TOOL_05,
        id::V1_TOOL_06,
        id::V1_TOOL_09,
        id::V1_TOOL_11,
        id::V1_TOOL_12,
        id::V1_TOOL_13,
        id::V1_TOOL_14,
        id::V1_TOOL_19,
        id::V1_PROMPT_09,
        id::V2_TOOL_01,
        id::V2_TOOL_03,
        id::V2_TOOL_06,
        id::V2_TOOL_09,
        id::V2_TOOL_12,
        id::V2_PROMPT_22,
        id::V2_DIFF_01,
        id::V2_DIFF_02,
        id::V2_DIFF_03,
        id::V2_DIFF_04,
        id::V2_BG_02,
        id::V2_BG_03,
        id::V2_BG_04,
    ],
    run: |bench| Box::pin(with_a_tool(bench)),
}];

/// Two turns, so that ids which start again with each turn are seen to repeat.
async fn with_a_tool(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    let look = bench.subject.prompts.look.clone();
    for _ in 0..2 {
        let course = turn::run(bench, &mut agent, &session, &look).await?;
        // The loop goes on after a tool: a turn that stops there leaves its user with raw output.
        let calls = course.calls(&agent);
        if let Some(last) = calls.last().filter(|_| course.ended("end_turn")) {
            let rules = [id::V1_PROMPT_09, id::V2_PROMPT_22];
            let frames = [last.last(), course.end];
            let saw = "the turn ended while a tool call was open";
            bench.judge_all(&rules, last.is_final(), &agent, &frames, saw);
        }
    }
    bench.give_back(agent);
    Ok(())
}
