//! `ply sessions recent`.

use std::io::{self, Write};
use std::path::Path;

use ply_client::text::{self, Line};
use ply_client::{Recent, RecentSession};

use super::ls;
use crate::program::arguments::Recent as Arguments;
use crate::program::{Error, json, output, time};

pub(super) async fn run(recent: &Recent, arguments: Arguments) -> Result<(), Error> {
    let cwd = arguments.cwd.as_deref().map(directories).transpose()?;
    let mut sessions = recent.list().await;
    sessions.retain(|session| {
        let is_there = |there: &[std::path::PathBuf; 2]| there.contains(&session.cwd);
        let is_of = |agent: &String| *agent == session.agent;
        cwd.as_ref().is_none_or(is_there) && arguments.agent.as_ref().is_none_or(is_of)
    });
    let all = sessions.len();
    if arguments.limit > 0 {
        sessions.truncate(arguments.limit);
    }
    let mut out = output::stdout();
    let written = if arguments.json {
        json::write(&mut out, &sessions)
    } else {
        match output::stdout_columns() {
            Some(columns) => ls::table(&mut out, &cells(&sessions, time::now_ms()), columns),
            None => rows(&mut out, &sessions),
        }
    };
    written.and_then(|()| out.flush()).map_err(Error::Output)?;
    if sessions.is_empty() {
        output::tell(&format!(
            "no such sessions in {}",
            text::path(recent.path())
        ));
    } else if sessions.len() < all {
        let limit = arguments.limit;
        output::tell(&format!(
            "the latest {limit} sessions; `--limit 0` shows all"
        ));
    }
    Ok(())
}

/// Returns the names that sessions may have for a directory: as it is given, and as it is.
fn directories(cwd: &Path) -> Result<[std::path::PathBuf; 2], Error> {
    let failed = |source| Error::Directory {
        path: cwd.to_owned(),
        source,
    };
    let absolute = std::path::absolute(cwd).map_err(failed)?;
    let real = absolute.canonicalize().unwrap_or_else(|_| absolute.clone());
    Ok([absolute, real])
}

/// Writes a line per session for programs.
fn rows(out: &mut impl Write, sessions: &[RecentSession]) -> io::Result<()> {
    for it in sessions {
        let (agent, id, updated) = (Line(&it.agent), Line(&it.id), Line(&it.updated_at));
        let title = Line(it.title.as_deref().unwrap_or_default());
        let cwd = text::path(&it.cwd);
        writeln!(out, "{agent}\t{id}\t{updated}\t{title}\t{cwd}")?;
    }
    Ok(())
}

fn cells(sessions: &[RecentSession], now_ms: i64) -> Vec<[String; 5]> {
    let names = ["AGENT", "ID", "UPDATED", "TITLE", "CWD"].map(str::to_owned);
    let rows = sessions.iter().map(|it| {
        let time: Result<jiff::Timestamp, _> = it.updated_at.parse();
        [
            Line(&it.agent).to_string(),
            Line(&it.id).to_string(),
            time.map_or_else(
                |_| "-".to_owned(),
                |time| time::ago(time.as_millisecond(), now_ms),
            ),
            Line(it.title.as_deref().unwrap_or("-")).to_string(),
            text::path(&it.cwd),
        ]
    });
    std::iter::once(names).chain(rows).collect()
}
