//! `ply sessions ls`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ply_hub::ask::Live;
use ply_journal::Head;
use serde::Serialize;

use super::{About, Store};
use crate::program::arguments::Ls;
use crate::program::hub::through;
use crate::program::roster::BUILT_IN;
use crate::program::{Error, json, output, time};
use ply_client::text::{self, Line};

/// Columns that a title or a directory gets, however narrow the terminal is.
const COLUMNS_MIN: usize = 12;
/// Columns that an agent gets at most: one without a name is a whole command.
const AGENT_COLUMNS_MAX: usize = 20;
/// Columns between two columns of the table.
const GAP: usize = 2;

/// A session as JSON, with what the hub does in it.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    about: About<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<&'a Live>,
}

pub(super) async fn run(store: &Store, arguments: Ls) -> Result<(), Error> {
    let limit = match arguments.limit {
        0 => usize::MAX,
        limit => limit,
    };
    let (sessions, is_cut) = gather(store, arguments.cwd.as_deref(), limit).await?;
    let live = through::live(&store.path).await;
    let mut out = output::stdout();
    let written = if arguments.json {
        let listed = sessions.iter().map(|head| Listed {
            about: About::new(head),
            live: find(&live, head),
        });
        json::write(&mut out, &listed.collect::<Vec<_>>())
    } else {
        match output::stdout_columns() {
            Some(columns) => {
                let cells = all_cells(&sessions, &live, time::now_ms());
                table(&mut out, &cells, columns)
            }
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

/// Returns the same cells, with the agents if there is another than the built-in one, and with what the hub does in each session if
/// it has some of them open.
fn all_cells(sessions: &[Head], live: &[Live], now_ms: i64) -> Vec<Vec<String>> {
    let has_agents = sessions.iter().any(|head| agent(head) != BUILT_IN);
    let mut rows: Vec<Vec<String>> = cells(sessions, now_ms).into_iter().map(Vec::from).collect();
    let mut insert = |name: &str, cell: &dyn Fn(&Head) -> String| {
        let cells = sessions.iter().map(cell);
        let cells = std::iter::once(name.to_owned()).chain(cells);
        for (row, cell) in rows.iter_mut().zip(cells) {
            row.insert(row.len() - 2, cell);
        }
    };
    if has_agents {
        insert("AGENT", &|head| {
            text::beginning(&Line(agent(head)).to_string(), AGENT_COLUMNS_MAX).into_owned()
        });
    }
    if !live.is_empty() {
        insert("HUB", &|head| {
            find(live, head).map_or_else(|| "-".to_owned(), state)
        });
    }
    rows
}

/// Returns the agent of a session: its name, or the words that start it.
fn agent(head: &Head) -> &str {
    let kept = head.host.as_deref().and_then(|host| host.lines().next());
    kept.unwrap_or(BUILT_IN)
}

fn find<'a>(live: &'a [Live], head: &Head) -> Option<&'a Live> {
    live.iter().find(|live| live.id == head.id)
}

/// Says what goes on in an open session.
fn state(live: &Live) -> String {
    let mut words = match live.state.as_str() {
        "requires_action" => "asks".to_owned(),
        state => state.to_owned(),
    };
    match live.clients {
        0 => {}
        1 => words += ", 1 client",
        several => words += &format!(", {several} clients"),
    }
    if !live.queue.is_empty() {
        words += &format!(", {} queued", live.queue.len());
    }
    words
}

/// Writes a table that fits into so many columns if it can: its last two columns, the title and the directory, share what the
/// others leave. A head alone is not written.
pub(super) fn table(
    out: &mut impl Write,
    rows: &[impl AsRef<[String]>],
    columns: usize,
) -> io::Result<()> {
    let count = rows.first().map_or(0, |head| head.as_ref().len());
    if rows.len() < 2 || count < 2 {
        return Ok(());
    }
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| text::columns(cell)).max().unwrap_or(0)
    };
    let (title_at, cwd_at) = (count - 2, count - 1);
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
        let row = row.as_ref();
        for (cell, width) in row.iter().zip(&fixed) {
            write_cell(out, cell, *width)?;
        }
        let [.., title_text, cwd_text] = row else {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn head(id: &str, host: Option<&str>) -> Head {
        let mut head = Head::new(id, "/work", 0);
        head.host = host.map(str::to_owned);
        head
    }

    fn shown(sessions: &[Head], live: &[Live]) -> String {
        let mut out = Vec::new();
        table(&mut out, &all_cells(sessions, live, 0), 100).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn agents_are_listed_if_there_are_several() {
        let own = shown(&[head("a", None), head("b", Some("ply"))], &[]);
        assert!(!own.contains("AGENT"), "{own}");
        let several = [head("a", None), head("b", Some("claude\n{}"))];
        let shown = shown(&several, &[]);
        let lines: Vec<Vec<&str>> = shown
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(lines[0], ["ID", "UPDATED", "AGENT", "TITLE", "CWD"]);
        assert!(lines[1].contains(&"ply"), "{shown}");
        assert!(lines[2].contains(&"claude"), "{shown}");
    }

    #[test]
    fn a_live_session_is_told_from_a_stored_one() {
        let live = Live {
            id: "b".to_owned(),
            agent: None,
            cwd: "/work".into(),
            title: None,
            state: "running".to_owned(),
            clients: 1,
            approvers: 1,
            queue: Vec::new(),
            paused: false,
            questions: Vec::new(),
        };
        let shown = shown(&[head("a", None), head("b", None)], &[live]);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[0].contains("HUB"), "{shown}");
        assert!(lines[2].contains("running, 1 client"), "{shown}");
        assert!(!lines[1].contains("running"), "{shown}");
    }
}
