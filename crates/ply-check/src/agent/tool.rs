//! Tool calls: how they are announced, how they go on and how they end.

mod shape;

use ply_client::Direction;
use serde_json::Value;

pub(super) use self::shape::is_absolute;
use super::bench::{Agent, Bench};
use super::turn::{self, Choice, Course, Life, asked_about, permit, word};
use crate::peer::Stopped;
use crate::recording::Frame;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-TOOL-01", "A tool call is announced with `tool_call` before it is updated.")
            .should()
            .matters("Clients have no card to put an update on, and drop it.")
            .fix("Send `tool_call` when the model asks for a tool, and `tool_call_update` from then on."),
        Rule::agent("V1-TOOL-02", "The id of a tool call is used for one call of the session only.")
            .matters("Two calls of one id become one card, and the first is overwritten.")
            .fix("Make ids from something that does not repeat in a session, also after it was loaded."),
        Rule::agent("V1-TOOL-03", "`tool_call` has a `toolCallId` and a `title`, both strings.")
            .matters("Clients refuse the update, or show a card without words.")
            .fix("Give both members with every `tool_call`."),
        Rule::agent("V1-TOOL-04", "`kind` is one of the ten kinds of version 1.")
            .matters("Typed clients cannot read the update.")
            .fix("Use `other` for what has no kind of its own."),
        Rule::agent("V1-TOOL-05", "`status` is `pending`, `in_progress`, `completed` or `failed`.")
            .matters("Typed clients cannot read the update, and the call seems to run for ever.")
            .fix("Map every other status to one of the four; a cancelled call is `failed`."),
        Rule::agent("V1-TOOL-06", "`tool_call_update` names its call with `toolCallId`.")
            .matters("Clients cannot know what to change.")
            .fix("Repeat the id of the announcement in every update; other members are optional."),
        Rule::agent("V1-TOOL-09", "A tool that runs is reported as `in_progress` before it ends.")
            .should()
            .matters("Users cannot tell a call that waits for them from one that works.")
            .fix("Send `in_progress` when the tool starts, after permission if it needs one."),
        Rule::agent("V1-TOOL-11", "A call that ended in its turn was told its final status.")
            .matters("The card spins for ever although the work is done.")
            .fix("Send `completed` or `failed` for every call before the turn ends."),
        Rule::agent("V1-TOOL-12", "Content of a call is `content` with a block in it, `diff` or `terminal`.")
            .matters("A bare block is skipped, and users see an empty card.")
            .fix("Wrap blocks: `{\"type\":\"content\",\"content\":{…}}`."),
        Rule::agent("V1-TOOL-13", "A diff has an absolute `path` and `newText`; `oldText` is a string, null or absent.")
            .matters("Editors cannot open the file, or show no diff.")
            .fix("Make the path absolute, and leave `oldText` out for a new file."),
        Rule::agent("V1-TOOL-14", "Locations have an absolute `path`, and a `line` that counts from 1.")
            .matters("Editors that follow along open the wrong place.")
            .fix("Join relative paths with the session's directory and add 1 to lines that count from 0."),
        Rule::agent("V1-TOOL-17", "Calls that a cancel cut off are closed before the prompt is answered.")
            .should()
            .matters("Cards go on spinning in a session that does nothing.")
            .fix("Send `failed` for each open call, then answer the prompt."),
        Rule::agent("V1-TOOL-19", "`name`, if given, is a string or null.")
            .may()
            .matters("Clients that match tools by name cannot read it.")
            .fix("Give the programmatic name as a string, or leave it out."),
        Rule::agent("V2-TOOL-01", "Tool calls are reported with `tool_call_update`; `tool_call` is gone.")
            .should()
            .matters("Clients of version 2 keep it as something unknown and show nothing.")
            .fix("Send `tool_call_update` for the first report too."),
        Rule::agent("V2-TOOL-03", "The first report of a call has a `title`.")
            .should()
            .matters("Users see a card without words.")
            .fix("Give the title with the first `tool_call_update`."),
        Rule::agent("V2-TOOL-06", "Statuses are those of version 2, or begin with `_`.")
            .matters("Unknown words without the mark may come to mean something else later.")
            .fix("Use `pending`, `in_progress`, `completed`, `failed`, `cancelled` or `paused`."),
        Rule::agent("V2-TOOL-09", "A tool that runs is `in_progress`, and its end brings a final status.")
            .should()
            .matters("Users cannot tell what works, and cards never settle.")
            .fix("Send `in_progress` at the start and a final status before the session is idle."),
        Rule::agent("V2-TOOL-10", "Calls that a cancel cut off end as `cancelled`.")
            .should()
            .matters("Users take their own cancel for a failure of the tool, or see the call run on.")
            .fix("Send `cancelled` for each open call before the idle that ends the work."),
        Rule::agent("V2-TOOL-12", "Lines of locations count from 1.")
            .matters("Clients drop the line, or open the wrong one.")
            .fix("Add 1 to lines that count from 0."),
    ],
    probes: &[Probe {
        name: "a turn with a tool",
        rules: &[
            "V1-TOOL-01", "V1-TOOL-02", "V1-TOOL-03", "V1-TOOL-04", "V1-TOOL-05", "V1-TOOL-06",
            "V1-TOOL-09", "V1-TOOL-11", "V1-TOOL-12", "V1-TOOL-13", "V1-TOOL-14", "V1-TOOL-19",
            "V1-PROMPT-09", "V2-TOOL-01", "V2-TOOL-03", "V2-TOOL-06", "V2-TOOL-09", "V2-TOOL-12",
            "V2-PROMPT-22", "V2-DIFF-01", "V2-DIFF-02", "V2-DIFF-03", "V2-DIFF-04", "V2-BG-02", "V2-BG-03", "V2-BG-04",
        ],
        run: |bench| Box::pin(with_a_tool(bench)),
    }],
};

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
            let rules = ["V1-PROMPT-09", "V2-PROMPT-22"];
            let frames = [last.last(), course.end];
            let saw = "the turn ended while a tool call was open";
            turn::judge(bench, &rules, last.is_final(), &agent, &frames, saw);
        }
    }
    bench.give_back(agent);
    Ok(())
}

