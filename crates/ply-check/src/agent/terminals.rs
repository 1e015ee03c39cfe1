//! Terminals: the client's in version 1, the agent's own in version 2.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::notices::asked;
use super::tool::is_absolute;
use super::turn::{self, Choice, Course, permit, word};
use crate::peer::{Reply, Stopped};
use crate::recording::Frame;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

/// How long a terminal may take to be released after the end of its session.
const RELEASED_WITHIN: Duration = Duration::from_millis(300);

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent(
            "V1-TERM-01",
            "Terminals of the client are used only if it offers them.",
        )
        .matters("Every command fails in clients without terminals.")
        .fix("Read `clientCapabilities.terminal`, and run commands in the agent if it is not set."),
        Rule::agent(
            "V1-TERM-04",
            "A terminal's `cwd` is absolute, its `env` a list of names and values.",
        )
        .matters("Clients refuse the call, or run the command in the wrong place.")
        .fix("Send an absolute `cwd`, and `env` as `[{\"name\": …, \"value\": …}]`."),
        Rule::agent("V1-TERM-11", "Every terminal that was made is released.")
            .matters("Clients keep processes and their output for ever.")
            .fix("Call `terminal/release` when the command is done, also after `terminal/kill`."),
        Rule::agent(
            "V1-TERM-13",
            "A terminal is shown in a tool call before it is released, not after.",
        )
        .matters("Clients have nothing left to show.")
        .fix("Put the terminal into the call's content as soon as it is there."),
        Rule::agent(
            "V2-TERM-01",
            "The id of a terminal is used for one terminal of the session only.",
        )
        .matters("The output of two commands becomes one.")
        .fix("Make a new id for each command."),
        Rule::agent("V2-TERM-04", "A terminal's `cwd` is absolute.")
            .matters("Users cannot tell where a command ran.")
            .fix("Send an absolute `cwd`, or none."),
        Rule::agent(
            "V2-TERM-05",
            "The first update of a terminal names its command.",
        )
        .should()
        .matters("Users see output of they do not know what.")
        .fix("Give `command` with the first `terminal_update`."),
    ],
    probes: &[
        Probe {
            name: "a command of a client without terminals",
            rules: &["V1-TERM-01", "V2-TERM-01", "V2-TERM-04", "V2-TERM-05"],
            run: |bench| Box::pin(not_offered(bench)),
        },
        Probe {
            name: "a command in a terminal of the client",
            rules: &["V1-TERM-04", "V1-TERM-11", "V1-TERM-13"],
            run: |bench| Box::pin(offered(bench)),
        },
    ],
};

async fn not_offered(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    let run = bench.subject.prompts.run.clone();
    let course = turn::run(bench, &mut agent, &session, &run).await?;
    if !course.calls(&agent).is_empty() {
        bench.judge("V1-TERM-01", true, &agent, &course.ends(), "");
    }
    bench.give_back(agent);
    Ok(())
}

/// Offers terminals in which every command says one word and ends well.
async fn offered(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted_with(json!({"terminal": true})).await?;
    let session = agent.new_session().await?;
    permit(&mut agent, Choice::Allow);
    let mut made = 0;
    agent.service.on("terminal/create", move |_| {
        made += 1;
        Reply::Result(json!({"terminalId": format!("terminal-{made}")}))
    });
    let ended = json!({"exitCode": 0, "signal": null});
    let output = json!({"output": "checked\n", "truncated": false, "exitStatus": ended});
    agent
        .service
        .on("terminal/output", move |_| Reply::Result(output.clone()));
    agent.service.on("terminal/wait_for_exit", move |_| {
        Reply::Result(ended.clone())
    });
    agent
        .service
        .on("terminal/kill", |_| Reply::Result(json!({})));
    agent
        .service
        .on("terminal/release", |_| Reply::Result(json!({})));
    let run = bench.subject.prompts.run.clone();
    let course = turn::run(bench, &mut agent, &session, &run).await?;
    let count = course.requests("terminal/create").count();
    if count == 0 {
        return Ok(());
    }
    if released(&agent).len() < count && agent.offers("/sessionCapabilities/close") {
        // It may keep a terminal for a later turn, but not beyond its session.
        agent
            .ask("session/close", json!({"sessionId": session}))
            .await?;
    }
    if released(&agent).len() < count {
        agent.listen(RELEASED_WITHIN).await?;
    }
    let frames: Vec<_> = course
        .requests("terminal/create")
        .map(|frame| frame.number)
        .collect();
    let left = count.saturating_sub(released(&agent).len());
    let saw = format!("{left} of {count} terminals were not released");
    bench.judge("V1-TERM-11", left == 0, &agent, &frames, saw);
    shown_in_time(bench, &agent);
    Ok(())
}

