//! Holders and their agents as real processes, and hubs that come and go.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod crash;
mod ending;
mod hubs;
mod lines;

use std::path::{Path, PathBuf};

use bytes::Bytes;
use ply_hub::hold::{self, Connection, Order};
use ply_hub::pipe::{Exit, FromAgent, ToAgent};
use process_tests::{HELD, is_alive, within};
use rustix::process::{Pid, Signal};

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture");

/// How long anything may take on a machine that is busy with other things.
const SECONDS: u64 = 60;

/// A directory for one holder, which ends with it.
struct Place {
    directory: tempfile::TempDir,
    holders: PathBuf,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let holders = directory.path().join("holders");
        Self { directory, holders }
    }

    /// Starts the holder of an agent.
    async fn start(order: Order) -> Self {
        let place = Self::new();
        place.hold(order).await;
        place
    }

    async fn hold(&self, order: Order) {
        let started = hold::start(Path::new(FIXTURE), &self.holders, order);
        within(SECONDS, started).await.unwrap();
    }

    async fn connect(&self, epoch: u64) -> Hub {
        let connected = hold::connect(&self.holders, HELD, epoch);
        Hub(within(SECONDS, connected).await.unwrap())
    }

    /// Returns the holder's process id.
    fn holder(&self) -> u64 {
        let found = hold::find(&self.holders).unwrap();
        assert_eq!(found.len(), 1);
        u64::from(found[0].pid)
    }

    /// Returns the names of the files of holders.
    fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.holders).unwrap();
        names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for about in hold::find(&self.holders).unwrap_or_default() {
            kill(u64::from(about.pid), Signal::TERM);
        }
    }
}

fn kill(pid: u64, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // It may have ended.
    rustix::process::kill_process(pid, signal).ok();
}

/// Returns the order to run a script of the shell.
fn shell(script: &str) -> Order {
    Order::new(HELD, "/bin/sh", "/")
        .args(["-c", script])
        .envs([("PATH", std::env::var_os("PATH").unwrap())])
}

/// The test as a hub.
struct Hub(Connection);

impl Hub {
    async fn next(&mut self) -> Option<FromAgent> {
        within(SECONDS, self.0.pipe.from.recv()).await
    }

    /// Returns the next line; what was written is of no interest.
    async fn line(&mut self) -> (u64, String) {
        loop {
            match self.next().await {
                Some(FromAgent::Line { number, line }) => {
                    return (number, String::from_utf8(line.to_vec()).unwrap());
                }
                Some(FromAgent::Wrote { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn exit(&mut self) -> Exit {
        loop {
            match self.next().await {
                Some(FromAgent::Exit(exit)) => return exit,
                Some(FromAgent::Wrote { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Waits for the end of the connection.
    async fn lost(&mut self) {
        while self.next().await.is_some() {}
    }

    async fn tell(&self, what: ToAgent) {
        within(SECONDS, self.0.pipe.to.send(what)).await.unwrap();
    }

    async fn give(&self, number: u64, line: impl Into<Bytes>) {
        let line = line.into();
        self.tell(ToAgent::Line { number, line }).await;
    }

    async fn acknowledge(&self, upto: u64) {
        self.tell(ToAgent::Acknowledge { upto }).await;
    }

    async fn stderr(&self) -> String {
        within(SECONDS, self.0.control.stderr()).await.unwrap()
    }

    /// Has the holder end, and waits for it.
    async fn bury(mut self, place: &Place) {
        let holder = place.holder();
        self.0.control.bury().await;
        self.lost().await;
        gone(&[holder]).await;
        assert_eq!(place.files(), [""; 0]);
    }
}

async fn gone(pids: &[u64]) {
    let waiting = async {
        while pids.iter().any(|pid| is_alive(*pid)) {
            tokio::task::yield_now().await;
        }
    };
    within(SECONDS, waiting).await;
}
