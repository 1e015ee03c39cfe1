//! Why turns end.

use super::bench::Bench;
use super::turn::{self, Choice, permit};
use crate::peer::Stopped;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[Probe {
    name: "turns that end in their own ways",
    rules: &[
        id::V1_STOP_03,
        id::V1_STOP_04,
        id::V1_STOP_05,
        id::V1_PROMPT_16,
        id::V2_STOP_01,
        id::V2_STOP_02,
        id::V2_STOP_04,
        id::V2_PROMPT_13,
    ],
    run: |bench| Box::pin(other_ends(bench)),
}];

/// Sends the prompts that are said to end in a certain way.
async fn other_ends(bench: &mut Bench) -> Result<(), Stopped> {
    let prompts = bench.subject.prompts.clone();
    let wanted = [
        (prompts.tokens, "max_tokens", id::V1_STOP_03),
        (prompts.requests, "max_turn_requests", id::V1_STOP_04),
        (prompts.refuse, "refusal", id::V1_STOP_05),
    ];
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    for (prompt, reason, rule) in wanted {
        let Some(prompt) = prompt else {
            continue;
        };
        let course = turn::run(bench, &mut agent, &session, &prompt).await?;
        let saw = course.how();
        bench.judge(rule, course.ended(reason), &agent, &course.ends(), saw);
    }
    if let Some(fail) = prompts.fail {
        let course = turn::run(bench, &mut agent, &session, &fail).await?;
        let is_error = course.answer.is_error();
        let saw = course.how();
        bench.judge(id::V1_PROMPT_16, is_error, &agent, &course.ends(), saw);
        // One that fails before it is inserted may be refused; this one is said to fail at work.
        let saw = course.how();
        bench.judge(
            id::V2_PROMPT_13,
            !is_error && course.ended("error"),
            &agent,
            &course.ends(),
            saw,
        );
    }
    bench.give_back(agent);
    Ok(())
}
