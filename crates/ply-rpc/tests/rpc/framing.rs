//! Bytes from outside never kill the link (fault rows A1 to A13, B8, B9, B11).

use crate::support::{Rig, request};
use ply_rpc::{Closed, Limits, Options};

#[tokio::test]
async fn a8_a9_a10_a11_bad_bytes_cost_only_their_own_line() {
    let mut rig = Rig::new(Options::client());
    for bad in [
        &b"\xff\xfe\n"[..],
        b"\xef\xbb\xbf\n",
        b"\r\n",
        b"\n\n   \n",
        b"\0\0\0\0\n",
        b"{\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"\xc3\"}\n",
        b"npm warn deprecated\n",
        b"\x1b[2J\x1b[H\n",
    ] {
        rig.send(bad).await;
        rig.still_alive().await;
    }
    assert!(rig.seen.take().iter().all(|entry| entry == "request add"));
}

#[tokio::test]
async fn a2_a9_a10_what_stands_around_a_frame_is_not_part_of_it() {
    let mut rig = Rig::new(Options::agent());
    for around in [
        "\u{feff}",
        "\x1b[?2004h",
        "  \t",
        "\x1b]0;agent\x07",
        "\0\0",
    ] {
        let answer = rig.ask(format!("{around}{}", request(1, "echo"))).await;
        assert_eq!(
            answer, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            "{around:?}"
        );
    }
    let answer = rig
        .ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}  \r\n")
        .await;
    assert_eq!(answer, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
}

#[tokio::test]
async fn v1_rpc_10_an_agent_answers_what_it_cannot_read() {
    let mut rig = Rig::new(Options::agent());
    for (line, code) in [
        ("{", -32700),
        ("42", -32600),
        ("\"x\"", -32600),
        ("hello", -32700),
        ("\u{1}{", -32700),
    ] {
        rig.send(format!("{line}\n")).await;
        let answer = rig.json().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&serde_json::Value::Null, &code.into()),
            "{line}"
        );
        assert!(
            !answer.to_string().contains("hello"),
            "input is never echoed"
        );
        rig.still_alive().await;
    }
}

#[tokio::test]
async fn b9_v1_rpc_18_v2_batch_01_an_array_gets_one_refusal_and_none_of_it_runs() {
    let mut rig = Rig::new(Options::agent());
    let entry = request(1, "echo");
    let entry = entry.trim();
    for batch in [
        "[]".to_owned(),
        format!("[{entry}]"),
        format!("[{entry},{entry},1,[]]"),
    ] {
        rig.send(format!("{batch}\n")).await;
        let answer = rig.json().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&serde_json::Value::Null, &(-32600).into()),
            "{batch}"
        );
    }
    rig.still_alive().await;
    assert_eq!(rig.seen.take(), ["request add"]);
}

#[tokio::test]
async fn a1_a_client_counts_noise_keeps_the_first_lines_and_never_answers() {
    let mut rig = Rig::new(Options::client());
    for index in 0..30 {
        rig.send(format!("\u{1b}[31mbanner {index} {}\n", "x".repeat(300)))
            .await;
    }
    rig.send("[]\n42\n").await;
    rig.still_alive().await;
    let noise = rig.peer.noise();
    assert_eq!(noise.lines, 32);
    assert_eq!(noise.first_lines.len(), 20);
    assert!(
        noise
            .first_lines
            .iter()
            .all(|line| line.chars().count() <= 202),
        "{:?}",
        noise.first_lines
    );
    assert!(
        noise.first_lines[0].starts_with("banner 0 xxx"),
        "{:?}",
        noise.first_lines[0]
    );
}

#[tokio::test]
async fn a1_only_noise_ends_the_start_and_is_there_to_show() {
    let mut rig = Rig::new(Options::client());
    let flood = format!("{}\n", "not an agent ".repeat(80)).repeat(1200);
    rig.send(flood).await;
    let Closed::OnlyNoise { bytes } = rig.peer.closed().await else {
        panic!("not closed for noise")
    };
    assert!(bytes > 1 << 20);
    assert!(rig.peer.noise().first_lines[0].starts_with("not an agent"));
}

