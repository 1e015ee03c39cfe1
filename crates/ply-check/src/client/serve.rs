//! The process that a client starts: the scripted agent.

use std::io;
use std::path::Path;
use std::time::Duration;

use ply_client::Direction;
use ply_wire::negotiate::Version;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::report::{self, Report};
use super::scene::{Scene, Start};
use super::stage::Stage;
use super::stdio;
use crate::peer::{Peer, Stopped};
use crate::recording::Recording;

/// How long a scene may take in all.
const SCENE_TIME_MAX: Duration = Duration::from_secs(120);
/// How long the client is listened to once a scene is over, before it is judged.
const AFTERWARDS: Duration = Duration::from_millis(120);
/// How long the scripted agent stays once its scene is over.
const STAY_TIME_MAX: Duration = Duration::from_secs(60);

/// Plays one scene as the agent of a client, and writes to `out` what was found: once when the scene is over, and once more
/// when the client has ended the connection.
///
/// # Errors
///
/// There is no such scene, or the file cannot be written.
///
/// # Cancel safety
///
/// The report may be missing.
pub async fn serve<R, W>(
    scene: &str,
    version: Version,
    out: &Path,
    reader: R,
    writer: W,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let scene = super::scene(scene).ok_or_else(|| io::Error::other("there is no such scene"))?;
    // A terminal interrupts the whole group; the client decides what becomes of its agent.
    let _interrupts = signal(SignalKind::interrupt())?;
    let mut asked_to_end = signal(SignalKind::terminate())?;
    let (file, number) = report::claim(out)?;
    let mut report = Report {
        scene: scene.name.to_owned(),
        version: super::stage::number(version),
        ..Report::default()
    };
    report.write(&file)?;
    let peer = Peer::new(
        reader,
        writer,
        Direction::ToClient,
        Recording::new(scene.name),
    );
    let mut stage = Stage::new(peer, version, Some(file.clone()));

    let (played, is_signalled) = match number {
        0 => tokio::select! {
            played = tokio::time::timeout(SCENE_TIME_MAX, play(scene, &mut stage)) => (played, false),
            _ = asked_to_end.recv() => (Ok(Ok(())), true),
        },
        // A client that starts another agent gets one that just works.
        _ => (Ok(Ok(())), false),
    };
    report.stopped = match played {
        Ok(Ok(())) if is_signalled && stage.is_interrupted => {
            Some("the client ended when it was interrupted, and did not cancel".to_owned())
        }
        Ok(Ok(())) if is_signalled => Some("the client ended the agent with a signal".to_owned()),
        Ok(Ok(())) => None,
        Ok(Err(stopped)) => Some(stopped.to_string()),
        Err(_) => Some(format!(
            "the scene took over {} s",
            SCENE_TIME_MAX.as_secs()
        )),
    };
    report.is_other_version = stage.house.lock().is_other_version;
    stage.judge_messages();
    hand_in(&mut report, &mut stage, &file)?;
    if scene.leaves {
        return Ok(());
    }
    let end = match is_signalled {
        true => End::Signalled,
        false => stay(&mut stage, &mut asked_to_end).await,
    };
    stage.judge_messages();
    stdio::judge_end(&mut stage, end);
    report.has_ended = true;
    hand_in(&mut report, &mut stage, &file)
}

async fn play(scene: &Scene, stage: &mut Stage) -> Result<(), Stopped> {
    if scene.start == Start::AtPrompt {
        stage.reach_prompt().await?;
    }
    let played = (scene.run)(stage).await;
    if played == Err(Stopped::Ended) {
        stage.break_down();
    }
    // A client whose turn never ends would not end either.
    match played {
        Ok(()) => wind_down(stage).await,
        Err(Stopped::Ended) => Err(Stopped::Ended),
        Err(stopped) => {
            // Why the scene stopped says more than how the turn ended.
            drop(wind_down(stage).await);
            Err(stopped)
        }
    }
}

/// Ends a turn that is left open, and hears what the client does then.
pub(super) async fn wind_down(stage: &mut Stage) -> Result<(), Stopped> {
    if stage.prompt.is_some() {
        stage.end_turn("end_turn").await?;
    }
    match stage.listen(AFTERWARDS).await {
        Ok(_) | Err(Stopped::Ended) => Ok(()),
        Err(stopped) => Err(stopped),
    }
}

/// Writes the report with what was found since the last time.
fn hand_in(report: &mut Report, stage: &mut Stage, file: &Path) -> io::Result<()> {
    report.notes.append(&mut stage.notes);
    report.left_running = stage.left_running;
    report.is_over = true;
    report.show(stage.recording());
    report.write(file)
}

/// How a connection came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The client closed it.
    Closed,
    /// The client ended the agent's process first.
    Signalled,
    /// It did not.
    Open,
}

/// Serves the client like any agent until it ends the connection.
async fn stay(stage: &mut Stage, asked_to_end: &mut Signal) -> End {
    let serve = async {
        while stage.reach_prompt().await.is_ok() {
            if stage.say("Done.").await.is_err() || stage.end_turn("end_turn").await.is_err() {
                break;
            }
        }
        // Nothing was asked for a while, or the client is gone: only its end is waited for.
        while stage.listen(Duration::from_secs(1)).await.is_ok() {}
    };
    tokio::select! {
        ended = tokio::time::timeout(STAY_TIME_MAX, serve) => match ended {
            Ok(()) => return End::Closed,
            Err(_) => return End::Open,
        },
        _ = asked_to_end.recv() => {}
    }
    // The signal may have overtaken the end of the input.
    match stage.listen(AFTERWARDS).await {
        Ok(_) => End::Signalled,
        Err(_) => End::Closed,
    }
}
