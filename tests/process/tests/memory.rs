//! Lines without end cost bounded memory (fault rows A6, A7).

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use ply_rpc::Closed;
use ply_rpc::transport::child::{Command, Grace};
use process_tests::{peak_bytes, reset_peak_bytes, resident_bytes, start, within};
use serde_json::Value;
use tokio::sync::Mutex;

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture");

/// Memory is measured for the whole process, so one test at a time.
static ALONE: Mutex<()> = Mutex::const_new(());

fn fixture(args: &[&str]) -> Command {
    Command::new(FIXTURE).args(args)
}

#[tokio::test]
async fn a6_a_line_of_65_mib_is_skipped_in_bounded_memory() {
    let _alone = ALONE.lock().await;
    reset_peak_bytes();
    let before = resident_bytes();
    let mut running = start(fixture(&["long-line", &(65 << 20).to_string()])).await;
    assert_eq!(running.update().await.0, "after");
    let growth = peak_bytes().saturating_sub(before);
    assert!(growth < 71 << 20, "{growth}");
    let (_, got) = running.update().await;
    let answer: Value = serde_json::from_str(got[0].as_str().unwrap()).unwrap();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&"long".into(), &(-32600).into())
    );
    running.end(Grace::default()).await;
}

#[tokio::test]
async fn a7_a_gibibyte_without_a_newline_closes_the_link() {
    let _alone = ALONE.lock().await;
    reset_peak_bytes();
    let running = start(fixture(&["endless-line"])).await;
    let closed = within(60, running.peer.closed()).await;
    let largest = peak_bytes();
    assert!(
        matches!(closed, Closed::EndlessLine { bytes } if bytes > 640 << 20),
        "{closed}"
    );
    assert!(largest < 200 << 20, "{largest}");
    running.end(Grace::default()).await;
}
