//! Greeting an agent: what is said, what is taken, and what ends the acquaintance.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::support::{greet, link, open, prompt, reported, v1_session, v1_with, v2_session};
use ply_client::{
    Client, Elicitations, Error, Files, ReportKind, StartFailure, Supported, Terminals, Transport,
    Version,
};
use ply_rpc::transport::memory;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

fn v1_answer() -> Value {
    json!({ "protocolVersion": 1 })
}

// Also: V1-INIT-04, V2-INIT-01, V2-INIT-03.
#[tokio::test]
async fn v1_init_02_the_newest_version_is_asked_for_as_a_number() {
    for (versions, asked) in [(Supported::V1, 1), (Supported::V2, 2), (Supported::Both, 2)] {
        let client = Client::new().versions(versions).info("test", "1.2.3");
        let (_, _, request) = greet(client, v1_answer()).await;
        let params = &request["params"];
        assert_eq!(params["protocolVersion"], asked);
        if versions != Supported::V2 {
            assert_eq!(params["clientInfo"]["name"], "test");
            assert_eq!(params["clientInfo"]["version"], "1.2.3");
        }
        if versions != Supported::V1 {
            assert_eq!(params["info"]["name"], "test");
            assert!(params["capabilities"].is_object());
        }
    }
}

// Also: V1-INIT-17, V2-INIT-14.
#[tokio::test(start_paused = true)]
async fn v1_init_03_the_request_says_what_the_client_offers_and_nothing_else() {
    let (_, _, request) = greet(Client::new(), v1_answer()).await;
    let capabilities = &request["params"]["clientCapabilities"];
    let absent = [Value::Null, json!(false)];
    assert!(
        absent.contains(&capabilities["fs"]["readTextFile"]),
        "{capabilities}"
    );
    assert!(
        absent.contains(&capabilities["fs"]["writeTextFile"]),
        "{capabilities}"
    );
    assert!(absent.contains(&capabilities["terminal"]), "{capabilities}");
    assert_eq!(capabilities["elicitation"], Value::Null);
    assert!(capabilities["session"]["configOptions"]["boolean"].is_object());

    let client = Client::new()
        .files(Files::read_only())
        .terminals(Terminals::new())
        .elicitation(Elicitations::new().forms());
    let (_, _, request) = greet(client, v1_answer()).await;
    let capabilities = &request["params"]["clientCapabilities"];
    assert_eq!(capabilities["fs"]["readTextFile"], true);
    assert!(
        absent.contains(&capabilities["fs"]["writeTextFile"]),
        "{capabilities}"
    );
    assert_eq!(capabilities["terminal"], true);
    assert!(capabilities["elicitation"]["form"].is_object());
    assert_eq!(capabilities["elicitation"]["url"], Value::Null);
    let v2 = &request["params"]["capabilities"];
    assert_eq!((&v2["fs"], &v2["terminal"]), (&Value::Null, &Value::Null));
}

// Also: V2-INIT-06.
#[tokio::test]
async fn v1_init_09_a_version_that_cannot_be_spoken_closes_the_link() {
    for (versions, answered) in [
        (Supported::Both, 99),
        (Supported::V2, 1),
        (Supported::V1, 2),
    ] {
        let client = Client::new().versions(versions);
        let (agent, mut script, _) = greet(client, json!({ "protocolVersion": answered })).await;
        let error = agent.unwrap_err();
        assert!(
            error.to_string().contains(&format!("version {answered}")),
            "{error}"
        );
        script.closed().await;
    }
}

#[tokio::test]
async fn an_agent_that_echoes_version_2_in_the_shape_of_version_1_is_greeted_again() {
    let capabilities = json!({ "loadSession": true });
    let answer = |version: u64| json!({ "protocolVersion": version, "agentCapabilities": capabilities, "authMethods": [] });
    for takes_it in [true, false] {
        let ((reader, writer), mut script) = crate::support::link();
        let agent = Client::new()
            .files(Files::new())
            .connect(Transport::new(reader, writer));
        let greetings = async {
            let first = script.expect("initialize").await;
            script.answer(&first, answer(2)).await;
            let second = script.expect("initialize").await;
            assert_eq!(second["params"]["protocolVersion"], 1);
            assert_eq!(second["params"]["info"], Value::Null);
            match takes_it {
                true => script.answer(&second, answer(1)).await,
                false => script.refuse(&second, -32600, "once is enough").await,
            }
        };
        let (agent, ()) = tokio::join!(agent, greetings);
        match takes_it {
            true => {
                let agent = agent.unwrap();
                assert_eq!(agent.version(), Version::V1);
                assert_eq!(reported(&agent, ReportKind::VersionEchoed), 1);
                open(&agent, &mut script).await;
            }
            false => {
                let error = agent.unwrap_err().to_string();
                assert!(error.contains("in the shape of version 1"), "{error}");
                assert!(error.contains("once is enough"), "{error}");
            }
        }
    }
    // Whoever speaks version 2 alone cannot go on.
    let client = Client::new().versions(Supported::V2);
    let (agent, mut script, _) = greet(client, answer(2)).await;
    let error = agent.unwrap_err().to_string();
    assert!(error.contains("in the shape of version 1"), "{error}");
    script.closed().await;
}

