//! The sessions on disk: `ply sessions …`.

pub(super) mod content;
pub(super) mod export;
mod ls;
mod recent;
mod rm;
mod show;

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ply_agent::is_partial;
use ply_client::text;
use ply_journal::{Filter, Head, Journal as _, Page, Records, Sqlite};
use serde::Serialize;

use crate::program::arguments::{Sessions, SessionsCommand};
use crate::program::{Error, home, output, store, time};

/// Sessions that are read from a store at a time.
const PAGE_MAX: usize = 500;

/// Does what one of the commands asks for.
pub(super) async fn run(arguments: Sessions) -> Result<ExitCode, Error> {
    let path = store::path(arguments.store, home::variable)?;
    let journal = Sqlite::new(&path);
    let store = Store { path, journal };
    let done = command(&store, arguments.command).await;
    done.map_err(|error| error.of_store(&store.path))
}

async fn command(store: &Store, command: SessionsCommand) -> Result<ExitCode, Error> {
    match command {
        SessionsCommand::Ls(arguments) => ls::run(store, arguments).await?,
        SessionsCommand::Recent(arguments) => {
            recent::run(&store::recent_beside(&store.path), arguments).await?;
        }
        SessionsCommand::Show(arguments) => show::run(store, arguments).await?,
        SessionsCommand::Export(arguments) => export::run(store, arguments).await?,
        SessionsCommand::Rm(arguments) => {
            let code = rm::run(store, arguments).await?;
            store.journal.close().await?;
            return Ok(code);
        }
    }
    // Nothing was written that could be lost.
    drop(store.journal.close().await);
    Ok(ExitCode::SUCCESS)
}

/// The store that a command works on.
#[derive(Debug)]
struct Store {
    path: PathBuf,
    journal: Sqlite,
}

impl Store {
    /// Returns the next page of sessions, the latest first, and no more than are wanted.
    async fn page(
        &self,
        cwd: Option<PathBuf>,
        cursor: Option<String>,
        wanted: usize,
    ) -> Result<Page, Error> {
        let mut filter = Filter::new(wanted.min(PAGE_MAX));
        filter.cwd = cwd;
        filter.cursor = cursor;
        let mut page = self.journal.list(filter).await?;
        page.sessions.retain(|head| !is_partial(head));
        Ok(page)
    }

    /// Opens the session with an id, or the only one that begins with it, to read it.
    async fn find(&self, id: &str) -> Result<(Head, Box<dyn Records>), Error> {
        if let Some(found) = self.journal.look(id).await? {
            return Ok(found);
        }
        let mut ids = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.page(None, cursor, PAGE_MAX).await?;
            let all = page.sessions.into_iter().map(|head| head.id);
            ids.extend(all.filter(|known| known.starts_with(id)));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        let none = || Error::NoSession {
            id: id.to_owned(),
            store: self.path.clone(),
        };
        match ids.as_slice() {
            [] => Err(none()),
            // None if it was deleted meanwhile.
            [only] => self.journal.look(only).await?.ok_or_else(none),
            _ => Err(Error::Ambiguous {
                prefix: id.to_owned(),
                ids,
            }),
        }
    }
}

/// Says that records cannot be read, if that is so.
fn tell_damaged(records: u64) {
    match records {
        0 => {}
        1 => output::tell("warning: 1 record of the session cannot be read; the rest is there"),
        _ => output::tell(&format!(
            "warning: {records} records of the session cannot be read; the rest is there"
        )),
    }
}

/// What is known of a session, as JSON. The names are promised to scripts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct About<'a> {
    id: &'a str,
    cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd_bytes: Option<String>,
    title: Option<&'a str>,
    created_at: String,
    updated_at: String,
}

impl<'a> About<'a> {
    fn new(head: &'a Head) -> Self {
        let (cwd, cwd_bytes) = match head.cwd.to_str() {
            Some(cwd) => (cwd.to_owned(), None),
            None => {
                let bytes = head.cwd.as_os_str().as_bytes().iter();
                let bytes = bytes.map(|byte| format!("{byte:02x}")).collect();
                (text::path(&head.cwd), Some(bytes))
            }
        };
        Self {
            id: &head.id,
            cwd,
            cwd_bytes,
            title: head.title.as_deref(),
            created_at: time::rfc3339(head.created_ms),
            updated_at: time::rfc3339(head.updated_ms),
        }
    }
}
