//! What the SDK's client sees of an agent, whoever made it. Each scenario takes the agent's program.

use std::collections::BTreeMap;
use std::path::PathBuf;

use interop_tests::{Choice, End, Event, Record, SdkClient, Settings, Version};
use serde_json::{Value, json};

const BOTH: [Version; 2] = [Version::V1, Version::V2];
const CWD: &str = "/project";

/// Makes a test of each scenario over one agent.
macro_rules! over {
    ($program:expr; $($scenario:ident),* $(,)?) => {
        $(
            #[tokio::test]
            async fn $scenario() {
                scenarios::$scenario($program).await;
            }
        )*
    };
}
pub(crate) use over;

async fn start(program: &str, version: Version, settings: Settings) -> SdkClient {
    let word = match version {
        Version::V1 => "v1",
        Version::V2 => "v2",
    };
    let client = SdkClient::start(version, program, &[word], settings).await;
    let client = client.unwrap();
    client.initialize().await.unwrap();
    client
}

fn choosing(choice: Choice) -> Settings {
    Settings {
        permit: Box::new(move |_| choice),
        ..Settings::default()
    }
}

fn stopped(reason: &str) -> End {
    End::Stopped(reason.to_owned())
}

fn was_asked(record: &Record) -> bool {
    !record.permissions().is_empty()
}

// Also: V1-STOP-02.
pub(crate) async fn a_greeting_streams_and_the_session_is_listed(program: &str) {
    for version in BOTH {
        let client = start(program, version, Settings::default()).await;
        let session = client.new_session(CWD).await.unwrap();
        let end = client.prompt(&session, "hello").await.unwrap();
        assert_eq!(end, stopped("end_turn"), "{version:?}");
        let listed = client.list().await.unwrap();
        let listed = listed["sessions"].as_array().unwrap();
        assert_eq!(listed.len(), 1, "{version:?}");
        assert_eq!(listed[0]["sessionId"], json!(session), "{version:?}");
        assert_eq!(listed[0]["cwd"], CWD, "{version:?}");
        assert_eq!(listed[0]["title"], "hello", "{version:?}");
        let record = client.stop().await.unwrap();
        assert_eq!(record.text(&session, "agent_thought"), "A greeting.");
        assert_eq!(record.text(&session, "agent_message"), "Hello, world.");
    }
}

// Also: V1-PERM-09, V1-PERM-12, V1-CANCEL-12, V1-TOOL-09, V1-TOOL-11, V1-TOOL-17.
pub(crate) async fn a_tool_call_follows_the_answer_to_its_permission_request(program: &str) {
    let cases = [
        ("allow_once", "end_turn", "done", "completed"),
        ("allow_always", "end_turn", "done", "completed"),
        ("reject_once", "end_turn", "rejected", "failed"),
        ("reject_always", "end_turn", "rejected", "failed"),
        ("none", "cancelled", "", "cancelled"),
    ];
    for version in BOTH {
        for (kind, reason, said, last) in cases {
            let client = start(program, version, choosing(Choice::Pick(kind))).await;
            let session = client.new_session(CWD).await.unwrap();
            let end = client.prompt(&session, "tool").await.unwrap();
            let record = client.stop().await.unwrap();
            assert_eq!(end, stopped(reason), "{version:?} {kind}");
            assert_eq!(record.text(&session, "agent_message"), said);
            assert_eq!(record.permissions().len(), 1);
            let last = match version {
                Version::V1 => last.replace("cancelled", "failed"),
                Version::V2 => last.to_owned(),
            };
            let statuses = record.statuses(&session);
            assert_eq!(statuses.last().unwrap(), &last, "{version:?} {kind}");
            assert_eq!(statuses.contains(&"in_progress"), said == "done");
        }
    }
}

