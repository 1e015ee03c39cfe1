//! Answers of services, over real HTTP: what they say, think, call and count.

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

use crate::model::{answer, ask, model};
use futures::StreamExt;
use ply_coder::model::{Delta, Part, Stopped, Usage};
use ply_model_server::{Api, Gate, ModelServer, Reply, Stop};
use serde_json::{Value, json};

#[tokio::test]
async fn text_comes_in_pieces_and_in_order() {
    for api in Api::ALL {
        let server = ModelServer::start([Reply::say("It says hello, wörld — twice.")]).await;
        let answer = answer(&model(&server, api), &ask("what does it say?")).await;
        assert_eq!(answer.text(), "It says hello, wörld — twice.", "{api:?}");
        assert_eq!(answer.stopped, Some(Stopped::End), "{api:?}");
        let pieces = answer
            .deltas
            .iter()
            .filter(|delta| matches!(delta, Delta::Text(_)));
        assert!(pieces.count() > 2, "{api:?}");
        server.finished(0).await;
    }
}

#[tokio::test]
async fn bytes_may_be_split_anywhere() {
    let script = || {
        Reply::think("hm, ünïcode")
            .and_say("naïve 🦀 text")
            .and_call("read_file", json!({"path": "ä.txt"}))
            .and_call("list_dir", json!({}))
    };
    for api in Api::ALL {
        let server = ModelServer::start([script()]).await;
        let whole = answer(&model(&server, api), &ask("go")).await;
        assert_eq!(whole.stopped, Some(Stopped::End), "{api:?}");
        assert_eq!(whole.calls().len(), 2, "{api:?}");
        for bytes in [1, 2, 3, 7, 64, 1000] {
            for reply in [
                script().split_every(bytes),
                script().split_every(bytes).crlf(),
            ] {
                server.push(reply);
                let split = answer(&model(&server, api), &ask("go")).await;
                assert_eq!(split.failure, None, "{api:?} {bytes}");
                // Ids that the server makes count its requests.
                let without_ids = |parts: &[Part]| {
                    let mut parts = parts.to_vec();
                    for part in &mut parts {
                        if let Part::Call(call) = part {
                            call.id.clear();
                        }
                    }
                    parts
                };
                assert_eq!(
                    without_ids(&split.parts),
                    without_ids(&whole.parts),
                    "{api:?} {bytes}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_call_is_told_at_its_beginning_and_as_soon_as_it_is_complete() {
    for api in Api::ALL {
        let gate = Gate::new();
        let reply = Reply::say("first")
            .and_call("read_file", json!({"path": "a.txt"}))
            .and_call("list_dir", json!({"path": "src"}))
            .and_wait(&gate);
        let server = ModelServer::start([reply]).await;
        let model = model(&server, api);
        let request = ask("go");
        let mut deltas = model.stream(&request).await.unwrap();
        let mut ended = 0;
        let mut started = Vec::new();
        let mut arguments = [String::new(), String::new()];
        // Calls are complete before the answer is: the server waits at the gate. Chat Completions has no
        // word for the end of a call, so that the last one takes the end of the answer.
        let complete = if api == Api::Chat { 1 } else { 2 };
        while ended < complete {
            match deltas.next().await.unwrap().unwrap() {
                Delta::CallStarted { place, name, .. } => {
                    assert_eq!(place, started.len(), "{api:?}");
                    started.push(name);
                }
                Delta::CallArguments { place, json } => arguments[place].push_str(&json),
                Delta::CallEnded { place, call } => {
                    assert_eq!(place, ended, "{api:?}");
                    let path = ["a.txt", "src"][place];
                    assert_eq!(call.arguments, json!({"path": path}), "{api:?}");
                    ended += 1;
                }
                _ => {}
            }
        }
        gate.reached().await;
        gate.open();
        while let Some(delta) = deltas.next().await {
            match delta.unwrap() {
                Delta::CallStarted { name, .. } => started.push(name),
                Delta::CallArguments { place, json } => arguments[place].push_str(&json),
                Delta::CallEnded { place, .. } => {
                    assert_eq!(place, ended, "{api:?}");
                    ended += 1;
                }
                _ => {}
            }
        }
        assert_eq!(ended, 2, "{api:?}");
        assert_eq!(started, ["read_file", "list_dir"], "{api:?}");
        let parsed: Vec<Value> = arguments
            .iter()
            .map(|json| serde_json::from_str(json).unwrap())
            .collect();
        assert_eq!(
            parsed,
            [json!({"path": "a.txt"}), json!({"path": "src"})],
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn arguments_that_are_empty_or_no_json_are_kept_apart() {
    for api in Api::ALL {
        let reply = Reply::empty()
            .and_call_text("list_dir", "")
            .and_call_text("read_file", "{\"path\": oops");
        let server = ModelServer::start([reply]).await;
        let answer = answer(&model(&server, api), &ask("go")).await;
        let arguments: Vec<&Value> = answer.calls().iter().map(|call| &call.arguments).collect();
        assert_eq!(
            arguments,
            [&json!({}), &Value::String("{\"path\": oops".to_owned())],
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn ids_are_unique_in_the_conversation() {
    for api in Api::ALL {
        let reply = || {
            Reply::empty()
                .and_call_with_id("same", "list_dir", json!({}))
                .and_call_with_id("same", "list_dir", json!({}))
                .and_call_with_id("", "list_dir", json!({}))
        };
        let server = ModelServer::start([reply(), reply()]).await;
        let model = model(&server, api);
        let mut request = ask("go");
        let first = answer(&model, &request).await;
        request
            .messages
            .push(ply_coder::model::Message::Assistant(first.parts.clone()));
        let second = answer(&model, &request).await;
        let mut ids: Vec<&str> = first.calls().iter().map(|call| call.id.as_str()).collect();
        ids.extend(second.calls().iter().map(|call| call.id.as_str()));
        assert_eq!(ids.len(), 6, "{api:?}");
        assert_eq!(ids[0], "same", "{api:?}");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 6, "{api:?}: {ids:?}");
        assert!(ids.iter().all(|id| !id.is_empty()), "{api:?}");
    }
}

#[tokio::test]
async fn a_chat_service_may_leave_out_the_index_of_calls() {
    let delta = |call: Value| json!({"choices": [{"delta": {"tool_calls": [call]}}]}).to_string();
    let reply = Reply::empty()
        .and_frame(delta(
            json!({"id": "a", "function": {"name": "read_file", "arguments": "{\"path\":"}}),
        ))
        .and_frame(delta(json!({"function": {"arguments": "\"x\"}"}})))
        .and_frame(delta(
            json!({"id": "b", "function": {"name": "list_dir", "arguments": {}}}),
        ));
    let server = ModelServer::start([reply]).await;
    let answer = answer(&model(&server, Api::Chat), &ask("go")).await;
    let calls: Vec<(&str, &Value)> = answer
        .calls()
        .iter()
        .map(|call| (call.id.as_str(), &call.arguments))
        .collect();
    assert_eq!(calls, [("a", &json!({"path": "x"})), ("b", &json!({}))]);
}

#[tokio::test]
async fn tokens_are_counted() {
    for api in Api::ALL {
        let reply = Reply::say("hi").usage(ply_model_server::Usage {
            input: 1200,
            output: 34,
            cached: 1000,
            written: 150,
        });
        let server = ModelServer::start([reply, Reply::say("hi").no_usage()]).await;
        let counted = answer(&model(&server, api), &ask("go")).await;
        let expected = Usage {
            input_tokens: 1200,
            output_tokens: 34,
            cached_tokens: 1000,
            // The others have no such price, and count no such tokens.
            cache_write_tokens: if api == Api::Anthropic { 150 } else { 0 },
        };
        assert_eq!(counted.usage, Some(expected), "{api:?}");
        assert!(matches!(counted.deltas.last(), Some(Delta::Stopped(_))));
        let uncounted = answer(&model(&server, api), &ask("go")).await;
        assert_eq!(uncounted.usage, None, "{api:?}");
    }
}

#[tokio::test]
async fn reasons_to_stop_are_told_apart() {
    for api in Api::ALL {
        for (stop, expected) in [
            (Stop::End, Stopped::End),
            (Stop::MaxTokens, Stopped::MaxTokens),
            (Stop::Refusal, Stopped::Refusal),
        ] {
            // Ollama knows no refusals.
            if api == Api::Ollama && stop == Stop::Refusal {
                continue;
            }
            let server = ModelServer::start([Reply::say("so far").stop(stop)]).await;
            let answer = answer(&model(&server, api), &ask("go")).await;
            assert_eq!(answer.stopped, Some(expected), "{api:?}");
            assert_eq!(answer.failure, None, "{api:?}");
        }
    }
}

#[tokio::test]
async fn a_refusal_in_words_is_one() {
    let chat = json!({"choices": [{"delta": {"refusal": "I will not."}}]});
    let gemini = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    for (api, frame, text) in [(Api::Chat, chat, "I will not."), (Api::Gemini, gemini, "")] {
        let reply = Reply::empty().and_frame(frame.to_string());
        let reply = match api {
            // A blocked request has no candidate, and no reason to stop.
            Api::Gemini => reply.and_end_early(),
            _ => reply,
        };
        let server = ModelServer::start([reply]).await;
        let answer = answer(&model(&server, api), &ask("go")).await;
        assert_eq!(answer.stopped, Some(Stopped::Refusal), "{api:?}");
        assert_eq!(answer.text(), text, "{api:?}");
    }
}

#[tokio::test]
async fn a_call_that_the_limit_cut_is_left_without_an_end() {
    for api in [Api::Chat, Api::Responses] {
        let frames = match api {
            Api::Chat => vec![
                json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a",
                    "function": {"name": "read_file", "arguments": "{\"pa"}}]}}]}),
            ],
            _ => vec![
                json!({"type": "response.output_item.added", "output_index": 0,
                    "item": {"type": "function_call", "call_id": "a", "name": "read_file"}}),
                json!({"type": "response.function_call_arguments.delta", "output_index": 0,
                    "delta": "{\"pa"}),
            ],
        };
        let reply = frames
            .iter()
            .fold(Reply::empty(), |reply, frame| {
                reply.and_frame(frame.to_string())
            })
            .stop(Stop::MaxTokens);
        let server = ModelServer::start([reply]).await;
        let answer = answer(&model(&server, api), &ask("go")).await;
        assert_eq!(answer.stopped, Some(Stopped::MaxTokens), "{api:?}");
        assert!(answer.calls().is_empty(), "{api:?}");
        assert!(
            answer
                .deltas
                .iter()
                .any(|delta| matches!(delta, Delta::CallStarted { .. })),
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn an_empty_answer_is_an_end() {
    for api in Api::ALL {
        let server = ModelServer::start([Reply::empty()]).await;
        let answer = answer(&model(&server, api), &ask("go")).await;
        assert_eq!(answer.stopped, Some(Stopped::End), "{api:?}");
        assert_eq!(answer.text(), "", "{api:?}");
        assert!(answer.calls().is_empty(), "{api:?}");
    }
}

#[tokio::test]
async fn dropping_an_answer_ends_the_request() {
    for api in Api::ALL {
        let gate = Gate::new();
        let server = ModelServer::start([
            Reply::say("so far").and_wait(&gate).and_say("never"),
            Reply::hang(&gate),
        ])
        .await;
        let model = model(&server, api);
        let request = ask("go");
        let mut deltas = model.stream(&request).await.unwrap();
        while !matches!(deltas.next().await, Some(Ok(Delta::Text(_)))) {}
        drop(deltas);
        server.disconnected(0).await;

        let asked = tokio::select! {
            _ = model.stream(&request) => false,
            _ = server.request(1) => true,
        };
        assert!(asked, "{api:?}");
        server.disconnected(1).await;
    }
}

#[tokio::test]
async fn a_running_ollama_offers_its_models() {
    let server = ModelServer::start([Reply::say("hi")]).await;
    server.set_models(&["qwen3-coder:30b", "llama3.2-vision:11b"]);
    let mut services = ply_coder::config::ollama_models(&server.url(Api::Ollama)).await;
    let ids: Vec<&str> = services
        .iter()
        .map(|service| service.facts.id.as_str())
        .collect();
    assert_eq!(
        ids,
        ["ollama/qwen3-coder:30b", "ollama/llama3.2-vision:11b"]
    );
    assert!(services[1].facts.images);
    let model = ply_coder::model::service::open(services.remove(0));
    assert_eq!(answer(&model, &ask("hello")).await.text(), "hi");
    let url = server.url(Api::Ollama);
    drop(server);
    assert!(ply_coder::config::ollama_models(&url).await.is_empty());
}
