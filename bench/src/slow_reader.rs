//! An agent that is asked for two million updates by a client that never reads them: how much memory does it take?

use std::io::{Read as _, Write as _};
use std::process::ChildStdout;
use std::time::{Duration, Instant};

use rustix::io::ioctl_fionread;

use crate::Result;
use crate::measure::{Outcome, Plan, to_f64};
use crate::payload;
use crate::peer::floor::encode_call;
use crate::process::{Agent, Launch};

/// The agent may fill memory for this long …
const TIME_MAX: Duration = Duration::from_secs(5);
/// … or by this much; an agent without backpressure would otherwise take all of it.
const GROWTH_MAX: u64 = 512 * 1024 * 1024;
/// An agent that used no processor time for this long is waiting for the reader, as it should.
const STILL: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(20);

/// Why the measurement ended.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    Waits,
    GrewTooMuch,
    TimeUp,
}

pub(crate) fn run(plan: &Plan, launch: &Launch) -> Result<Outcome> {
    let (mut agent, mut stdin, mut stdout) = launch.spawn()?;
    let mut line = Vec::new();
    encode_call(&mut line, 0, "initialize", &payload::initialize())?;
    stdin.write_all(&line)?;
    read_one_line(&mut stdout)?;
    let before = Memory::of(&agent)?;

    line.clear();
    encode_call(
        &mut line,
        1,
        "session/prompt",
        &payload::ask_for_updates(plan.count),
    )?;
    stdin.write_all(&line)?;
    let (after, end, waited) = watch(&mut agent, before)?;
    // Without this an agent that never started to write would look perfect.
    let unread = ioctl_fionread(&stdout)?;
    if unread == 0 {
        return Err("the agent wrote no update at all".into());
    }
    // Ended before its pipe closes, or it would complain about that.
    drop(agent);
    Ok(Outcome::default()
        .with(
            "growth_mib",
            mib(after.peak.saturating_sub(before.resident)),
        )
        .with("start_mib", mib(before.resident))
        .with("peak_mib", mib(after.peak))
        .with("unread_kib", to_f64(unread) / 1024.0)
        .with("seconds", waited.as_secs_f64())
        .noted(note(end)))
}

/// Says why the measurement ended.
pub(crate) fn note(end: End) -> &'static str {
    match end {
        End::Waits => "slow_reader: the agent stopped and waited for the reader",
        End::GrewTooMuch => "slow_reader: growth cut off at 512 MiB",
        End::TimeUp => "slow_reader: still working when the 5 s were over",
    }
}

/// Looks at an agent that nobody reads from until it waits or has taken too much.
pub(crate) fn watch(agent: &mut Agent, before: Memory) -> Result<(Memory, End, Duration)> {
    let start = Instant::now();
    let mut busy = (start, cpu_ticks(agent)?);
    loop {
        std::thread::sleep(POLL);
        if !agent.is_running()? {
            return Err("the agent exited instead of waiting for its reader".into());
        }
        let now = Instant::now();
        let ticks = cpu_ticks(agent)?;
        if ticks != busy.1 {
            busy = (now, ticks);
        }
        let memory = Memory::of(agent)?;
        let end = if memory.peak.saturating_sub(before.resident) > GROWTH_MAX {
            End::GrewTooMuch
        } else if now - busy.0 >= STILL {
            End::Waits
        } else if now - start >= TIME_MAX {
            End::TimeUp
        } else {
            continue;
        };
        return Ok((memory, end, now - start));
    }
}

/// Waits until an agent has used no processor time for a while.
pub(crate) fn wait_until_still(agent: &mut Agent) -> Result<()> {
    let mut busy = (Instant::now(), cpu_ticks(agent)?);
    while busy.0.elapsed() < STILL {
        std::thread::sleep(POLL);
        if !agent.is_running()? {
            return Err("the agent exited".into());
        }
        let ticks = cpu_ticks(agent)?;
        if ticks != busy.1 {
            busy = (Instant::now(), ticks);
        }
    }
    Ok(())
}

/// Bytes from `/proc/PID/status`.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) resident: u64,
    pub(crate) peak: u64,
}

impl Memory {
    pub(crate) fn of(agent: &Agent) -> Result<Self> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", agent.id()))?;
        let field = |name: &str| -> Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.and_then(|line| line.split_whitespace().next());
            Ok(kib.ok_or("no memory figures in /proc")?.parse::<u64>()? * 1024)
        };
        Ok(Memory {
            resident: field("VmRSS:")?,
            peak: field("VmHWM:")?,
        })
    }
}

/// User and system time of the whole process, fields 14 and 15 of `/proc/PID/stat`.
fn cpu_ticks(agent: &Agent) -> Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", agent.id()))?;
    // The command's name, in parentheses, may contain spaces; fields are counted after it.
    let (_, fields) = stat.rsplit_once(')').ok_or("unexpected /proc/PID/stat")?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    Ok(ticks.map(|field| field.parse().unwrap_or(0u64)).sum())
}

/// User and system time of the whole process so far.
pub(crate) fn cpu_seconds(agent: &Agent) -> Result<f64> {
    let per_second = rustix::param::clock_ticks_per_second();
    Ok(to_f64(cpu_ticks(agent)?) / to_f64(per_second))
}

/// Reads the answer to `initialize` and not a byte more.
fn read_one_line(stdout: &mut ChildStdout) -> Result<()> {
    let mut byte = [0];
    while byte != *b"\n" {
        stdout.read_exact(&mut byte)?;
    }
    Ok(())
}

pub(crate) fn mib(bytes: u64) -> f64 {
    to_f64(bytes) / (1024.0 * 1024.0)
}
