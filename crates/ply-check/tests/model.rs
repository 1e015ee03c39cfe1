//! The scripted model answers in the words of each API, over real sockets.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use ply_check::model::Model;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Sends a request as a connection of its own and returns the whole answer.
async fn post(model: &Model, path: &str, body: &Value) -> String {
    let address = model.url().replace("http://", "");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Returns a question in the words of each API, with a tool that runs commands.
fn questions() -> [(&'static str, Value); 4] {
    let schema = json!({"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]});
    let words = "Run `echo checked`";
    let said = json!([{"role": "user", "content": words}]);
    let function = json!({"name": "bash", "parameters": schema});
    [
        (
            "/v1/chat/completions",
            json!({"stream": true, "messages": said, "tools": [{"type": "function", "function": function}]}),
        ),
        (
            "/v1/responses",
            json!({"stream": true, "input": said, "tools": [{"type": "function", "name": "bash", "parameters": schema}]}),
        ),
        (
            "/v1/messages",
            json!({"stream": true, "messages": said, "tools": [{"name": "bash", "input_schema": schema}]}),
        ),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            json!({"contents": [{"role": "user", "parts": [{"text": words}]}], "tools": [{"functionDeclarations": [function]}]}),
        ),
    ]
}

#[tokio::test]
async fn a_prompt_with_a_command_becomes_a_call_of_the_tool_in_every_api() {
    let model = Model::start("/work".into()).await.unwrap();
    for (path, question) in questions() {
        let answer = post(&model, path, &question).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        assert!(answer.contains("text/event-stream"), "{path}: {answer}");
        assert!(answer.contains("bash"), "{path}: {answer}");
        assert!(answer.contains("echo checked"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_result_of_a_tool_ends_the_turn() {
    let model = Model::start("/work".into()).await.unwrap();
    let call =
        json!({"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}});
    let messages = json!([
        {"role": "user", "content": "Run `echo checked`"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "checked"},
    ]);
    let answer = post(
        &model,
        "/v1/chat/completions",
        &json!({"messages": messages}),
    )
    .await;
    let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(body["choices"][0]["message"]["content"], "Done.");
    assert_eq!(body["choices"][0]["finish_reason"], "stop");
}

#[tokio::test]
async fn known_agents_are_pointed_at_it_by_their_variables() {
    let model = Model::start("/work".into()).await.unwrap();
    let variables = model.variables();
    for name in [
        "OPENAI_BASE_URL",
        "ANTHROPIC_BASE_URL",
        "GOOGLE_GEMINI_BASE_URL",
    ] {
        let value = variables.iter().find(|(known, _)| known == name);
        let value = value.unwrap().1.to_str().unwrap();
        assert!(value.starts_with(&model.url()), "{name}: {value}");
    }
}