// Also: V1-TOOL-12, V1-TOOL-13, V1-TOOL-14.
pub(crate) async fn a_tool_call_shows_its_diff_its_place_and_its_input(program: &str) {
    for version in BOTH {
        let client = start(program, version, Settings::default()).await;
        let session = client.new_session(CWD).await.unwrap();
        client.prompt(&session, "tool").await.unwrap();
        let record = client.stop().await.unwrap();
        let story = record.story(&session, 0);
        let call = story.iter().find(|entry| entry.is_object()).unwrap();
        assert_eq!(call["kind"], "edit", "{version:?}");
        assert_eq!(call["title"], "Edit notes.txt", "{version:?}");
        assert_eq!(call["rawInput"]["text"], "new\n", "{version:?}");
        let place = json!({"path": "/project/notes.txt", "line": 1});
        assert_eq!(call["locations"], json!([place]), "{version:?}");
        assert_eq!(call["content"][0]["content"]["text"], "edited one line");
        let diff = &call["content"][1];
        assert_eq!(diff["type"], "diff", "{version:?}");
        match version {
            Version::V1 => {
                assert_eq!(diff["path"], "/project/notes.txt");
                assert_eq!(diff["oldText"], "old\n");
                assert_eq!(diff["newText"], "new\n");
                assert!(diff.get("_meta").is_none(), "not the whole texts: {diff}");
            }
            Version::V2 => {
                let change = &diff["changes"][0];
                assert_eq!(change["path"], "/project/notes.txt");
                let patch = diff["patch"]["text"].as_str().or(diff["patch"].as_str());
                assert!(patch.unwrap().ends_with("\n-old\n+new\n"), "{diff}");
            }
        }
    }
}

// Also: V1-CANCEL-05, V1-TOOL-17.
pub(crate) async fn a_cancel_settles_the_open_permission_request(program: &str) {
    for version in BOTH {
        let client = start(program, version, choosing(Choice::Hold)).await;
        let session = client.new_session(CWD).await.unwrap();
        let cancel = async {
            client.wait_for("a question", was_asked).await.unwrap();
            client.cancel(&session).unwrap();
        };
        let (end, ()) = tokio::join!(client.prompt(&session, "tool"), cancel);
        assert_eq!(end.unwrap(), stopped("cancelled"), "{version:?}");
        if version == Version::V2 {
            let withdrawn = |event: &Event| matches!(event, Event::Withdrawn { .. });
            let seen = client.wait_for("$/cancel_request", |record| {
                record.events.iter().any(withdrawn)
            });
            seen.await.unwrap();
        }
        let record = client.stop().await.unwrap();
        let last = match version {
            Version::V1 => "failed",
            Version::V2 => "cancelled",
        };
        assert_eq!(record.statuses(&session).last(), Some(&last));
    }
}

// Also: V1-CANCEL-05, V1-CANCEL-10.
pub(crate) async fn a_cancelled_turn_leaves_the_session_usable(program: &str) {
    for version in BOTH {
        let client = start(program, version, Settings::default()).await;
        let session = client.new_session(CWD).await.unwrap();
        let cancel = async {
            let said = client.wait_for("the agent's word", |record| {
                record.text(&session, "agent_message") == "waiting"
            });
            said.await.unwrap();
            client.cancel(&session).unwrap();
        };
        let (end, ()) = tokio::join!(client.prompt(&session, "wait"), cancel);
        assert_eq!(end.unwrap(), stopped("cancelled"), "{version:?}");
        let end = client.prompt(&session, "hello").await.unwrap();
        assert_eq!(end, stopped("end_turn"), "{version:?}");
        client.stop().await.unwrap();
    }
}

pub(crate) async fn a_cancel_drops_the_held_prompt_too(program: &str) {
    for version in BOTH {
        let client = start(program, version, choosing(Choice::Hold)).await;
        let session = client.new_session(CWD).await.unwrap();
        let cancel = async {
            client.wait_for("a question", was_asked).await.unwrap();
            // The list is answered after the prompt before it was queued, as the agent reads in order.
            let (second, ()) = tokio::join!(client.prompt(&session, "hello"), async {
                client.list().await.unwrap();
                client.cancel(&session).unwrap();
            });
            second
        };
        let (first, second) = tokio::join!(client.prompt(&session, "tool"), cancel);
        assert_eq!(first.unwrap(), stopped("cancelled"), "{version:?}");
        match version {
            Version::V1 => assert_eq!(second.unwrap(), stopped("cancelled")),
            Version::V2 => assert!(second.unwrap_err().to_string().contains("-32800")),
        }
        let record = client.stop().await.unwrap();
        assert_eq!(record.text(&session, "agent_message"), "");
    }
}