/// Returns the terminals that were released, with the frames.
fn released(agent: &Agent) -> BTreeMap<String, usize> {
    agent.recording().with_frames(|frames| {
        let releases = frames
            .iter()
            .filter(|frame| frame.method() == Some("terminal/release"));
        let named =
            releases.filter_map(|frame| Some((word(frame.params()?, "terminalId")?, frame.number)));
        named.collect()
    })
}

/// Judges that no terminal was first shown when it was gone.
fn shown_in_time(bench: &mut Bench, agent: &Agent) {
    for (id, release) in released(agent) {
        let shows = |frame: &&Frame| {
            let content = frame.update().and_then(|update| update.get("content"));
            let items = content
                .and_then(Value::as_array)
                .map(Vec::as_slice)
                .unwrap_or_default();
            items
                .iter()
                .any(|item| word(item, "terminalId").as_deref() == Some(id.as_str()))
        };
        let first = agent
            .recording()
            .with_frames(|frames| frames.iter().find(shows).map(|frame| frame.number));
        if let Some(first) = first {
            let saw = "a terminal was first shown after its release";
            bench.judge("V1-TERM-13", first < release, agent, &[first, release], saw);
        }
    }
}

/// Looks at the terminals of a turn.
pub(super) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    match course.version {
        Version::V1 => of_the_client(bench, agent, course),
        Version::V2 => of_the_agent(bench, agent, course),
    }
}

fn of_the_client(bench: &mut Bench, agent: &Agent, course: &Course) {
    let is_offered = asked(agent, "/terminal");
    let is_theirs = |frame: &&Frame| frame.direction == ply_client::Direction::ToClient;
    for frame in course.frames.iter().filter(is_theirs) {
        if !frame
            .method()
            .is_some_and(|method| method.starts_with("terminal/"))
        {
            continue;
        }
        let saw = "a terminal was used, which the client does not offer";
        bench.judge("V1-TERM-01", is_offered, agent, &[frame.number], saw);
        if frame.method() != Some("terminal/create") {
            continue;
        }
        let params = frame.params().unwrap_or(&Value::Null);
        let cwd = params.get("cwd").filter(|cwd| !cwd.is_null());
        let cwd_fits = cwd.is_none_or(|cwd| cwd.as_str().is_some_and(is_absolute));
        let env = params.get("env").filter(|env| !env.is_null());
        let is_pair = |pair: &Value| word(pair, "name").is_some() && word(pair, "value").is_some();
        let env_fits =
            env.is_none_or(|env| env.as_array().is_some_and(|env| env.iter().all(is_pair)));
        let saw =
            "the `cwd` of a terminal is not absolute, or its `env` is no list of names and values";
        bench.judge(
            "V1-TERM-04",
            cwd_fits && env_fits,
            agent,
            &[frame.number],
            saw,
        );
    }
}

fn of_the_agent(bench: &mut Bench, agent: &Agent, course: &Course) {
    let mut ended = BTreeSet::new();
    let mut known = BTreeSet::new();
    // A terminal may be older than the turn, so all of the session are looked at.
    let session = Some(course.session.as_str());
    let updates: Vec<_> = agent.recording().with_frames(|frames| {
        let told = frames.iter().take(course.end + 1);
        let ours = told.filter(|frame| {
            frame.session() == session && frame.update_kind() == Some("terminal_update")
        });
        ours.filter_map(|frame| Some((frame.number, frame.update()?.clone())))
            .collect()
    });
    for (frame, update) in &updates {
        let frame = *frame;
        let Some(id) = word(update, "terminalId") else {
            continue;
        };
        let given = |key: &str| update.get(key).filter(|value| !value.is_null());
        let command = given("command");
        if known.insert(id.clone()) {
            let saw = "the first update of a terminal has no command";
            bench.judge("V2-TERM-05", command.is_some(), agent, &[frame], saw);
        }
        let is_again = ended.contains(&id) && command.is_some() && given("exitStatus").is_none();
        let saw = "a terminal that had ended got a new command";
        bench.judge("V2-TERM-01", !is_again, agent, &[frame], saw);
        if given("exitStatus").is_some() {
            ended.insert(id);
        }
        if let Some(cwd) = given("cwd") {
            let is_kept = cwd.as_str().is_some_and(is_absolute);
            let saw = "the `cwd` of a terminal is not absolute";
            bench.judge("V2-TERM-04", is_kept, agent, &[frame], saw);
        }
    }
}
