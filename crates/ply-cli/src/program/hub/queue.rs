//! `ply queue`: prompts that wait for their turn in sessions of the hub.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ply_client::text::Line;
use ply_hub::ask::{Ask, Change, Live, Told, Waiting};

use super::arguments::{Queue, QueueCommand};
use super::place;
use crate::program::{Error, json, output};

/// Does what the arguments ask for.
pub(crate) async fn run(arguments: Queue) -> Result<ExitCode, Error> {
    let Queue { store, command } = arguments;
    let sessions = match place::ask(store.clone(), Ask::Sessions).await? {
        Some(Told::Sessions(sessions)) => sessions,
        _ => Vec::new(),
    };
    match command {
        QueueCommand::Ls { json } => list(&sessions, json)?,
        QueueCommand::Edit { id, text } => {
            let (live, waiting) = prompt(&sessions, &id)?;
            let key = waiting.key.clone();
            change(store, live, Change::Edit { key, text }).await?;
        }
        QueueCommand::Move { id, to } => {
            let (live, waiting) = prompt(&sessions, &id)?;
            let (key, to) = (waiting.key.clone(), to.saturating_sub(1));
            change(store, live, Change::Move { key, to }).await?;
        }
        QueueCommand::Drop { id } => {
            let (live, waiting) = prompt(&sessions, &id)?;
            let key = waiting.key.clone();
            change(store, live, Change::Drop { key }).await?;
        }
        QueueCommand::Pause { session } => {
            change(store, queue(&sessions, session.as_deref())?, Change::Pause).await?;
        }
        QueueCommand::Resume { session } => {
            change(store, queue(&sessions, session.as_deref())?, Change::Resume).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(sessions: &[Live], as_json: bool) -> Result<(), Error> {
    let waiting: Vec<&Live> = sessions
        .iter()
        .filter(|live| !live.queue.is_empty())
        .collect();
    let mut out = output::stdout();
    let written = if as_json {
        json::write(&mut out, &waiting)
    } else {
        waiting.iter().try_for_each(|live| {
            let state = if live.paused { "paused" } else { "waits" };
            live.queue.iter().zip(1..).try_for_each(|(prompt, place)| {
                let (id, text) = (Line(&live.id), Line(&prompt.text));
                writeln!(out, "{id}\t{place}\t{state}\t{}\t{text}", Line(&prompt.key))
            })
        })
    };
    written.and_then(|()| out.flush()).map_err(Error::Output)?;
    if waiting.is_empty() {
        output::tell("no prompt waits for its turn");
    }
    Ok(())
}

async fn change(store: Option<PathBuf>, live: &Live, change: Change) -> Result<(), Error> {
    let session = live.id.clone();
    place::ask(store, Ask::Queue { session, change }).await?;
    Ok(())
}

/// Returns a prompt by its name in the queue, or the beginning of it.
fn prompt<'a>(sessions: &'a [Live], id: &str) -> Result<(&'a Live, &'a Waiting), Error> {
    let all = sessions
        .iter()
        .flat_map(|live| std::iter::repeat(live).zip(&live.queue));
    let found: Vec<_> = all
        .filter(|(_, waiting)| waiting.key.starts_with(id))
        .collect();
    let exact = found.iter().find(|(_, waiting)| waiting.key == id);
    match (exact, found.as_slice()) {
        (Some(exact), _) => Ok(*exact),
        (None, [only]) => Ok(*only),
        (None, []) => Err(Error::Argument(format!(
            "no prompt `{}` waits; `ply queue ls` lists those that do",
            Line(id)
        ))),
        (None, several) => Err(Error::Argument(format!(
            "`{}` is ambiguous: {} prompts begin with it",
            Line(id),
            several.len()
        ))),
    }
}

/// Returns a session by its id, or the beginning of it, or the only one with a queue.
fn queue<'a>(sessions: &'a [Live], id: Option<&str>) -> Result<&'a Live, Error> {
    let is_it = |live: &&Live| match id {
        Some(id) => live.id.starts_with(id),
        None => !live.queue.is_empty(),
    };
    let found: Vec<&Live> = sessions.iter().filter(is_it).collect();
    match (found.as_slice(), id) {
        ([only], _) => Ok(only),
        ([], Some(id)) => Err(Error::Argument(format!(
            "no open session has the id `{}`; `ply hub sessions` lists them",
            Line(id)
        ))),
        ([], None) => Err(Error::Argument(
            "no prompt waits for its turn; `ply queue ls` lists those that do".to_owned(),
        )),
        (several, _) => Err(Error::Argument(format!(
            "{} sessions may be meant; give the id of one, as in `ply hub sessions`",
            several.len()
        ))),
    }
}
