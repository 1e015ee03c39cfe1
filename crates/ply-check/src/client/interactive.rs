//! An agent to be set up in an editor: the prompts that a person types name the scenes.

use std::collections::BTreeMap;
use std::io;

use ply_client::Direction;
use ply_wire::negotiate::Version;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use super::report::{Note, unclear};
use super::scene::{Scene, Start};
use super::stage::Stage;
use super::{all_scenes, rules};
use crate::findings::Findings;
use crate::peer::{Peer, Stopped};
use crate::recording::Recording;
use crate::verdict::Evidence;

/// The name of the recording and of the probe in the findings.
const NAME: &str = "interactive";
/// Scenes that end their turn, or need a person to cancel: they are played only when they are named.
const ON_REQUEST: &[&str] = &[
    "plain-turn",
    "odd-stop",
    "cancel-turn",
    "cancel-permissions",
];

/// Serves as the agent of a client that a person uses. The first word of a prompt is a scene, `all`, `report` or `help`; `tell` hears
/// what was found so far after each turn, and once more when the client has ended the connection: an editor may end its agents
/// at any moment.
///
/// # Errors
///
/// What was found cannot be told.
///
/// # Cancel safety
///
/// What was found since the last turn is lost.
pub async fn serve_interactive<R, W>(
    reader: R,
    writer: W,
    mut tell: impl FnMut(Version, Findings) -> io::Result<()>,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let peer = Peer::new(reader, writer, Direction::ToClient, Recording::new(NAME));
    let mut stage = Stage::new(peer, Version::V1, None);
    stage.is_interactive = true;
    stage.house.lock().is_adaptable = true;
    loop {
        let ended = converse(&mut stage).await;
        tell(stage.version, found(&mut stage))?;
        if let Err(stopped) = ended {
            tracing::debug!(%stopped, "the client ended the connection");
            return Ok(());
        }
    }
}

/// Returns what was found so far.
fn found(stage: &mut Stage) -> Findings {
    let known = stage.notes.len();
    stage.judge_messages();
    let mut findings = Findings::new(rules(stage.version));
    findings.recordings.push(stage.recording().clone());
    let (mut open, notes) = (Vec::new(), &stage.notes);
    for note in notes {
        let evidence = Evidence {
            recording: 0,
            frames: note.frames().to_vec(),
        };
        match note.is_unclear() {
            true => open.push(note),
            false => findings.add(note.rule(), note.found(), note.saw(), evidence, Some(NAME)),
        }
    }
    for note in open {
        unclear(&mut findings, note.rule(), note.saw(), NAME);
    }
    // The same messages are judged again after the next turn.
    stage.notes.truncate(known);
    findings.settle();
    findings
}

/// Waits for a prompt and does what it says.
async fn converse(stage: &mut Stage) -> Result<(), Stopped> {
    stage.receive_prompt().await?;
    stage.begin_turn().await?;
    let words = words(stage);
    match words.as_str() {
        "all" => {
            let version = stage.version;
            for scene in all_scenes().filter(|scene| fits(scene, version)) {
                play(stage, scene).await?;
            }
        }
        "report" => {
            let text = summary(stage);
            stage.say(&text).await?;
        }
        name => match super::scene(name).filter(|scene| scene.start == Start::AtPrompt) {
            Some(scene) => play(stage, scene).await?,
            None => {
                let text = help(stage.version);
                stage.say(&text).await?;
            }
        },
    }
    match stage.prompt.is_some() {
        true => stage.end_turn("end_turn").await.map(drop),
        false => Ok(()),
    }
}

fn words(stage: &Stage) -> String {
    let prompt = stage.prompt.as_ref().map(|prompt| &prompt.params);
    let text = prompt
        .and_then(|params| params.pointer("/prompt/0/text"))
        .and_then(Value::as_str);
    let word = text.unwrap_or_default().split_whitespace().next();
    word.unwrap_or_default().to_ascii_lowercase()
}

/// Returns whether a scene can be played in the middle of a turn that others share.
fn fits(scene: &Scene, version: Version) -> bool {
    scene.start == Start::AtPrompt
        && scene.is_for(version)
        && !scene.leaves
        && !ON_REQUEST.contains(&scene.name)
}

async fn play(stage: &mut Stage, scene: &Scene) -> Result<(), Stopped> {
    let known = stage.notes.len();
    let name = scene.name;
    stage.say(&format!("\n\n**{name}**\n\n")).await?;
    let played = (scene.run)(stage).await;
    if played == Err(Stopped::Ended) {
        return played;
    }
    if stage.prompt.is_none() {
        return Ok(());
    }
    let notes = stage.notes.get(known..).unwrap_or_default();
    let mut text = verdicts(notes);
    if let Err(stopped) = played {
        text.push_str(&format!("- could not go on: {stopped}\n"));
    }
    stage.say(&text).await.map(drop)
}

/// Returns the worst finding of each rule, as a list.
fn verdicts(notes: &[Note]) -> String {
    let mut worst: BTreeMap<&str, &Note> = BTreeMap::new();
    for note in notes {
        let known = worst.get(note.rule());
        let is_worse =
            known.is_none_or(|known| note.is_broken() || (!known.is_broken() && note.is_kept()));
        if is_worse && !known.is_some_and(|known| known.is_broken()) {
            worst.insert(note.rule(), note);
        }
    }
    let line = |(rule, note): (&&str, &&Note)| match (note.is_broken(), note.is_kept()) {
        (true, _) => format!("- {rule}: broken, {}\n", note.saw()),
        (_, true) => format!("- {rule}: kept\n"),
        _ => format!("- {rule}: {}\n", note.saw()),
    };
    worst.iter().map(line).collect()
}

fn summary(stage: &mut Stage) -> String {
    let known = stage.notes.len();
    stage.judge_messages();
    let text = verdicts(&stage.notes);
    stage.notes.truncate(known);
    format!("What was found so far:\n\n{text}")
}

fn help(version: Version) -> String {
    let scenes = all_scenes()
        .filter(|scene| scene.start == Start::AtPrompt && scene.is_for(version) && !scene.leaves);
    let names: String = scenes
        .map(|scene| format!("- `{}`\n", scene.name))
        .collect();
    format!(
        "Say one of these, `all` for all that need nobody, or `report` for what was found so far:\n\n{names}"
    )
}
