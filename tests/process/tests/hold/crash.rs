//! Hubs that are killed.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};

use ply_rpc::transport::child;
use process_tests::{held_line, loops};

use super::*;

/// A process that is told what to do by its arguments.
fn fixture(args: &[&std::ffi::OsStr]) -> Child {
    let mut command = Command::new(FIXTURE);
    command.args(args).stdin(Stdio::null());
    command.stdout(Stdio::piped()).spawn().unwrap()
}

/// Lets a hub do so many things and kills it; returns whether it was done before.
fn run_and_kill(mut hub: Child, steps: usize) -> bool {
    let mut lines = BufReader::new(hub.stdout.take().unwrap()).lines();
    for line in lines.by_ref().take(steps) {
        line.unwrap();
    }
    hub.kill().unwrap();
    let status = hub.wait().unwrap();
    assert!(status.signal() == Some(9) || status.success(), "{status}");
    status.success()
}

#[tokio::test]
async fn a_hub_killed_at_any_point_loses_nothing_and_its_successor_repeats_nothing() {
    let lives = loops(100);
    let count = u64::try_from(lives * 8).unwrap();
    let place = Place::new();
    let log = place.directory.path().join("log");
    let journal = place.directory.path().join("journal");
    let order = Order::new(HELD, FIXTURE, "/").args(["talk".as_ref(), log.as_os_str()]);
    place.hold(order).await;
    let holder = place.holder();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for epoch in 1.. {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let (epoch, count) = (format!("{epoch}"), format!("{count}"));
        let holders = place.holders.clone();
        let hub = fixture(&[
            "hub".as_ref(),
            holders.as_ref(),
            epoch.as_ref(),
            journal.as_ref(),
            count.as_ref(),
        ]);
        let steps = usize::try_from(random % 50).unwrap();
        if run_and_kill(hub, steps) {
            break;
        }
    }
    gone(&[holder]).await;
    let given: String = (1..=count).map(|number| held_line(number) + "\n").collect();
    assert!(
        std::fs::read_to_string(log).unwrap() == given,
        "what the agent was given"
    );
    let answers = |number| {
        let line = held_line(number);
        let bytes = line.len();
        format!("got {line}\ngot done {bytes}\n")
    };
    let expected: String = (1..=count).map(answers).collect();
    let text = std::fs::read_to_string(journal).unwrap();
    let got: String = text
        .split_inclusive('\n')
        .filter(|line| line.starts_with("got "))
        .collect();
    assert!(got == expected, "what the hubs were given");
}

#[tokio::test]
async fn holder_and_agent_survive_the_hub_that_started_them_and_the_search_for_leftovers() {
    let place = Place::new();
    let mut hub = fixture(&["start-holder".as_ref(), place.holders.as_ref()]);
    let mut line = String::new();
    let mut output = BufReader::new(hub.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    hub.kill().unwrap();
    hub.wait().unwrap();
    within(SECONDS, child::end_leftovers(child::Grace::default())).await;
    let agent = line.trim_end().parse().unwrap();
    assert!(is_alive(agent) && is_alive(place.holder()));
    let mut hub = place.connect(1).await;
    assert_eq!(u64::from(hub.0.agent), agent);
    hub.give(1, "still here").await;
    assert_eq!(hub.line().await, (1, "still here".to_owned()));
    hub.bury(&place).await;
}
