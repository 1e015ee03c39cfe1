//! What is measured.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::path::Path;
use std::time::{Duration, Instant};

use ply_journal::{Description, Durability, Head, Journal as _, Sqlite};
use serde_json::json;

use super::client::Client;
use super::{Outcome, Peer, Result, Stage};
use crate::factory::BARE;
use crate::fast::text_bytes;

/// Their names.
pub const WORKS: [&str; 5] = ["echo", "updates", "attach", "fan-out", STORED_SESSIONS];

/// The one whose store is filled beforehand.
pub(super) const STORED_SESSIONS: &str = "stored";

/// Round trips that are measured, and those before.
const ECHOES: u32 = 4_000;
const ECHOES_BEFORE: u32 = 400;
/// Round trips once the journal is told of each.
const ECHOES_RECORDED: u32 = 400;
/// Turns, and updates of each.
const TURNS: u32 = 3;
const UPDATES: u64 = 200_000;
/// Updates of a session that a client attaches to.
const HISTORY: u64 = 100_000;
/// Updates of a turn that several clients read, and how many read it.
const SHARED: u64 = 100_000;
const READERS: usize = 16;
/// Sessions in the store, and how often they are listed.
const STORED: u32 = 10_000;
const LISTS: u32 = 21;
/// Ticks of the processor's clock in a second, as `/proc` counts them.
const TICKS_PER_SECOND: f64 = 100.0;

pub(super) fn run(mut stage: Stage, work: &str) -> Result<Outcome> {
    match (work, stage.peer) {
        ("echo", _) => echo(&mut stage),
        ("updates", Peer::Direct | Peer::Whole) => updates(&mut stage),
        ("attach", Peer::Hub | Peer::Whole) => attach(&mut stage),
        ("fan-out", Peer::Hub) => fan_out(&mut stage),
        (STORED_SESSIONS, Peer::Hub) => stored(&mut stage),
        _ => Err(format!("{:?} does not do {work}", stage.peer).into()),
    }
}

/// A request that the agent answers at once.
fn echo(stage: &mut Stage) -> Result<Outcome> {
    let mut client = stage.connect()?;
    let session = client.new_session(&stage.project())?;
    echoes(&mut client, &session, ECHOES_BEFORE)?;
    let fresh = echoes(&mut client, &session, ECHOES)?;
    // From its first prompt on the journal has what an agent behind a holder is told, before the agent.
    client.updates(&session, 1)?;
    echoes(&mut client, &session, 10)?;
    let recorded = echoes(&mut client, &session, ECHOES_RECORDED)?;
    let mut outcome = Outcome::default()
        .with("p50_us", at(&fresh, 50))
        .with("p99_us", at(&fresh, 99))
        .with("recorded_p50_us", at(&recorded, 50));
    if stage.peer == Peer::Whole {
        let (own, resident) = holder(Path::new(&stage.path("run")))?;
        outcome = outcome
            .with("holder_own_mib", own)
            .with("holder_resident_mib", resident);
    }
    Ok(outcome)
}

fn echoes(client: &mut Client, session: &str, count: u32) -> Result<Vec<Duration>> {
    let mut took = Vec::new();
    for _ in 0..count {
        let start = Instant::now();
        client.echo(session)?;
        took.push(start.elapsed());
    }
    took.sort_unstable();
    Ok(took)
}

/// Returns the duration below which so many percent lie, in microseconds.
fn at(sorted: &[Duration], percent: usize) -> f64 {
    let at = sorted.get(sorted.len() * percent / 100);
    at.map_or(f64::NAN, |took| took.as_secs_f64() * 1e6)
}

/// A turn in which the agent says much, read by a client that folds it as editors do.
#[tokio::main]
async fn updates(stage: &mut Stage) -> Result<Outcome> {
    let words = match stage.peer {
        Peer::Direct => ["agent", "1", "-fast"].map(str::to_owned).to_vec(),
        _ => stage.attach_words(),
    };
    let command = ply_client::Command::new(&stage.program).args(words);
    let agent = ply_client::Client::new().spawn(command).await?;
    let session = agent.new_session(stage.project()).await?;
    let (mut took, mut heard) = (Vec::new(), 0);
    for _ in 0..TURNS {
        let start = Instant::now();
        let turn = session
            .prompt(format!("updates:{UPDATES}").as_str())
            .await?;
        turn.finish().await?;
        took.push(start.elapsed());
        heard += usize::try_from(text_bytes(UPDATES))?;
        let said: usize = crate::world::said(&session).iter().map(String::len).sum();
        if said != heard {
            return Err(format!("{said} bytes came, not {heard}").into());
        }
    }
    agent.close().await;
    took.sort_unstable();
    let median_s = at(&took, 50) / 1e6;
    Ok(Outcome::default().with("per_second", to_f64(UPDATES) / median_s))
}

/// A client that comes to a long session.
fn attach(stage: &mut Stage) -> Result<Outcome> {
    let mut first = stage.connect()?;
    let session = first.new_session(&stage.project())?;
    first.updates(&session, HISTORY)?;
    let mut took = Vec::new();
    let mut messages = 0;
    for _ in 0..5 {
        let mut client = stage.connect()?;
        let start = Instant::now();
        messages = client.load(&session, &stage.project())?.before;
        took.push(start.elapsed());
    }
    took.sort_unstable();
    Ok(Outcome::default()
        .with("ms", at(&took, 50) / 1e3)
        .with("messages", to_f64(messages)))
}