// Also: V2-PROMPT-14.
pub(crate) async fn held_prompts_are_done_in_order_after_the_first_has_ended(program: &str) {
    for version in BOTH {
        let client = start(program, version, Settings::default()).await;
        let session = client.new_session(CWD).await.unwrap();
        // The agent has read the others before the answer to its question comes.
        let (first, second, third) = tokio::join!(
            client.prompt(&session, "tool"),
            client.prompt(&session, "second"),
            client.prompt(&session, "third"),
        );
        for end in [first, second, third] {
            assert_eq!(end.unwrap(), stopped("end_turn"), "{version:?}");
        }
        let record = client.stop().await.unwrap();
        let said = record.text(&session, "agent_message");
        assert_eq!(said, "donesecondthird", "{version:?}");
        let kinds = record.kinds(&session);
        let third = kinds.iter().rposition(|kind| *kind == "user_message");
        let before = third.map(|at| record.updates(&session)[at - 1]["state"].clone());
        assert_eq!(before, (version == Version::V2).then(|| json!("idle")));
    }
}

// Also: V2-PROMPT-13.
pub(crate) async fn a_failed_turn_says_why_and_the_next_prompt_works(program: &str) {
    for version in BOTH {
        let client = start(program, version, Settings::default()).await;
        let session = client.new_session(CWD).await.unwrap();
        let failed = client.prompt(&session, "fail").await.unwrap();
        let error = json!({"code": -32603, "message": "the model is gone"});
        assert_eq!(failed, End::Failed(error), "{version:?}");
        let end = client.prompt(&session, "hello").await.unwrap();
        assert_eq!(end, stopped("end_turn"), "{version:?}");
        client.stop().await.unwrap();
    }
}

// Also: V1-STOP-01, V1-FS-02.
pub(crate) async fn turns_end_with_every_stop_reason(program: &str) {
    for version in BOTH {
        let client = start(program, version, Settings::default()).await;
        let session = client.new_session(CWD).await.unwrap();
        for (prompt, reason) in [
            ("refuse", "refusal"),
            ("tokens", "max_tokens"),
            ("requests", "max_turn_requests"),
            ("plan", "end_turn"),
            ("read /project/notes.txt", "end_turn"),
        ] {
            let end = client.prompt(&session, prompt).await.unwrap();
            assert_eq!(end, stopped(reason), "{version:?} {prompt}");
        }
        let record = client.stop().await.unwrap();
        assert_eq!(record.text(&session, "agent_message"), "no files");
        assert!(record.asked("fs/read_text_file").is_empty());
    }
}

// Also: V1-PLAN-04.
pub(crate) async fn a_plan_is_sent_whole_each_time(program: &str) {
    for version in BOTH {
        let client = start(program, version, Settings::default()).await;
        let session = client.new_session(CWD).await.unwrap();
        client.prompt(&session, "plan").await.unwrap();
        let record = client.stop().await.unwrap();
        let story = record.story(&session, 0);
        let plan = story.last().unwrap();
        let entry =
            |content, status| json!({"content": content, "priority": "medium", "status": status});
        let entries = [
            ("Read", "completed"),
            ("Write", "completed"),
            ("Check", "pending"),
        ];
        let entries = entries.map(|(content, status)| entry(content, status));
        assert_eq!(plan, &json!(entries), "{version:?}");
    }
}

// Also: V1-LOAD-04, V1-LOAD-05, V1-LOAD-06, V1-RESUME-03, V2-RESUME-02, V2-RESUME-03.
pub(crate) async fn a_closed_session_comes_back_with_and_without_its_history(program: &str) {
    for version in BOTH {
        let client = start(program, version, Settings::default()).await;
        let session = client.new_session(CWD).await.unwrap();
        for prompt in ["hello", "tool", "plan"] {
            client.prompt(&session, prompt).await.unwrap();
        }
        client.close(&session).await.unwrap();
        let before = client.record().updates(&session).len();

        let resumed = client.resume(&session, CWD).await.unwrap();
        let mode = &resumed["configOptions"][0]["currentValue"];
        assert_eq!(mode, "ask", "{version:?}");
        // A turn's end shows that all that belongs to the resume has come.
        client.prompt(&session, "tool").await.unwrap();
        client.prompt(&session, "refuse").await.unwrap();
        client.close(&session).await.unwrap();
        let live = client.record();
        let prompts = ["hello", "tool", "plan", "tool", "refuse"];
        let prompts = prompts.map(|prompt| json!(format!("user_message: {prompt}")));
        let is_prompt = |entry: &&Value| prompts.contains(entry);
        // The plan as it stands may be shown again, and version 1 clients know their own prompts.
        let is_new = |entry: &Value| !entry.is_array() && !is_prompt(&entry);
        let since = live.story(&session, before).into_iter().filter(is_new);
        let since: Vec<_> = since.collect();
        assert_eq!(since.len(), 2, "{version:?} {since:?}");
        assert!(since[0].is_object(), "{version:?} {since:?}");
        assert_eq!(since[1], "agent_message: done", "{version:?}");

        client.replay(&session, CWD).await.unwrap();
        let whole = client.record();
        let mut replayed = whole.story(&session, live.updates(&session).len());
        assert!(
            replayed.iter().filter(is_prompt).eq(&prompts),
            "{replayed:?}"
        );
        if version == Version::V1 {
            replayed.retain(|entry| !is_prompt(&entry));
        }
        assert_eq!(replayed, live.story(&session, 0), "{version:?}");
        let end = client.prompt(&session, "hello").await.unwrap();
        assert_eq!(end, stopped("end_turn"), "{version:?}");
        client.stop().await.unwrap();
    }
}

