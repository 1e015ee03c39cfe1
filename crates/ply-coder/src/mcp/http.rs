//! A server behind streamable HTTP.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ply_agent::v2;
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::serve_client;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::time::{Instant, timeout_at};

use super::Settings;
use super::host::Host;
use super::link::Running;
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
) -> Result<Running, String> {
    let url = address(&server.url)?;
    let client = web::client()
        .map_err(|_| "the certificates of this machine cannot be read; check them".to_owned())?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(String::from(url))
        .custom_headers(headers(&server.headers)?)
        .max_sse_event_size(EVENT_BYTES_MAX);
    let mut resumes = ExponentialBackoff::default();
    resumes.max_times = Some(RESUMES_MAX);
    resumes.base_duration = RESUME_WAIT;
    config.retry_config = Arc::new(resumes);
    let transport = StreamableHttpClientTransport::with_client(client, config);
    let served = timeout_at(deadline, serve_client(host, transport)).await;
    let service = served
        .map_err(|_| stdio::no_answer(settings.connect))?
        .map_err(|error| words::handshake(&error))?;
    Ok(Running {
        service,
        child: None,
        flooded: Arc::new(AtomicBool::new(false)),
    })
}

fn address(url: &str) -> Result<Url, String> {
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
