//! Replay: what a client gets that comes later is what the first one saw.

use ply_client::Direction;
use ply_wire::convert;
use ply_wire::lift::Lifter;
use ply_wire::negotiate::Version;
use ply_wire::transcript::{Entry, MessageKind, Transcript};
use ply_wire::{v1, v2};
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::history::load::tells_again;
use super::turn::{self, Choice, Course, permit};
use crate::peer::Stopped;
use crate::recording::Frame;
use crate::rule::id;
use crate::topic::Probe;

/// The rules are those of loading and resuming sessions.
pub(super) const PROBES: &[Probe<Bench>] = &[Probe {
    name: "a replay of what was seen live",
    rules: &[id::V1_LOAD_04, id::V2_RESUME_03, id::V2_RESUME_06],
    run: |bench| Box::pin(of_what_was_seen(bench)),
}];

/// What is compared: who said what, and which tools were called with what end. Thoughts and plans need not be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Said {
        who: MessageKind,
        text: String,
    },
    Called {
        id: String,
        title: String,
        status: String,
    },
}

async fn of_what_was_seen(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    if bench.version == Version::V1 && !agent.offers("/loadSession") {
        bench.not_offered(id::V1_LOAD_04, "loading sessions");
        bench.give_back(agent);
        return Ok(());
    }
    permit(&mut agent, Choice::Allow);
    let prompts = bench.subject.prompts.clone();
    let mut courses = Vec::new();
    for prompt in [&prompts.short, &prompts.look] {
        courses.push(turn::run(bench, &mut agent, &session, prompt).await?);
    }
    if bench.version == Version::V2 || agent.offers("/sessionCapabilities/close") {
        agent
            .ask("session/close", json!({"sessionId": session}))
            .await?;
    }
    let mut params = agent.setup();
    if let Some(members) = params.as_object_mut() {
        members.insert("sessionId".to_owned(), json!(session));
        if bench.version == Version::V2 {
            members.insert("replayFrom".to_owned(), json!({"type": "start"}));
        }
    }
    let method = match bench.version {
        Version::V1 => "session/load",
        Version::V2 => "session/resume",
    };
    let (answer, _) = agent.need(method, params).await?;
    let replayed = updates(&agent, &session, answer.request, answer.frame);
    let (live, again) = match bench.version {
        Version::V1 => (live_v1(&agent, &courses), lifted(&agent, &replayed)),
        Version::V2 => {
            let first = courses.first().map_or(0, |course| course.prompt);
            let live = updates(&agent, &session, first, answer.request);
            (folded(&live), folded(&replayed))
        }
    };
    let frames = [answer.request, answer.frame];
    let (was, is) = (items(&live), items(&again));
    let saw = match bench.version {
        Version::V1 => gap(&was, &is),
        Version::V2 => (was != is).then(|| difference(&was, &is)),
    };
    let rules = [id::V1_LOAD_04, id::V2_RESUME_03];
    bench.judge_all(
        &rules,
        saw.is_none(),
        &agent,
        &frames,
        saw.unwrap_or_default(),
    );
    let ids = |transcript: &Transcript| {
        let spoken = transcript
            .messages()
            .filter(|message| message.kind != MessageKind::Thought);
        spoken
            .map(|message| message.id.0.to_string())
            .collect::<Vec<_>>()
    };
    if was == is {
        let saw = "a message has another id in the replay than it had live";
        bench.judge(
            id::V2_RESUME_06,
            ids(&live) == ids(&again),
            &agent,
            &frames,
            saw,
        );
    }
    bench.give_back(agent);
    Ok(())
}

/// Returns the updates of a session between two frames.
fn updates(agent: &Agent, session: &str, from: usize, to: usize) -> Vec<Value> {
    agent.recording().with_frames(|frames| {
        let between = frames.iter().skip(from).take(to.saturating_sub(from));
        let ours = |frame: &&Frame| {
            frame.direction == Direction::ToClient && frame.session() == Some(session)
        };
        between
            .filter(ours)
            .filter_map(|frame| frame.update().cloned())
            .collect()
    })
}

fn folded(updates: &[Value]) -> Transcript {
    let read = |update: &Value| serde_json::from_value::<v2::SessionUpdate>(update.clone()).ok();
    let updates: Vec<_> = updates.iter().filter_map(read).collect();
    Transcript::fold(&updates)
}

fn lifted(agent: &Agent, updates: &[Value]) -> Transcript {
    let mut lifter = Lifter::new("replay-", &agent.cwd);
    let mut out = Vec::new();
    lift(&mut lifter, updates.iter(), &mut out);
    Transcript::fold(&out)
}