// Also: V1-CLOSE-02, V2-CLOSE-02.
pub(crate) async fn a_close_ends_the_running_turn(program: &str) {
    for version in BOTH {
        let client = start(program, version, Settings::default()).await;
        let session = client.new_session(CWD).await.unwrap();
        let close = async {
            let said = client.wait_for("the agent's word", |record| {
                record.text(&session, "agent_message") == "waiting"
            });
            said.await.unwrap();
            client.close(&session).await.unwrap();
        };
        let (end, ()) = tokio::join!(client.prompt(&session, "wait"), close);
        assert_eq!(end.unwrap(), stopped("cancelled"), "{version:?}");
        match (version, client.prompt(&session, "hello").await) {
            (Version::V1, Ok(End::Failed(error))) => assert_eq!(error["code"], -32002),
            (Version::V2, Err(error)) => assert!(error.to_string().contains("-32002")),
            other => panic!("{other:?}"),
        }
        let record = client.stop().await.unwrap();
        let answered = record.events.iter().position(|event| match event {
            Event::Answered { method, .. } => method == "session/close",
            _ => false,
        });
        let last = record
            .events
            .iter()
            .rposition(|event| matches!(event, Event::Update(_)));
        assert!(last < answered, "{version:?} {record:?}");
    }
}

// Also: V1-LOAD-14.
pub(crate) async fn modes_are_set_and_unknown_sessions_are_refused(program: &str) {
    for version in BOTH {
        let client = start(program, version, Settings::default()).await;
        let session = client.new_session(CWD).await.unwrap();
        let set = client.set_option(&session, "mode", "code").await.unwrap();
        assert_eq!(set["configOptions"][0]["currentValue"], "code");
        if version == Version::V1 {
            client.set_mode(&session, "ask").await.unwrap();
            let reset = client.set_option(&session, "mode", "code").await.unwrap();
            assert_eq!(reset["configOptions"][0]["currentValue"], "code");
        }
        assert!(client.set_option(&session, "mode", "dance").await.is_err());
        client.close(&session).await.unwrap();
        let resumed = client.resume(&session, CWD).await.unwrap();
        let mode = &resumed["configOptions"][0]["currentValue"];
        assert_eq!(mode, "code", "{version:?}");
        assert!(client.replay("nobody", CWD).await.is_err());
        let record = client.stop().await.unwrap();
        assert_eq!(record.errors()[1]["code"], -32002, "{version:?}");
    }
}

// Also: V1-TERM-11, V1-TERM-13.
pub(crate) async fn a_version_1_agent_uses_the_files_and_terminals_of_the_client(program: &str) {
    let path = PathBuf::from("/project/notes.txt");
    let settings = Settings {
        files: Some(BTreeMap::from([(path, "unsaved".to_owned())])),
        terminal: true,
        ..Settings::default()
    };
    let client = start(program, Version::V1, settings).await;
    let session = client.new_session(std::env::temp_dir()).await.unwrap();
    for prompt in [
        "read /project/notes.txt",
        "read /project/missing",
        "term echo hi",
    ] {
        let end = client.prompt(&session, prompt).await.unwrap();
        assert_eq!(end, stopped("end_turn"), "{prompt}");
    }
    let record = client.stop().await.unwrap();
    let said = record.text(&session, "agent_message");
    assert!(said.starts_with("unsavedread failed: "), "{said}");
    assert!(said.ends_with("0: hi\n"), "{said}");
    assert_eq!(record.asked("terminal/release").len(), 1);
    let story = record.story(&session, 0);
    let call = story.iter().rfind(|entry| entry.is_object()).unwrap();
    assert_eq!(call["content"][0]["terminalId"], "terminal-0");
    assert_eq!(call["status"], "completed");
}
