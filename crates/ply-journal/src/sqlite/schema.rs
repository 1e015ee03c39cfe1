//! What the file holds, by version, and how it is opened.
//!
//! A version that was released stays as it is for ever: a change is another step at the end of
//! [`STEPS`], and a golden file of each version is opened by a test.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::trouble::Trouble;

/// Marks the files of Ply's journals: "PlyJ".
const APPLICATION_ID: i32 = 0x506c_794a;
/// Bytes of a page: a good size for rows of many kilobytes, at little cost for small commits.
pub(super) const PAGE_BYTES: u32 = 8192;
/// Bytes of the write-ahead log that are kept to be written over, when it was larger.
const LOG_KEPT_BYTES: u32 = 16 * 1024 * 1024;
/// How long to wait for other processes.
const BUSY_TIME_MAX: Duration = Duration::from_secs(30);
/// How long to wait before asking again.
const BUSY_WAIT: Duration = Duration::from_millis(2);

/// Bits of a run's key for the number of its first record; those above are the session's.
pub(super) const RECORD_BITS: u32 = 36;
/// Records of one session.
pub(super) const RECORDS_MAX: u64 = (1 << RECORD_BITS) - 1;
/// The largest number of a session.
pub(super) const SESSION_NUMBER_MAX: i64 = (1 << (63 - RECORD_BITS)) - 1;

/// What makes each version of the one before, the first of nothing.
const STEPS: [&str; 3] = [
    "
    -- Programs that hold sessions.
    CREATE TABLE owners (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        program TEXT NOT NULL,
        pid INTEGER NOT NULL,
        started INTEGER,
        boot TEXT NOT NULL,
        namespace TEXT NOT NULL,
        host TEXT NOT NULL,
        beat_ms INTEGER NOT NULL
    ) STRICT;
    -- Numbers are never used again. `next` is the number of the next record; `lease` is the right
    -- to write, drawn anew by each who opens the session.
    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        cwd BLOB NOT NULL,
        title TEXT,
        created_ms INTEGER NOT NULL,
        updated_ms INTEGER NOT NULL,
        next INTEGER NOT NULL,
        lease INTEGER,
        owner INTEGER
    ) STRICT;
    CREATE INDEX sessions_by_time ON sessions (updated_ms DESC, id);
    CREATE INDEX sessions_by_cwd ON sessions (cwd, updated_ms DESC, id);
    CREATE INDEX sessions_by_owner ON sessions (owner) WHERE owner IS NOT NULL;
    -- Adjacent records. The key is the session's number times 2^36 plus the first record's number:
    -- one tree, no index, and each session's runs side by side.
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        count INTEGER NOT NULL,
        bytes BLOB NOT NULL
    ) STRICT;
    -- Numbers of sessions that were deleted and whose runs are being taken away.
    CREATE TABLE trash (
        session INTEGER PRIMARY KEY
    ) STRICT;
",
    "
    -- `epoch` grows with each owner; 0 is a session that had none since it has the column. `key`
    -- names the creation of a session; `host` is what its host wants to remember.
    ALTER TABLE sessions ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE sessions ADD COLUMN key TEXT;
    ALTER TABLE sessions ADD COLUMN unfinished INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE sessions ADD COLUMN host TEXT;
    -- Few sessions are unfinished, so that a program finds them at its start however many there are.
    CREATE INDEX sessions_unfinished ON sessions (updated_ms DESC, id) WHERE unfinished <> 0;
",
    "
    -- Whether the user put the session away; default listings leave it out. From this version on records may say that a client
    -- named the session and that it was forked.
    ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX sessions_archived ON sessions (updated_ms DESC, id) WHERE archived <> 0;
",
];

/// The latest version that is known.
#[expect(clippy::cast_possible_truncation, reason = "there are few steps")]
const VERSION: u32 = STEPS.len() as u32;

/// Returns the key of the run that begins with `record`.
pub(super) fn run_key(session: i64, record: u64) -> i64 {
    let record = i64::try_from(record.min(RECORDS_MAX)).unwrap_or(i64::MAX);
    (session << RECORD_BITS) | record
}

/// Returns the number of the first record of the run with this key.
pub(super) fn first_record(key: i64) -> u64 {
    key.unsigned_abs() & RECORDS_MAX
}

