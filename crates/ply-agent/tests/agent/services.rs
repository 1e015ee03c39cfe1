//! Files through the client, which version 1 clients may offer.

use ply_agent::v2::ToolKind;
use ply_agent::{Agent, Stop};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::script::*;
use crate::support::*;

/// Reads and writes through the client where it can, and says how that went.
fn uses_files() -> impl Agent {
    script(|turn| {
        Box::pin(async move {
            turn.say(format!(
                "{}/{} ",
                turn.can_read_files(),
                turn.can_write_files()
            ))
            .await?;
            match turn.read_text_file("src/main.rs").line(1).limit(20).await {
                Ok(text) => turn.say(text).await?,
                Err(error) if error.is_not_offered() => turn.say("no read").await?,
                Err(_) => turn.say("read failed").await?,
            }
            match turn.write_text_file("/work/out.txt", "new").await {
                Ok(()) => turn.say(", written").await?,
                Err(error) if error.is_not_offered() => turn.say(", no write").await?,
                Err(_) => turn.say(", write failed").await?,
            }
            Ok(Stop::EndTurn)
        })
    })
}

/// Runs one turn, answers what it asks for, and returns what was asked and what was said.
async fn run(version: Version, capabilities: Value) -> (Vec<String>, String) {
    let server = ply_agent::serve(uses_files());
    let mut talk = talk_with(version, &server, capabilities).await;
    let prompt = talk.prompt("go").await;
    let mut asked = Vec::new();
    loop {
        let message = talk.next().await;
        match message["method"].as_str() {
            Some("fs/read_text_file") => talk.answer(&message, json!({"content": "text"})).await,
            Some("fs/write_text_file") => talk.answer(&message, Value::Null).await,
            Some(_) => continue,
            None if message["id"] == prompt => break,
            None => continue,
        }
        asked.push(message["method"].as_str().unwrap().to_owned());
    }
    let ended = talk.end(prompt).await;
    assert_eq!(ended.stop, "end_turn");
    (asked, said(&ended.seen))
}

// Also: V1-FS-02.
#[tokio::test(start_paused = true)]
async fn v1_fs_01_files_are_asked_for_only_where_the_client_offers_it() {
    let (read, write) = ("fs/read_text_file", "fs/write_text_file");
    let cases = [
        (json!({}), vec![], "false/false no read, no write"),
        (json!({"fs": {}}), vec![], "false/false no read, no write"),
        (
            json!({"fs": {"readTextFile": false, "writeTextFile": false}}),
            vec![],
            "false/false no read, no write",
        ),
        (
            json!({"fs": {"readTextFile": true}}),
            vec![read],
            "true/false text, no write",
        ),
        (
            json!({"fs": {"writeTextFile": true}}),
            vec![write],
            "false/true no read, written",
        ),
        (
            json!({"fs": {"readTextFile": true, "writeTextFile": true}}),
            vec![read, write],
            "true/true text, written",
        ),
    ];
    for (capabilities, expected, said) in cases {
        let (asked, words) = run(Version::V1, capabilities.clone()).await;
        assert_eq!(asked, expected, "{capabilities}");
        assert_eq!(words, said);
    }
    // Version 2 has no such methods, whatever a client says.
    let capabilities = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
    let (asked, words) = run(Version::V2, capabilities).await;
    assert!(asked.is_empty());
    assert_eq!(words, "false/false no read, no write");
}

async fn files_talk(agent: impl Agent) -> Talk {
    let server = ply_agent::serve(agent);
    let capabilities = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
    talk_with(Version::V1, &server, capabilities).await
}

// Also: V1-RPC-13, V1-RPC-14, V1-FS-08, V1-PROMPT-15, V1-RPC-15.
#[tokio::test(start_paused = true)]
async fn v1_fs_03_requests_name_the_session_and_an_absolute_path() {
    for nothing in [json!({}), Value::Null] {
        let mut talk = files_talk(uses_files()).await;
        let prompt = talk.prompt("go").await;
        let read = talk.method("fs/read_text_file").await;
        let session = talk.session.clone();
        assert_eq!(
            read["params"],
            json!({"sessionId": session, "path": "/work/src/main.rs", "line": 1, "limit": 20})
        );
        talk.answer(&read, json!({"content": ""})).await;
        let write = talk.method("fs/write_text_file").await;
        assert_eq!(
            write["params"],
            json!({"sessionId": session, "path": "/work/out.txt", "content": "new"})
        );
        talk.answer(&write, nothing).await;
        let ended = talk.end(prompt).await;
        assert_eq!(said(&ended.seen), "true/true , written");
    }
}