/// Looks at the tool calls of a turn.
pub(super) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    shape::look(bench, agent, course);
    ids(bench, agent, course);
    for life in course.calls(agent) {
        beginning(bench, agent, &life);
        end(bench, agent, course, &life);
    }
}

fn beginning(bench: &mut Bench, agent: &Agent, life: &Life) {
    let first = [life.first];
    // A question for permission may be the first to name a call, and brings what there is to show.
    if !life.is_first_asked {
        let is_announced = life.first_kind == "tool_call";
        let saw = "a call was updated that had not been announced";
        bench.judge("V1-TOOL-01", is_announced, agent, &first, saw);
        let saw = "the first report of a call has no title";
        bench.judge("V2-TOOL-03", life.has_title, agent, &first, saw);
    }
}

/// Judges that no id of a call that was over was announced again, in this turn or in an earlier one.
fn ids(bench: &mut Bench, agent: &Agent, course: &Course) {
    for life in turn::lives(agent, &course.session, course.end) {
        let reused = life.reused.iter().copied();
        let frames: Vec<_> = [life.first].into_iter().chain(reused).collect();
        let saw = "a call was announced under the id of one that was over";
        bench.judge("V1-TOOL-02", life.reused.is_empty(), agent, &frames, saw);
    }
}

/// Returns whether our side refused a call.
fn is_refused(course: &Course, id: &str) -> bool {
    let asked = |frame: &&Frame| {
        let call = asked_about(frame).and_then(|call| word(call, "toolCallId"));
        call.as_deref() == Some(id)
    };
    course.asks().filter(asked).any(|ask| {
        let answer = course.frames.iter().find(|frame| {
            frame.direction == Direction::ToAgent && frame.is_answer() && frame.id() == ask.id()
        });
        let option =
            answer.and_then(|frame| frame.json.as_ref()?.pointer("/result/outcome/optionId"));
        let allowed = turn::allowed(ask.params().unwrap_or(&Value::Null));
        answer.is_some() && option != allowed.pointer("/outcome/optionId")
    })
}

fn end(bench: &mut Bench, agent: &Agent, course: &Course, life: &Life) {
    let frames = [life.first, life.last(), course.end];
    let is_final = life.is_final();
    if course.ended("cancelled") {
        let saw = format!("a call was left `{}` by a cancelled turn", life.status());
        bench.judge("V1-TOOL-17", is_final, agent, &frames, saw);
        if !is_final || life.status() == "cancelled" {
            let saw = format!("a call was left `{}` by cancelled work", life.status());
            bench.judge("V2-TOOL-10", is_final, agent, &frames, saw);
        }
        return;
    }
    // Without a stop reason nothing is known: the turn may have failed half-way.
    if course.stop.is_none() {
        return;
    }
    let saw = format!(
        "a call was still `{}` at the end of its turn",
        life.status()
    );
    // No text says what becomes of a call that was refused; an open card is unkind to the user.
    if !is_final && is_refused(course, &life.id) {
        bench.advise("V1-TOOL-11", agent, &frames, &*saw);
    } else {
        bench.judge("V1-TOOL-11", is_final, agent, &frames, &*saw);
    }
    if life.status() == "completed" || !is_final {
        let saw = match is_final {
            true => "a call was completed and never in progress".to_owned(),
            false => saw,
        };
        let is_kept = is_final && life.was("in_progress");
        bench.judge("V2-TOOL-09", is_kept, agent, &frames, saw.clone());
        if is_final {
            bench.judge("V1-TOOL-09", is_kept, agent, &frames, saw);
        }
    }
}