#[tokio::test]
async fn b11_answers_to_garbage_stop_after_ten() {
    let mut rig = Rig::new(Options::agent());
    rig.send("{\n".repeat(1000)).await;
    for _ in 0..10 {
        assert_eq!(rig.json().await["error"]["code"], -32700);
    }
    rig.still_alive().await;
    // The request just made earned one more answer, and only one.
    rig.send("{\n".repeat(1000)).await;
    assert_eq!(rig.json().await["error"]["code"], -32700);
    rig.still_alive().await;
}

#[tokio::test]
async fn b11_nothing_that_looks_like_an_answer_is_answered() {
    let mut rig = Rig::new(Options::agent());
    for line in [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#,
        r#"{"id":"x","result":1}"#,
    ] {
        rig.send(format!("{line}\n")).await;
        rig.still_alive().await;
    }
}

#[tokio::test]
async fn a6_a_line_over_the_limit_is_refused_under_its_id_and_the_link_lives() {
    let mut limits = Limits::default();
    limits.line_bytes = 10_000;
    let mut rig = Rig::new(Options::agent().limits(limits));
    let long = "x".repeat(20_000);
    rig.send(format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"echo\",\"params\":[\"{long}\"]}}\n"
    ))
    .await;
    let answer = rig.json().await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&7.into(), &(-32600).into())
    );
    rig.still_alive().await;
}

#[tokio::test]
async fn a6_an_answer_over_the_limit_ends_its_call() {
    let mut limits = Limits::default();
    limits.line_bytes = 10_000;
    let mut rig = Rig::new(Options::client().limits(limits));
    let call = rig.peer.call::<serde_json::Value>("big", &());
    assert_eq!(rig.json().await["id"], 1);
    rig.send(format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"{}\"}}\n",
        "x".repeat(20_000)
    ))
    .await;
    let error = call.await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the answer to `big` is not what the protocol says: it is too long"
    );
    rig.still_alive().await;
}

#[tokio::test]
async fn a7_an_endless_line_closes_the_link_with_its_reason() {
    let mut limits = Limits::default();
    limits.line_bytes = 10_000;
    let mut rig = Rig::new(Options::agent().limits(limits));
    rig.send("x".repeat(200_000)).await;
    assert!(matches!(rig.peer.closed().await, Closed::EndlessLine { bytes } if bytes > 100_000));
}

#[tokio::test]
async fn a12_deep_nesting_is_refused_without_a_stack_overflow() {
    let mut rig = Rig::new(Options::agent());
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    rig.send(format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"echo\",\"params\":{deep}}}\n"
    ))
    .await;
    let answer = rig.json().await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&5.into(), &(-32600).into())
    );
    let wide = format!(
        "[{}1e999999]",
        "1234567890123456789012345678901234567890,".repeat(10_000)
    );
    rig.send(format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"drop\",\"params\":{wide}}}\n"
    ))
    .await;
    assert_eq!(rig.json().await["error"]["code"], -32603);
    rig.still_alive().await;
}

#[tokio::test]
async fn a13_a_last_line_without_newline_is_used_if_it_is_whole() {
    let mut rig = Rig::new(Options::agent());
    let whole = request(1, "echo");
    rig.send(whole.trim()).await;
    rig.close_input().await;
    assert_eq!(rig.line().await, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(matches!(rig.link.await.unwrap(), Closed::Eof));
}

#[tokio::test]
async fn a13_a_last_line_that_is_torn_is_reported() {
    let mut rig = Rig::new(Options::agent());
    let torn = "{\"jsonrpc\":\"2.0\",\"id\":1,\"meth";
    rig.send(torn).await;
    rig.close_input().await;
    assert!(matches!(rig.link.await.unwrap(), Closed::Torn { bytes } if bytes == torn.len()));
}
