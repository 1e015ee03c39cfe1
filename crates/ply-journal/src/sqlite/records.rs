//! Reading records, past what is damaged.

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Row};

use super::reader::Session;
use super::run::whole;
use super::schema::{RECORDS_MAX, first_record, run_key};
use super::trouble::Trouble;

/// How often it is tried to find where a damaged tree of runs can be read again.
const TRIES_MAX: u32 = 2 * 36;

/// Reads a page of records; an error of the outer kind is one of the file.
pub(super) fn read(
    connection: &Connection,
    session: Session,
    from: u64,
    bytes_max: usize,
) -> rusqlite::Result<Result<Vec<Vec<u8>>, Trouble>> {
    let next = connection.query_row(
        "SELECT next FROM sessions WHERE number = ?",
        [session.number],
        |row| row.get::<_, i64>(0),
    );
    let Some(next) = next.optional()? else {
        return Ok(Err(Trouble::Deleted));
    };
    let mut next = next.unsigned_abs().min(RECORDS_MAX);
    if from >= next {
        // Most likely that is all. But if this number is damaged, the runs know better.
        next = damaged_as_none(end_of_runs(connection, session.number, RECORDS_MAX))?.unwrap_or(0);
        if from >= next {
            return Ok(Ok(Vec::new()));
        }
    }
    let mut page = Gathered {
        records: Vec::new(),
        bytes: 0,
        bytes_max,
        at: from,
    };
    let stopped = page.gather(connection, session);
    if !page.records.is_empty() {
        return Ok(Ok(page.records));
    }
    let found = match stopped {
        Ok(found) => found,
        Err(error) if is_damage(&error) => None,
        Err(error) => return Err(error),
    };
    // The record that was asked for is not to be had. Find the next that may be.
    let next = match found {
        Some(found) => found,
        None => readable_after(connection, session, from)?.unwrap_or(next),
    };
    let next = next.max(from + 1);
    Ok(Err(Trouble::Damaged { from, next }))
}

#[derive(Debug)]
struct Gathered {
    records: Vec<Vec<u8>>,
    bytes: usize,
    bytes_max: usize,
    /// The number of the next record.
    at: u64,
}

impl Gathered {
    /// Gathers records that are adjacent and whole. If it stops before a gap, returns where that
    /// ends, if it was seen.
    fn gather(
        &mut self,
        connection: &Connection,
        session: Session,
    ) -> rusqlite::Result<Option<u64>> {
        let (low, high) = (
            run_key(session.number, 0),
            run_key(session.number, RECORDS_MAX),
        );
        let begin: Option<i64> = connection.query_row(
            "SELECT max(id) FROM runs WHERE id BETWEEN ? AND ?",
            (low, run_key(session.number, self.at)),
            |row| row.get(0),
        )?;
        let mut query = connection
            .prepare("SELECT id, count, bytes FROM runs WHERE id BETWEEN ? AND ? ORDER BY id")?;
        let mut rows = query.query((begin.unwrap_or(low), high))?;
        let mut end = 0;
        while let Some(row) = rows.next()? {
            let (first, count) = head(row)?;
            if first > self.at {
                return Ok(Some(first));
            }
            let bytes = row.get_ref(2)?.as_bytes().unwrap_or_default();
            for (number, record) in whole(session.key, first, count, bytes) {
                if number < self.at {
                    continue;
                }
                if number > self.at {
                    return Ok(Some(number));
                }
                if !self.push(record) {
                    return Ok(None);
                }
            }
            end = first + u64::from(count);
        }
        Ok((end > self.at).then_some(end))
    }

    /// Takes a record; returns whether there is room for it.
    fn push(&mut self, record: &[u8]) -> bool {
        if !self.records.is_empty() && self.bytes + record.len() > self.bytes_max {
            return false;
        }
        self.bytes += record.len();
        self.records.push(record.to_vec());
        self.at += 1;
        true
    }
}

fn head(row: &Row<'_>) -> rusqlite::Result<(u64, u32)> {
    let count = row.get_ref(1)?.as_i64().unwrap_or(0);
    Ok((first_record(row.get(0)?), u32::try_from(count).unwrap_or(0)))
}

/// Returns the number of the first record after `from` at which something can be read, if any.
///
/// A page of the tree that is damaged hides the runs on it; those on others can be found by asking
/// for them. How far the damage goes is found by doubling the distance, and halving it again.
fn readable_after(
    connection: &Connection,
    session: Session,
    from: u64,
) -> rusqlite::Result<Option<u64>> {
    // The run itself may say where it ends, although its bytes cannot be read.
    if let Some(end) = damaged_as_none(end_of_runs(connection, session.number, from))?
        && end > from
    {
        return Ok(Some(end));
    }
    let high = run_key(session.number, RECORDS_MAX);
    let first_from = |record: u64| {
        let found = connection.query_row(
            "SELECT id FROM runs WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1",
            (run_key(session.number, record), high),
            |row| row.get(0),
        );
        damaged_as_none(found).map(|id| id.map(first_record))
    };
    let (mut hidden, mut step) = (from, 1);
    // Where something was found, and what.
    let mut clear: Option<(u64, u64)> = None;
    for _ in 0..TRIES_MAX {
        let record = match clear {
            None => from.saturating_add(step),
            Some((record, _)) if record - hidden > 1 => hidden + (record - hidden) / 2,
            Some(_) => break,
        };
        if record > RECORDS_MAX {
            break;
        }
        match first_from(record)? {
            Some(first) => clear = Some((record, first)),
            None => {
                hidden = record;
                step *= 2;
            }
        }
    }
    Ok(clear.map(|(_, first)| first))
}

/// Returns the number after the last record of the run that begins last, at `record` at the latest.
pub(super) fn end_of_runs(
    connection: &Connection,
    session: i64,
    record: u64,
) -> rusqlite::Result<u64> {
    connection.query_row(
        "SELECT id, count FROM runs WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1",
        (run_key(session, 0), run_key(session, record)),
        |row| head(row).map(|(first, count)| first + u64::from(count)),
    )
}

/// Takes what is damaged for what is not there.
fn damaged_as_none<T>(found: rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
    match found {
        Err(error) if is_damage(&error) => Ok(None),
        found => found.optional(),
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(code) => matches!(
            code,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown
        ),
        // A value of the wrong type.
        None => !matches!(error, rusqlite::Error::QueryReturnedNoRows),
    }
}
