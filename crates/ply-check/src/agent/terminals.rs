//! Terminals: the client's in version 1, the agent's own in version 2.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::turn::{self, Choice, permit, word};
use crate::peer::{Reply, Stopped};
use crate::recording::Frame;
use crate::rule::id;
use crate::topic::Probe;

/// How long a terminal may take to be released after the end of its session.
const RELEASED_WITHIN: Duration = Duration::from_millis(300);

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "a command of a client without terminals",
        rules: &[
            id::V1_TERM_01,
            id::V2_TERM_01,
            id::V2_TERM_04,
            id::V2_TERM_05,
        ],
        run: |bench| Box::pin(not_offered(bench)),
    },
    Probe {
        name: "a command in a terminal of the client",
        rules: &[id::V1_TERM_04, id::V1_TERM_11, id::V1_TERM_13],
        run: |bench| Box::pin(offered(bench)),
    },
];

async fn not_offered(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    let run = bench.subject.prompts.run.clone();
    let course = turn::run(bench, &mut agent, &session, &run).await?;
    if !course.calls(&agent).is_empty() {
        bench.judge(id::V1_TERM_01, true, &agent, &course.ends(), "");
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
    bench.judge(id::V1_TERM_11, left == 0, &agent, &frames, saw);
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
            bench.judge(
                id::V1_TERM_13,
                first < release,
                agent,
                &[first, release],
                saw,
            );
        }
    }
}