#[tokio::test]
async fn v1_init_10_each_version_is_spoken_in_its_own_words() {
    let (session, mut script) = v1_session().await;
    let (_turn, request) = prompt(&session, &mut script, "hi").await;
    session.cancel().await.unwrap();
    let cancel = script.expect("session/cancel").await;
    assert_eq!(cancel["params"], json!({ "sessionId": "s-1" }));
    script.stop(&request, "cancelled").await;
    // A request of version 2 meaning does not exist here, nor one of version 1 there.
    let id = script.ask("session/state", json!({})).await;
    assert_eq!(script.answered(&id).await["error"]["code"], -32601);

    let (_session, mut script) = v2_session().await;
    let id = script
        .ask(
            "fs/read_text_file",
            json!({ "sessionId": "s-1", "path": "/x" }),
        )
        .await;
    assert_eq!(script.answered(&id).await["error"]["code"], -32601);
}

// Also: V1-INIT-12, V1-INIT-23.
#[tokio::test]
async fn v1_init_11_capabilities_left_out_null_or_unknown_count_as_absent() {
    for capabilities in [
        json!({}),
        json!({ "loadSession": false, "sessionCapabilities": { "resume": null, "list": null } }),
        json!({ "future": { "x": 1 }, "sessionCapabilities": { "teleport": {} } }),
    ] {
        let (agent, mut script) = v1_with(Client::new(), capabilities).await;
        assert_eq!(agent.version(), Version::V1);
        let refused = |result: Result<(), Error>| matches!(result, Err(Error::NotOffered { .. }));
        assert!(refused(agent.load_session("x", "/work").await.map(drop)));
        assert!(refused(agent.resume_session("x", "/work").await.map(drop)));
        assert!(refused(
            agent.list_sessions(Default::default()).await.map(drop)
        ));
        assert!(refused(agent.delete_session("x").await));
        assert!(refused(agent.logout().await));
        script.silent().await;
        let session = open(&agent, &mut script).await;
        assert!(refused(session.close().await));
        script.silent().await;
    }
}

#[tokio::test]
async fn v1_init_13_an_answer_without_capabilities_is_an_agent_that_can_do_the_least() {
    let (agent, _, _) = greet(Client::new(), v1_answer()).await;
    let agent = agent.unwrap();
    assert_eq!(agent.info().name, "unknown");
    assert!(agent.auth_methods().is_empty());
    let session = agent.capabilities().session.unwrap();
    assert!(session.prompt.is_none() && session.delete.is_none());
}

// Also: V1-INIT-20.
#[tokio::test]
async fn a_version_1_agent_is_told_of_services_once_more_in_its_own_words() {
    for takes_it in [true, false] {
        let ((reader, writer), mut script) = crate::support::link();
        let agent = Client::new()
            .files(Files::new())
            .connect(Transport::new(reader, writer));
        let greetings = async {
            let first = script.expect("initialize").await;
            script.answer(&first, v1_answer()).await;
            let second = script.expect("initialize").await;
            assert_eq!(second["params"]["protocolVersion"], 1);
            let files = &second["params"]["clientCapabilities"]["fs"];
            assert_eq!(files["readTextFile"], true);
            match takes_it {
                true => script.answer(&second, v1_answer()).await,
                false => script.refuse(&second, -32600, "once is enough").await,
            }
        };
        let (agent, ()) = tokio::join!(agent, greetings);
        assert_eq!(agent.unwrap().version(), Version::V1);
    }
}

#[tokio::test]
async fn v1_init_17_what_is_offered_is_served() {
    let client = Client::new()
        .versions(Supported::V1)
        .files(Files::new())
        .terminals(Terminals::new());
    let (session, mut script) = crate::support::v1_session_of(client).await;
    for method in [
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/output",
    ] {
        let id = script.ask(method, json!({})).await;
        assert_eq!(
            script.answered(&id).await["error"]["code"],
            -32602,
            "{method}"
        );
    }
    assert_eq!(reported(session.agent(), ReportKind::MalformedRequest), 4);
}

