//! The agent in the program, with the model that needs no network.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use insta::assert_snapshot;

use crate::place::{Place, finish};

fn repository() -> Place {
    let place = Place::new();
    place.write("project/README.md", "# Teapot\n\nA pot for tea.\n");
    place
}

/// Replaces what is different each time.
fn steady(text: &str, place: &Place) -> String {
    let root = place.path("");
    let text = text.replace(root.to_str().unwrap().trim_end_matches('/'), "ROOT");
    let is_time = |part: &str| part.ends_with(" s");
    // They change with every word of a prompt or a tool.
    let is_tokens = |part: &str| part.ends_with(" tokens");
    let lines = text.lines().map(|line| match line.starts_with('—') {
        true => {
            let parts = line.split(" · ");
            let parts = parts.map(|part| match part {
                part if is_time(part) => "TIME",
                part if is_tokens(part) => "TOKENS",
                part => part,
            });
            parts.collect::<Vec<_>>().join(" · ")
        }
        false if line.starts_with("Context: ") && is_tokens(line) => "Context: TOKENS".to_owned(),
        false => match line.find("sess-") {
            Some(at) => format!("{}SESSION{}", &line[..at], &line[at + 37..]),
            None => line.to_owned(),
        },
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_first_command_explains_the_repository() {
    let place = repository();
    let ran = place.run(&["explain this repository"]).ends_with(0);
    assert_eq!(ran.stderr, "");
    assert_snapshot!(in_order(&steady(&ran.stdout, &place)));
}

/// Sorts calls that ended one after the other: those that run side by side end in any order.
fn in_order(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let runs = lines.chunk_by_mut(|one, next| one.starts_with("✓ ") && next.starts_with("✓ "));
    runs.for_each(<[&str]>::sort_unstable);
    lines.join("\n")
}

#[test]
fn a_model_hears_that_nobody_is_there_to_approve() {
    let place = repository();
    let ran = place.run(&["run touch x"]).ends_with(5);
    let heard = "Nobody is there to approve this";
    assert!(ran.stdout.contains(heard), "{ran:#?}");
    assert!(!ran.stdout.contains("user rejected"), "{ran:#?}");
    assert!(!place.path("project/x").exists());
}

/// Returns whether a request has all that it says it has.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let mut lines = head.lines();
    let length = lines.find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

#[test]
fn a_wrong_key_is_told_in_the_words_of_the_provider() {
    let place = repository();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            while !is_whole(&request) {
                let mut more = [0; 4096];
                let read = stream.read(&mut more).unwrap();
                request.extend_from_slice(&more[..read]);
            }
            let body = r#"{"error":{"message":"This key was revoked on Monday."}}"#;
            let length = body.len();
            let head =
                "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Type: application/json";
            let answer = format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let mut command = place.ply(["hello"]);
    command
        .env("OPENAI_API_KEY", "sk-wrong")
        .env("OPENAI_BASE_URL", address);
    let ran = finish(command).ends_with(6);
    assert!(ran.stderr.contains("revoked on Monday"), "{ran:#?}");
    assert!(!ran.stderr.contains("sk-wrong"), "{ran:#?}");
    assert!(
        !ran.stderr.contains("log in by the agent's own means"),
        "{ran:#?}"
    );
}

#[test]
fn the_same_as_a_document() {
    let place = repository();
    let ran = place.run(&["--output", "md", "explain this repository"]);
    assert_snapshot!(steady(&ran.ends_with(0).stdout, &place));
}

#[test]
fn every_format_names_the_model() {
    let place = repository();
    let run = |format: &str| place.run(&["--output", format, "hello"]).ends_with(0);
    let text = run("text").stdout;
    let last = text.lines().last().unwrap();
    assert!(last.contains(" · offline"), "{last}");
    assert_eq!(run("json").json()["model"], "offline");
    let events = run("events").lines();
    assert_eq!(events[0]["model"], "offline");
    assert_eq!(events.last().unwrap()["result"]["model"], "offline");
    assert!(run("md").stdout.contains("\n- Model: `offline`\n"));
    assert!(run("acp").stdout.contains("\"currentValue\":\"offline\""));
    let ran = run("final");
    assert_eq!(ran.stderr, "model: offline\n");
    assert!(!ran.stdout.contains("model: offline"), "{ran:#?}");
}

#[test]
fn a_session_is_continued_and_the_last_one_of_the_directory_is_found() {
    let place = repository();
    let first = place.run(&["--output", "json", "explain this repository"]);
    let first = first.ends_with(0).json();
    let id = first["sessionId"].as_str().unwrap().to_owned();
    for again in [&["--continue"][..], &["--session", &id]] {
        let arguments = [again, &["--output", "json", "explain this repository"]].concat();
        let ran = place.run(&arguments).ends_with(0).json();
        assert_eq!(ran["sessionId"], id.as_str());
        // What came before is not told again.
        assert_eq!(
            ran["toolCalls"].as_array().unwrap().len(),
            first["toolCalls"].as_array().unwrap().len()
        );
    }
    let other = place.path("tmp");
    let elsewhere = ["-C", other.to_str().unwrap(), "--continue", "hello"];
    let ran = place.run(&elsewhere).ends_with(4);
    assert!(
        ran.stderr.contains("no session of this directory"),
        "{ran:#?}"
    );
}

#[test]
fn a_session_that_is_not_there_is_said_so() {
    let place = repository();
    let ran = place.run(&["--session", "sess-0", "hello"]).ends_with(4);
    assert!(
        ran.stderr
            .starts_with("error: the session `sess-0` cannot be opened"),
        "{ran:#?}"
    );
    let ran = place.run(&["--session", "sess-0", "--output", "json", "hello"]);
    assert_eq!(ran.ends_with(4).json()["error"]["code"], "no_session");
}

#[test]
fn options_are_set_by_id_and_category_and_unknown_ones_are_answered_with_the_list() {
    let place = repository();
    place
        .run(&[
            "--mode", "plan", "--model", "offline", "--set", "mode=Ask", "hello",
        ])
        .ends_with(0);
    let ran = place.run(&["--set", "speed=fast", "hello"]).ends_with(2);
    assert!(
        ran.stderr.contains("mode: plan, ask, auto-edit, full"),
        "{ran:#?}"
    );
    let ran = place.run(&["--mode", "fast", "hello"]).ends_with(2);
    assert!(
        ran.stderr.contains("it has: plan, ask, auto-edit, full"),
        "{ran:#?}"
    );
}

#[test]
fn a_file_that_the_agent_changes_is_told() {
    let place = repository();
    let arguments = [
        "--permit",
        "all",
        "--output",
        "json",
        "write note.txt: hello",
    ];
    let ran = place.run(&arguments).ends_with(0).json();
    let path = place.path("project/note.txt");
    assert_eq!(
        ran["changedFiles"][0]["path"],
        path.to_str().unwrap(),
        "{ran:#}"
    );
    assert_eq!(ran["changedFiles"][0]["change"], "added");
    assert_eq!(ran["permissions"][0]["answer"], "allow_once");
    assert!(path.exists());
}
