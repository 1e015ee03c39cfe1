//! Child processes and their trees (fault rows C4 to C14).

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;
use std::time::Duration;

use ply_rpc::transport::child::{Command, Grace};
use ply_rpc::{CallError, Closed};
use process_tests::{Running, is_alive, loops, start, within};
use serde_json::{Value, json};

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture");

fn fixture(args: &[&str]) -> Command {
    Command::new(FIXTURE).args(args)
}

fn short_grace() -> Grace {
    let mut grace = Grace::default();
    grace.after_close = Duration::from_millis(300);
    grace.after_term = Duration::from_millis(300);
    grace
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn c4_full_pipes_both_ways_do_not_lock_up() {
    let mut running = start(fixture(&["agent"]).pipe_bytes(4096)).await;
    let flood = running.peer.call::<u64>("flood", &(1000, 64 << 10));
    let peer = running.peer.clone();
    let other_way = tokio::spawn(async move {
        let text = "y".repeat(64 << 10);
        for _ in 0..1000 {
            peer.notify("update", &json!([text])).await.unwrap();
        }
    });
    for index in 0..1000 {
        assert_eq!(running.update().await.1[0], index);
    }
    assert_eq!(within(60, flood).await.unwrap(), 1000);
    within(60, other_way).await.unwrap();
    running.end(Grace::default()).await;
}

#[tokio::test]
async fn c5_a_flood_on_standard_error_is_drained_and_its_tail_kept() {
    let bytes = 256 << 20;
    let mut running = start(fixture(&["stderr-flood", &bytes.to_string()])).await;
    assert_eq!(
        within(120, running.peer.call::<Value>("echo", &json!([1])))
            .await
            .unwrap(),
        json!([1])
    );
    running.peer.close();
    within(60, running.child.end(Grace::default()))
        .await
        .unwrap();
    assert!(running.child.stderr_bytes() > bytes);
    let tail = running.child.stderr_tail();
    assert_eq!(tail.len(), 64 << 10);
    let tail = String::from_utf8(tail).unwrap();
    assert!(tail.contains("e\nthe last words\n"), "{tail}");
}

#[tokio::test]
async fn c6_a_wrapper_and_the_agent_behind_it_end_together() {
    for round in 0..loops(20) {
        let mut running = start(fixture(&["wrapper"])).await;
        let agent: u64 = within(10, running.peer.call("pid", &())).await.unwrap();
        assert_ne!(agent, u64::from(running.child.id()));
        if round % 2 == 0 {
            // The wrapper dies alone; the agent behind it still has our pipes.
            let wrapper =
                rustix::process::Pid::from_raw(running.child.id().try_into().unwrap()).unwrap();
            rustix::process::kill_process(wrapper, rustix::process::Signal::KILL).unwrap();
            running.child.wait().await.unwrap();
            assert_eq!(
                within(10, running.peer.call::<Value>("echo", &json!([2])))
                    .await
                    .unwrap(),
                json!([2])
            );
        }
        running.end(short_grace()).await;
        assert!(!is_alive(agent), "the agent behind the wrapper lives on");
    }
}

/// Starts a child that has left daemons behind, and returns their ids.
async fn start_daemon() -> (Running, Vec<u64>) {
    let mut running = start(fixture(&["daemon"])).await;
    let (_, started) = running.update().await;
    (running, serde_json::from_value(started).unwrap())
}

#[tokio::test]
async fn c6_a_link_that_is_dropped_takes_the_tree_with_it() {
    let mut ids = Vec::new();
    for _ in 0..loops(5) {
        let (running, started) = start_daemon().await;
        ids.extend(started);
        assert!(ids.iter().rev().take(3).all(|id| is_alive(*id)), "{ids:?}");
        drop(running);
    }
    within(10, gone(&ids)).await;
}

async fn gone(ids: &[u64]) {
    while ids.iter().any(|id| is_alive(*id)) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn c8_children_that_ignore_sigterm_or_became_daemons_are_killed() {
    let mut ids = Vec::new();
    for _ in 0..loops(3) {
        let (running, started) = start_daemon().await;
        ids.extend(started);
        let status = running.end(short_grace()).await;
        assert!(!status.success(), "{status}");
        assert!(ids.iter().all(|id| !is_alive(*id)), "{ids:?}");
    }
}

#[tokio::test]
async fn c9_neither_zombies_nor_descriptors_pile_up() {
    let round = async || {
        let running = start(fixture(&["agent"])).await;
        within(10, running.peer.call::<Value>("echo", &json!([1])))
            .await
            .unwrap();
        let pid = running.child.id();
        running.end(Grace::default()).await;
        assert!(
            !Path::new(&format!("/proc/{pid}")).exists(),
            "a zombie is left"
        );
    };
    round().await;
    let before = open_descriptors();
    for _ in 0..loops(30) {
        round().await;
    }
    // The other tests of this process open and close descriptors meanwhile, but none per round.
    let after = open_descriptors();
    assert!(after < before + 25, "{before} before, {after} after");
}

#[tokio::test]
async fn c10_c11_children_get_no_terminal_and_no_descriptor_but_their_three() {
    // A descriptor that anyone may have opened without the flag that closes it for children.
    let leaked = rustix::io::dup(std::fs::File::open("/dev/null").unwrap()).unwrap();
    assert!(
        rustix::io::fcntl_getfd(&leaked).unwrap().is_empty(),
        "the test needs a descriptor that is inherited"
    );
    let running = start(fixture(&["agent"])).await;
    let open: Vec<String> = within(10, running.peer.call("descriptors", &()))
        .await
        .unwrap();
    let null = open
        .iter()
        .filter(|entry| entry.ends_with("/dev/null"))
        .collect::<Vec<_>>();
    assert_eq!(null, ["0 /dev/null"], "{open:?}");
    // `print` runs a shell that copies its standard input: it ends at once, because that is the null device.
    assert_eq!(
        within(10, running.peer.call::<Value>("print", &()))
            .await
            .unwrap(),
        true
    );
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", running.child.id())).unwrap();
    let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let id = running.child.id().to_string();
    assert_eq!(
        (fields[2], fields[3], fields[4]),
        (id.as_str(), id.as_str(), "0"),
        "own group, own session, no terminal"
    );
    running.end(Grace::default()).await;
}

#[tokio::test]
async fn c12_writing_to_a_peer_that_closed_is_an_error_and_no_crash() {
    for bytes in (0..=4096).step_by(512) {
        let mut running = start(fixture(&["close-after", &bytes.to_string()])).await;
        let mut result = Ok(());
        while result.is_ok() {
            result = running
                .peer
                .notify("update", &json!(["x".repeat(100)]))
                .await;
        }
        assert!(result.unwrap_err().is_closed());
        assert_eq!(
            running.update().await.0,
            "closed",
            "what it said before is still heard"
        );
        let closed = within(10, running.peer.closed()).await;
        assert!(matches!(closed, Closed::Eof | Closed::Write(_)), "{closed}");
        running.end(Grace::default()).await;
    }
}

#[tokio::test]
async fn c13_requests_piped_in_before_the_end_are_answered_and_the_agent_exits() {
    use std::io::Write as _;
    for _ in 0..loops(30) {
        let mut agent = std::process::Command::new(FIXTURE);
        agent
            .arg("agent")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped());
        let mut agent = agent.stderr(std::process::Stdio::null()).spawn().unwrap();
        let mut stdin = agent.stdin.take().unwrap();
        for id in 1..=3 {
            writeln!(
                stdin,
                "{}",
                json!({"jsonrpc": "2.0", "id": id, "method": "echo", "params": [id]})
            )
            .unwrap();
        }
        drop(stdin);
        let output = tokio::task::spawn_blocking(|| agent.wait_with_output())
            .await
            .unwrap()
            .unwrap();
        assert!(output.status.success());
        let answers = String::from_utf8(output.stdout).unwrap();
        let expected: String = (1..=3)
            .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":[{id}]}}\n"))
            .collect();
        assert_eq!(answers, expected);
    }
}

