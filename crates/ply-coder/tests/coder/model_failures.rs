//! Failures of services, over real HTTP: of which class they are, and what people are told.

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

use std::time::Duration;

use crate::model::{Answer, answer, ask, model, service};
use futures::StreamExt;
use ply_coder::model::service::{self as services, Api as ModelApi, Service};
use ply_coder::model::{Delta, Facts, FailureClass, Stopped};
use ply_model_server::{Api, Gate, ModelServer, Reply};
use serde_json::json;
use tokio::net::TcpListener;

/// Asks once, and makes sure that the key is not told, and the service's words only where they are about the key,
/// the account or the model.
async fn fail(api: Api, reply: Reply) -> Answer {
    let server = ModelServer::start([reply]).await;
    let answer = answer(&model(&server, api), &ask("go")).await;
    if let Some(failure) = &answer.failure {
        use FailureClass::{NoSuchModel, Quota, Unauthorized};
        let message = &failure.message;
        for hidden in ["sk-secret", "Cause", "\n", "{"] {
            assert!(!message.contains(hidden), "{api:?}: {message}");
        }
        if !matches!(failure.class, NoSuchModel | Quota | Unauthorized) {
            assert!(!message.contains("verbatim"), "{api:?}: {message}");
        }
        let first = failure.message.chars().next().unwrap();
        assert!(first.is_uppercase(), "{}", failure.message);
        assert!(failure.message.ends_with('.'), "{}", failure.message);
    }
    answer
}

