//! `ply send`: a prompt for a session of the hub, from a shell.

use std::process::ExitCode;

use ply_client::text::Line;
use ply_hub::ask::{Ask, Live, Told};

use super::arguments::Send;
use super::place;
use crate::program::{Error, output};

/// Sends the prompt, and does not wait for its work.
pub(crate) async fn run(arguments: Send) -> Result<ExitCode, Error> {
    let Send {
        store,
        session,
        prompt,
    } = arguments;
    let sessions = match place::ask(store.clone(), Ask::Sessions).await? {
        Some(Told::Sessions(sessions)) => sessions,
        _ => Vec::new(),
    };
    let live = find(&sessions, &session)?;
    let is_idle = !live.is_busy();
    let sent = Ask::Send {
        session: live.id.clone(),
        text: prompt.join(" "),
    };
    place::ask(store, sent).await?;
    output::tell(if is_idle {
        "the agent works on it"
    } else {
        "it waits for its turn; `ply queue ls` lists what does"
    });
    Ok(ExitCode::SUCCESS)
}

/// Returns an open session by the beginning of its id.
pub(super) fn find<'a>(sessions: &'a [Live], id: &str) -> Result<&'a Live, Error> {
    let begins = |live: &&Live| live.id.starts_with(id);
    let found: Vec<&Live> = sessions.iter().filter(begins).collect();
    match found.as_slice() {
        [only] => Ok(only),
        [] => Err(Error::Argument(format!(
            "no open session of the hub has the id `{}`; `ply hub sessions` lists them, and `ply chat --session ID` opens one",
            Line(id)
        ))),
        several => Err(Error::Argument(format!(
            "`{}` is ambiguous: {} sessions begin with it",
            Line(id),
            several.len()
        ))),
    }
}
