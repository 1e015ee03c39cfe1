//! Agents end, and all that they started.

use std::time::Duration;

use ply_hub::hold::{Error, Grace, Linger};
use ply_rpc::transport::child;

use super::*;

const NEVER: Duration = Duration::from_secs(3600);

fn short_grace() -> Grace {
    Grace {
        after_close: Duration::from_millis(200),
        after_term: Duration::from_millis(200),
    }
}

#[tokio::test]
async fn an_end_is_told_after_the_last_line_to_every_hub_until_it_is_buried() {
    let place = Place::start(shell("echo oops >&2; echo last; printf words; exit 3")).await;
    let expected = Exit {
        code: Some(3),
        signal: None,
        written: 0,
        stderr: "oops\n".to_owned(),
    };
    for epoch in 1..4 {
        let mut hub = place.connect(epoch).await;
        assert_eq!(hub.line().await, (1, "last".to_owned()));
        assert_eq!(hub.line().await, (2, "words".to_owned()));
        assert_eq!(hub.exit().await, expected);
    }
    let mut hub = place.connect(4).await;
    hub.acknowledge(2).await;
    while hub
        .next()
        .await
        .is_some_and(|news| !matches!(news, FromAgent::Exit(_)))
    {}
    drop(hub);
    let mut hub = place.connect(5).await;
    assert_eq!(hub.0.pipe.hello.first_out, 3);
    assert_eq!(hub.exit().await, expected);
    hub.bury(&place).await;
}

#[tokio::test]
async fn a_signal_that_ended_the_agent_is_told() {
    let place = Place::start(shell("kill -9 $$")).await;
    let mut hub = place.connect(1).await;
    let exit = hub.exit().await;
    assert_eq!((exit.code, exit.signal), (None, Some(9)));
    hub.bury(&place).await;
}

#[tokio::test]
async fn only_the_last_of_standard_error_is_kept() {
    let script = "head -c 1000000 /dev/zero | tr '\\0' e >&2; echo end >&2; echo done; exec cat";
    let place = Place::start(shell(script)).await;
    let mut hub = place.connect(1).await;
    assert_eq!(hub.line().await, (1, "done".to_owned()));
    let mut stderr = hub.stderr().await;
    // It may be on its way still.
    while !stderr.ends_with("end\n") {
        stderr = hub.stderr().await;
    }
    assert_eq!(stderr.len(), 64 * 1024);
    hub.bury(&place).await;
}

#[tokio::test]
async fn an_agent_that_is_stopped_ends_at_the_end_of_its_input() {
    let place = Place::start(shell("cat; echo bye; exit 7")).await;
    let mut hub = place.connect(1).await;
    hub.give(1, "last").await;
    hub.tell(ToAgent::Stop).await;
    assert_eq!(hub.line().await, (1, "last".to_owned()));
    assert_eq!(hub.line().await, (2, "bye".to_owned()));
    assert_eq!(hub.exit().await.code, Some(7));
    hub.bury(&place).await;
}

#[tokio::test]
async fn one_that_ignores_the_end_of_its_input_gets_sigterm_then_sigkill() {
    let scripts = [
        ("exec sleep 1000", 15),
        ("trap '' TERM; while :; do sleep 1000; done", 9),
    ];
    for (script, signal) in scripts {
        let place = Place::start(shell(script).grace(short_grace())).await;
        let mut hub = place.connect(1).await;
        hub.tell(ToAgent::Stop).await;
        assert_eq!(hub.exit().await.signal, Some(signal), "{script}");
        hub.bury(&place).await;
    }
}

/// An agent that starts processes which leave session, parent and environment, and ignore requests to end. It tells their ids.
const STRAYS: &str = "trap '' TERM HUP
    (env -i setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $!)
    (setsid sh -c '(setsid sleep 1000 & echo $!) ; exit 0' </dev/null 2>/dev/null)
    sleep 1000 </dev/null >/dev/null 2>&1 & echo $!";

async fn strays(hub: &mut Hub) -> Vec<u64> {
    let mut pids = Vec::new();
    for _ in 0..3 {
        pids.push(hub.line().await.1.parse().unwrap());
    }
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    pids
}

#[tokio::test]
async fn descendants_that_went_away_end_with_the_agent() {
    // Ordered to, by itself, and killed.
    for end in ["exec cat", "read go; exit 0", "read go; kill -9 $$"] {
        let order = shell(&format!("{STRAYS}\n{end}")).grace(short_grace());
        let place = Place::start(order).await;
        let mut hub = place.connect(1).await;
        let pids = strays(&mut hub).await;
        hub.give(1, "go").await;
        hub.tell(ToAgent::Stop).await;
        gone(&pids).await;
        hub.bury(&place).await;
    }
}

#[tokio::test]
async fn what_is_buried_alive_ends() {
    let order = shell(&format!("{STRAYS}\nexec sleep 1000")).grace(short_grace());
    let place = Place::start(order).await;
    let mut hub = place.connect(1).await;
    let pids = strays(&mut hub).await;
    hub.bury(&place).await;
    gone(&pids).await;
}

