//! Requests to services, as they arrive: conversations with thoughts, calls, results and images.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "tests fail by panicking"
)]
#![allow(
    unreachable_pub,
    dead_code,
    reason = "what the tests share is not all used by each"
)]

use crate::model::{answer, ask, model, service};
use ply_coder::model::service::{self as services, Secret};
use ply_coder::model::{Call, CallResult, Content, Effort, Message, Part, Request};
use ply_model_server::{Api, ModelServer, Reply, Seen};
use serde_json::{Value, json};

fn image() -> Content {
    Content::Image {
        mime_type: "image/png".to_owned(),
        data: "aW1hZ2U=".to_owned(),
    }
}

/// Asks, answers the calls, and asks again; returns the second request.
async fn round_trip(api: Api, reply: Reply) -> (Vec<Part>, Seen) {
    let server = ModelServer::start([reply, Reply::say("done")]).await;
    let model = model(&server, api);
    let mut request = ask("go");
    let first = answer(&model, &request).await;
    assert_eq!(first.failure, None, "{api:?}");
    follow(&mut request, first.parts.clone());
    let second = answer(&model, &request).await;
    assert_eq!(second.text(), "done", "{api:?}");
    (first.parts, server.request(1).await)
}

/// Adds an answer and a result for each of its calls; that of the second failed.
fn follow(request: &mut Request, parts: Vec<Part>) {
    let results = parts
        .iter()
        .filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
        .enumerate()
        .map(|(place, call)| CallResult {
            call: call.id.clone(),
            name: call.name.clone(),
            text: format!("result {place}"),
            images: if place == 0 {
                vec![image()]
            } else {
                Vec::new()
            },
            failed: place == 1,
        })
        .collect();
    request.messages.push(Message::Assistant(parts));
    request.messages.push(Message::Results(results));
}

/// Returns the ids of the calls in a request.
fn sent_calls(seen: &Seen) -> Vec<&str> {
    let messages = seen.messages().iter();
    match seen.api {
        Api::Responses => messages
            .filter(|item| item["type"] == "function_call")
            .map(|item| item["call_id"].as_str().unwrap())
            .collect(),
        _ => messages
            .filter_map(|message| message["tool_calls"].as_array())
            .flatten()
            .map(|call| call["id"].as_str().unwrap())
            .collect(),
    }
}

fn parallel_calls() -> Reply {
    Reply::think("two at once")
        .and_say("Looking.")
        .and_call("read_file", json!({"path": "a.txt"}))
        .and_call("list_dir", json!({"path": "src"}))
}

#[tokio::test]
async fn results_of_parallel_calls_go_back_under_their_ids() {
    for api in Api::ALL {
        let (parts, seen) = round_trip(api, parallel_calls()).await;
        let ids: Vec<String> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Call(call) => Some(call.id.clone()),
                _ => None,
            })
            .collect();
        let results = seen.tool_results();
        let texts: Vec<&str> = results.iter().map(|(_, text)| text.as_str()).collect();
        match api {
            Api::Anthropic => assert_eq!(texts, ["result 0", "result 1"]),
            _ => assert_eq!(texts, ["result 0", "The tool failed: result 1"], "{api:?}"),
        }
        let sent: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
        match api {
            Api::Anthropic => assert_eq!(sent, ids),
            Api::Chat | Api::Responses => assert_eq!(sent, sent_calls(&seen), "{api:?}"),
            // Neither gave its calls ids; Gemini goes by the names.
            Api::Gemini => assert_eq!(sent, ["read_file", "list_dir"]),
            Api::Ollama => assert_eq!(sent, ["", ""]),
        }
    }
}

