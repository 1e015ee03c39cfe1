//! Why turns end.

use ply_client::Direction;
use ply_wire::negotiate::Version;

use super::bench::{Agent, Bench};
use super::turn::{self, Choice, Course, permit, word};
use crate::peer::Stopped;
use crate::recording::Frame;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

const REASONS_V1: [&str; 5] = [
    "end_turn",
    "max_tokens",
    "max_turn_requests",
    "refusal",
    "cancelled",
];
const REASONS_V2: [&str; 6] = [
    "end_turn",
    "max_tokens",
    "max_turn_requests",
    "refusal",
    "cancelled",
    "error",
];

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent(
            "V1-STOP-01",
            "The stop reason is one of the five of version 1.",
        )
        .matters("Typed clients cannot read the answer, and the turn seems to fail.")
        .fix("Use `end_turn` where nothing else fits, and an error where the turn failed."),
        Rule::agent(
            "V1-STOP-02",
            "A turn that the model finished ends with `end_turn`.",
        )
        .matters("Clients show a limit or a refusal where all is well.")
        .fix("Answer with `end_turn` when the model asks for no more tools."),
        Rule::agent(
            "V1-STOP-03",
            "A turn that met the limit of tokens ends with `max_tokens`.",
        )
        .matters("Users take half an answer for a whole one.")
        .fix("Map the model's own stop for length to `max_tokens`."),
        Rule::agent(
            "V1-STOP-04",
            "A turn that met the limit of requests to the model ends with `max_turn_requests`.",
        )
        .matters("Users do not learn that they can go on by asking again.")
        .fix("Answer with `max_turn_requests` when the agent stops its own loop."),
        Rule::agent(
            "V1-STOP-05",
            "A turn that the agent declined ends with `refusal`.",
        )
        .matters("Clients cannot mark what is left out of the conversation from then on.")
        .fix("Answer with `refusal`, and leave the turn out of the next prompt's context."),
        Rule::agent(
            "V1-STOP-07",
            "A turn that the client cancelled ends with `cancelled`.",
        )
        .matters("Clients report a failure, or a finished turn, where the user stopped it.")
        .fix("Catch what aborting raises, and answer with `cancelled`."),
        Rule::agent(
            "V2-STOP-01",
            "The stop reason is one of the six of version 2, or begins with `_`.",
        )
        .matters("Unknown words without the mark may come to mean something else later.")
        .fix("Use a known reason, or a custom one that begins with `_`."),
        Rule::agent(
            "V2-STOP-02",
            "The stop reason `error` comes with the error.",
        )
        .should()
        .matters("Users see that it failed, not why.")
        .fix("Put a JSON-RPC error object into `error` beside the stop reason."),
        Rule::agent(
            "V2-STOP-03",
            "`cancelled` is said only of work that the user or the client stopped.",
        )
        .matters("Users wonder who stopped it, and do not try again.")
        .fix("Use `error` for the agent's own limits of time, and for failures."),
        Rule::agent("V2-STOP-04", "Custom stop reasons begin with `_`.")
            .matters("They may come to mean something else in a later version.")
            .fix("Put `_` and a name of your own before custom reasons."),
    ],
    probes: &[Probe {
        name: "turns that end in their own ways",
        rules: &[
            "V1-STOP-03",
            "V1-STOP-04",
            "V1-STOP-05",
            "V1-PROMPT-16",
            "V2-STOP-01",
            "V2-STOP-02",
            "V2-STOP-04",
            "V2-PROMPT-13",
        ],
        run: |bench| Box::pin(other_ends(bench)),
    }],
};

/// Sends the prompts that are said to end in a certain way.
async fn other_ends(bench: &mut Bench) -> Result<(), Stopped> {
    let prompts = bench.subject.prompts.clone();
    let wanted = [
        (prompts.tokens, "max_tokens", "V1-STOP-03"),
        (prompts.requests, "max_turn_requests", "V1-STOP-04"),
        (prompts.refuse, "refusal", "V1-STOP-05"),
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
        let is_error = course.answer.error_code().is_some();
        let saw = course.how();
        bench.judge("V1-PROMPT-16", is_error, &agent, &course.ends(), saw);
        // One that fails before it is inserted may be refused; this one is said to fail at work.
        let saw = course.how();
        bench.judge(
            "V2-PROMPT-13",
            !is_error && course.ended("error"),
            &agent,
            &course.ends(),
            saw,
        );
    }
    bench.give_back(agent);
    Ok(())
}

/// Looks at how a turn ended.
pub(super) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    let frames = course.ends();
    if course.version == Version::V1 && course.answer.result().is_some() {
        let saw = "the answer to a prompt has no stop reason";
        bench.judge("V1-PROMPT-06", course.stop.is_some(), agent, &frames, saw);
    }
    let Some(stop) = course.stop.as_deref() else {
        return;
    };
    let saw = course.how();
    match course.version {
        Version::V1 => {
            let is_known = REASONS_V1.contains(&stop);
            bench.judge("V1-STOP-01", is_known, agent, &frames, saw);
        }
        Version::V2 => {
            let is_known = REASONS_V2.contains(&stop) || stop.starts_with('_');
            bench.judge("V2-STOP-01", is_known, agent, &frames, saw.clone());
            bench.judge("V2-STOP-04", is_known, agent, &frames, saw);
            let idle = course
                .frames
                .iter()
                .find(|frame| frame.number == course.end);
            let idle = idle.and_then(|frame| frame.update());
            if stop == "error" {
                let error = idle.and_then(|idle| idle.get("error"));
                let is_told = error.is_some_and(|error| word(error, "message").is_some());
                let saw = "the stop reason `error` came without an error";
                bench.judge("V2-STOP-02", is_told, agent, &frames, saw);
            }
        }
    }
    let saw = "work that nobody stopped ended with `cancelled`";
    let is_kept = stop != "cancelled" || is_cancelled_by_us(agent, course);
    bench.judge("V2-STOP-03", is_kept, agent, &frames, saw);
}

/// Returns whether our side did something in the turn that can be taken for a wish to stop: a cancel, or any answer to a question.
fn is_cancelled_by_us(agent: &Agent, course: &Course) -> bool {
    let is_wish = |frame: &Frame| {
        let is_told = matches!(
            frame.method(),
            Some("session/cancel" | "$/cancel_request" | "session/close")
        );
        frame.direction == Direction::ToAgent && (is_told || frame.is_answer())
    };
    let found = agent.seen_since(course.prompt, is_wish);
    found.is_some_and(|frame| frame.number < course.end)
}
