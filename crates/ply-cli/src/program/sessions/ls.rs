//! `ply sessions ls`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ply_journal::Head;

use super::{About, Store};
use crate::program::arguments::Ls;
use crate::program::{Error, json, output, time};
use ply_client::text::{self, Line};

/// Columns that a title or a directory gets, however narrow the terminal is.
const COLUMNS_MIN: usize = 12;
/// Columns between two columns of the table.
const GAP: usize = 2;

pub(super) async fn run(store: &Store, arguments: Ls) -> Result<(), Error> {
    let limit = match arguments.limit {
        0 => usize::MAX,
        limit => limit,
    };
    let (sessions, is_cut) = gather(store, arguments.cwd.as_deref(), limit).await?;
    let mut out = output::stdout();
    let written = if arguments.json {
        let sessions: Vec<_> = sessions.iter().map(About::new).collect();
        json::write(&mut out, &sessions)
    } else {
        match output::stdout_columns() {
            Some(columns) => table(&mut out, &cells(&sessions, time::now_ms()), columns),
            None => rows(&mut out, &sessions),
        }
    };
    written.and_then(|()| out.flush()).map_err(Error::Output)?;
    if sessions.is_empty() {
        tell_none(&store.path, arguments.cwd.is_some());
    } else if is_cut {
        output::tell(&format!(
            "the latest {limit} sessions; `--limit 0` shows all"
        ));
    }
    Ok(())
}

fn tell_none(store: &Path, has_filter: bool) {
    // If that cannot be told, the store has been asked and had no sessions.
    let exists = store.try_exists().unwrap_or(true);
    let store = text::path(store);
    output::tell(&match (exists, has_filter) {
        (false, _) => format!("no sessions yet: {store} does not exist"),
        (true, true) => {
            format!("no sessions of this directory in {store}; leave out `--cwd` to see all")
        }
        (true, false) => format!("no sessions in {store}"),
    });
}

/// Returns the sessions, and whether there are more.
async fn gather(
    store: &Store,
    cwd: Option<&Path>,
    limit: usize,
) -> Result<(Vec<Head>, bool), Error> {
    let Some(cwd) = cwd else {
        return pages(store, None, limit).await;
    };
    let failed = |source| Error::Directory {
        path: cwd.to_owned(),
        source,
    };
    let absolute = std::path::absolute(cwd).map_err(failed)?;
    let found = pages(store, Some(absolute.clone()), limit).await?;
    // Sessions have the name that a client gave: most likely this one, but with `..` or behind a
    // link perhaps the real one.
    match absolute.canonicalize() {
        Ok(real) if found.0.is_empty() && real != absolute => pages(store, Some(real), limit).await,
        _ => Ok(found),
    }
}

async fn pages(
    store: &Store,
    cwd: Option<PathBuf>,
    limit: usize,
) -> Result<(Vec<Head>, bool), Error> {
    let mut sessions = Vec::new();
    let mut cursor = None;
    loop {
        let wanted = limit.saturating_sub(sessions.len());
        let page = store.page(cwd.clone(), cursor, wanted).await?;
        sessions.extend(page.sessions);
        cursor = page.next;
        if sessions.len() >= limit || cursor.is_none() {
            return Ok((sessions, cursor.is_some()));
        }
    }
}

/// Writes a line per session for programs: nothing is cut, and a tab only stands between columns.
fn rows(out: &mut impl Write, sessions: &[Head]) -> io::Result<()> {
    for head in sessions {
        let id = Line(&head.id);
        let updated = time::rfc3339(head.updated_ms);
        let title = Line(head.title.as_deref().unwrap_or_default());
        writeln!(out, "{id}\t{updated}\t{title}\t{}", text::path(&head.cwd))?;
    }
    Ok(())
}

/// Returns the cells of a table, its head first.
fn cells(sessions: &[Head], now_ms: i64) -> Vec<[String; 4]> {
    let names = ["ID", "UPDATED", "TITLE", "CWD"].map(str::to_owned);
    let rows = sessions.iter().map(|head| {
        [
            Line(&head.id).to_string(),
            time::ago(head.updated_ms, now_ms),
            Line(head.title.as_deref().unwrap_or("-")).to_string(),
            text::path(&head.cwd),
        ]
    });
    std::iter::once(names).chain(rows).collect()
}

/// Writes a table that fits into so many columns if it can: its last two columns, the title and the directory, share what the
/// others leave. A head alone is not written.
pub(super) fn table<const COLUMNS: usize>(
    out: &mut impl Write,
    rows: &[[String; COLUMNS]],
    columns: usize,
) -> io::Result<()> {
    if rows.len() < 2 {
        return Ok(());
    }
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| text::columns(cell)).max().unwrap_or(0)
    };
    let (title_at, cwd_at) = (COLUMNS - 2, COLUMNS - 1);
    let (title, cwd) = (widest(title_at), widest(cwd_at));
    let fixed: Vec<usize> = (0..title_at).map(widest).collect();
    let left = columns.saturating_sub(fixed.iter().sum::<usize>() + title_at * GAP + GAP);
    // The directory gets what the title leaves, at least half.
    let cwd = cwd.min((left / 2).max(left.saturating_sub(title)));
    let cwd = cwd.max(COLUMNS_MIN);
    let title = title
        .min(left.saturating_sub(cwd))
        .max(COLUMNS_MIN.min(title));
    for row in rows {
        for (cell, width) in row.iter().zip(&fixed) {
            write_cell(out, cell, *width)?;
        }
        let [.., title_text, cwd_text] = row.as_slice() else {
            continue;
        };
        write_cell(out, &text::beginning(title_text, title), title)?;
        writeln!(out, "{}", text::end(cwd_text, cwd))?;
    }
    Ok(())
}

fn write_cell(out: &mut impl Write, cell: &str, columns: usize) -> io::Result<()> {
    let padding = columns.saturating_sub(text::columns(cell)) + GAP;
    write!(out, "{cell}{:padding$}", "")
}