/// Opens the file to write it, and brings it to the latest version.
pub(super) fn open_to_write(path: &Path) -> Result<Connection, Trouble> {
    let failed = |error: rusqlite::Error| Trouble::sqlite(&error, path);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    if connection.is_readonly("main").map_err(failed)? {
        let words = format!("{} may not be written", path.display());
        return Err(Trouble::io(std::io::ErrorKind::PermissionDenied, words));
    }
    // Nothing is written before it is clear that the file is ours and not of a newer program.
    let version = version(&connection, path)?;
    if version == 0 {
        pragma(&connection, "page_size", PAGE_BYTES).map_err(failed)?;
    }
    let mode = patiently(|| {
        let mut statement = connection.prepare("PRAGMA journal_mode = wal")?;
        let mut rows = statement.query([])?;
        let mode = rows.next()?.map(|row| row.get(0)).transpose()?;
        // The change is committed when the statement ends, and may fail then.
        rows.next()?;
        Ok(mode.unwrap_or_default())
    });
    let mode: String = mode.map_err(failed)?;
    if mode != "wal" {
        let words = format!("its write-ahead log cannot be used, its mode stays {mode}");
        return Err(Trouble::io(std::io::ErrorKind::Unsupported, words));
    }
    for (name, value) in [
        ("synchronous", "normal"),
        // Checkpoints are made aside of commits.
        ("wal_autocheckpoint", "0"),
        ("temp_store", "memory"),
        ("secure_delete", "on"),
    ] {
        pragma(&connection, name, value).map_err(failed)?;
    }
    pragma(&connection, "journal_size_limit", LOG_KEPT_BYTES).map_err(failed)?;
    if version < VERSION {
        migrate(&mut connection, path, &STEPS)?;
    }
    Ok(connection)
}

/// Opens the file to read it. It must have been opened to write before.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, Trouble> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Opens the file for checkpoints.
pub(super) fn open_to_checkpoint(path: &Path) -> Result<Connection, Trouble> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    for (name, value) in [("synchronous", "normal"), ("wal_autocheckpoint", "0")] {
        pragma(&connection, name, value).map_err(|error| Trouble::sqlite(&error, path))?;
    }
    Ok(connection)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Trouble> {
    let failed = |error: rusqlite::Error| Trouble::sqlite(&error, path);
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    // SQLite's own handler sleeps ever longer, up to 100 ms, so that the one who waited longest is
    // the least likely to get in. This one asks evenly.
    let rounds = BUSY_TIME_MAX.as_millis() / BUSY_WAIT.as_millis();
    let rounds = i32::try_from(rounds).unwrap_or(i32::MAX);
    let wait = move |round| {
        thread::park_timeout(BUSY_WAIT);
        round < rounds
    };
    connection.busy_handler(Some(wait)).map_err(failed)?;
    for (name, value) in [("cell_size_check", "on"), ("trusted_schema", "off")] {
        pragma(&connection, name, value).map_err(failed)?;
    }
    Ok(connection)
}

/// Sets a pragma, whatever it answers.
pub(super) fn pragma(
    connection: &Connection,
    name: &str,
    value: impl rusqlite::ToSql,
) -> rusqlite::Result<()> {
    connection.pragma_update(None, name, value)
}

/// Tries again while another process is in the way: to change the journal's mode is not worth
/// waiting to SQLite.
fn patiently<T>(mut work: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let rounds = BUSY_TIME_MAX.as_millis() / BUSY_WAIT.as_millis();
    for _ in 0..rounds {
        match work() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                thread::park_timeout(BUSY_WAIT);
            }
            done => return done,
        }
    }
    work()
}

/// Returns the version of the file, 0 if there is nothing in it yet.
fn version(connection: &Connection, path: &Path) -> Result<u32, Trouble> {
    let failed = |error: rusqlite::Error| Trouble::sqlite(&error, path);
    // In one transaction, since another process may be making it.
    let reading = connection.unchecked_transaction().map_err(failed)?;
    let number = |name| {
        reading
            .query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i32>(0))
            .map_err(failed)
    };
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = reading
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(failed)?;
    if application == 0 && version == 0 && tables == 0 {
        return Ok(0);
    }
    if application != APPLICATION_ID {
        let words = "it is the database of another program".to_owned();
        return Err(Trouble::Unreadable(words));
    }
    match u32::try_from(version) {
        Ok(0) | Err(_) => Err(Trouble::Unreadable("it has no version".to_owned())),
        Ok(found) if found > VERSION => Err(Trouble::Newer {
            found,
            known: VERSION,
        }),
        Ok(found) => Ok(found),
    }
}

