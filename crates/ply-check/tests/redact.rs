//! Secrets are taken out of recordings, and nothing else is.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use ply_check::trace::Redactor;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Secrets that show by themselves.
const SHAPED: &[&str] = &[
    concat!("sk-", "ant-", "api03-", "abcdefghijkl", "mnop1234"),
    "sk-proj-1234567890abcdefghij",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0abcdefghijklm_xyz",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "xoxb-123456789012-abcdefghijkl",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA\n-----END OPENSSH PRIVATE KEY-----",
    "glpat-abcdefghijklmnop1234",
    "hf_abcdefghijklmnopqrstuvwxyz",
];

/// Names whose value is a secret, whatever it looks like.
const NAMED: &[&str] = &[
    "password",
    "token",
    "secret",
    "apiKey",
    "api_key",
    "authorization",
    "Cookie",
    "accessToken",
    "client_secret",
    "AWS_SECRET_ACCESS_KEY",
    "privateKey",
    "credentials",
];

fn redacted(value: &Value) -> Value {
    let text = value.to_string();
    let text = Redactor::new().frame(&text).unwrap_or(text);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn known_places_of_secrets_are_emptied() {
    let frame = json!({
        "jsonrpc": "2.0", "id": "token", "method": "session/new",
        "params": {
            "cwd": "/w", "_meta": { "vendor": { "password": "hunter2", "pin": 7, "token": 1234 } },
            "mcpServers": [
                { "name": "a", "command": "/bin/a", "args": ["--api-key", "hushhush", "--port", "80", "--token=hushhush"],
                  "env": [{ "name": "HOME", "value": "hush" }, { "value": "hush", "name": "EMPTY" }] },
                { "type": "http", "name": "b", "url": "https://me:hush@host/x?api_key=hushhush&q=1",
                  "headers": [{ "name": "X-Any", "value": "hush" }] },
            ],
            "environment": { "A": "hush" }, "text": "curl -H 'Authorization: Bearer hushhush1' x",
            "nested": "{\"apiKey\":\"hush\",\"n\":1.50}",
        },
    });
    let out = redacted(&frame);
    let text = out.to_string();
    assert!(
        !text.contains("hush") && !text.contains("hunter2") && !text.contains("1234"),
        "{text}"
    );
    assert_eq!(out["id"], "token");
    assert_eq!(out["params"]["mcpServers"][0]["args"][3], "80");
    assert_eq!(out["params"]["_meta"]["vendor"]["pin"], 7);
    assert_eq!(out["params"]["_meta"]["vendor"]["token"], 0);
    assert_eq!(
        out["params"]["_meta"]["vendor"]["password"],
        "[redacted 1-8 bytes]"
    );
    assert!(text.contains("\\\"n\\\":1.50"), "{text}");
}

#[test]
fn everything_else_stays_as_it_was_sent() {
    for frame in [
        r#"{ "b" : 1.50, "a":1e400 , "t":"maxTokens=5 tokens", "é":"\u00e9\ud800" }"#,
        r#"{"usage":{"totalTokens":5,"inputTokens":[1]},"capabilities":{"auth":{"terminal":true}}}"#,
        r#"{"result":{"sessionId":"sess-1","messageId":"eyJ","text":"the token is a word; sk-8 too"}}"#,
        r#"{"text":"ask-for-sk-things https://host:80/a@b"}"#,
        r#"{"token":null,"password":"","secret":true}"#,
    ] {
        assert_eq!(Redactor::new().frame(frame), None, "{frame}");
    }
}

#[test]
fn what_was_redacted_is_not_redacted_again() {
    let frame = json!({ "params": { "password": "hunter2", "text": "A_TOKEN=abcdefgh", "env": { "A": "b" } } });
    let once = redacted(&frame);
    assert_eq!(redacted(&once), once);
}

#[test]
fn a_command_keeps_its_shape() {
    let command = ["agent", "--api-key", "hush", "-v", "--token=hushhush", "x"].map(str::to_owned);
    let command = Redactor::new().command(&command);
    assert_eq!(
        command,
        [
            "agent",
            "--api-key",
            "[redacted 1-8 bytes]",
            "-v",
            "--token=[redacted 1-8 bytes]",
            "x"
        ]
    );
}

/// Returns any JSON, without anything that is a secret or has the name of one.
fn harmless() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z \"\\\\\u{e9}\n]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-f\"]{1,3}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    // What failed once becomes a case above; no file is left behind.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_secret_survives_and_the_rest_is_equal(
        harmless in harmless(),
        shaped in 0..SHAPED.len(),
        named in 0..NAMED.len(),
        hidden in "[A-Z]{6,30}",
        around in "[a-z ]{0,5}",
    ) {
        let secret = SHAPED[shaped];
        let frame = json!({
            "params": { "a": harmless, "text": format!("{around} {secret}"), "x": { NAMED[named]: [hidden] } },
        });
        let out = redacted(&frame);
        let text = out.to_string();
        for line in secret.lines() {
            prop_assert!(!text.contains(line), "{}", text);
        }
        prop_assert!(!text.contains(&hidden), "{}", text);
        prop_assert_eq!(&out["params"]["a"], &frame["params"]["a"]);
        let kept = out["params"]["text"].as_str().unwrap();
        let is_kept = kept.starts_with(&format!("{around} "));
        prop_assert!(is_kept, "{}", kept);
    }

    #[test]
    fn harmless_json_is_not_touched(harmless in harmless()) {
        prop_assert_eq!(Redactor::new().frame(&harmless.to_string()), None);
    }

    #[test]
    fn any_text_is_taken(text in "\\PC*") {
        drop(Redactor::new().text(&text));
    }
}
