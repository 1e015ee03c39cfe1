//! Who holds sessions, and whether they are alive.
//!
//! An owner is one open store. Its row says which process it is, so that anybody on the machine can
//! see at once whether it lives. For one in another container, or on another machine, only its
//! heartbeat tells.

use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::held::Held;
use super::trouble::Trouble;

/// How often an owner says that it is alive, in milliseconds.
pub(super) const BEAT_EVERY_MS: i64 = 5_000;
/// How long an owner that says nothing is taken for alive, where nothing else tells.
const BEAT_TIME_MAX_MS: i64 = 30_000;

/// Returns the time, in milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "heartbeats are compared between processes, and decide nothing else"
    )]
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// Returns a number that no other lease has: the hasher's keys come from the system's random source.
pub(super) fn fresh_lease() -> i64 {
    let random = RandomState::new().hash_one(now_ms());
    i64::from_ne_bytes(random.to_ne_bytes())
}

/// A process that may hold sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    program: String,
    pid: u32,
    /// When it started, in ticks since the machine did: a number of a process is used again.
    started: Option<i64>,
    /// The machine's boot. Empty where it is not known.
    boot: String,
    /// Where the number of the process has a meaning. Empty where it is not known.
    namespace: String,
    host: String,
    beat_ms: i64,
}

impl Owner {
    /// Returns this process.
    pub(super) fn this() -> Self {
        let text = |path: &str| {
            let text = fs::read_to_string(path).unwrap_or_default();
            text.trim().to_owned()
        };
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(Path::file_name);
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let pid = std::process::id();
        Self {
            program: program.map_or_else(
                || "a program".to_owned(),
                |name| name.to_string_lossy().into_owned(),
            ),
            pid,
            started: started(pid),
            boot: text("/proc/sys/kernel/random/boot_id"),
            namespace: namespace.to_string_lossy().into_owned(),
            host: text("/proc/sys/kernel/hostname"),
            beat_ms: now_ms(),
        }
    }

    /// Returns how errors name it.
    pub(super) fn name(&self, this: &Self) -> String {
        let (program, pid) = (&self.program, self.pid);
        match self.boot == this.boot && self.namespace == this.namespace {
            true if self.pid == this.pid => "this process".to_owned(),
            true => format!("{program} (process {pid})"),
            false => format!("{program} (process {pid} on {})", self.host),
        }
    }

    /// Returns whether it lives, as far as `this` process can tell.
    fn is_alive(&self, this: &Self, now_ms: i64) -> bool {
        let known = |ours: &str, own: &str| !ours.is_empty() && !own.is_empty();
        if known(&this.boot, &self.boot) {
            let same_boot = this.boot == self.boot;
            if same_boot && known(&this.namespace, &self.namespace) {
                if this.namespace == self.namespace && self.started.is_some() {
                    return started(self.pid) == self.started;
                }
            } else if !same_boot && this.host == self.host {
                // The machine was started again.
                return false;
            }
        }
        // A beat far in the future is one of a clock that was set back.
        now_ms.abs_diff(self.beat_ms) <= BEAT_TIME_MAX_MS.unsigned_abs()
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            program: row.get("program")?,
            pid: row.get("pid")?,
            started: row.get("started")?,
            boot: row.get("boot")?,
            namespace: row.get("namespace")?,
            host: row.get("host")?,
            beat_ms: row.get("beat_ms")?,
        })
    }

    /// Enters itself as an owner, clears away those who died, and returns its number.
    pub(super) fn enter(&self, transaction: &Connection) -> rusqlite::Result<i64> {
        let mut owners = transaction.prepare("SELECT * FROM owners")?;
        let owners = owners.query_map([], |row| Ok((row.get("number")?, Self::read(row)?)))?;
        let owners: Vec<(i64, Self)> = owners.collect::<Result<_, _>>()?;
        let now = now_ms();
        for (number, _) in owners
            .iter()
            .filter(|(_, owner)| !owner.is_alive(self, now))
        {
            leave(transaction, *number)?;
        }
        transaction.execute(
            "INSERT INTO owners (program, pid, started, boot, namespace, host, beat_ms)
             VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                &self.program,
                self.pid,
                self.started,
                &self.boot,
                &self.namespace,
                &self.host,
                now,
            ),
        )?;
        Ok(transaction.last_insert_rowid())
    }
}

/// Takes an owner away, with all that it holds.
pub(super) fn leave(transaction: &Connection, owner: i64) -> rusqlite::Result<()> {
    transaction.execute(
        "UPDATE sessions SET lease = NULL, owner = NULL WHERE owner = ?",
        [owner],
    )?;
    transaction.execute("DELETE FROM owners WHERE number = ?", [owner])?;
    Ok(())
}

/// Says that an owner is alive; returns whether it is still known.
pub(super) fn beat(transaction: &Connection, owner: i64) -> rusqlite::Result<bool> {
    let beaten = transaction.execute(
        "UPDATE owners SET beat_ms = ? WHERE number = ?",
        (now_ms(), owner),
    )?;
    Ok(beaten == 1)
}