#[tokio::test]
async fn a_holder_that_is_asked_to_end_ends_its_agent_and_says_so() {
    let order = shell(&format!("{STRAYS}\nexec cat")).grace(short_grace());
    let place = Place::start(order).await;
    let mut hub = place.connect(1).await;
    let pids = strays(&mut hub).await;
    let holder = place.holder();
    kill(holder, Signal::TERM);
    assert_eq!(hub.exit().await.code, Some(0));
    hub.lost().await;
    gone(&pids).await;
    gone(&[holder]).await;
    assert_eq!(place.files(), [""; 0]);
}

#[tokio::test]
async fn an_agent_goes_on_without_a_hub_for_as_long_as_its_order_says() {
    let linger = Linger {
        busy: Duration::ZERO,
        idle: NEVER,
    };
    let order = shell(&format!("{STRAYS}\nexec cat"));
    let place = Place::start(order.linger(linger).grace(short_grace())).await;
    let mut hub = place.connect(1).await;
    let pids = strays(&mut hub).await;
    hub.0.control.busy(true).await;
    hub.0.control.busy(false).await;
    hub.stderr().await;
    drop(hub);
    let hub = place.connect(2).await;
    hub.0.control.busy(true).await;
    hub.stderr().await;
    let holder = place.holder();
    drop(hub);
    gone(&pids).await;
    gone(&[holder]).await;
    assert_eq!(place.files(), [""; 0]);
    let error = hold::connect(&place.holders, HELD, 3).await.unwrap_err();
    assert!(matches!(error, Error::Lost(_)), "{error}");
}

#[tokio::test]
async fn an_agent_that_does_not_start_is_told_in_words_and_leaves_nothing() {
    let cases = [
        (Order::new(HELD, "no-such-agent", "/"), "install it"),
        (Order::new(HELD, "/bin/cat", "/no/such/place"), "directory"),
        (Order::new("../held", "/bin/cat", "/"), "letters"),
    ];
    for (order, hint) in cases {
        let place = Place::new();
        let started = hold::start(Path::new(FIXTURE), &place.holders, order).await;
        let error = started.unwrap_err();
        assert!(matches!(error, Error::Agent(_)), "{error:?}");
        assert!(error.to_string().contains(hint), "{error}");
        assert_eq!(place.files(), [""; 0]);
    }
}

#[tokio::test]
async fn a_program_that_is_no_holder_is_told_apart() {
    for (program, problem) in [
        ("/bin/true", "without a word"),
        ("/no/program", "No such file"),
    ] {
        let place = Place::new();
        let order = Order::new(HELD, "/bin/cat", "/");
        let error = hold::start(Path::new(program), &place.holders, order).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[tokio::test]
async fn what_an_agent_is_started_with_is_in_no_file_and_no_argument() {
    let script = "echo \"$0 $SECRET $OTHER\"; pwd; exec cat";
    let order = Order::new(HELD, "/bin/sh", "/tmp")
        .args(["-c", script, "argument"])
        .envs([("SECRET", "hidden"), ("OTHER", "value")])
        .envs([("PLY_PROCESS_TREE", "1-2-3-4")])
        .about("an agent", "a store");
    let place = Place::start(order).await;
    let mut hub = place.connect(1).await;
    assert_eq!(hub.line().await.1, "argument hidden value");
    assert_eq!(hub.line().await.1, "/tmp");
    let agent = std::fs::read(format!("/proc/{}/environ", hub.0.agent)).unwrap();
    let agent = String::from_utf8(agent).unwrap();
    assert!(
        !agent.contains("1-2-3-4"),
        "a tree that is not the holder's"
    );
    assert!(agent.contains("PLY_PROCESS_TREE="));
    let holder = place.holder();
    let own = |name| std::fs::read(format!("/proc/{holder}/{name}")).unwrap();
    assert_eq!(own("environ"), b"");
    assert_eq!(own("cmdline"), format!("{FIXTURE}\0hold\0").as_bytes());
    let found = hold::find(&place.holders).unwrap();
    assert_eq!(
        (&*found[0].agent, &*found[0].store),
        ("an agent", "a store")
    );
    for name in place.files().iter().filter(|name| name.ends_with(".json")) {
        let text = std::fs::read_to_string(place.holders.join(name)).unwrap();
        assert!(
            !text.contains("hidden") && !text.contains("argument"),
            "{text}"
        );
    }
    hub.bury(&place).await;
}

#[tokio::test]
async fn an_agent_ends_when_its_holder_is_killed_and_what_ignores_it_is_found_as_left_over() {
    let script = "trap '' TERM; setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!; trap - TERM; exec cat";
    let place = Place::start(shell(script)).await;
    let mut hub = place.connect(1).await;
    let stray = hub.line().await.1.parse().unwrap();
    kill(place.holder(), Signal::KILL);
    gone(&[u64::from(hub.0.agent)]).await;
    hub.lost().await;
    assert!(is_alive(stray));
    let mut grace = child::Grace::default();
    grace.after_term = Duration::from_millis(200);
    within(SECONDS, child::end_leftovers(grace)).await;
    gone(&[stray]).await;
    assert!(hold::find(&place.holders).unwrap().is_empty());
    assert_eq!(place.files(), [""; 0]);
}
