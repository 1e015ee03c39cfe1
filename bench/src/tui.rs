//! The terminal client: how soon a long session is on the screen, and how soon a key is while an agent talks.
//!
//! `frame` is in this process: a transcript of many updates is folded and its last screen drawn. `open` and `keys` are `ply chat`
//! on a real pty, read by a terminal emulator in this process, with an agent that is this program again. What the emulator
//! takes is part of what is measured.

mod agent;
mod updates;

use std::time::{Duration, Instant};

use ply_client::Transcript;
use ply_tui::bench_support;
use terminal_tests::{Key, Launch, Screen as _, Terminal};

use crate::Result;
use crate::journal::Store;
use crate::measure::{Outcome, to_f64};

pub(crate) use agent::serve;

/// The screen, in cells.
const COLUMNS: u16 = 120;
const ROWS: u16 = 40;
/// Updates of a long session.
const UPDATES: u64 = 100_000;
/// Keys whose way to the screen is measured.
const KEYS: u64 = 200;
/// The pause between a key on the screen and the next, so that they fall anywhere between two frames.
const KEY_PAUSES_MS: [u64; 4] = [23, 41, 59, 71];

/// Who shows it.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Peer {
    /// `ply chat`.
    Ply,
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Work {
    /// The fold of many updates, and the first frame after it.
    Frame,
    /// From before the process to the last update of a long session on the screen.
    Open,
    /// From a key to its character on the screen while an agent talks.
    Keys,
}

impl Peer {
    /// Does a work once and measures.
    pub(crate) fn run(self, work: Work, count: Option<u64>, limit_s: u64) -> Result<Outcome> {
        match work {
            Work::Frame => frame(count.unwrap_or(UPDATES)),
            Work::Open => open(count.unwrap_or(UPDATES), limit_s),
            Work::Keys => keys(count.unwrap_or(KEYS), limit_s),
        }
    }
}

fn frame(count: u64) -> Result<Outcome> {
    let updates = updates::all(count)?;
    let begun = Instant::now();
    let transcript = Transcript::fold(&updates);
    let folded = begun.elapsed();
    let begun = Instant::now();
    let mut screen = bench_support::Screen::new(COLUMNS, ROWS);
    screen.draw(&transcript);
    let first = begun.elapsed();
    // A fast frame that shows something else would say nothing.
    let shown = screen.copy(&transcript, 0, ROWS - 1);
    if !shown.contains(&last_words(count)) {
        return Err("the first frame does not show the end of the session".into());
    }
    // What is left after the first frame is colours of code; then a frame of a screen on which nothing changes.
    while screen.draw(&transcript) {}
    let begun = Instant::now();
    screen.draw(&transcript);
    let next = begun.elapsed();
    Ok(Outcome::default()
        .with("updates", to_f64(count))
        .with("fold_ms", ms(folded))
        .with("first_frame_ms", ms(first))
        .with("next_frame_ms", ms(next)))
}

fn open(count: u64, limit_s: u64) -> Result<Outcome> {
    let store = Store::new()?;
    let launch = launch(&store, count, limit_s)?;
    let begun = Instant::now();
    let terminal = Terminal::spawn(&launch)?;
    let last = last_words(count);
    let shown = |shot: &terminal_tests::Shot| shot.contains(&last) && shot.contains("· ready");
    terminal.try_wait_for(&shown, "the last update")?;
    let opened = begun.elapsed();
    let outcome = Outcome::default()
        .with("updates", to_f64(count))
        .with("opened_ms", ms(opened))
        .with("resident_mib", resident_mib(terminal.pid())?);
    quit(&terminal);
    Ok(outcome)
}

fn keys(count: u64, limit_s: u64) -> Result<Outcome> {
    let store = Store::new()?;
    let terminal = Terminal::spawn(&launch(&store, 0, limit_s)?)?;
    terminal.try_wait_for(&|shot| shot.contains("· ready"), "the client")?;
    terminal.type_text("talk");
    terminal.press(Key::Enter);
    terminal.try_wait_for(&|shot| shot.contains("word word"), "the agent's words")?;
    let mut waits = Vec::new();
    let mut typed = String::new();
    for (place, pause) in (0..count).zip(KEY_PAUSES_MS.into_iter().cycle()) {
        std::thread::sleep(Duration::from_millis(pause));
        if typed.len() == 40 {
            terminal.press(Key::Ctrl('u'));
            terminal.try_wait_for(&|shot| shot.contains("Say something"), "nothing written")?;
            typed.clear();
        }
        let key = char::from(b'a' + u8::try_from(place % 26)?);
        typed.push(key);
        let wanted = format!("› {typed}");
        let begun = Instant::now();
        terminal.press(Key::Char(key));
        terminal.try_wait_for(&|shot| shot.contains(&wanted), "the key")?;
        waits.push(begun.elapsed());
    }
    waits.sort_unstable();
    let at = |percent: usize| {
        let place = (waits.len() * percent / 100).min(waits.len().saturating_sub(1));
        ms(waits.get(place).copied().unwrap_or_default())
    };
    let outcome = Outcome::default()
        .with("keys", to_f64(count))
        .with("key_p50_ms", at(50))
        .with("key_p95_ms", at(95))
        .with("key_max_ms", at(100))
        .with("resident_mib", resident_mib(terminal.pid())?);
    quit(&terminal);
    Ok(outcome.noted(format!(
        "{} updates a second while keys are typed",
        agent::TALK_PER_SECOND
    )))
}

/// What a session of so many updates ends with.
fn last_words(count: u64) -> String {
    format!("the end of answer {}", updates::last_turn(count))
}

/// `ply chat` beside this program, with this program as its agent. A session of no updates is a new one.
fn launch(store: &Store, updates: u64, limit_s: u64) -> Result<Launch> {
    let this = std::env::current_exe()?;
    let program = this.with_file_name("ply");
    if !program.is_file() {
        return Err("build `ply` first: cargo build --release --package ply-cli".into());
    }
    let mut launch = Launch::new(program).arg("chat");
    let history = store.directory().join("history");
    if updates > 0 {
        agent::write_history(&history, updates)?;
        launch = launch.args(["--session", updates::SESSION]);
    }
    let launch = launch
        .arg("--")
        .arg(this)
        .arg("tui-agent")
        .arg(history)
        .arg(format!("--limit-s={limit_s}"))
        .size(COLUMNS, ROWS)
        .cwd(store.directory())
        .env("HOME", store.directory())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    Ok(launch)
}

/// Ends the client; one that does not end is killed when the terminal is dropped.
fn quit(terminal: &Terminal) {
    for _ in 0..2 {
        terminal.press(Key::Ctrl('c'));
    }
}

fn resident_mib(pid: u32) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    let kib: u64 = number.ok_or("a process has a size")?.parse()?;
    Ok(to_f64(kib) / 1024.0)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
