//! An agent to be set up in an editor: the prompts that a person types name the scenes.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use ply_client::Direction;
use ply_wire::negotiate::Version;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use super::report::{Note, Report, unclear};
use super::scene::{Scene, Start};
use super::stage::Stage;
use super::{all_scenes, rules, traffic};
use crate::findings::Findings;
use crate::peer::{Peer, Stopped};
use crate::recording::Recording;

/// The name of the recording and of the probe in the findings.
const NAME: &str = "interactive";
/// Scenes that end their turn, or need a person to cancel: they are played only when they are named.
const ON_REQUEST: &[&str] = &[
    "plain-turn",
    "odd-stop",
    "cancel-turn",
    "cancel-permissions",
];

/// Serves as the agent of a client that a person uses. The first word of a prompt is a scene, `all`, `report` or `help`; what was
/// found is written to `out` when the client has ended the connection.
///
/// # Errors
///
/// The file cannot be written.
///
/// # Cancel safety
///
/// The report is missing.
pub async fn serve_interactive<R, W>(out: &Path, reader: R, writer: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let peer = Peer::new(reader, writer, Direction::ToClient, Recording::new(NAME));
    let mut stage = Stage::new(peer, Version::V1, None);
    stage.is_interactive = true;
    stage.house.lock().is_adaptable = true;
    let ended = converse(&mut stage).await;
    tracing::debug!(?ended, "the client ended the connection");
    traffic::judge(&mut stage);
    let mut report = Report {
        scene: NAME.to_owned(),
        version: super::stage::number(stage.version),
        is_over: true,
        has_ended: true,
        ..Report::default()
    };
    report.notes.append(&mut stage.notes);
    report.show(stage.recording());
    report.write(out)
}

/// Reads what [`serve_interactive`] wrote.
///
/// # Errors
///
/// The file cannot be read.
pub fn read_report(file: &Path) -> io::Result<(Version, Findings)> {
    let report = Report::read(file)?;
    let version = match report.version {
        2 => Version::V2,
        _ => Version::V1,
    };
    let mut findings = Findings::new(rules(version));
    for note in report.pour(&mut findings, NAME) {
        unclear(&mut findings, note.rule(), note.saw(), NAME);
    }
    Ok((version, findings))
}

async fn converse(stage: &mut Stage) -> Result<(), Stopped> {
    loop {
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
        if stage.prompt.is_some() {
            stage.end_turn("end_turn").await?;
        }
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
    traffic::judge(stage);
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