#[tokio::test]
async fn statuses_are_classed() {
    use FailureClass as Class;
    for api in Api::ALL {
        for (status, class) in [
            (400, Class::Rejected),
            (401, Class::Unauthorized),
            (402, Class::Quota),
            (403, Class::Unauthorized),
            (404, Class::NoSuchModel),
            (413, Class::TooLarge),
            (422, Class::Rejected),
            (429, Class::Busy),
            (500, Class::Service),
            (502, Class::Service),
            (529, Class::Busy),
        ] {
            let answer = fail(api, Reply::status(status)).await;
            assert_eq!(answer.class(), Some(class), "{api:?} {status}");
            assert!(answer.deltas.is_empty(), "{api:?} {status}");
        }
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_told_in_each_services_words() {
    for api in Api::ALL {
        let answer = fail(api, Reply::overflow()).await;
        assert_eq!(
            answer.class(),
            Some(FailureClass::ContextOverflow),
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn an_account_without_money_is_not_a_busy_service() {
    for api in Api::ALL {
        let answer = fail(api, Reply::quota()).await;
        assert_eq!(answer.class(), Some(FailureClass::Quota), "{api:?}");
    }
}

#[tokio::test]
async fn the_wait_that_a_service_asks_for_is_passed_on() {
    for api in Api::ALL {
        let answer = fail(api, Reply::status(429).retry_after(7)).await;
        let failure = answer.failure.unwrap();
        assert_eq!(failure.retry_after, Some(Duration::from_secs(7)), "{api:?}");
        let reply = Reply::status(529)
            .retry_after(7)
            .header("retry-after-ms", "250");
        let failure = fail(api, reply).await.failure.unwrap();
        let wait = Some(Duration::from_millis(250));
        assert_eq!(failure.retry_after, wait, "{api:?}");
        let reply = Reply::status(429).header("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT");
        assert_eq!(fail(api, reply).await.failure.unwrap().retry_after, None);
    }
}

#[tokio::test]
async fn failures_say_what_to_do() {
    let mut told = Vec::new();
    for (api, reply) in [
        (Api::Anthropic, Reply::status(400)),
        (Api::Anthropic, Reply::status(401)),
        (Api::Anthropic, Reply::quota()),
        (Api::Anthropic, Reply::overflow()),
        (Api::Chat, Reply::status(404)),
        (Api::Ollama, Reply::status(404)),
        (Api::Ollama, Reply::status(400)),
        (Api::Chat, Reply::status(413)),
        (Api::Chat, Reply::status(429)),
        (Api::Chat, Reply::status(429).retry_after(3600)),
        (Api::Responses, Reply::status(503)),
        (Api::Gemini, Reply::say("so far").and_cut()),
        (Api::Gemini, Reply::say("so far").and_malformed()),
        (Api::Responses, Reply::say("so far").and_fail(500)),
    ] {
        told.push(fail(api, reply).await.failure.unwrap().message);
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    Anthropic does not take the request (`invalid_request_error`).
    Anthropic does not accept the key: "verbatim words of the service"; set `TEST_KEY`.
    The account at Anthropic has no credit or quota left: "verbatim: Your credit balance is too low to access the Anthropic API."; add some or choose another model.
    The conversation is too long for `test/scripted-max`.
    OpenAI has no model for `test/scripted-max`: "verbatim model_not_found [removed]"; choose another model, or check `base_url` of the provider.
    Ollama has no model `scripted-max`; run `ollama pull scripted-max` or choose another model.
    Ollama does not take the request (status 400).
    The request is larger than OpenAI takes; leave out large files or images.
    OpenAI is busy or limits how often it may be asked.
    OpenAI is busy or limits how often it may be asked. It asks to wait 3600 s.
    OpenAI failed (status 503).
    The answer of Gemini broke off in the middle.
    The answer of Gemini cannot be understood: a piece of it is no JSON object.
    OpenAI failed in the middle of the answer.
    "#);
}

#[tokio::test]
async fn an_error_in_the_middle_of_an_answer_is_classed() {
    for (api, status, class) in [
        (Api::Chat, 500, FailureClass::Service),
        (Api::Chat, 429, FailureClass::Busy),
        (Api::Responses, 500, FailureClass::Service),
        (Api::Responses, 429, FailureClass::Busy),
        (Api::Anthropic, 529, FailureClass::Busy),
        (Api::Anthropic, 500, FailureClass::Service),
        (Api::Gemini, 503, FailureClass::Service),
        (Api::Gemini, 429, FailureClass::Busy),
        (Api::Ollama, 500, FailureClass::Service),
    ] {
        let answer = fail(api, Reply::say("so far").and_fail(status)).await;
        assert_eq!(answer.class(), Some(class), "{api:?} {status}");
        assert_eq!(answer.text(), "so far", "{api:?} {status}");
        assert_eq!(answer.stopped, None, "{api:?} {status}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_was_cut() {
    for api in Api::ALL {
        for end in [Reply::and_cut, Reply::and_end_early] {
            let reply = Reply::say("so far").and_call("read_file", json!({"path": "a"}));
            let answer = fail(api, end(reply)).await;
            assert_eq!(answer.class(), Some(FailureClass::Cut), "{api:?}");
            assert_eq!(answer.text(), "so far", "{api:?}");
            assert_eq!(answer.stopped, None, "{api:?}");
        }
    }
}

#[tokio::test]
async fn a_body_without_anything_in_it_was_cut() {
    for api in Api::ALL {
        let reply = Reply::computed(|_| Reply::empty().and_end_early());
        let class = fail(api, reply).await.class();
        assert_eq!(class, Some(FailureClass::Cut), "{api:?}");
    }
}

#[tokio::test]
async fn a_chat_service_may_leave_out_done() {
    let last = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    for end in [Reply::and_cut, Reply::and_end_early] {
        let reply = end(Reply::say("whole").and_frame(last.to_string()));
        let answer = fail(Api::Chat, reply).await;
        assert_eq!(answer.failure, None);
        assert_eq!(answer.stopped, Some(Stopped::End));
    }
}

#[tokio::test]
async fn a_frame_that_is_no_json_makes_an_answer_malformed() {
    for api in Api::ALL {
        let answer = fail(api, Reply::say("so far").and_malformed().and_say("more")).await;
        assert_eq!(answer.class(), Some(FailureClass::Malformed), "{api:?}");
        assert_eq!(answer.text(), "so far", "{api:?}");
    }
}

#[tokio::test]
async fn frames_that_are_not_understood_are_passed_over() {
    for api in Api::ALL {
        let frame = json!({"type": "something.new", "surprise": [1, 2]}).to_string();
        let answer = fail(api, Reply::say("so ").and_frame(frame).and_say("far")).await;
        assert_eq!(answer.failure, None, "{api:?}");
        assert_eq!(answer.text(), "so far", "{api:?}");
    }
}

#[tokio::test]
async fn a_first_byte_that_does_not_come_is_given_up_after_300_s() {
    for api in Api::ALL {
        let gate = Gate::new();
        let server = ModelServer::start([Reply::hang(&gate)]).await;
        let model = model(&server, api);
        let asked = tokio::spawn(async move {
            let request = ask("go");
            let start = tokio::time::Instant::now();
            (answer(&model, &request).await, start.elapsed())
        });
        gate.reached().await;
        // From here on, time passes as soon as there is nothing else to do.
        tokio::time::pause();
        let (answer, waited) = asked.await.unwrap();
        tokio::time::resume();
        assert_eq!(answer.class(), Some(FailureClass::Silent), "{api:?}");
        assert!(waited >= Duration::from_secs(299), "{api:?} {waited:?}");
        server.disconnected(0).await;
    }
}

#[tokio::test]
async fn silence_in_the_middle_is_given_up_after_120_s() {
    for api in Api::ALL {
        let gate = Gate::new();
        let server = ModelServer::start([Reply::say("so far").and_wait(&gate)]).await;
        let model = model(&server, api);
        let request = ask("go");
        let mut deltas = model.stream(&request).await.unwrap();
        while !matches!(deltas.next().await, Some(Ok(Delta::Text(_)))) {}
        gate.reached().await;
        tokio::time::pause();
        let start = tokio::time::Instant::now();
        let failure = loop {
            match deltas.next().await.unwrap() {
                Ok(delta) => assert!(!matches!(delta, Delta::Stopped(_)), "{api:?}"),
                Err(failure) => break failure,
            }
        };
        let waited = start.elapsed().as_secs();
        tokio::time::resume();
        assert_eq!(failure.class, FailureClass::Silent, "{api:?}");
        // Time may pass once for the frames that were under way.
        assert!((119..=241).contains(&waited), "{api:?} {waited}");
        assert!(deltas.next().await.is_none(), "{api:?}");
        server.disconnected(0).await;
    }
}

#[tokio::test]
async fn comments_that_keep_a_connection_alive_are_no_silence() {
    let gates: Vec<Gate> = (0..3).map(|_| Gate::new()).collect();
    let reply = gates.iter().fold(Reply::say("so "), |reply, gate| {
        reply.and_wait(gate).and_comment()
    });
    let server = ModelServer::start([reply.and_say("far")]).await;
    let model = model(&server, Api::Chat);
    let request = ask("go");
    let mut deltas = model.stream(&request).await.unwrap();
    let mut text = String::new();
    let read = async {
        while let Some(delta) = deltas.next().await {
            if let Delta::Text(more) = delta.unwrap() {
                text.push_str(&more);
            }
        }
    };
    // Each comment comes 100 s after what was before it.
    let send = async {
        for gate in &gates {
            gate.reached().await;
            tokio::time::pause();
            tokio::time::advance(Duration::from_secs(100)).await;
            tokio::time::resume();
            gate.open();
        }
    };
    futures::future::join(read, send).await;
    assert_eq!(text, "so far");
}

#[tokio::test]
async fn nobody_at_the_users_own_address_is_told_with_the_address() {
    // A port that was free a moment ago.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let mut service = Service::new(ModelApi::Ollama, "m", Facts::new("ollama/m"));
    service.base_url = Some(format!("http://{address}"));
    let ollama = answer(&services::open(service.clone()), &ask("go")).await;
    service.api = ModelApi::OpenAi;
    let other = answer(&services::open(service.clone()), &ask("go")).await;
    // No name ends so, by RFC 6761.
    service.base_url = Some("http://ply.invalid/v1".to_owned());
    service.own_address = true;
    let unknown = answer(&services::open(service.clone()), &ask("go")).await;
    service.own_address = false;
    let outage = answer(&services::open(service), &ask("go")).await;
    assert_eq!(outage.class(), Some(FailureClass::Network));
    let told = [ollama, other, unknown].map(|answer| {
        assert_eq!(answer.class(), Some(FailureClass::Unreachable));
        let told = answer.failure.unwrap().message;
        told.replace(&address.to_string(), "ADDRESS")
    });
    insta::assert_snapshot!(told.join("\n"), @r"
    Ollama cannot be reached at `ADDRESS`: nothing listens there; is it running, and is `base_url` or `OLLAMA_HOST` right?
    Ollama cannot be reached at `ADDRESS`: nothing listens there; check that it runs, and `base_url` of the provider.
    Ollama cannot be reached at `ply.invalid`: there is no host of that name; check that it runs, and `base_url` of the provider.
    ");
}

#[tokio::test]
async fn without_a_key_nothing_is_sent() {
    let mut service = Service::new(ModelApi::Anthropic, "m", Facts::new("anthropic/m"));
    service.key_hint = "set `ANTHROPIC_API_KEY`".to_owned();
    let answer = answer(&services::open(service), &ask("go")).await;
    assert_eq!(answer.class(), Some(FailureClass::Unauthorized));
    insta::assert_snapshot!(
        answer.failure.unwrap().message,
        @"There is no key for Anthropic; set `ANTHROPIC_API_KEY`."
    );
}

#[tokio::test]
async fn an_address_a_header_or_a_proxy_that_makes_no_sense_is_told() {
    let server = ModelServer::start([]).await;
    let mut nowhere = service(&server, Api::Chat);
    nowhere.base_url = Some("api.example".to_owned());
    let mut header = service(&server, Api::Chat);
    header.key = Some(ply_coder::model::service::Secret::new("two\nlines"));
    let mut proxy = service(&server, Api::Chat);
    proxy.proxy = Some(ply_coder::model::service::Secret::new("::no proxy::"));
    let mut told = Vec::new();
    for service in [nowhere, header, proxy] {
        let answer = answer(&services::open(service), &ask("go")).await;
        assert_eq!(answer.class(), Some(FailureClass::Setup));
        told.push(answer.failure.unwrap().message);
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    The address of OpenAI is not an http or https URL; correct `base_url` of the provider, or the variable that sets it.
    No request to OpenAI could be made; check `base_url` and `headers` of the provider.
    No connection to OpenAI can be set up; check the proxy and the system's certificates.
    ");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = ModelServer::start([Reply::say("stolen")]).await;
    let to = format!("{}/messages", other.url(Api::Anthropic));
    let reply = Reply::status(307).header("location", to);
    let answer = fail(Api::Anthropic, reply).await;
    assert_eq!(answer.class(), Some(FailureClass::Rejected));
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_gemini_limit_that_passes_is_no_quota() {
    let body = json!({"error": {
        "code": 429,
        "status": "RESOURCE_EXHAUSTED",
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}],
    }});
    let reply = Reply::empty().and_frame(body.to_string());
    let failure = fail(Api::Gemini, reply).await.failure.unwrap();
    assert_eq!(failure.class, FailureClass::Busy);
    assert_eq!(failure.retry_after, Some(Duration::from_secs(34)));
}

#[test]
fn a_service_does_not_show_its_secrets() {
    let mut service = Service::new(ModelApi::OpenAi, "m", Facts::new("p/m"));
    service.key = Some(services::Secret::new("sk-hidden"));
    service.headers = vec![("x-auth".to_owned(), services::Secret::new("sk-hidden"))];
    let shown = format!("{service:?} {:?}", services::open(service.clone()));
    assert!(!shown.contains("sk-hidden"), "{shown}");
    assert!(shown.contains("[redacted]"), "{shown}");
}
