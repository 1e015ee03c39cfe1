//! `ply watch`, beside an editor.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout};

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{Place, text};

const PROMPT: &str = "what can you do?";

/// A program, and what it writes. Without a reader it would end by itself.
struct Watching {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Watching {
    fn new(mut child: Child) -> Self {
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    /// Reads until a line is as wanted, and returns everything up to there.
    fn until(mut self, is_it: impl Fn(&str) -> bool) -> (String, Self) {
        let mut read = String::new();
        for line in self.out.by_ref().lines() {
            let line = line.unwrap();
            read.push_str(&line);
            read.push('\n');
            if is_it(&line) {
                return (read, self);
            }
        }
        panic!("it ended after {read}");
    }
}

fn interrupt(Watching { mut child, out }: Watching) -> Option<i32> {
    let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let ended = child.wait().unwrap();
    drop(out);
    ended.code()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_watched_from_its_beginning_and_as_it_goes_on() {
    let place = Place::new();
    let editor = place.attach().await;
    let session = editor.new_session(place.project()).await.unwrap();
    session
        .prompt(PROMPT)
        .await
        .unwrap()
        .finish()
        .await
        .unwrap();
    let id = session.id().0.to_string();
    let plain = Watching::new(place.start(&["watch"]));
    let json = Watching::new(place.start(&["watch", "--json", &id[..id.len() - 2]]));
    let both = [
        tokio::task::spawn_blocking(move || plain.until(|line| line == "  and now?")),
        tokio::task::spawn_blocking(move || json.until(|line| line.contains("and now?"))),
    ];
    let seen = || {
        let open = place.says(&["hub", "sessions", "--json"]);
        let open: serde_json::Value = serde_json::from_str(&open).unwrap();
        open[0]["clients"] == 3
    };
    place.until(|_| seen()).await;
    session
        .prompt("and now?")
        .await
        .unwrap()
        .finish()
        .await
        .unwrap();
    let mut shown = Vec::new();
    for watched in both {
        let (read, watching) = watched.await.unwrap();
        assert_eq!(interrupt(watching), Some(130));
        shown.push(read);
    }
    assert!(
        shown[0].starts_with("\nuser\n  what can you do?\n"),
        "{}",
        shown[0]
    );
    assert!(shown[0].contains("\nagent\n"), "{}", shown[0]);
    for line in shown[1].lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["sessionId"], *id, "{line}");
        assert!(object["update"]["sessionUpdate"].is_string(), "{line}");
    }
    editor.close().await;
}

#[test]
fn there_is_nothing_to_watch_without_a_hub_or_a_session() {
    let place = Place::new();
    let none = place.ply(&["watch"]);
    assert!(!none.status.success());
    assert!(
        text(&none.stderr).contains("no hub runs"),
        "{}",
        text(&none.stderr)
    );
}
