//! The models that a server says it has.

use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Api, Secret, Service, failure, target};
use crate::model::{Failure, FailureClass, catalogue};

/// How long a server may take to say what it has.
const LIST_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a list of models may be.
const LIST_BYTES_MAX: usize = 1 << 20;
/// How many models of one server are offered.
const MODELS_MAX: usize = 100;
/// Parts of the names of models that do not chat.
const OTHERS: [&str; 10] = [
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "moderation",
    "rerank",
    "transcribe",
    "image",
    "realtime",
    "audio",
];

/// Asks a server for its models. `service` says how it is reached; its own model does not matter.
///
/// # Errors
///
/// The server cannot be reached in time, refuses, or answers something else.
///
/// # Cancel safety
///
/// Dropping it drops the request.
pub async fn models(service: &Service) -> Result<Vec<Service>, Failure> {
    let names = timeout(LIST_TIMEOUT, names(service)).await;
    let names = names.unwrap_or_else(|_| Err(failure::silent(service, LIST_TIMEOUT, false)))?;
    let chats = |name: &String| {
        let name = name.to_ascii_lowercase();
        !OTHERS.iter().any(|other| name.contains(other))
    };
    let names = names.into_iter().filter(chats).take(MODELS_MAX);
    Ok(names.map(|name| service.with_model(&name)).collect())
}

/// Asks a running Ollama for its models, by the URL of the server. None are had when there is none.
///
/// # Cancel safety
///
/// Dropping it drops the request.
pub async fn ollama_models(base_url: &str) -> Vec<Service> {
    models(&ollama_model(base_url, ""))
        .await
        .unwrap_or_default()
}

/// Returns a model of an Ollama, by the URL of the server and without asking it.
pub fn ollama_model(base_url: &str, name: &str) -> Service {
    let facts = catalogue::local(&format!("ollama/{name}"));
    let mut service = Service::new(Api::Ollama, name, facts);
    service.base_url = Some(without_version(base_url).to_owned());
    service
}

/// Returns the URL without the path of OpenAI's API.
fn without_version(url: &str) -> &str {
    url.trim_end_matches('/').trim_end_matches("/v1")
}

async fn names(service: &Service) -> Result<Vec<String>, Failure> {
    let url = target::list_url(service).ok_or_else(|| failure::bad_address(service))?;
    if service.api == Api::Ollama {
        knock(service, &url).await?;
    }
    let http = target::http(service.proxy.as_ref().map(Secret::reveal), LIST_TIMEOUT)
        .map_err(|()| failure::no_client(service))?;
    let sent = http.get(url).headers(headers(service)).send().await;
    let mut response = sent.map_err(|error| failure::of_network(service, Some(&error)))?;
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await;
        let chunk = chunk.map_err(|error| failure::of_network(service, Some(&error)))?;
        let Some(chunk) = chunk else { break };
        body.extend_from_slice(&chunk);
        if body.len() > LIST_BYTES_MAX {
            return Err(failure::malformed(
                service,
                "the list of models is too long",
            ));
        }
    }
    if !response.status().is_success() {
        let status = response.status().as_u16();
        let body = String::from_utf8_lossy(&body);
        return Err(failure::of_response(
            service,
            status,
            response.headers(),
            &body,
        ));
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    read(&body).ok_or_else(|| failure::malformed(service, "it is no list of models"))
}

/// Most machines have no Ollama, and building a client takes more time and memory than knocking.
async fn knock(service: &Service, url: &Url) -> Result<(), Failure> {
    let host = match url.host_str().unwrap_or_default() {
        // Looking the name up loads libraries and starts a thread.
        "localhost" => "127.0.0.1",
        host => host.trim_matches(['[', ']']),
    };
    let port = url.port_or_known_default().unwrap_or_default();
    let connected = TcpStream::connect((host, port)).await;
    connected.map(drop).map_err(|_| {
        let words = format!("{} cannot be reached at `{host}:{port}`.", service.service);
        Failure::new(FailureClass::Unreachable, words)
    })
}

fn headers(service: &Service) -> HeaderMap {
    let pairs = target::headers(service).into_iter();
    let pairs = pairs.filter_map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_str(&value).ok()?))
    });
    pairs.collect()
}

/// Reads a list: OpenAI and Anthropic have ids in `data`, Gemini and Ollama names in `models`.
fn read(body: &Value) -> Option<Vec<String>> {
    let list = body
        .get("data")
        .or_else(|| body.get("models"))?
        .as_array()?;
    let names = list.iter().filter_map(|model| {
        let name = model.get("id").or_else(|| model.get("name"))?.as_str()?;
        let name = name.strip_prefix("models/").unwrap_or(name);
        let is_sound =
            !name.is_empty() && !name.chars().any(|c| c.is_control() || c.is_whitespace());
        is_sound.then(|| name.to_owned())
    });
    Some(names.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_of_every_api_are_read() {
        let check = |body: Value| assert_eq!(read(&body).unwrap(), ["a", "b"], "{body}");
        check(json!({ "data": [{ "id": "a" }, { "id": "b", "object": "model" }] }));
        check(json!({ "models": [{ "name": "models/a" }, { "name": "b" }] }));
        check(json!({ "data": [{ "id": "a" }, { "id": "x\ny" }, {}, { "id": "b" }] }));
        assert_eq!(read(&json!({ "error": "no" })), None);
    }
}
