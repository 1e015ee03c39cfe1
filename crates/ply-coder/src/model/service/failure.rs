//! Says what went wrong, for people, from what a service or the network said.
//!
//! The words of the service are shown where they are about the key, the account or the model, and the user
//! can do something about it; `quoted` takes keys out of them. Elsewhere they may hold parts of the
//! conversation, and only the short code is shown.

mod quoted;

use std::error::Error as _;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::{Api, Service};
use crate::model::{Failure, FailureClass};

/// How long a code of a service may be to be shown.
const CODE_CHARS_MAX: usize = 40;

pub(super) fn no_key(service: &Service) -> Failure {
    Failure::new(
        FailureClass::Unauthorized,
        format!(
            "There is no key for {}; {}.",
            service.service, service.key_hint
        ),
    )
}

pub(super) fn bad_address(service: &Service) -> Failure {
    Failure::new(
        FailureClass::Setup,
        format!(
            "The address of {} is not an http or https URL; correct `base_url` of the provider, or the \
             variable that sets it.",
            service.service
        ),
    )
}

pub(super) fn no_client(service: &Service) -> Failure {
    Failure::new(
        FailureClass::Setup,
        format!(
            "No connection to {} can be set up; check the proxy and the system's certificates.",
            service.service
        ),
    )
}

pub(super) fn cut(service: &Service) -> Failure {
    Failure::new(
        FailureClass::Cut,
        format!("The answer of {} broke off in the middle.", service.service),
    )
}

/// The service says itself that it could not go on.
pub(super) fn broke(service: &Service) -> Failure {
    Failure::new(
        FailureClass::Service,
        format!("{} failed in the middle of the answer.", service.service),
    )
}

pub(super) fn malformed(service: &Service, what: &str) -> Failure {
    Failure::new(
        FailureClass::Malformed,
        format!(
            "The answer of {} cannot be understood: {what}.",
            service.service
        ),
    )
}

pub(super) fn silent(service: &Service, waited: Duration, begun: bool) -> Failure {
    let seconds = waited.as_secs();
    let what = if begun {
        "stopped in the middle of its answer: nothing came"
    } else {
        "did not begin to answer"
    };
    Failure::new(
        FailureClass::Silent,
        format!("{} {what} for {seconds} s.", service.service),
    )
}

/// Returns the failure behind an error of `genai`'s.
pub(super) fn of_genai(service: &Service, error: &genai::Error) -> Failure {
    match error {
        genai::Error::HttpError {
            status,
            body,
            headers,
            ..
        } => of_response(service, status.as_u16(), headers, body),
        genai::Error::WebStream { error, .. } => {
            if let Some(error) = error.downcast_ref::<genai::Error>() {
                return of_genai(service, error);
            }
            if error.is::<std::string::FromUtf8Error>() || error.is::<std::str::Utf8Error>() {
                return malformed(service, "it is no UTF-8 text");
            }
            of_network(service, error.downcast_ref::<reqwest::Error>())
        }
        genai::Error::StreamParse { .. } => malformed(service, "a piece of it is no JSON"),
        // The rest is about requests that cannot be made.
        _ => Failure::new(
            FailureClass::Rejected,
            format!(
                "No request could be made for `{}` of {}.",
                service.facts.id, service.service
            ),
        ),
    }
}

pub(super) fn of_network(service: &Service, error: Option<&reqwest::Error>) -> Failure {
    if error.is_some_and(reqwest::Error::is_builder) {
        return Failure::new(
            FailureClass::Setup,
            format!(
                "No request to {} could be made; check `base_url` and `headers` of the provider.",
                service.service
            ),
        );
    }
    // The headers came, the rest did not.
    if error.is_some_and(|error| error.is_body() || error.is_decode()) {
        return cut(service);
    }
    let connect = error.is_some_and(reqwest::Error::is_connect);
    if let Some(failure) = error.and_then(|error| nobody_there(service, error)) {
        return failure;
    }
    let message = match (connect, service.api) {
        (true, Api::Ollama) => format!("{} cannot be reached; is it running?", service.service),
        (true, _) => format!("{} cannot be reached; check the network.", service.service),
        (false, _) => format!("The connection to {} was lost.", service.service),
    };
    Failure::new(FailureClass::Network, message)
}

