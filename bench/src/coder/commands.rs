//! What commands cost: to be started in the sandbox, and to be listened to.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::editor::Editor;
use super::ply;
use crate::Result;
use crate::journal::Store;
use crate::measure::{Outcome, median_ms, to_f64};

/// How often a command is run, the first time aside.
const RUNS: u64 = 40;
/// How much a command puts out, in bytes, unless it is said otherwise.
const OUTPUT_BYTES: u64 = 2_000_000_000;

/// Runs `true` again and again.
pub(super) fn start(count: Option<u64>) -> Result<Outcome> {
    let count = count.unwrap_or(RUNS);
    let mut sandboxed = runs(count, true)?;
    let mut plain = runs(count, false)?;
    let (sandboxed, plain) = (median_ms(&mut sandboxed), median_ms(&mut plain));
    Ok(Outcome::default()
        .with("runs", to_f64(count))
        .with("sandboxed_p50_ms", sandboxed)
        .with("plain_p50_ms", plain)
        .with("sandbox_ms", sandboxed - plain))
}

fn runs(count: u64, sandbox: bool) -> Result<Vec<Duration>> {
    let store = Store::new()?;
    let mut editor = open(&store, sandbox)?;
    // The first one finds out what the sandbox can do.
    editor.turn("run true")?;
    let run = |_| {
        let begun = Instant::now();
        editor.turn("run true")?;
        Ok(begun.elapsed())
    };
    (0..count).map(run).collect()
}

/// Runs a command that puts out much, and the same with nobody but `cat` to read it.
pub(super) fn output(count: Option<u64>) -> Result<Outcome> {
    let bytes = count.unwrap_or(OUTPUT_BYTES);
    let command =
        format!("yes 'warning: unused variable in a line of usual length' | head -c {bytes}");
    let begun = Instant::now();
    let piped = format!("{command} | cat");
    let mut cat = Command::new("sh");
    let ended = cat.args(["-c", &piped]).stdout(Stdio::null()).status()?;
    if !ended.success() {
        return Err("`cat` failed".into());
    }
    let cat = begun.elapsed();
    let store = Store::new()?;
    let mut editor = open(&store, true)?;
    let begun = Instant::now();
    editor.turn(&format!("run {command}"))?;
    let ours = begun.elapsed();
    Ok(Outcome::default()
        .with("bytes", to_f64(bytes))
        .with("output_s", ours.as_secs_f64())
        .with("cat_s", cat.as_secs_f64())
        .with("to_cat", ours.as_secs_f64() / cat.as_secs_f64()))
}

/// Opens a session in which commands run unasked.
fn open(store: &Store, sandbox: bool) -> Result<Editor> {
    let config = store.directory().join("config.toml");
    std::fs::write(&config, format!("[sandbox]\nenabled = {sandbox}\n"))?;
    let config = config
        .to_str()
        .ok_or("the benchmark's own path is not UTF-8")?;
    let launch = ply(store, &["--mode", "full", "--config", config])?;
    Editor::open(&launch, store.directory())
}