#[tokio::test(start_paused = true)]
async fn v1_rpc_14_there_is_no_line_0_to_read_from() {
    let agent = script(|turn| {
        Box::pin(async move {
            turn.say(turn.read_text_file("a").line(0).await?).await?;
            Ok(Stop::EndTurn)
        })
    });
    let mut talk = files_talk(agent).await;
    let prompt = talk.prompt("go").await;
    let read = talk.method("fs/read_text_file").await;
    assert!(read["params"].get("line").is_none_or(Value::is_null));
    talk.answer(&read, json!({"content": "text"})).await;
    assert_eq!(said(&talk.end(prompt).await.seen), "text");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_refuses_a_file_fails_the_read_and_not_the_turn() {
    let mut talk = files_talk(uses_files()).await;
    let prompt = talk.prompt("go").await;
    let read = talk.method("fs/read_text_file").await;
    talk.client.answer_error(&read, -32002).await;
    let write = talk.method("fs/write_text_file").await;
    talk.client.answer_error(&write, -32603).await;
    let ended = talk.end(prompt).await;
    assert_eq!(said(&ended.seen), "true/true read failed, write failed");
    assert_eq!(ended.stop, "end_turn");
}

/// An answer without the text is no empty file.
#[tokio::test(start_paused = true)]
async fn a_read_that_is_answered_with_nonsense_fails() {
    for nonsense in [Value::Null, json!({}), json!({"content": 7}), json!("text")] {
        let mut talk = files_talk(uses_files()).await;
        let prompt = talk.prompt("go").await;
        let read = talk.method("fs/read_text_file").await;
        talk.answer(&read, nonsense.clone()).await;
        let write = talk.method("fs/write_text_file").await;
        talk.answer(&write, json!({})).await;
        let ended = talk.end(prompt).await;
        assert_eq!(
            said(&ended.seen),
            "true/true read failed, written",
            "{nonsense}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn b3_a_client_that_never_answers_is_given_up_on_and_the_turn_goes_on() {
    let agent = script(|turn| {
        Box::pin(async move {
            let read = turn.read_text_file("a").await;
            turn.say(if read.is_ok() { "read" } else { "gave up" })
                .await?;
            Ok(Stop::EndTurn)
        })
    });
    let mut talk = files_talk(agent).await;
    for _ in 0..3 {
        let asked_at = Instant::now();
        let prompt = talk.prompt("go").await;
        talk.method("fs/read_text_file").await;
        // It goes quiet for a minute, which is longer than a message takes to come.
        tokio::time::advance(std::time::Duration::from_secs(30)).await;
        let ended = talk.end(prompt).await;
        assert_eq!(ended.stop, "end_turn");
        assert_eq!(said(&ended.seen), "gave up");
        assert_eq!(asked_at.elapsed().as_secs(), 60);
    }
    // After three misses nobody waits for it any more.
    let asked_at = Instant::now();
    let ended = talk.turn("go").await;
    assert_eq!(ended.stop, "end_turn");
    assert_eq!(said(&ended.seen), "gave up");
    assert_eq!(asked_at.elapsed().as_secs(), 0);
    assert!(!format!("{:?}", ended.seen).contains("fs/read_text_file"));
}

// Also: V1-CREQ-07, V1-CANCEL-04.
#[tokio::test(start_paused = true)]
async fn a_cancel_takes_back_a_read_that_waits() {
    let agent = script(|turn| {
        Box::pin(async move {
            let call = turn.tool_call("Read").kind(ToolKind::Read).await?;
            let text = turn.read_text_file("a").await?;
            call.finish_with(text).await?;
            Ok(Stop::EndTurn)
        })
    });
    let mut talk = files_talk(agent).await;
    let prompt = talk.prompt("go").await;
    let read = talk.method("fs/read_text_file").await;
    talk.cancel().await;
    assert_eq!(talk.end(prompt).await.stop, "cancelled");
    let taken_back = talk.log.iter().any(|message| {
        message["method"] == "$/cancel_request" && message["params"]["requestId"] == read["id"]
    });
    assert!(taken_back);
    talk.answer(&read, json!({"content": "late"})).await;
    talk.is_quiet().await;
}

/// A turn that reads many files at once gets each one's text.
#[tokio::test(start_paused = true)]
async fn many_reads_at_once_are_answered_in_any_order() {
    let agent = script(|turn| {
        Box::pin(async move {
            let (a, b, c) = tokio::join!(
                async { turn.read_text_file("a").await },
                async { turn.read_text_file("b").await },
                async { turn.read_text_file("c").await },
            );
            turn.say(format!("{} {} {}", a?, b?, c?)).await?;
            Ok(Stop::EndTurn)
        })
    });
    let mut talk = files_talk(agent).await;
    let prompt = talk.prompt("go").await;
    let mut reads = Vec::new();
    for _ in 0..3 {
        reads.push(talk.method("fs/read_text_file").await);
    }
    for read in reads.iter().rev() {
        let path = read["params"]["path"].as_str().unwrap();
        talk.answer(read, json!({"content": path})).await;
    }
    let ended = talk.end(prompt).await;
    assert_eq!(said(&ended.seen), "/work/a /work/b /work/c");
}