#[tokio::test]
async fn b14_an_agent_that_dies_fails_every_call_at_once() {
    for code in [0, 1, 7] {
        let mut running = start(fixture(&["agent"])).await;
        let calls: Vec<_> = (0..50)
            .map(|_| running.peer.call::<Value>("never", &()))
            .collect();
        let last = running.peer.call::<Value>("exit", &[code]);
        for call in calls.into_iter().chain([last]) {
            let error = within(10, call).await.unwrap_err();
            assert!(
                matches!(
                    error,
                    CallError::Closed {
                        reason: Closed::Eof,
                        ..
                    }
                ),
                "{error:?}"
            );
        }
        assert_eq!(running.child.wait().await.unwrap().code(), Some(code));
        running.end(Grace::default()).await;
    }
}

#[tokio::test]
async fn c14_a_command_that_does_not_start_says_why_and_what_to_do() {
    let directory = std::env::temp_dir();
    let script = directory.join(format!("ply-no-interpreter-{}", std::process::id()));
    let spawn = async |command: Command| command.spawn().await.err().unwrap().to_string();
    let error = spawn(Command::new("no-such-agent-here").arg("--acp")).await;
    assert_eq!(
        error,
        "cannot start `no-such-agent-here`: No such file or directory (os error 2); install it, or check that its \
         directory is in PATH"
    );
    let error = spawn(Command::new(FIXTURE).cwd("/no/such/directory")).await;
    assert!(
        error.contains(" in /no/such/directory: ") && error.contains("choose another one"),
        "{error}"
    );
    // Written by a shell: had this process the file open for writing, a child that another test forks meanwhile would hold it
    // open, and it could not be executed.
    let write = |text: &str, mode: &str| {
        let commands = format!(
            "printf '%s' '{text}' > '{0}' && chmod {mode} '{0}'",
            script.display()
        );
        let status = std::process::Command::new("sh")
            .args(["-c", &commands])
            .status();
        assert!(status.unwrap().success());
    };
    write("not a program", "644");
    let error = spawn(Command::new(&script)).await;
    assert!(
        error.contains("Permission denied") && error.contains("may be executed"),
        "{error}"
    );
    write("#!/no/such/interpreter", "755");
    let error = spawn(Command::new(&script)).await;
    assert!(
        error.contains("the first line if it is a script"),
        "{error}"
    );
    std::fs::remove_file(&script).unwrap();
    let long = "x".repeat(8 << 20);
    let error = spawn(Command::new(FIXTURE).arg(long)).await;
    assert!(error.contains("too long"), "{error}");
}

/// Runs in a process of its own, because the limit on open files is one of the whole process.
#[tokio::test]
async fn c14_too_many_open_files_is_said_in_words() {
    let script = format!("ulimit -n 12; exec '{FIXTURE}' spawn-here");
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .unwrap();
    let error = String::from_utf8(output.stdout).unwrap();
    assert!(
        error.contains("Too many open files") && error.contains("raise the limit"),
        "{error}"
    );
}