/// Takes the steps that are missing, each in one transaction (F12): whoever is killed between them
/// leaves an old version that is whole.
fn migrate(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), Trouble> {
    for (to, step) in (1u32..).zip(steps) {
        let failed = |error: rusqlite::Error| Trouble::sqlite(&error, path);
        pragma(connection, "synchronous", "full").map_err(failed)?;
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        // Another process may have done it meanwhile.
        if version_in(&transaction).map_err(failed)? >= to {
            continue;
        }
        transaction.execute_batch(step).map_err(failed)?;
        pragma(&transaction, "application_id", APPLICATION_ID).map_err(failed)?;
        pragma(&transaction, "user_version", to).map_err(failed)?;
        transaction.commit().map_err(failed)?;
    }
    pragma(connection, "synchronous", "normal").map_err(|error| Trouble::sqlite(&error, path))
}

fn version_in(transaction: &Transaction<'_>) -> rusqlite::Result<u32> {
    transaction.query_row("PRAGMA user_version", [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A step that a later version might take.
    const LATER: &str = "CREATE TABLE later (x); INSERT INTO later SELECT number FROM sessions;";
    const LATER_VERSION: u32 = VERSION + 1;

    /// All steps there are, and one more.
    fn steps(later: &str) -> Vec<&str> {
        STEPS.into_iter().chain([later]).collect()
    }

    /// A file in a directory of its own, removed when it is dropped.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let name = format!("ply-schema-{}-{name}", std::process::id());
            let directory = std::env::temp_dir().join(name);
            // Left by a process with the same number, if it is there.
            drop(std::fs::remove_dir_all(&directory));
            std::fs::create_dir_all(&directory).unwrap();
            Self(directory)
        }

        fn file(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        /// Opens a new file of the present version, with a session.
        fn made(&self, name: &str) -> Connection {
            std::fs::write(self.file(name), "").unwrap();
            let connection = open_to_write(&self.file(name)).unwrap();
            let insert = "INSERT INTO sessions (id, cwd, created_ms, updated_ms, next)
                          VALUES ('a', x'2f', 1, 1, 0)";
            connection.execute_batch(insert).unwrap();
            connection
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            drop(std::fs::remove_dir_all(&self.0));
        }
    }

    fn versions(connection: &Connection) -> (u32, i64) {
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'later'";
        (
            connection
                .query_row("PRAGMA user_version", [], |row| row.get(0))
                .unwrap(),
            connection.query_row(tables, [], |row| row.get(0)).unwrap(),
        )
    }

    #[test]
    fn f12_a_later_version_is_made_of_an_earlier_one_with_all_that_is_in_it() {
        let place = Place::new("later");
        let mut connection = place.made("x.db");
        let path = place.file("x.db");
        for _ in 0..2 {
            // Taken once, however often it is asked for.
            migrate(&mut connection, &path, &steps(LATER)).unwrap();
            assert_eq!(versions(&connection), (LATER_VERSION, 1));
        }
        let kept: i64 = connection
            .query_row("SELECT count(*) FROM later", [], |row| row.get(0))
            .unwrap();
        assert_eq!(kept, 1);
        drop(connection);
        let refused = open_to_write(&path);
        assert!(matches!(
            refused,
            Err(Trouble::Newer {
                found: LATER_VERSION,
                known: VERSION
            })
        ));
    }

    #[test]
    fn f12_a_step_that_fails_leaves_the_version_before() {
        let place = Place::new("fails");
        let mut connection = place.made("x.db");
        let fails = format!("{LATER} INSERT INTO nowhere VALUES (1);");
        let path = place.file("x.db");
        assert!(migrate(&mut connection, &path, &steps(&fails)).is_err());
        assert_eq!(versions(&connection), (VERSION, 0));
    }

    #[test]
    fn f12_whoever_is_killed_in_a_step_leaves_the_version_before_or_after() {
        let place = Place::new("killed");
        let mut connection = place.made("x.db");
        let transaction = connection.transaction().unwrap();
        transaction.execute_batch(LATER).unwrap();
        pragma(&transaction, "user_version", LATER_VERSION).unwrap();
        // What is on the disk at this moment is what a killed process leaves.
        let leave = |name: &str| {
            for ending in ["", "-wal"] {
                let from = place.file(&format!("x.db{ending}"));
                std::fs::copy(from, place.file(&format!("{name}{ending}"))).unwrap();
            }
            versions(&Connection::open(place.file(name)).unwrap())
        };
        assert_eq!(leave("before.db"), (VERSION, 0));
        transaction.commit().unwrap();
        assert_eq!(leave("after.db"), (LATER_VERSION, 1));
    }
}