/// One client reads a turn, then several do.
fn fan_out(stage: &mut Stage) -> Result<Outcome> {
    let mut first = stage.connect()?;
    let session = first.new_session(&stage.project())?;
    let hub = stage.hub()?;
    first.updates(&session, SHARED / 10)?;
    let (one_s, one_cpu) = read_by(&mut first, &session, Vec::new(), hub)?;
    let mut others = Vec::new();
    for _ in 1..READERS {
        let mut client = stage.connect()?;
        client.load(&session, &stage.project())?;
        others.push(client);
    }
    let (all_s, all_cpu) = read_by(&mut first, &session, others, hub)?;
    Ok(Outcome::default()
        .with("one_s", one_s)
        .with("all_s", all_s)
        .with("times", all_s / one_s)
        .with("one_cpu_s", one_cpu)
        .with("all_cpu_s", all_cpu)
        .with("cpu_times", all_cpu / one_cpu))
}

/// Returns the seconds until everybody has read a turn, and those that the hub's process was busy.
fn read_by(first: &mut Client, session: &str, others: Vec<Client>, hub: u32) -> Result<(f64, f64)> {
    let bytes = usize::try_from(text_bytes(SHARED))?;
    let (start, before) = (Instant::now(), busy_s(hub)?);
    std::thread::scope(|scope| -> Result<()> {
        let readers = others.into_iter().map(|mut other| {
            scope.spawn(move || other.read_text(bytes).map_err(|error| error.to_string()))
        });
        let readers: Vec<_> = readers.collect();
        first.updates(session, SHARED)?;
        for reader in readers {
            reader.join().map_err(|_| "a client panicked")??;
        }
        Ok(())
    })?;
    Ok((start.elapsed().as_secs_f64(), busy_s(hub)? - before))
}

/// Fills a store with sessions that are not open.
#[tokio::main(flavor = "current_thread")]
pub(super) async fn fill(store: &Path) -> Result<()> {
    let journal = Sqlite::new(store);
    for session in 0..STORED {
        let id = format!("sess-{session:016x}");
        let created = i64::from(session);
        let head = Head::new(id.as_str(), "/work/project", created);
        let log = journal.create(head, &id).await?.log;
        let title = Some(format!("Session number {session}"));
        let change = Description::updated(created)
            .title(title)
            .host(Some(BARE.to_owned()));
        log.append(Vec::new(), Durability::Written, Some(change))
            .await?;
    }
    Ok(journal.close().await?)
}

/// A list of many sessions that are not open: the first page, and all of them.
fn stored(stage: &mut Stage) -> Result<Outcome> {
    let mut client = stage.connect()?;
    let (mut page, mut all) = (Vec::new(), Vec::new());
    for _ in 0..LISTS {
        let start = Instant::now();
        let mut listed = client.call("session/list", json!({}))?.result;
        page.push(start.elapsed());
        let mut count = listed["sessions"].as_array().map_or(0, Vec::len);
        while let Some(cursor) = listed["nextCursor"].as_str() {
            listed = client
                .call("session/list", json!({ "cursor": cursor }))?
                .result;
            count += listed["sessions"].as_array().map_or(0, Vec::len);
        }
        all.push(start.elapsed());
        if count != usize::try_from(STORED)? {
            return Err(format!("{count} sessions are listed").into());
        }
    }
    page.sort_unstable();
    all.sort_unstable();
    Ok(Outcome::default()
        .with("page_ms", at(&page, 50) / 1e3)
        .with("all_ms", at(&all, 50) / 1e3))
}

/// Returns the seconds for which a process was busy.
fn busy_s(pid: u32) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name may hold anything; what follows it is counted from its end.
    let (_, rest) = stat.rsplit_once(')').ok_or("a process has no state")?;
    let ticks = rest.split_whitespace().skip(11).take(2);
    let ticks: f64 = ticks.map(|ticks| ticks.parse().unwrap_or(0.0)).sum();
    Ok(ticks / TICKS_PER_SECOND)
}

/// Returns the MiB that the holder of a hub's agent has for itself, and those that are resident.
fn holder(place: &Path) -> Result<(f64, f64)> {
    let holders = ply_hub::hold::find(&ply_hub::Place::at(place)?.holders())?;
    let holder = holders.first().ok_or("there is no holder")?;
    let map = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", holder.pid))?;
    let own = kib(&map, "Private_Clean:") + kib(&map, "Private_Dirty:");
    Ok((own / 1024.0, kib(&map, "Rss:") / 1024.0))
}

fn kib(map: &str, what: &str) -> f64 {
    let line = map.lines().find_map(|line| line.strip_prefix(what));
    let value = line.and_then(|line| line.split_whitespace().next());
    value.and_then(|value| value.parse().ok()).unwrap_or(0.0)
}

#[expect(clippy::cast_precision_loss, reason = "no count here comes near 2^53")]
fn to_f64(count: u64) -> f64 {
    count as f64
}