#[tokio::test]
async fn an_anthropic_conversation_goes_back_block_by_block() {
    let (_, seen) = round_trip(Api::Anthropic, parallel_calls()).await;
    let messages = seen.messages();
    assert_eq!(messages.len(), 3);
    assert_eq!(
        messages[1],
        json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "two at once", "signature": "signed(two at once)"},
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "call_0_0", "name": "read_file", "input": {"path": "a.txt"}},
            {"type": "tool_use", "id": "call_0_1", "name": "list_dir", "input": {"path": "src"}},
        ]})
    );
    assert_eq!(
        messages[2],
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "call_0_0", "is_error": false, "content": [
                {"type": "text", "text": "result 0"},
                {"type": "image", "source":
                    {"type": "base64", "media_type": "image/png", "data": "aW1hZ2U="}},
            ]},
            {"type": "tool_result", "tool_use_id": "call_0_1", "is_error": true,
                "content": [{"type": "text", "text": "result 1"}],
                "cache_control": {"type": "ephemeral"}},
        ]})
    );
    let system = &seen.body["system"][0];
    assert_eq!(system["text"], "Be brief.");
    assert_eq!(system["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(seen.header("x-api-key"), Some("sk-secret"));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
}

#[tokio::test]
async fn anthropic_thoughts_keep_their_places_between_other_blocks() {
    let redacted = json!({"type": "content_block_start", "index": 9,
        "content_block": {"type": "redacted_thinking", "data": "opaque"}});
    let reply = Reply::think("one")
        .and_frame(redacted.to_string())
        .and_say("text")
        .and_think("two")
        .and_call("list_dir", json!({}));
    let (parts, seen) = round_trip(Api::Anthropic, reply).await;
    assert_eq!(parts.len(), 5);
    let kinds: Vec<&str> = seen
        .messages()
        .iter()
        .filter(|message| message["role"] == "assistant")
        .flat_map(|message| message["content"].as_array().unwrap())
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "thinking",
            "redacted_thinking",
            "text",
            "thinking",
            "tool_use"
        ]
    );
}

#[tokio::test]
async fn a_responses_conversation_goes_back_item_by_item() {
    let reply = Reply::think("one")
        .and_call("read_file", json!({"path": "a.txt"}))
        .and_think("two")
        .and_say("Looking.")
        .and_call("list_dir", json!({}));
    let (_, seen) = round_trip(Api::Responses, reply).await;
    let kinds: Vec<String> = seen
        .messages()
        .iter()
        .map(|item| {
            let encrypted = item["encrypted_content"].as_str().unwrap_or_default();
            let kind = item["type"].as_str().or(item["role"].as_str());
            format!("{} {encrypted}", kind.unwrap()).trim().to_owned()
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "user",
            "reasoning signed(one)",
            "function_call",
            "reasoning signed(two)",
            "message",
            "function_call",
            "function_call_output",
            "function_call_output",
            // The images of the results.
            "user",
        ]
    );
    let image = &seen.messages()[8]["content"][1];
    assert_eq!(image["type"], "input_image");
    assert_eq!(image["image_url"], "data:image/png;base64,aW1hZ2U=");
    assert_eq!(seen.body["store"], false);
    assert_eq!(seen.body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(seen.system(), "Be brief.");
    assert_eq!(seen.body["tools"][0]["strict"], false);
}

#[tokio::test]
async fn gemini_signatures_go_back_with_the_parts_they_came_on() {
    let reply = Reply::think("hm")
        .and_say("Looking.")
        .and_think("hm again")
        .and_call("read_file", json!({"path": "a.txt"}))
        .and_call("list_dir", json!({}));
    let (_, seen) = round_trip(Api::Gemini, reply).await;
    let contents = seen.messages();
    assert_eq!(
        contents[1]["parts"],
        json!([
            {"text": "Looking.", "thoughtSignature": "signed(hm)"},
            {"functionCall": {"name": "read_file", "args": {"path": "a.txt"}},
                "thoughtSignature": "signed(hm again)"},
            {"functionCall": {"name": "list_dir", "args": {}}},
        ])
    );
    assert_eq!(contents[2]["parts"].as_array().unwrap().len(), 2);
    assert_eq!(
        contents[3]["parts"][1]["inline_data"]["mime_type"],
        "image/png"
    );
    assert_eq!(seen.header("x-goog-api-key"), Some("sk-secret"));
    assert_eq!(
        seen.path,
        "/v1beta/models/scripted-max:streamGenerateContent?alt=sse"
    );
}

#[tokio::test]
async fn a_chat_conversation_goes_back_message_by_message() {
    let (_, seen) = round_trip(Api::Chat, parallel_calls()).await;
    let messages = seen.messages();
    let roles: Vec<&str> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        ["system", "user", "assistant", "tool", "tool", "user"]
    );
    assert_eq!(
        messages[2]["tool_calls"][0]["function"]["arguments"],
        json!({"path": "a.txt"}).to_string()
    );
    // OpenAI refuses thoughts.
    assert_eq!(messages[2].get("reasoning_content"), None);
    assert_eq!(messages[5]["content"][1]["type"], "image_url");
    assert_eq!(seen.body["stream_options"], json!({"include_usage": true}));
    assert_eq!(seen.header("authorization"), Some("Bearer sk-secret"));
}

