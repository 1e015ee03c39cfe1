//! Commands in the foreground, as real processes.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use ply_coder::shell::{Cause, Exit, LIVE_BYTES_MAX, Line, OUTPUT_BYTES_MAX, Ran};
use tokio::time::{Instant, timeout};

use crate::shell_support::{Card, PATIENCE, Scratch};

/// Ignores SIGTERM, and leaves a daemon behind that does so too, in another session.
const STUBBORN: &str = r#"
    exec 9>witness
    trap '' TERM
    (setsid sh -c 'trap "" TERM; echo daemon >&9; echo up; while :; do sleep 1; done' &)
    while :; do sleep 1; done
"#;

async fn run_in(scratch: &Scratch, command: &str) -> (Ran, Card) {
    let card = Card::new();
    let line = Line::new(command, &scratch.0);
    let processes = scratch.processes();
    let ran = timeout(PATIENCE, processes.run(&line, &card)).await;
    (ran.expect("the command hangs").unwrap(), card)
}

async fn run(command: &str) -> (Ran, Card) {
    run_in(&Scratch::new(), command).await
}

#[track_caller]
fn check(ran: &Ran, output: &str, code: i32) {
    assert_eq!(
        (ran.output.as_str(), ran.exit),
        (output, Exit::Code(code)),
        "{ran:?}"
    );
}

#[tokio::test]
async fn both_outputs_come_in_order_with_the_exit_code() {
    let scratch = Scratch::new();
    let (ran, card) = run_in(&scratch, "echo out; echo err >&2; pwd; exit 3").await;
    let output = format!("out\nerr\n{}\n", scratch.0.display());
    check(&ran, &output, 3);
    assert_eq!(ran.cause, Cause::Itself);
    assert_eq!(ran.text(), format!("{output}exit code 3"));
    let shown = card.shown();
    assert_eq!(shown.text(), output);
    assert_eq!(shown.opened.len(), 1);
    assert_eq!(shown.opened[0].1, scratch.0);
    assert_eq!(shown.closed, [(Some(3), None)]);
    assert!(
        !scratch.0.join("logs").exists(),
        "short outputs need no log"
    );
}

#[tokio::test]
async fn a_silent_success_says_so() {
    let (ran, _) = run("true").await;
    assert_eq!(ran.text(), "(no output)\nexit code 0");
}

#[tokio::test]
async fn death_by_a_signal_is_told_as_such() {
    let (ran, card) = run("echo before; kill -9 $$").await;
    assert_eq!(ran.exit, Exit::Signal(9));
    assert_eq!(ran.text(), "before\nended by signal SIGKILL");
    assert_eq!(card.shown().closed, [(None, Some("SIGKILL".to_owned()))]);
}

#[tokio::test]
async fn a_directory_that_is_gone_is_told() {
    let scratch = Scratch::new();
    let line = Line::new("true", scratch.0.join("none"));
    let error = scratch.processes().run(&line, &Card::new()).await;
    assert!(error.unwrap_err().to_string().contains("directory"));
}

#[tokio::test]
async fn c10_nothing_waits_for_a_person() {
    let (ran, _) = run("cat; readlink /proc/self/fd/0; read -r x </dev/tty || echo none").await;
    assert!(ran.output.starts_with("/dev/null\n"), "{ran:?}");
    assert!(ran.output.ends_with("none\n"), "{ran:?}");
    let (ran, _) = run("printf 'protocol=https\nhost=ply.invalid\n\n' \
         | git -c credential.helper= credential fill")
    .await;
    assert_eq!(ran.exit, Exit::Code(128));
    assert!(ran.output.contains("prompts disabled"), "{ran:?}");
    let (ran, _) =
        run("git init -q . && git -c user.name=a -c user.email=b commit --allow-empty").await;
    assert!(ran.output.contains("empty commit message"), "{ran:?}");
    let (ran, _) = run("echo $PAGER $GIT_PAGER $TERM").await;
    check(&ran, "cat cat dumb\n", 0);
}

