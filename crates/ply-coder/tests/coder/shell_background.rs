//! Processes in the background, as real processes.

use std::time::Duration;

use ply_coder::shell::{BACKGROUND_MAX, Confinement, Error, Exit, Line, Processes};
use tokio::time::{Instant, timeout};

use crate::shell_support::{Card, PATIENCE, Scratch};

/// Ignores SIGTERM, and leaves a daemon behind that does so too, in another session.
const STUBBORN: &str = r#"
    exec 9>witness
    trap '' TERM
    (setsid sh -c 'trap "" TERM; echo up; while :; do sleep 1; done' &)
    while :; do sleep 1; done
"#;

async fn start(scratch: &Scratch, processes: &Processes, command: &str) -> String {
    let line = Line::new(command, &scratch.0);
    processes.start(&line).await.unwrap()
}

/// Reads until the output has a text.
async fn read_until(processes: &Processes, id: &str, text: &str) -> String {
    let mut all = String::new();
    while !all.contains(text) {
        all += &processes.output(id, PATIENCE).await.unwrap();
    }
    all
}

#[tokio::test]
async fn a_process_is_written_to_and_read() {
    let scratch = Scratch::new();
    let processes = scratch.processes();
    let id = start(
        &scratch,
        &processes,
        "printf 'name? '; read -r x; echo hello $x; cat",
    )
    .await;
    assert_eq!(id, "p1");
    let output = processes.output(&id, PATIENCE).await.unwrap();
    assert_eq!(output, "name? \np1 is running");
    processes.write(&id, Some("ply\n")).await.unwrap();
    read_until(&processes, &id, "hello ply\n").await;
    let nothing = processes.output(&id, Duration::ZERO).await.unwrap();
    assert_eq!(nothing, "(no new output)\np1 is running");
    processes.write(&id, Some("last")).await.unwrap();
    processes.write(&id, None).await.unwrap();
    let end = read_until(&processes, &id, "exit code 0").await;
    assert!(end.contains("last"), "{end}");
    let closed = processes.write(&id, Some("x")).await.unwrap_err();
    assert!(matches!(closed, Error::Ended(_)));
    assert!(processes.finished().is_empty(), "the end was told");
    let log = processes.log(&id, 1, None).await.unwrap();
    assert_eq!(log, "name? hello ply\nlast\n[lines 1 to 2 of 2]");
}

#[tokio::test]
async fn output_that_is_closed_is_no_output() {
    let scratch = Scratch::new();
    let processes = scratch.processes();
    let command = "exec >&- 2>&-; sleep 0.5; exit 3";
    let id = start(&scratch, &processes, command).await;
    let output = processes.output(&id, PATIENCE).await.unwrap();
    assert_eq!(output, "(no new output)\nexit code 3");
}

#[tokio::test]
async fn the_end_of_a_process_is_news_until_it_was_told() {
    let scratch = Scratch::new();
    let processes = scratch.processes();
    start(&scratch, &processes, "echo why; exit 3").await;
    let ended = async {
        loop {
            let news = processes.finished();
            if !news.is_empty() {
                break news;
            }
            tokio::task::yield_now().await;
        }
    };
    let news = timeout(PATIENCE, ended).await.unwrap();
    assert_eq!(
        news,
        [(
            "p1".to_owned(),
            "Background process p1 (`echo why; exit 3`) has ended: exit code 3. \
             The end of its output:\nwhy"
                .to_owned()
        )]
    );
    assert_eq!(processes.finished(), news);
    processes.told("p1");
    assert!(processes.finished().is_empty());
    assert_eq!(processes.list()[0].exit, Some(Exit::Code(3)));
}

