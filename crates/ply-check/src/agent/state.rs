//! The states of version 2.

use ply_client::Direction;
use ply_wire::negotiate::Version;

use super::bench::{Agent, Bench};
use super::turn::{Course, is_of_turn, state};
use crate::recording::Frame;
use crate::rule::Rule;
use crate::topic::Topic;

/// States are judged wherever a turn brings them; the probes are those of prompts, permissions and cancels.
pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V2-STATE-01", "`running` is reported when work starts, or `requires_action` if it starts with a question.")
            .matters("Clients show an idle session while it works, and offer no stop.")
            .fix("Send `state_update` with `running` or `requires_action` before anything of the work."),
        Rule::agent("V2-STATE-02", "`idle` is reported when no work is left.")
            .matters("Clients show a busy session for ever.")
            .fix("Send `state_update` with `idle` at the end of the work."),
        Rule::agent(
            "V2-STATE-03",
            "The `idle` that ends work has a stop reason.",
        )
        .should()
        .matters("Clients cannot tell a finished turn from a refused or a cut one.")
        .fix("Put `stopReason` into the `idle` that follows `running`."),
        Rule::agent(
            "V2-STATE-04",
            "`requires_action` is reported while all work waits for the user.",
        )
        .should()
        .matters("Users wait for the agent while it waits for them.")
        .fix("Send `requires_action` when a question is open and nothing else can go on."),
        Rule::agent(
            "V2-STATE-05",
            "After `requires_action` comes `running` or `idle`.",
        )
        .matters("Clients go on asking for an answer that was given.")
        .fix("Send `running` when the work goes on, `idle` when it ends."),
        Rule::agent(
            "V2-STATE-11",
            "States are known ones, the draft's `unknown` included; custom ones begin with `_`.",
        )
        .matters("Clients show a busy session that they cannot explain.")
        .fix("Report `running`, `requires_action` and `idle`."),
        Rule::agent(
            "V2-STATE-12",
            "Refusing a prompt does not make a session idle that is at work.",
        )
        .matters("Clients take the work for finished.")
        .fix("Send `idle` only when no work is left."),
        Rule::agent(
            "V2-STATE-13",
            "Answers to questions of work that has ended are ignored.",
        )
        .should()
        .matters("Work starts that nobody expects.")
        .fix("Forget open questions when the work ends."),
    ],
    probes: &[],
};

/// Looks at the states of a turn.
pub(super) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    if course.version == Version::V1 || course.answer.error_code().is_some() {
        return;
    }
    let session = Some(course.session.as_str());
    let told = || {
        course
            .frames
            .iter()
            .filter(|frame| frame.session() == session)
    };
    for frame in told().filter(|frame| state(frame).is_some()) {
        let state = state(frame).unwrap_or_default();
        let is_known = is_known(state);
        let saw = "a state is none that there is";
        bench.judge("V2-STATE-11", is_known, agent, &[frame.number], saw);
    }
    // A prompt to a session that is at work finds it running already.
    if was_idle(agent, course) {
        let is_active =
            |frame: &&Frame| matches!(state(frame), Some("running" | "requires_action"));
        let running = told().find(is_active);
        let work = told().find(|frame| is_of_turn(frame));
        let is_first = match (running, work) {
            (Some(running), Some(work)) => running.number < work.number,
            (running, _) => running.is_some(),
        };
        let first = work.map_or(course.end, |frame| frame.number);
        let saw = match running {
            Some(_) => "work was reported before `running` or `requires_action`",
            None => "work began and ended without `running` or `requires_action`",
        };
        bench.judge("V2-STATE-01", is_first, agent, &[course.prompt, first], saw);
    }
    went_on(bench, agent, course);
    bench.judge("V2-STATE-02", true, agent, &course.ends(), "");
    let saw = "the `idle` that ends the work has no stop reason";
    bench.judge(
        "V2-STATE-03",
        course.stop.is_some(),
        agent,
        &course.ends(),
        saw,
    );
}

/// Returns whether a state is one that the draft has, or a custom one.
pub(crate) fn is_known(state: &str) -> bool {
    matches!(state, "running" | "requires_action" | "idle" | "unknown") || state.starts_with('_')
}

/// Looks at what follows `requires_action`: once the user has answered, work that goes on is work that runs.
fn went_on(bench: &mut Bench, agent: &Agent, course: &Course) {
    let session = Some(course.session.as_str());
    let mut waits = None;
    let mut questions = 0_usize;
    for frame in &course.frames {
        let is_here = frame.session() == session;
        match (frame.direction, state(frame).filter(|_| is_here)) {
            // What comes of a turn that is to end is no work that goes on.
            (Direction::ToAgent, _) if frame.method() == Some("session/cancel") => return,
            (Direction::ToAgent, _) => questions -= usize::from(frame.is_answer()).min(questions),
            (Direction::ToClient, Some("requires_action")) => waits = Some(frame.number),
            (Direction::ToClient, Some(_)) => {
                if let Some(waits) = waits.take() {
                    bench.judge("V2-STATE-05", true, agent, &[waits, frame.number], "");
                }
            }
            (Direction::ToClient, None) if frame.is_request() => questions += 1,
            // Some tell the end of the call that was asked about before they go on.
            (Direction::ToClient, None) if is_here && is_said(frame) && questions == 0 => {
                if let Some(waits) = waits {
                    let saw = "the agent went on after an answer without `running`";
                    bench.judge("V2-STATE-05", false, agent, &[waits, frame.number], saw);
                }
            }
            (Direction::ToClient, None) => {}
        }
    }
}

/// Returns whether a message shows that the model speaks.
fn is_said(frame: &Frame) -> bool {
    let kind = frame.update_kind().unwrap_or_default();
    kind.starts_with("agent_message") || kind.starts_with("agent_thought")
}

/// Returns whether the session was not at work when the prompt was sent.
fn was_idle(agent: &Agent, course: &Course) -> bool {
    let session = Some(course.session.as_str());
    agent.recording().with_frames(|frames| {
        let earlier = frames.iter().take(course.prompt).rev();
        let fits = |frame: &&Frame| frame.session() == session && state(frame).is_some();
        let last = earlier.filter(fits).find_map(state);
        last.is_none_or(|state| state == "idle")
    })
}