fn lift<'a>(
    lifter: &mut Lifter,
    updates: impl Iterator<Item = &'a Value>,
    out: &mut Vec<v2::SessionUpdate>,
) {
    for update in updates {
        if let Ok(update) = serde_json::from_value::<v1::SessionUpdate>(update.clone()) {
            lifter.update(update, out);
        }
    }
}

/// In version 1 a prompt is not reported live, so it is put in where it was sent.
fn live_v1(agent: &Agent, courses: &[Course]) -> Transcript {
    let mut lifter = Lifter::new("live-", &agent.cwd);
    let mut out = Vec::new();
    for (number, course) in courses.iter().enumerate() {
        let blocks = course
            .frames
            .first()
            .and_then(|frame| frame.params()?.get("prompt").cloned());
        let blocks: Vec<v1::ContentBlock> = blocks
            .and_then(|blocks| serde_json::from_value(blocks).ok())
            .unwrap_or_default();
        let blocks = blocks.into_iter().map(convert::content::up).collect();
        let id = v2::MessageId::new(format!("prompt-{number}"));
        lifter.begin_prompt(id, blocks, &mut out);
        lift(
            &mut lifter,
            course.updates().map(|(_, update)| update),
            &mut out,
        );
    }
    Transcript::fold(&out)
}

/// Returns what is compared. What one side says in a row is one text: where messages are cut is the agent's choice in version 1.
fn items(transcript: &Transcript) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for entry in transcript.entries() {
        match entry {
            Entry::Message(message) if message.kind == MessageKind::Thought => {}
            // An empty chunk says nothing.
            Entry::Message(message) if message.text().trim().is_empty() => {}
            Entry::Message(message) => match items.last_mut() {
                Some(Item::Said { who, text }) if *who == message.kind => {
                    text.push_str(&message.text())
                }
                _ => items.push(Item::Said {
                    who: message.kind,
                    text: message.text(),
                }),
            },
            Entry::ToolCall(call) => items.push(Item::Called {
                id: call.id.0.to_string(),
                title: call.title.clone().unwrap_or_default(),
                status: serde_json::to_value(&call.status)
                    .ok()
                    .and_then(|status| status.as_str().map(str::to_owned))
                    .unwrap_or_default(),
            }),
            _ => {}
        }
    }
    items
}

/// Says what of a history of version 1 is missing in its replay. Ids, titles and kinds may be others, and so may the places where
/// messages are cut: version 1 gives none of them a meaning beyond the connection.
fn gap(was: &[Item], is: &[Item]) -> Option<String> {
    let told = |items: &[Item], wanted: MessageKind| {
        let texts = items.iter().filter_map(|item| match item {
            Item::Said { who, text } if *who == wanted => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    };
    for (who, name) in [
        (MessageKind::User, "the user"),
        (MessageKind::Agent, "the agent"),
    ] {
        if !tells_again(&told(is, who), &told(was, who)) {
            return Some(format!("the text of {name} is missing in the replay"));
        }
    }
    let ends = |items: &[Item]| {
        let ends = items.iter().filter_map(|item| match item {
            Item::Called { status, .. } => Some(status.clone()),
            Item::Said { .. } => None,
        });
        ends.collect::<Vec<_>>()
    };
    let (live, again) = (ends(was), ends(is));
    (live != again).then(|| {
        let (live, again) = (live.len(), again.len());
        match live == again {
            true => "a tool call has another end in the replay than it had live".to_owned(),
            false => format!("there were {live} tool calls, but {again} are in the replay"),
        }
    })
}

/// Says where two histories part.
fn difference(was: &[Item], is: &[Item]) -> String {
    let name = |item: Option<&Item>| match item {
        None => "nothing",
        Some(Item::Said {
            who: MessageKind::User,
            ..
        }) => "words of the user",
        Some(Item::Said { .. }) => "words of the agent",
        Some(Item::Called { .. }) => "a tool call",
    };
    let place = was.iter().zip(is).position(|(was, is)| was != is);
    let place = place.unwrap_or_else(|| was.len().min(is.len()));
    let (live, again) = (name(was.get(place)), name(is.get(place)));
    match live == again {
        true => format!(
            "at entry {} of the history, {live} are not the same in the replay",
            place + 1
        ),
        false => format!(
            "entry {} of the history was {live} and is {again} in the replay",
            place + 1
        ),
    }
}
