//! `ply trace` with real processes on real pipes.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod peers;
mod proxy;
mod view;

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use ply_check::trace::{Direction, Entry, Event, Reader};
use tokio::process::{Child, Command};

/// The program.
pub(crate) const PLY: &str = env!("CARGO_BIN_EXE_ply");

/// Waits for something that must come.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(Duration::from_secs(60), what).await;
    done.expect("this hangs")
}

/// Starts a recorder of a shell script as an agent, in a directory.
pub(crate) fn record(directory: &Path, options: &[&str], script: &str) -> Child {
    Command::new(PLY)
        .arg("trace")
        .args(options)
        .args(["--", "sh", "-c", script])
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

/// Reads a recording, which must be whole.
pub(crate) fn entries(path: &Path) -> Vec<Entry> {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = Reader::new(file).unwrap();
    assert!(reader.header().is_some());
    let entries = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!((reader.foreign(), reader.is_torn()), (0, false));
    entries
}

/// Returns what was written in a direction, as one text.
pub(crate) fn said(entries: &[Entry], dir: Direction) -> Vec<String> {
    let said = entries
        .iter()
        .filter(|entry| entry.direction() == Some(dir));
    let said = said.map(|entry| match &entry.event {
        Event::Frame { frame, .. } => frame.get().to_owned(),
        Event::Text { text, .. } => format!("text {text}"),
        Event::Bytes { bytes, .. } => format!("bytes {bytes:?}"),
        other => panic!("{other:?}"),
    });
    said.collect()
}