#[tokio::test]
async fn v1_fs_08_a_write_is_answered_with_an_object() {
    let directory = std::env::temp_dir().join(format!("ply-client-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (agent, mut script) = {
        let client = Client::new().versions(Supported::V1);
        v1_with(client.files(Files::new()), json!({})).await
    };
    let answering = async {
        let request = script.expect("session/new").await;
        script.answer(&request, json!({ "sessionId": "s-1" })).await;
    };
    let (session, ()) = tokio::join!(agent.new_session(&directory), answering);
    let path = directory.join("a.txt");
    let params = json!({ "sessionId": "s-1", "path": path, "content": "hi" });
    let id = script.ask("fs/write_text_file", params).await;
    let answer = script.answered(&id).await;
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "hi");
    drop(session);
    std::fs::remove_dir_all(&directory).unwrap();
}

// Also: V1-RPC-08, V1-INIT-11.
#[tokio::test]
async fn what_is_not_offered_is_answered_with_method_not_found() {
    let (session, mut script) = v1_session().await;
    for method in [
        "fs/read_text_file",
        "terminal/create",
        "elicitation/create",
        "session/nope",
    ] {
        let id = script
            .ask(method, json!({ "sessionId": "s-1", "path": "/etc/passwd" }))
            .await;
        assert_eq!(
            script.answered(&id).await["error"]["code"],
            -32601,
            "{method}"
        );
    }
    assert_eq!(reported(session.agent(), ReportKind::UnknownMethod), 4);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_answer_fails_the_start_at_the_deadline() {
    let ((reader, writer), _there) = memory::pair(1 << 16);
    let client = Client::new().start_deadline(Duration::from_secs(3));
    match client
        .connect(Transport::new(reader, writer))
        .await
        .unwrap_err()
    {
        Error::Start {
            reason: StartFailure::Deadline(after),
            ..
        } => assert_eq!(after.as_secs(), 3),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_program_that_only_prints_fails_the_start_with_its_words() {
    let ((reader, writer), (_, mut there)) = memory::pair(1 << 16);
    there.write_all(b"usage: agent [--acp]\n").await.unwrap();
    drop(there);
    match Client::new()
        .connect(Transport::new(reader, writer))
        .await
        .unwrap_err()
    {
        Error::Start {
            reason: StartFailure::Ended,
            end,
        } => {
            assert_eq!(end.noise.first_lines, ["usage: agent [--acp]"]);
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn an_agent_that_refuses_the_greeting_is_told_apart() {
    let ((reader, writer), (_, mut there)) = memory::pair(1 << 16);
    let refusal =
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32022, "message": "too new" } });
    for id in 0..3 {
        let mut refusal = refusal.clone();
        refusal["id"] = json!(id);
        there
            .write_all(format!("{refusal}\n").as_bytes())
            .await
            .unwrap();
    }
    let client = Client::new().connect(Transport::new(reader, writer));
    match client.await.unwrap_err() {
        Error::Start {
            reason: StartFailure::Refused(error),
            ..
        } => assert_eq!(error.code, -32022),
        other => panic!("{other}"),
    }
}

/// Polls once, as a program does that has another executor.
#[track_caller]
fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut cx = Context::from_waker(Waker::noop());
    match pin!(work).poll(&mut cx) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("it waits for a runtime that it is not in"),
    }
}

#[test]
fn outside_of_a_runtime_everything_fails_in_words() {
    #[track_caller]
    fn check<T>(failed: Result<T, Error>) {
        let error = failed.err().unwrap();
        assert!(matches!(error, Error::NoRuntime), "{error}");
        assert!(error.to_string().contains("tokio runtime"), "{error}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let capabilities = json!({
        "loadSession": true, "sessionCapabilities": { "delete": {}, "close": {} },
    });
    let (session, mut script) = runtime.block_on(async {
        let (agent, mut script) = v1_with(Client::new(), capabilities).await;
        (open(&agent, &mut script).await, script)
    });
    let agent = session.agent();
    check(at_once(agent.new_session("/work")));
    check(at_once(agent.load_session("old", "/work")));
    check(at_once(agent.delete_session("old")));
    check(at_once(session.prompt("hi")));
    check(at_once(session.close()));
    let ((reader, writer), _) = link();
    check(at_once(
        Client::new().connect(Transport::new(reader, writer)),
    ));
    check(at_once(Client::new().spawn(["sh", "-c", "exit 1"])));
    // Nothing of it is half done.
    let _asked = runtime.block_on(prompt(&session, &mut script, "hi"));
}