/// Returns the name of the owner with this number, if it is alive.
pub(super) fn holder(
    transaction: &Connection,
    owner: i64,
    this: &Owner,
) -> rusqlite::Result<Option<String>> {
    let row = transaction.query_row(
        "SELECT * FROM owners WHERE number = ?",
        [owner],
        Owner::read,
    );
    let alive = row
        .optional()?
        .filter(|owner| owner.is_alive(this, now_ms()));
    Ok(alive.map(|owner| owner.name(this)))
}

/// Returns why a lease does not hold, none if it does.
pub(super) fn why_lost(
    transaction: &Connection,
    held: &Held,
    this: &Owner,
) -> rusqlite::Result<Option<Trouble>> {
    let row = transaction.query_row(
        "SELECT lease, owner FROM sessions WHERE number = ?",
        [held.number],
        |row| Ok((row.get(0)?, row.get(1)?)),
    );
    let (lease, owner): (Option<i64>, Option<i64>) = match row.optional()? {
        Some(row) => row,
        None => return Ok(Some(Trouble::Deleted)),
    };
    if lease == Some(held.lease) {
        return Ok(None);
    }
    let holder = match owner {
        Some(owner) => holder(transaction, owner, this)?,
        None => None,
    };
    let nobody = || "another program, which has closed it again".to_owned();
    Ok(Some(Trouble::Lost(holder.unwrap_or_else(nobody))))
}

/// Returns when a process started, none if there is no such process or it has ended.
fn started(pid: u32) -> Option<i64> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    started_in(&String::from_utf8_lossy(&stat))
}

/// Reads field 22 of "pid (name) state …", where the name may hold anything.
fn started_in(stat: &str) -> Option<i64> {
    let (_, after) = stat.rsplit_once(')')?;
    let mut fields = after.split_ascii_whitespace();
    match fields.next()? {
        // It is dead, and nobody has asked how it ended yet.
        "Z" | "X" => None,
        _ => fields.nth(18)?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alive(change: impl FnOnce(&mut Owner), late_ms: i64) -> bool {
        let this = Owner::this();
        let mut owner = this.clone();
        change(&mut owner);
        owner.is_alive(&this, owner.beat_ms + late_ms)
    }

    const HOUR_MS: i64 = 3_600_000;

    #[test]
    fn a_process_of_this_machine_is_alive_while_it_runs_however_late_its_beat() {
        assert!(alive(|_| {}, 0));
        assert!(alive(|_| {}, HOUR_MS));
        // Its number belongs to another one now, or to none.
        assert!(!alive(|owner| owner.started = Some(1), 0));
        assert!(!alive(|owner| owner.pid = u32::MAX / 2, 0));
    }

    #[test]
    fn a_process_of_an_earlier_boot_is_dead() {
        assert!(!alive(|owner| owner.boot = "before".to_owned(), 0));
    }

    #[test]
    fn a_process_that_cannot_be_seen_is_alive_while_its_heart_beats() {
        let hide = |owner: &mut Owner| owner.namespace = "pid:[1]".to_owned();
        assert!(alive(hide, 0));
        assert!(alive(hide, BEAT_TIME_MAX_MS));
        assert!(!alive(hide, BEAT_TIME_MAX_MS + 1));
        let far = |owner: &mut Owner| {
            owner.boot = "other".to_owned();
            owner.host = "other".to_owned();
        };
        assert!(alive(far, BEAT_TIME_MAX_MS));
        assert!(!alive(far, HOUR_MS));
        // The clock was set back by an hour.
        assert!(!alive(far, -HOUR_MS));
        let unknown = |owner: &mut Owner| owner.started = None;
        assert!(alive(unknown, 0));
        assert!(!alive(unknown, HOUR_MS));
    }

    #[test]
    fn the_start_of_a_process_is_read_whatever_its_name() {
        let fields = "1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 99 98";
        assert_eq!(started_in(&format!("42 (cat) S {fields}")), Some(4711));
        assert_eq!(started_in(&format!("42 (a) b) c) S {fields}")), Some(4711));
        assert_eq!(started_in(&format!("42 (cat) Z {fields}")), None);
        for broken in ["", "42", "42 (cat", "42 (cat)", "42 (cat) S 1 2"] {
            assert_eq!(started_in(broken), None);
        }
        assert!(started(std::process::id()).is_some());
    }

    #[test]
    fn owners_are_named_so_that_they_can_be_found() {
        let this = Owner::this();
        assert_eq!(this.name(&this), "this process");
        let mut other = this.clone();
        (other.program, other.pid) = ("ply".to_owned(), 42);
        assert_eq!(other.name(&this), "ply (process 42)");
        (other.namespace, other.host) = ("pid:[1]".to_owned(), "box".to_owned());
        assert_eq!(other.name(&this), "ply (process 42 on box)");
    }
}