#[tokio::test]
async fn thoughts_go_back_to_chat_services_that_ask_for_them() {
    let server = ModelServer::start([parallel_calls(), Reply::say("done")]).await;
    let mut service = service(&server, Api::Chat);
    service.resend_thoughts = true;
    let model = services::open(service);
    let mut request = ask("go");
    let first = answer(&model, &request).await;
    follow(&mut request, first.parts);
    answer(&model, &request).await;
    let seen = server.request(1).await;
    assert_eq!(seen.messages()[2]["reasoning_content"], "two at once");
}

#[tokio::test]
async fn an_ollama_conversation_keeps_every_result() {
    let (_, seen) = round_trip(Api::Ollama, parallel_calls()).await;
    let roles: Vec<&str> = seen
        .messages()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        ["system", "user", "assistant", "tool", "tool", "user"]
    );
    let messages = seen.messages();
    assert_eq!(messages[2]["thinking"], "two at once");
    assert_eq!(messages[3]["tool_name"], "read_file");
    assert_eq!(messages[5]["images"], json!(["aW1hZ2U="]));
    // Without it the server cuts the conversation to its default, and does not say so.
    assert_eq!(seen.body["options"]["num_ctx"], 128_000);
}

#[tokio::test]
async fn a_conversation_may_move_from_any_service_to_any_other() {
    for from in Api::ALL {
        for to in Api::ALL.into_iter().filter(|to| *to != from) {
            let server = ModelServer::start([parallel_calls(), Reply::say("done")]).await;
            let mut request = ask("go");
            let first = answer(&model(&server, from), &request).await;
            follow(&mut request, first.parts);
            let second = answer(&model(&server, to), &request).await;
            assert_eq!(second.text(), "done", "{from:?} to {to:?}");
            // What one service signed, no other understands.
            let sent = server.request(1).await.body.to_string();
            assert!(!sent.contains("signed("), "{from:?} to {to:?}: {sent}");
            if to == Api::Anthropic {
                for (id, _) in server.request(1).await.tool_results() {
                    assert!(!id.contains('#'), "{id}");
                }
            }
        }
    }
}

#[tokio::test]
async fn arguments_that_were_no_json_go_back_as_an_object() {
    for api in Api::ALL {
        let reply = Reply::empty().and_call_text("read_file", "{oops");
        let (_, seen) = round_trip(api, reply).await;
        let message = seen.body.to_string();
        assert!(message.contains("not_json"), "{api:?}: {message}");
    }
}

#[tokio::test]
async fn what_the_user_shows_arrives() {
    let audio = Content::Audio {
        mime_type: "audio/wav".to_owned(),
        data: "c291bmQ=".to_owned(),
    };
    for api in Api::ALL {
        let server = ModelServer::start([Reply::say("I see"), Reply::say("I do not")]).await;
        let mut request = ask("");
        request.messages = vec![Message::User(vec![
            Content::Text("look".to_owned()),
            image(),
            audio.clone(),
        ])];
        answer(&model(&server, api), &request).await;
        let seen = server.request(0).await.body.to_string();
        assert!(seen.contains("aW1hZ2U="), "{api:?}");
        let hears = matches!(api, Api::Chat | Api::Gemini);
        assert_eq!(seen.contains("c291bmQ="), hears, "{api:?}");
        assert_eq!(seen.contains("audio left out"), !hears, "{api:?}");

        let mut service = service(&server, api);
        service.facts.images = false;
        answer(&services::open(service), &request).await;
        let seen = server.request(1).await.body.to_string();
        assert!(!seen.contains("aW1hZ2U="), "{api:?}");
        assert!(seen.contains("image left out"), "{api:?}");
    }
}