#[tokio::test]
async fn c11_a_command_has_three_descriptors() {
    // The fourth is the directory that is being listed.
    let (ran, _) = run("ls /proc/self/fd").await;
    check(&ran, "0\n1\n2\n3\n", 0);
    let (ran, _) = run("[ /proc/self/fd/1 -ef /proc/self/fd/2 ] && readlink /proc/self/fd/1").await;
    assert!(ran.output.starts_with("pipe:"), "{ran:?}");
}

#[tokio::test]
async fn c8_when_the_time_is_up_the_whole_tree_is_killed() {
    let scratch = Scratch::new();
    let witness = scratch.witness();
    let mut line = Line::new(STUBBORN, &scratch.0);
    line.time = Duration::from_secs(2);
    let card = Card::new();
    let ran = scratch.processes().run(&line, &card).await.unwrap();
    assert_eq!(witness.gone().await, "daemon\n");
    assert_eq!((ran.cause, ran.exit), (Cause::Time, Exit::Signal(9)));
    assert_eq!(ran.output, "up\n");
    assert!(ran.text().contains("its time of 2000 ms was up"));
    assert_eq!(card.shown().closed, [(None, Some("SIGKILL".to_owned()))]);
}

// Also: C8.
#[tokio::test]
async fn d7_cancelling_ends_the_tree_and_keeps_the_output() {
    let scratch = Scratch::new();
    let witness = scratch.witness();
    let card = Card::new();
    let line = Line::new(STUBBORN, &scratch.0);
    let cancelling = async {
        card.saw("up").await;
        card.cancel();
        Instant::now()
    };
    let processes = scratch.processes();
    let (ran, cancelled) = tokio::join!(processes.run(&line, &card), cancelling);
    assert!(cancelled.elapsed() < Duration::from_secs(2));
    let ran = ran.unwrap();
    assert_eq!((ran.cause, ran.output.as_str()), (Cause::Cancelled, "up\n"));
    assert!(ran.text().contains("user cancelled"));
    witness.gone().await;
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_any_more_is_killed() {
    let scratch = Scratch::new();
    let witness = scratch.witness();
    let card = Arc::new(Card::new());
    let (processes, line) = (scratch.processes(), Line::new(STUBBORN, &scratch.0));
    let shown = Arc::clone(&card);
    let running = tokio::spawn(async move { processes.run(&line, &*shown).await });
    card.saw("up").await;
    running.abort();
    witness.gone().await;
}

#[tokio::test]
async fn a_child_that_keeps_the_pipe_open_holds_nobody_up() {
    let scratch = Scratch::new();
    let witness = scratch.witness();
    let (ran, _) = run_in(&scratch, "exec 9>witness; (sleep 1000 &); echo done").await;
    check(&ran, "done\n", 0);
    assert_eq!(ran.cause, Cause::Itself);
    witness.gone().await;
}

#[tokio::test]
async fn what_is_started_and_left_behind_ends_with_the_command() {
    let scratch = Scratch::new();
    let witness = scratch.witness();
    let (ran, _) = run_in(
        &scratch,
        "exec 9>witness; setsid sleep 1000 >&- 2>&- & exit 0",
    )
    .await;
    check(&ran, "", 0);
    witness.gone().await;
}

#[tokio::test]
async fn a_long_output_is_cut_and_logged() {
    let scratch = Scratch::new();
    let card = Card::new();
    let processes = scratch.processes();
    let line = Line::new("seq 1 1000000; printf end", &scratch.0);
    let ran = processes.run(&line, &card).await.unwrap();
    assert!(ran.output.len() < OUTPUT_BYTES_MAX + 1024);
    assert!(ran.output.starts_with("1\n2\n3\n"));
    assert!(ran.output.ends_with("\n999999\n1000000\nend"));
    assert!(
        ran.output
            .contains(" bytes left out; all of it is log c1 in ")
    );
    let lines = processes.log("c1", 500_000, Some(2)).await.unwrap();
    assert_eq!(lines, "500000\n500001\n[lines 500000 to 500001 of 1000001]");

    let shown = card.shown().text();
    assert!(shown.len() < LIVE_BYTES_MAX + 100);
    assert!(shown.ends_with("[more output is not shown here]\r\n"));

    let logs = scratch.0.join("logs");
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&logs), 0o700);
    let log = std::fs::read_dir(&logs)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert_eq!(mode(&log), 0o600);
    assert!(ran.output.contains(log.to_str().unwrap()));
    drop(processes);
    assert!(!log.exists(), "logs go with their session");
}