/// Returns the failure of a connection that was refused, or whose name is not known, where the address is
/// more likely to be wrong than the network to be down.
fn nobody_there(service: &Service, error: &reqwest::Error) -> Option<Failure> {
    let url = super::target::url(service)?;
    let host = url.host_str()?;
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    let is_here = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    // With a proxy it is the proxy that was not reached, or that reached nobody.
    if !error.is_connect() || service.proxy.is_some() || !(is_here || service.own_address) {
        return None;
    }
    let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
    let what = causes.find_map(|cause| {
        let refused = cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|cause| cause.kind() == std::io::ErrorKind::ConnectionRefused);
        // The error of the connector has no other mark.
        match (refused, cause.to_string().starts_with("dns error")) {
            (true, _) => Some("nothing listens there"),
            (_, true) => Some("there is no host of that name"),
            _ => None,
        }
    })?;
    let port = url.port().map(|port| format!(":{port}"));
    let hint = match service.api {
        Api::Ollama => "is it running, and is `base_url` or `OLLAMA_HOST` right?",
        _ => "check that it runs, and `base_url` of the provider.",
    };
    let message = format!(
        "{} cannot be reached at `{host}{}`: {what}; {hint}",
        service.service,
        port.unwrap_or_default()
    );
    Some(Failure::new(FailureClass::Unreachable, message))
}

/// Returns the failure behind an answer that is an error.
pub(super) fn of_response(
    service: &Service,
    status: u16,
    headers: &HeaderMap,
    body: &str,
) -> Failure {
    let body: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    // Gemini puts its errors into a list at times.
    let body = body.get(0).unwrap_or(&body);
    let error = body.get("error").unwrap_or(body);
    let words = Words::of(error);
    let mut failure = describe(service, class(Some(status), &words), &words, Some(status));
    failure.retry_after = retry_after(headers).or(words.retry_after);
    if let Some(after) = failure.retry_after {
        let wait = format!(" It asks to wait {} s.", after.as_secs_f64().ceil());
        failure.message.push_str(&wait);
    }
    failure
}

/// Returns the failure behind an error in the middle of a stream.
pub(super) fn of_error(service: &Service, error: &Value) -> Failure {
    let words = Words::of(error);
    // Gemini and OpenRouter send the status along.
    let status = error.get("code").and_then(Value::as_u64);
    let status = status.and_then(|status| u16::try_from(status).ok());
    let mut failure = describe(service, class(status, &words), &words, status);
    failure.retry_after = words.retry_after;
    failure
}

/// What a service said about an error.
struct Words {
    /// Its codes and kinds, in lower case.
    codes: Vec<String>,
    /// Its message, in lower case.
    message: String,
    /// Its message as it came.
    said: String,
    retry_after: Option<Duration>,
}

impl Words {
    fn of(error: &Value) -> Self {
        let lower = |value: &Value| value.as_str().map(str::to_ascii_lowercase);
        let details = error.get("details").and_then(Value::as_array);
        let details = details.map_or(&[] as &[Value], Vec::as_slice);
        let mut codes: Vec<String> = ["code", "type", "status"]
            .iter()
            .filter_map(|key| error.get(key).and_then(lower))
            .collect();
        codes.extend(
            details
                .iter()
                .filter_map(|detail| detail.get("reason").and_then(lower)),
        );
        let delay = details.iter().find_map(|detail| detail.get("retryDelay"));
        let delay = delay.and_then(Value::as_str);
        let said = error.get("message").unwrap_or(error).as_str();
        let said = said.unwrap_or_default();
        Self {
            codes,
            message: said.to_ascii_lowercase(),
            said: said.to_owned(),
            retry_after: delay
                .and_then(|delay| delay.strip_suffix('s'))
                .and_then(seconds),
        }
    }

    fn has_code(&self, codes: &[&str]) -> bool {
        self.codes.iter().any(|code| codes.contains(&code.as_str()))
    }

    fn says(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.message.contains(phrase))
    }

    fn overflow(&self) -> bool {
        self.has_code(&[
            "context_length_exceeded",
            "model_max_prompt_tokens_exceeded",
        ]) || self.says(&[
            "prompt is too long",
            "prompt too long",
            "context length",
            "context window",
            "context size",
            "context limit",
            "input token count",
            "maximum number of tokens allowed",
            "maximum prompt length",
            "input is too long",
        ])
    }

    fn quota(&self) -> bool {
        self.has_code(&[
            "insufficient_quota",
            "billing_error",
            "billing_hard_limit_reached",
        ]) || self.says(&[
            "credit balance",
            "insufficient balance",
            "insufficient credit",
            "usage limit",
        ]) || (self.says(&["billing details"]) && self.retry_after.is_none())
    }

    /// Returns a code that is safe to show.
    fn code(&self) -> Option<&str> {
        let plain = |code: &&str| {
            code.len() <= CODE_CHARS_MAX
                && code.chars().all(|c| c.is_ascii_lowercase() || c == '_')
                && !code.is_empty()
        };
        self.codes.iter().map(String::as_str).find(plain)
    }
}

