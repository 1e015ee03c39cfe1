//! What people and models are told about servers, whose own words are not trusted.

use std::error::Error;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rmcp::model::ErrorData;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::permission::text::is_deceptive;
use crate::text::short;

/// How many of the last lines of standard error are told.
const LAST_LINES_MAX: usize = 5;
/// How long each of them may be, in characters.
const LAST_LINE_CHARS_MAX: usize = 200;
/// How long a server's own message may be, in characters.
const MESSAGE_CHARS_MAX: usize = 300;

/// Makes one line of text: no control and no hidden characters, cut where it is too long.
pub(super) fn line(text: &str, chars_max: usize) -> String {
    let spaced = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let visible: String = spaced.filter(|c| !is_deceptive(*c)).collect();
    short(visible.trim(), chars_max)
}

/// Makes text of several lines: no control and no hidden characters, cut where it is too long.
pub(super) fn text(text: &str, bytes_max: usize) -> String {
    let mut kept: String = text.chars().filter(|c| !is_deceptive(*c)).collect();
    if kept.len() > bytes_max {
        kept.truncate(kept.floor_char_boundary(bytes_max));
        kept.push('…');
    }
    kept
}

/// Quotes the end of standard error, as the end of a sentence.
pub(super) fn last_lines(stderr: &[u8]) -> String {
    let stderr = String::from_utf8_lossy(stderr);
    let lines = stderr.lines().rev().filter(|line| !line.trim().is_empty());
    let mut last: Vec<String> = lines
        .take(LAST_LINES_MAX)
        .map(|text| line(text, LAST_LINE_CHARS_MAX))
        .collect();
    if last.is_empty() {
        return String::new();
    }
    last.reverse();
    format!("; the last it wrote was: {}", last.join(" / "))
}

/// Says how a process ended.
pub(super) fn exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it exited with code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended".to_owned(),
    }
}

/// Says why a server did not let us in.
pub(super) fn handshake(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::JsonRpcError(error) => refusal(error),
        ClientInitializeError::TransportError { error, .. } => transport(error),
        ClientInitializeError::ConnectionClosed(_) => {
            "it hung up before it answered; is it an MCP server?".to_owned()
        }
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it speaks no version of MCP that this agent speaks; update one of them".to_owned()
        }
        _ => "its first answer is not MCP; is it an MCP server?".to_owned(),
    }
}

/// Says why a request failed.
pub(super) fn request(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => refusal(error),
        ServiceError::TransportSend(error) => transport(error),
        ServiceError::TransportClosed => "the connection ended".to_owned(),
        ServiceError::UnexpectedResponse => "its answer makes no sense".to_owned(),
        _ => "the request did not get through".to_owned(),
    }
}

fn refusal(error: &ErrorData) -> String {
    let message = line(&error.message, MESSAGE_CHARS_MAX);
    format!("it refused with code {}: {message}", error.code.0)
}

fn transport(error: &DynamicTransportError) -> String {
    match error
        .error
        .downcast_ref::<StreamableHttpError<reqwest::Error>>()
    {
        Some(error) => http(error),
        // What is left is a pipe that nobody reads any more.
        None => "it does not take input any more".to_owned(),
    }
}

fn http(error: &StreamableHttpError<reqwest::Error>) -> String {
    match error {
        StreamableHttpError::AuthRequired(_) => http_status(401),
        StreamableHttpError::InsufficientScope(_) => http_status(403),
        StreamableHttpError::HttpStatus(error) => http_status(error.status),
        StreamableHttpError::UnexpectedServerResponse(words) => {
            let status = words.strip_prefix("HTTP ").and_then(|rest| rest.get(..3));
            match status.and_then(|status| status.parse().ok()) {
                Some(status) => http_status(status),
                None => "its answer is not MCP; check the address".to_owned(),
            }
        }
        StreamableHttpError::UnexpectedContentType(_) => {
            "its answer is not MCP but some other content; check the address".to_owned()
        }
        StreamableHttpError::Client(error) => request_failed(error),
        StreamableHttpError::SessionExpired => "it forgot the session".to_owned(),
        _ => "the connection failed".to_owned(),
    }
}

fn http_status(status: u16) -> String {
    let advice = match status {
        401 => "it wants to know who asks; give it an `Authorization` header that it takes",
        403 => "it does not let this user in; check the headers that go with it",
        300..=399 => "it lives somewhere else; give the address it redirects to",
        404 | 405 => "there is no MCP server at this address; check it",
        429 => "it is asked too often; try again later",
        500..=599 => "it is in trouble; try again later",
        _ => "check the address and the headers",
    };
    format!("it answered with HTTP status {status}: {advice}")
}

/// Says why a request over HTTP did not get through.
pub(super) fn request_failed(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "it cannot be reached in time; is it running?".to_owned();
    }
    // The error's own words repeat the address, which may hold a secret; its root cause does not.
    let mut root: &dyn Error = error;
    while let Some(source) = root.source() {
        root = source;
    }
    let cause = line(&root.to_string(), MESSAGE_CHARS_MAX);
    if error.is_connect() {
        return format!("no connection ({cause}); is it running?");
    }
    format!("the connection broke ({cause})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_and_control_characters_are_gone() {
        let hostile = "a\u{1b}[31m\u{202e}b\u{200b}\u{e0041}c\r\nd";
        assert_eq!(line(hostile, 100), "a [31mbc  d");
        assert_eq!(text(hostile, 100), "a[31mbc\nd");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(line("äöü", 2), "ä…");
        assert_eq!(text("äöü", 3), "ä…");
    }

    #[test]
    fn the_last_lines_come_in_order() {
        let stderr = b"1\n2\n3\n\n4\n5\n6\n";
        assert_eq!(
            last_lines(stderr),
            "; the last it wrote was: 2 / 3 / 4 / 5 / 6"
        );
        assert_eq!(last_lines(b"\n \n"), "");
    }
}