#[tokio::test]
async fn output_comes_as_text() {
    let (ran, card) = run(r"printf '\033[31mred\033[0m\n 1%%\r 50%%\r100%%\n\377\n'").await;
    check(&ran, "red\n100%\n\u{fffd}\n", 0);
    let raw = card.shown().updates.concat();
    assert_eq!(raw, b"\x1b[31mred\x1b[0m\n 1%\r 50%\r100%\n\xff\n");
}

#[tokio::test]
async fn updates_are_few_and_complete() {
    let began = Instant::now();
    let (ran, card) = run("for i in $(seq 300); do printf '\u{20ac}%s\n' $i; done").await;
    let updates = card.shown().updates;
    assert_eq!(String::from_utf8(updates.concat()).unwrap(), ran.output);
    assert!(
        updates
            .iter()
            .all(|update| std::str::from_utf8(update).is_ok())
    );
    let most = began.elapsed().as_millis() / 50 + 3;
    assert!((updates.len() as u128) < most, "{} updates", updates.len());
}

#[tokio::test]
async fn a_client_that_reads_nothing_holds_nobody_up() {
    let scratch = Scratch::new();
    let (card, line) = (
        Card::stuck(),
        Line::new("seq 1 100000; echo end", &scratch.0),
    );
    let processes = scratch.processes();
    let ran = timeout(PATIENCE, processes.run(&line, &card)).await;
    assert_eq!(ran.expect("it hangs").unwrap().exit, Exit::Code(0));
}

#[tokio::test]
async fn h19_secrets_of_the_agent_stay_with_it() {
    // The environment of this process cannot be changed, so it starts itself with another one.
    let mut inner = std::process::Command::new(std::env::current_exe().unwrap());
    inner.args(["--exact", "shell_commands::inner_environment", "--ignored"]);
    inner.envs([("PLY_API_KEY", "1"), ("Some_Token", "1"), ("PLY_KEPT", "1")]);
    inner.envs([("BASH_ENV", "/dev/stdout"), ("GIT_ASKPASS", "ask")]);
    inner.envs([("CDPATH", "/"), ("TMUX", "1"), ("PLY_PASS", "1")]);
    inner.envs([("PLY_STORE", "db://me:word@host"), ("SSH_AUTH_SOCK", "/s")]);
    let output = inner.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
    assert!(!said.contains("from a command"), "{said}");
}

#[tokio::test]
#[ignore = "run by the test above with an environment of its own"]
async fn inner_environment() {
    let (ran, _) = run("env | sort; echo from a command").await;
    for name in [
        "PLY_API_KEY",
        "Some_Token",
        "BASH_ENV",
        "GIT_ASKPASS",
        "CDPATH",
        "TMUX",
        "PLY_PASS",
        "PLY_STORE",
    ] {
        assert!(!ran.output.contains(&format!("{name}=")), "{name}");
    }
    // Without a sandbox Git may use the user's keys.
    assert!(ran.output.contains("SSH_AUTH_SOCK=/s"));
    assert!(ran.output.contains("PLY_KEPT=1") && ran.output.contains("PATH="));
}

#[tokio::test]
async fn what_is_withheld_is_not_inherited() {
    let scratch = Scratch::new();
    let line = Line::new("echo ${CARGO_MANIFEST_DIR-none}", &scratch.0);
    let processes = scratch
        .processes()
        .withholding(vec!["CARGO_MANIFEST_DIR".to_owned()]);
    let ran = timeout(PATIENCE, processes.run(&line, &Card::new())).await;
    check(&ran.unwrap().unwrap(), "none\n", 0);
}
