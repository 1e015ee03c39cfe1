//! A server behind streamable HTTP.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ply_agent::v2;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{StatusCode, Url};
use rmcp::serve_client;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::json;
use tokio::time::{Instant, timeout, timeout_at};

use super::Settings;
use super::authorized::Authorized;
use super::host::Host;
use super::link::Running;
use super::login::tokens::Tokens;
use super::{stdio, words};
use crate::web;

/// How large one message of a server may be.
const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How often a stream that broke is taken up again before its call fails.
const RESUMES_MAX: usize = 3;
/// The wait before the first time; it doubles.
const RESUME_WAIT: Duration = Duration::from_millis(250);
/// Headers that belong to the transport, whatever the client lists.
const OWN_HEADERS: [&str; 11] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];
/// How such headers begin, where there are many.
const OWN_HEADERS_PREFIX: &str = "mcp-param-";

/// Connects to a server and shakes hands with it.
pub(super) async fn open(
    server: &v2::McpServerHttp,
    settings: &Settings,
    host: Host,
    deadline: Instant,
) -> Result<Running, Refused> {
    let url = address(&server.url)?;
    let client = web::client()
        .map_err(|_| "the certificates of this machine cannot be read; check them".to_owned())?;
    let headers = headers(&server.headers)?;
    // Whoever gives a header of their own wants no login.
    let directory = settings.tokens.as_deref();
    let directory = directory.filter(|_| !headers.contains_key(&AUTHORIZATION));
    let tokens = directory.map(|directory| Arc::new(Tokens::of(directory, &url)));
    let client = Authorized {
        client,
        tokens: tokens.clone(),
    };
    let mut config = StreamableHttpClientTransportConfig::with_uri(String::from(url))
        .custom_headers(headers)
        .max_sse_event_size(EVENT_BYTES_MAX);
    let mut resumes = ExponentialBackoff::default();
    resumes.max_times = Some(RESUMES_MAX);
    resumes.base_duration = RESUME_WAIT;
    config.retry_config = Arc::new(resumes);
    let transport = StreamableHttpClientTransport::with_client(client, config);
    let served = timeout_at(deadline, serve_client(host, transport)).await;
    let service = served
        .map_err(|_| stdio::no_answer(settings.connect))?
        .map_err(|error| {
            let challenge = error.auth_challenge().map(str::to_owned);
            Refused {
                words: words::handshake(&error),
                login: tokens.zip(challenge),
            }
        })?;
    Ok(Running {
        service,
        child: None,
        flooded: Arc::new(AtomicBool::new(false)),
    })
}

/// Why there is no connection.
pub(super) struct Refused {
    /// As a sentence about the server.
    pub(super) words: String,
    /// Where a login could be kept, and the server's challenge, if it wants one.
    pub(super) login: Option<(Arc<Tokens>, String)>,
}

impl From<String> for Refused {
    fn from(words: String) -> Self {
        Self { words, login: None }
    }
}

/// Asks a server for its challenge to log in.
pub(super) async fn challenge(
    server: &v2::McpServerHttp,
    settings: &Settings,
) -> Result<String, String> {
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" });
    let client = web::client()
        .map_err(|_| "the certificates of this machine cannot be read; check them".to_owned())?;
    let request = client
        .post(address(&server.url)?)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(hello.to_string());
    let response = timeout(settings.connect, request.send()).await;
    let response = response
        .map_err(|_| stdio::no_answer(settings.connect))?
        .map_err(|error| words::request_failed(&error))?;
    let challenge = response.headers().get(WWW_AUTHENTICATE);
    let challenge = challenge.and_then(|challenge| challenge.to_str().ok());
    match challenge {
        Some(challenge) if response.status() == StatusCode::UNAUTHORIZED => {
            Ok(challenge.to_owned())
        }
        _ => Err("it does not ask for a login".to_owned()),
    }
}

pub(super) fn address(url: &str) -> Result<Url, String> {
    let url = Url::parse(url).map_err(|_| "its address is no URL; correct it".to_owned())?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err("its address must begin with `http://` or `https://`".to_owned()),
    }
}

fn headers(given: &[v2::HttpHeader]) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let mut headers = HashMap::new();
    for header in given {
        let name = HeaderName::from_bytes(header.name.as_bytes());
        let name =
            name.map_err(|_| "one of its headers has no valid name; correct it".to_owned())?;
        if OWN_HEADERS.contains(&name.as_str()) || name.as_str().starts_with(OWN_HEADERS_PREFIX) {
            tracing::debug!(header = %name, "the header belongs to the transport and is not sent");
            continue;
        }
        let value = HeaderValue::from_str(&header.value);
        let mut value =
            value.map_err(|_| format!("its header `{name}` has no valid value; correct it"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v2_mcp_05_headers_of_the_transport_are_not_taken() {
        let given = [
            v2::HttpHeader::new("Mcp-Session-Id", "stolen"),
            v2::HttpHeader::new("Mcp-Param-X", "1"),
            v2::HttpHeader::new("X-Own", "kept"),
        ];
        let headers = headers(&given).unwrap();
        assert_eq!(headers.len(), 1);
        assert_eq!(headers[&HeaderName::from_static("x-own")], "kept");
    }

    #[test]
    fn what_is_no_web_address_is_refused() {
        assert!(address("https://example.org/mcp").is_ok());
        assert!(address("file:///etc/passwd").is_err());
        assert!(address("nonsense").is_err());
    }
}