#[tokio::test]
async fn effort_limits_and_cache_keys_are_sent() {
    for api in Api::ALL {
        let server = ModelServer::start([Reply::say("hm"), Reply::say("hm")]).await;
        let mut request = ask("go");
        request.effort = Some(Effort::High);
        request.output_tokens_max = Some(30_000);
        request.cache_key = Some("session-1".to_owned());
        let mut service = service(&server, api);
        service.headers = vec![("X-Title".to_owned(), Secret::new("ply"))];
        answer(&services::open(service.clone()), &request).await;
        let seen = server.request(0).await;
        let body = &seen.body;
        let null = &Value::Null;
        let (effort, limit, cache) = match api {
            Api::Chat => (&body["reasoning_effort"], &body["max_tokens"], null),
            Api::Responses => (
                &body["reasoning"]["effort"],
                &body["max_output_tokens"],
                &body["prompt_cache_key"],
            ),
            Api::Anthropic => (
                &body["thinking"]["budget_tokens"],
                &body["max_tokens"],
                null,
            ),
            Api::Gemini => (
                &body["generationConfig"]["thinkingConfig"]["thinkingBudget"],
                &body["generationConfig"]["maxOutputTokens"],
                null,
            ),
            Api::Ollama => (&body["think"], &body["options"]["num_predict"], null),
        };
        let high = match api {
            Api::Anthropic | Api::Gemini => json!(24_000),
            _ => json!("high"),
        };
        assert_eq!(effort, &high, "{api:?} {body}");
        assert_eq!(limit, &json!(30_000), "{api:?}");
        if api == Api::Responses {
            assert_eq!(cache, "session-1");
        } else {
            assert!(!body.to_string().contains("session-1"), "{api:?}");
        }
        if api != Api::Gemini {
            assert_eq!(body["model"], "scripted-max", "{api:?}");
        }
        assert_eq!(seen.header("x-title"), Some("ply"), "{api:?}");
        assert_eq!(seen.tools(), ["read_file", "list_dir"], "{api:?}");

        // A model whose effort cannot be chosen is told nothing about it.
        service.facts.efforts = false;
        answer(&services::open(service), &request).await;
        let body = server.request(1).await.body.to_string();
        assert!(
            !body.contains("think") && !body.contains("reasoning"),
            "{api:?} {body}"
        );
    }
}

/// Returns a conversation with calls that no service made like that, and what it becomes.
async fn made_up(service: impl FnOnce(&ModelServer) -> services::Service) -> Seen {
    let server = ModelServer::start([Reply::say("done")]).await;
    let names = ["multi_tool_use.parallel", "", "größe", &"x".repeat(300)];
    let calls = names.iter().enumerate().map(|(place, name)| {
        Part::Call(Call {
            id: format!("call-1-2-{place}"),
            name: (*name).to_owned(),
            arguments: json!({}),
            signatures: Vec::new(),
        })
    });
    let mut request = ask("go");
    follow(&mut request, calls.collect());
    let more = Content::Text("Go on.".to_owned());
    request.messages.push(Message::User(vec![more]));
    let model = services::open(service(&server));
    assert_eq!(answer(&model, &request).await.text(), "done");
    server.request(0).await
}

/// Returns every string under a key, wherever it is.
fn all<'v>(value: &'v Value, key: &str, found: &mut Vec<&'v str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| all(item, key, found)),
        Value::Object(fields) => {
            found.extend(fields.get(key).and_then(Value::as_str));
            fields.values().for_each(|field| all(field, key, found));
        }
        _ => {}
    }
}

#[tokio::test]
async fn names_that_a_model_made_up_are_sent_as_names() {
    for api in Api::ALL {
        let seen = made_up(|server| service(server, api)).await;
        let messages = Value::from(seen.messages().to_vec());
        let mut names = Vec::new();
        all(&messages, "name", &mut names);
        all(&messages, "tool_name", &mut names);
        assert!(names.len() >= 4, "{api:?} {names:?}");
        for expected in ["multi_tool_use_parallel", "unknown", "gr__e"] {
            assert!(names.contains(&expected), "{api:?} {names:?}");
        }
        for name in names {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!(
                (1..=64).contains(&name.len()) && name.chars().all(plain),
                "{api:?} {name}"
            );
        }
    }
}

#[tokio::test]
async fn calls_have_ids_that_mistral_takes_too() {
    for api in [Api::Chat, Api::Responses] {
        let seen = made_up(|server| service(server, api)).await;
        let calls = sent_calls(&seen);
        let results = seen.tool_results();
        let results: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(calls, results, "{api:?}");
        assert_eq!(calls.len(), 4, "{api:?}");
        for id in calls {
            let plain = id.chars().all(|c| c.is_ascii_alphanumeric());
            assert!(plain && id.len() == 9, "{api:?} {id}");
        }
    }
}

#[tokio::test]
async fn where_a_model_has_to_speak_after_results_it_does() {
    let roles = |seen: &Seen| {
        let roles = seen.messages().iter().map(|message| {
            let text = message["content"].as_str().unwrap_or_default();
            let said = if text == "Understood." { "!" } else { "" };
            format!("{}{said}", message["role"].as_str().unwrap())
        });
        roles.collect::<Vec<_>>().join(" ")
    };
    let usual = made_up(|server| service(server, Api::Chat)).await;
    assert_eq!(
        roles(&usual),
        "system user assistant tool tool tool tool user user"
    );
    let mistral = made_up(|server| {
        let mut mistral = service(server, Api::Chat);
        mistral.speaks_after_results = true;
        mistral
    });
    assert_eq!(
        roles(&mistral.await),
        "system user assistant tool tool tool tool assistant! user user"
    );
}
