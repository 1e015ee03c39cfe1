//! What clients are told about what they sent, and what they are shown of what is not done yet.

use serde_json::{Value, json};

use crate::place::Place;

#[tokio::test]
async fn a_field_that_is_missing_is_named() {
    let place = Place::new();
    let cwd = place.project();
    for is_v2 in [false, true] {
        let mut agent = place.agent().raw();
        match is_v2 {
            false => agent.hello_v1().await,
            true => agent.hello_v2().await,
        };
        let id = agent.session(&cwd).await;
        let image = json!({ "type": "image", "data": "AAAA" });
        let link = json!({ "type": "resource_link", "name": "a" });
        let prompt = |block: Value| json!({ "sessionId": id, "prompt": [block] });
        let server = json!({ "name": "s", "command": "/bin/true", "args": [] });
        let cases = [
            ("session/new", json!({}), "cwd"),
            (
                "session/new",
                json!({ "cwd": cwd, "mcpServers": [{ "type": "http", "name": "s" }] }),
                "url",
            ),
            (
                "session/new",
                json!({ "cwd": cwd, "mcpServers": [server] }),
                "env",
            ),
            ("session/prompt", json!({ "sessionId": id }), "prompt"),
            ("session/prompt", json!({ "prompt": [] }), "sessionId"),
            ("session/prompt", prompt(json!({ "type": "text" })), "text"),
            ("session/prompt", prompt(image), "mimeType"),
            ("session/prompt", prompt(link), "uri"),
            (
                "session/set_config_option",
                json!({ "sessionId": id, "configId": "mode" }),
                "value",
            ),
            ("session/resume", json!({ "cwd": cwd }), "sessionId"),
        ];
        for (method, params, field) in cases {
            // Some of it is optional in version 2.
            let Err(refused) = agent.call(method, params.clone()).await else {
                assert!(is_v2, "{method} {params}");
                continue;
            };
            assert_eq!(refused["code"], -32602, "{method} {params}: {refused}");
            let told = refused.to_string();
            assert!(
                told.contains(&format!("`{field}`")),
                "v2 {is_v2}, {method} {params}: {told}"
            );
        }
    }
}

#[tokio::test]
async fn a_call_says_what_it_would_do_until_it_was_done() {
    let place = Place::new();
    let path = place.write("a.txt", "one\n");
    let mut agent = place.agent().raw();
    agent.hello_v1().await;
    let id = agent.session(&place.project()).await;
    agent.prompt(&id, "delete a.txt").await.unwrap();
    assert!(!path.exists());
    let [asked] = agent.permissions.as_slice() else {
        panic!("{:?}", agent.permissions);
    };
    let asked = asked.to_string();
    assert!(
        asked.contains("Delete") && !asked.contains("Deleted"),
        "{asked}"
    );
    let is_begun = |update: &Value| update["status"] == "in_progress";
    for update in agent.updates.iter().take_while(|update| !is_begun(update)) {
        assert!(!update.to_string().contains("Deleted"), "{update}");
    }
    // What was done is said in the end.
    let told = serde_json::to_string(&agent.updates).unwrap();
    assert!(told.contains("Deleted `a.txt`"), "{told}");
}