#[tokio::test]
async fn a_signal_reaches_the_process_group() {
    let scratch = Scratch::new();
    let processes = scratch.processes();
    let line = "trap 'echo got; exit 5' INT; echo up; while :; do sleep 1000; done";
    let id = start(&scratch, &processes, line).await;
    read_until(&processes, &id, "up").await;
    processes.signal(&id, "INT").await.unwrap();
    let end = read_until(&processes, &id, "exit code").await;
    assert!(
        end.contains("got\n") && end.ends_with("exit code 5"),
        "{end}"
    );
    let unknown = processes.signal(&id, "SEGV").await.unwrap_err();
    assert!(matches!(unknown, Error::UnknownSignal));
}

// Also: C8.
#[tokio::test]
async fn stopping_ends_the_whole_tree() {
    let scratch = Scratch::new();
    let witness = scratch.witness();
    let processes = scratch.processes();
    let id = start(&scratch, &processes, STUBBORN).await;
    read_until(&processes, &id, "up").await;
    let end = timeout(PATIENCE, processes.stop(&id))
        .await
        .unwrap()
        .unwrap();
    assert!(end.ends_with("ended by signal SIGKILL"), "{end}");
    witness.gone().await;
    let again = processes.stop(&id).await.unwrap();
    assert!(again.ends_with("ended by signal SIGKILL"), "{again}");
}

#[tokio::test]
async fn processes_are_bounded_and_end_with_the_session() {
    let scratch = Scratch::new();
    let witness = scratch.witness();
    let processes = scratch.processes();
    for _ in 1..BACKGROUND_MAX {
        start(&scratch, &processes, "exec 9>witness; sleep 1000").await;
    }
    let last = start(&scratch, &processes, STUBBORN).await;
    read_until(&processes, &last, "up").await;
    let line = Line::new("true", &scratch.0);
    let error = processes.start(&line).await.unwrap_err();
    assert!(matches!(error, Error::TooMany));
    let began = Instant::now();
    processes.end_all().await;
    assert!(began.elapsed() < Duration::from_secs(2));
    witness.gone().await;
    assert!(processes.list().iter().all(|listed| listed.exit.is_some()));
    let error = processes.start(&line).await.unwrap_err();
    assert!(matches!(error, Error::Closed));
    let error = processes.run(&line, &Card::new()).await.unwrap_err();
    assert!(matches!(error, Error::Closed));
    assert_eq!(
        std::fs::read_dir(scratch.0.join("logs")).unwrap().count(),
        0
    );
}

#[tokio::test]
async fn processes_that_nobody_owns_are_killed() {
    let scratch = Scratch::new();
    let witness = scratch.witness();
    let processes = scratch.processes();
    let id = start(&scratch, &processes, STUBBORN).await;
    read_until(&processes, &id, "up").await;
    drop(processes);
    witness.gone().await;
}

#[tokio::test]
async fn a_process_that_floods_keeps_its_end() {
    let scratch = Scratch::new();
    let processes = scratch.processes();
    let id = start(&scratch, &processes, "seq 1 100000; cat").await;
    read_until(&processes, &id, "\n100000\n").await;
    processes.write(&id, None).await.unwrap();
    read_until(&processes, &id, "exit code 0").await;
    let log = processes.log(&id, 99_999, None).await.unwrap();
    assert_eq!(log, "99999\n100000\n[lines 99999 to 100000 of 100000]");
}

#[tokio::test]
async fn h14_what_may_only_read_does_not_run_without_a_sandbox() {
    let scratch = Scratch::new();
    let processes = scratch.processes();
    let line = Line::new("touch made; cat", &scratch.0);
    let id = processes.start(&line).await.unwrap();
    processes.confine(Confinement::ReadOnly);
    let error = processes.run(&line, &Card::new()).await.unwrap_err();
    assert!(error.to_string().contains("it is turned off"), "{error}");
    assert!(processes.start(&line).await.is_err());
    let error = processes.write(&id, Some("x")).await.unwrap_err();
    assert!(matches!(error, Error::ReadOnlyWrite));
    processes.stop(&id).await.unwrap();
}
