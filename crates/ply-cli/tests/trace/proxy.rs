//! Every byte passes as it is, whatever happens to the recording.

use std::os::unix::fs::PermissionsExt as _;

use ply_check::trace::{Direction, Event};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{entries, record, said, soon};

/// Sends pieces through `cat`, one write each, and returns what comes back and the recording's lines.
async fn through_cat(pieces: &[&[u8]]) -> (Vec<u8>, Vec<String>) {
    let place = TempDir::new().unwrap();
    let mut proxy = record(place.path(), &["-o", "t"], "cat");
    let mut input = proxy.stdin.take().unwrap();
    let mut output = proxy.stdout.take().unwrap();
    let sent = async {
        for piece in pieces {
            input.write_all(piece).await.unwrap();
            input.flush().await.unwrap();
        }
        drop(input);
    };
    let mut back = Vec::new();
    let (_, read) = soon(async { tokio::join!(sent, output.read_to_end(&mut back)) }).await;
    read.unwrap();
    assert!(soon(proxy.wait()).await.unwrap().success());
    let entries = entries(&place.path().join("t"));
    let to_agent = said(&entries, Direction::ToAgent);
    assert_eq!(to_agent, said(&entries, Direction::ToClient));
    (back, to_agent)
}

#[tokio::test]
async fn every_byte_passes_whatever_it_is() {
    let pieces: [&[u8]; 6] = [
        b"{\"b\":1.50,",
        b"\"a\":2}\r\n",
        b"\xff\xfe\n",
        b"\n",
        b"text\n{\"c\"",
        b":3}",
    ];
    let (back, lines) = through_cat(&pieces).await;
    assert_eq!(back, pieces.concat());
    let expected = [
        r#"{"b":1.50,"a":2}"#,
        "bytes [255, 254]",
        "text ",
        "text text",
        r#"{"c":3}"#,
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn a_line_of_16_mib_passes_and_is_recorded() {
    let line = format!("{{\"x\":\"{}\"}}\n", "a".repeat(16 * 1024 * 1024));
    let (back, lines) = through_cat(&[line.as_bytes()]).await;
    assert!(back == line.as_bytes());
    assert!(lines == [line.trim()]);
}

#[tokio::test]
async fn a_frame_passes_before_anything_else_is_sent() {
    let place = TempDir::new().unwrap();
    let mut proxy = record(place.path(), &["-o", "t"], "cat");
    let mut input = proxy.stdin.take().unwrap();
    let mut output = proxy.stdout.take().unwrap();
    for piece in ["{\"half", "\":1}\n"] {
        input.write_all(piece.as_bytes()).await.unwrap();
        let mut back = vec![0; piece.len()];
        soon(output.read_exact(&mut back)).await.unwrap();
        assert_eq!(back, piece.as_bytes());
    }
}

#[tokio::test]
async fn the_end_of_either_stream_is_passed_on() {
    let place = TempDir::new().unwrap();
    // The agent closes its output first, and sees the end of its input later.
    let script = "echo '{\"a\":1}'; exec >&-; cat >got; exit 7";
    let mut proxy = record(place.path(), &["-o", "t"], script);
    let mut back = String::new();
    let mut output = proxy.stdout.take().unwrap();
    soon(output.read_to_string(&mut back)).await.unwrap();
    assert_eq!(back, "{\"a\":1}\n");
    let mut input = proxy.stdin.take().unwrap();
    input.write_all(b"late\n").await.unwrap();
    drop(input);
    assert_eq!(soon(proxy.wait()).await.unwrap().code(), Some(7));
    assert_eq!(std::fs::read(place.path().join("got")).unwrap(), b"late\n");
    let entries = entries(&place.path().join("t"));
    let closed = entries
        .iter()
        .filter(|entry| matches!(entry.event, Event::Closed(_)));
    assert_eq!(closed.count(), 2);
}

#[tokio::test]
async fn the_exit_code_is_the_agents() {
    for (script, code) in [
        ("exit 0", 0),
        ("exit 42", 42),
        ("kill -KILL $$", 137),
        ("kill -TERM $$", 143),
    ] {
        let place = TempDir::new().unwrap();
        let mut proxy = record(place.path(), &["-o", "t"], script);
        assert_eq!(
            soon(proxy.wait()).await.unwrap().code(),
            Some(code),
            "{script}"
        );
        let entries = entries(&place.path().join("t"));
        let Event::Exit(exit) = &entries.last().unwrap().event else {
            panic!("{entries:?}");
        };
        assert_eq!(
            exit.code.or(exit.signal.map(|signal| 128 + signal)),
            Some(code)
        );
    }
}

#[tokio::test]
async fn a_command_that_is_not_there_is_told_of() {
    let place = TempDir::new().unwrap();
    let ran = tokio::process::Command::new(crate::PLY)
        .args(["trace", "-o", "t", "--", "no-such-agent"])
        .current_dir(place.path())
        .output();
    let ran = soon(ran).await.unwrap();
    assert_eq!(ran.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("no-such-agent"));
    assert!(!place.path().join("t").exists(), "nothing is left of it");
}

#[tokio::test]
async fn a_directory_that_is_named_as_one_is_made() {
    let place = tempfile::tempdir().unwrap();
    let mut proxy = record(place.path(), &["-o", "new/traces/"], "exit 0");
    soon(proxy.wait()).await.unwrap();
    let made = std::fs::read_dir(place.path().join("new/traces")).unwrap();
    assert_eq!(made.count(), 1);
}

#[tokio::test]
async fn each_start_is_a_file_of_its_own_in_a_directory() {
    let place = TempDir::new().unwrap();
    let traces = place.path().join("traces");
    std::fs::create_dir(&traces).unwrap();
    for count in 1..=3 {
        let mut proxy = record(place.path(), &["-o", traces.to_str().unwrap()], "exit 0");
        assert_eq!(soon(proxy.wait()).await.unwrap().code(), Some(0));
        let files = std::fs::read_dir(&traces).unwrap();
        let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        assert_eq!(names.len(), count, "{names:?}");
        let is_trace = |name: &std::ffi::OsString| {
            let name = name.to_string_lossy();
            name.starts_with("trace-") && name.ends_with(".ndjson")
        };
        assert!(names.iter().all(is_trace), "{names:?}");
    }
}

#[tokio::test]
async fn signals_reach_the_agent_and_its_children() {
    for (signal, name) in [
        (Signal::INT, "INT"),
        (Signal::TERM, "TERM"),
        (Signal::HUP, "HUP"),
    ] {
        let place = TempDir::new().unwrap();
        let child =
            format!("trap 'echo {name} >child; exit' {name}; echo ready; sleep 1000 & wait");
        let script = format!("trap : {name}; sh -c \"{child}\"; exit 9");
        let mut proxy = record(place.path(), &["-o", "t"], &script);
        let mut ready = [0; 6];
        soon(proxy.stdout.as_mut().unwrap().read_exact(&mut ready))
            .await
            .unwrap();
        let id = i32::try_from(proxy.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
        assert_eq!(soon(proxy.wait()).await.unwrap().code(), Some(9), "{name}");
        assert_eq!(
            std::fs::read_to_string(place.path().join("child"))
                .unwrap()
                .trim(),
            name
        );
    }
}

#[tokio::test]
async fn a_recorder_that_is_killed_leaves_no_agent() {
    let place = TempDir::new().unwrap();
    let mut proxy = record(place.path(), &["-o", "t"], "echo ready; exec sleep 1000");
    let mut output = proxy.stdout.take().unwrap();
    let mut ready = [0; 6];
    soon(output.read_exact(&mut ready)).await.unwrap();
    let recorded = std::process::Command::new("pgrep")
        .args(["-P", &proxy.id().unwrap().to_string()])
        .output()
        .unwrap();
    let agent = String::from_utf8(recorded.stdout)
        .unwrap()
        .trim()
        .to_owned();
    assert!(!agent.is_empty());
    proxy.kill().await.unwrap();
    soon(async {
        // A process that is gone, or a zombie that nobody has waited for yet.
        while std::fs::read_to_string(format!("/proc/{agent}/stat"))
            .is_ok_and(|stat| !stat.contains(") Z "))
        {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn standard_error_passes_and_is_recorded_by_line() {
    let place = TempDir::new().unwrap();
    let script = "printf 'one ' >&2; echo two >&2; echo 'OPENAI_API_KEY=abcdefgh12345' >&2";
    let proxy = record(place.path(), &["-o", "t"], script);
    let ran = soon(proxy.wait_with_output()).await.unwrap();
    let shown = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(
        shown.contains("one two\n") && shown.contains("abcdefgh12345"),
        "{shown}"
    );
    let text = std::fs::read_to_string(place.path().join("t")).unwrap();
    assert!(
        text.contains("\"err\":\"one two\"") && !text.contains("abcdefgh12345"),
        "{text}"
    );
}

#[tokio::test]
async fn a_full_disk_stops_the_recording_and_nothing_else() {
    let place = TempDir::new().unwrap();
    let mut proxy = record(place.path(), &["-o", "/dev/full", "--force"], "cat");
    let mut input = proxy.stdin.take().unwrap();
    let mut output = proxy.stdout.take().unwrap();
    for number in 0..100 {
        let line = format!("{{\"n\":{number}}}\n");
        input.write_all(line.as_bytes()).await.unwrap();
        let mut back = vec![0; line.len()];
        soon(output.read_exact(&mut back)).await.unwrap();
        assert_eq!(back, line.as_bytes());
    }
    drop(input);
    let ran = soon(proxy.wait_with_output()).await.unwrap();
    assert!(ran.status.success());
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(told.matches("cannot be written").count(), 1, "{told}");
    assert!(told.contains("the trace lacks 204 entries"), "{told}");
}

#[tokio::test]
async fn a_file_is_for_its_owner_and_is_not_overwritten() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("t");
    for (options, code) in [
        (&["-o", "t"][..], 0),
        (&["-o", "t"], 2),
        (&["-o", "t", "--force"], 0),
    ] {
        let mut proxy = record(place.path(), options, "true");
        assert_eq!(
            soon(proxy.wait()).await.unwrap().code(),
            Some(code),
            "{options:?}"
        );
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let proxy = record(place.path(), &[], "true");
    let told = soon(proxy.wait_with_output()).await.unwrap();
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    let names = std::fs::read_dir(place.path())
        .unwrap()
        .map(|it| it.unwrap().file_name());
    let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    let name = names
        .iter()
        .find(|name| name.starts_with("trace-"))
        .unwrap();
    assert!(told.contains(name.as_str()), "{told}");
}

#[tokio::test]
async fn secrets_pass_and_are_not_recorded_unless_asked_for() {
    let secret = concat!("sk-", "ant-", "api03-", "abcdefghijkl", "mnop1234");
    let line = format!(
        "{{\"params\":{{\"env\":[{{\"name\":\"A\",\"value\":\"hush\"}}],\"x\":\"{secret}\"}}}}\n"
    );
    for (options, is_there) in [
        (&["-o", "t"][..], false),
        (&["-o", "t", "--no-redact"], true),
    ] {
        let place = TempDir::new().unwrap();
        let mut proxy = record(place.path(), options, "cat >got");
        proxy
            .stdin
            .take()
            .unwrap()
            .write_all(line.as_bytes())
            .await
            .unwrap();
        assert!(soon(proxy.wait()).await.unwrap().success());
        assert_eq!(
            std::fs::read_to_string(place.path().join("got")).unwrap(),
            line
        );
        let text = std::fs::read_to_string(place.path().join("t")).unwrap();
        assert_eq!(
            (text.contains(secret), text.contains("hush")),
            (is_there, is_there)
        );
        assert!(
            text.starts_with("{\"ply\":\"trace\",\"version\":1,"),
            "{text}"
        );
        assert!(
            text.contains(&format!("\"redacted\":{}", !is_there)),
            "{text}"
        );
    }
}
