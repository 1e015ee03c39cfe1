//! What stays behind when the owner of a process tree is killed (fault row C7).

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::io::BufRead as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use ply_rpc::transport::child::{self, Grace, end_leftovers};
use process_tests::{is_alive, loops, start, within};
use serde_json::Value;

/// One test at a time: each would end what the other is looking at.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture");

fn short_grace() -> Grace {
    let mut grace = Grace::default();
    grace.after_close = Duration::from_millis(300);
    grace.after_term = Duration::from_millis(300);
    grace
}

/// A client with children of its own, and their ids.
struct Client {
    process: std::process::Child,
    /// Those that end by themselves when the client is gone.
    direct: Vec<u64>,
    /// Those that ignore it.
    stubborn: Vec<u64>,
}

impl Client {
    async fn start() -> Self {
        let starting = tokio::task::spawn_blocking(|| {
            let mut command = Command::new(FIXTURE);
            command.arg("client").stdin(Stdio::null());
            let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
            let output = process.stdout.take().unwrap();
            let mut line = String::new();
            std::io::BufReader::new(output)
                .read_line(&mut line)
                .unwrap();
            let ids: Value = serde_json::from_str(&line).unwrap();
            let ids = |name: &str| serde_json::from_value::<Vec<u64>>(ids[name].clone()).unwrap();
            let client = Self {
                process,
                direct: ids("direct"),
                stubborn: ids("stubborn"),
            };
            assert_eq!((client.direct.len(), client.stubborn.len()), (2, 3));
            client
        });
        within(20, starting).await.unwrap()
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

async fn gone(ids: &[u64]) {
    while ids.iter().any(|id| is_alive(*id)) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn c7_what_a_killed_client_leaves_behind_ends_with_the_next_one() {
    let _alone = ALONE.lock().await;
    // Trees of owners that live: one of this process, and one of another client.
    let mut own = start(child::Command::new(FIXTURE).arg("daemon")).await;
    let own_daemons: Vec<u64> = serde_json::from_value(own.update().await.1).unwrap();
    let mut other = Client::start().await;
    for _ in 0..loops(5) {
        let mut client = Client::start().await;
        client.kill();
        within(5, gone(&client.direct)).await;
        assert!(
            client.stubborn.iter().all(|id| is_alive(*id)),
            "these ignore the end of everything above them"
        );
        let ended = within(30, end_leftovers(short_grace())).await;
        assert!(ended >= client.stubborn.len(), "{ended}");
        assert!(client.stubborn.iter().all(|id| !is_alive(*id)));
        let living = own_daemons.iter().chain(&other.direct);
        for id in living.chain(&other.stubborn) {
            assert!(is_alive(*id), "{id} belongs to an owner that lives");
        }
    }
    other.kill();
    within(5, gone(&other.direct)).await;
    within(30, end_leftovers(short_grace())).await;
    assert!(other.stubborn.iter().all(|id| !is_alive(*id)));
    assert_eq!(within(30, end_leftovers(short_grace())).await, 0);
    own.end(short_grace()).await;
}

#[tokio::test]
async fn c7_a_tree_inside_a_tree_is_left_to_the_outer_owner_while_that_lives() {
    let _alone = ALONE.lock().await;
    // The shell is ours and lives; the client in it is killed.
    let script = "\"$0\" client & echo {\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":\\\"client\\\",\\\"params\\\":[$!]}; wait; sleep 1000";
    let command = child::Command::new("sh").args(["-c", script, FIXTURE]);
    let (mut shell, output, _input) = command.spawn().await.unwrap();
    let lines = {
        use tokio::io::{AsyncBufReadExt as _, BufReader};
        let mut lines = BufReader::new(output).lines();
        let mut read = async || within(20, lines.next_line()).await.unwrap().unwrap();
        [read().await, read().await]
    };
    // The shell and the client write at the same time.
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    lines.sort_by_key(|line| line["params"].is_null());
    let [shell_said, client_said] = lines;
    let client = shell_said["params"][0].as_i64().unwrap();
    let stubborn: Vec<u64> = serde_json::from_value(client_said["stubborn"].clone()).unwrap();
    let pid = rustix::process::Pid::from_raw(client.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    within(5, gone(&[client.unsigned_abs()])).await;
    within(30, end_leftovers(short_grace())).await;
    assert!(stubborn.iter().all(|id| is_alive(*id)), "{stubborn:?}");
    within(30, shell.end(short_grace())).await.unwrap();
    assert!(stubborn.iter().all(|id| !is_alive(*id)), "{stubborn:?}");
}