fn class(status: Option<u16>, words: &Words) -> FailureClass {
    use FailureClass as Class;
    match status {
        Some(402) => Class::Quota,
        Some(401 | 403) => Class::Unauthorized,
        Some(404) => Class::NoSuchModel,
        None | Some(400 | 413 | 422 | 429 | 500) if words.overflow() => Class::ContextOverflow,
        None | Some(400 | 429) if words.quota() => Class::Quota,
        None | Some(400) if words.has_code(&["api_key_invalid", "invalid_api_key"]) => {
            Class::Unauthorized
        }
        Some(413) => Class::TooLarge,
        Some(429 | 529) => Class::Busy,
        Some(500..) => Class::Service,
        Some(_) => Class::Rejected,
        None => of_code(words),
    }
}

/// Returns the class of an error that came without a status.
fn of_code(words: &Words) -> FailureClass {
    use FailureClass as Class;
    let table: [(Class, &[&str]); 6] = [
        (
            Class::Busy,
            &[
                "overloaded_error",
                "rate_limit_error",
                "rate_limit_exceeded",
                "resource_exhausted",
            ],
        ),
        (
            Class::Unauthorized,
            &["authentication_error", "permission_error"],
        ),
        (Class::NoSuchModel, &["not_found_error", "model_not_found"]),
        (Class::TooLarge, &["request_too_large"]),
        (
            Class::Rejected,
            &[
                "invalid_request_error",
                "invalid_argument",
                "invalid_prompt",
            ],
        ),
        (Class::Service, &["api_error", "server_error", "internal"]),
    ];
    let found = table.iter().find(|(_, codes)| words.has_code(codes));
    found.map_or(Class::Service, |(class, _)| *class)
}

fn describe(service: &Service, class: FailureClass, words: &Words, status: Option<u16>) -> Failure {
    use FailureClass as Class;
    let who = &service.service;
    let id = &service.facts.id;
    let said = quoted::quoted(service, &words.said);
    let said = said.map(|said| format!(": {said}")).unwrap_or_default();
    let message = match class {
        Class::Busy => format!("{who} is busy or limits how often it may be asked."),
        Class::Unauthorized if service.key.is_none() => {
            format!("{who} wants a key{said}; {}.", service.key_hint)
        }
        Class::Unauthorized => {
            format!("{who} does not accept the key{said}; {}.", service.key_hint)
        }
        Class::Quota => {
            format!(
                "The account at {who} has no credit or quota left{said}; add some or choose another model."
            )
        }
        Class::NoSuchModel if service.api == Api::Ollama => format!(
            "{who} has no model `{0}`; run `ollama pull {0}` or choose another model.",
            service.model
        ),
        Class::NoSuchModel if service.own_address => format!(
            "{who} at your own address has no model for `{id}`{said}; `ply models` lists what it has."
        ),
        Class::NoSuchModel => format!(
            "{who} has no model for `{id}`{said}; choose another model, or check `base_url` of the provider."
        ),
        Class::TooLarge => {
            format!("The request is larger than {who} takes; leave out large files or images.")
        }
        Class::ContextOverflow => format!("The conversation is too long for `{id}`."),
        Class::Rejected => match (words.code(), status) {
            (Some(code), _) => format!("{who} does not take the request (`{code}`)."),
            (None, Some(status)) => format!("{who} does not take the request (status {status})."),
            (None, None) => format!("{who} does not take the request."),
        },
        _ => match status {
            Some(status) => format!("{who} failed (status {status})."),
            None => format!("{who} failed in the middle of the answer."),
        },
    };
    Failure::new(class, message)
}

/// Returns how long the service asks to wait. Dates are not understood: they need a clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let milliseconds = header("retry-after-ms").and_then(seconds);
    milliseconds
        .map(|thousands| thousands / 1000)
        .or_else(|| header("retry-after").and_then(seconds))
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
