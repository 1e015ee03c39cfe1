//! Where a request goes, and with which headers.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::chat::ReasoningEffort;
use genai::resolver::{AuthData, Endpoint};
use genai::{Headers, ModelIden, ServiceTarget};
use reqwest::Url;
use reqwest::redirect::Policy;

use super::{Api, Secret, Service, failure};
use crate::model::Failure;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Returns where a request goes.
///
/// The whole address and all headers are given, as `genai` would read a key from the environment and
/// ask for one where none is needed.
pub(super) fn target(service: &Service) -> Result<ServiceTarget, Failure> {
    let kind = match service.api {
        Api::OpenAi => AdapterKind::OpenAI,
        Api::OpenAiResponses => AdapterKind::OpenAIResp,
        Api::Anthropic => AdapterKind::Anthropic,
        Api::Gemini => AdapterKind::Gemini,
        Api::Ollama => AdapterKind::Ollama,
    };
    let url = url(service).ok_or_else(|| failure::bad_address(service))?;
    Ok(ServiceTarget {
        // It has to be a URL, and is not used.
        endpoint: Endpoint::from_static("http://localhost/"),
        auth: AuthData::RequestOverride {
            url: url.into(),
            headers: Headers::from(headers(service)),
        },
        model: ModelIden::new(kind, name(service)),
    })
}

/// Returns the name by which `genai` tells what a model can do. It is not sent.
///
/// `genai` takes a last word such as `max` for an effort that nobody asked for, so that it gets another.
fn name(service: &Service) -> String {
    let model = &service.model;
    let last = model.rsplit_once('-').map_or("", |(_, last)| last);
    match ReasoningEffort::from_keyword(last) {
        Some(_) => format!("{model}-x"),
        None => model.clone(),
    }
}

/// Returns the HTTP client for a service's proxy, or for none. All models share it, and with it their
/// connections.
pub(super) fn client(service: &Service) -> Result<reqwest::Client, Failure> {
    static CLIENTS: OnceLock<Mutex<HashMap<String, reqwest::Client>>> = OnceLock::new();
    let clients = CLIENTS.get_or_init(Mutex::default);
    let mut clients = clients.lock().unwrap_or_else(PoisonError::into_inner);
    let proxy = service.proxy.as_ref().map(Secret::reveal);
    let key = proxy.unwrap_or_default();
    if let Some(client) = clients.get(key) {
        return Ok(client.clone());
    }
    let client = http(proxy, CONNECT_TIMEOUT).map_err(|()| failure::no_client(service))?;
    clients.insert(key.to_owned(), client.clone());
    Ok(client)
}

/// Makes an HTTP client for a proxy, or for none.
///
/// It follows no redirects: `x-api-key` and the conversation would go along to wherever they lead.
pub(super) fn http(proxy: Option<&str>, connect: Duration) -> Result<reqwest::Client, ()> {
    // Fails only where the program chose another provider already, which will do.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .connect_timeout(connect);
    if let Some(proxy) = proxy {
        builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(drop)?);
    }
    builder.build().map_err(drop)
}

/// Returns the base of all addresses, and its path without the last slash; none where it is no URL of the
/// web.
fn base(service: &Service) -> Option<(Url, String)> {
    let base = service.base_url.as_deref().unwrap_or(match service.api {
        Api::OpenAi | Api::OpenAiResponses => "https://api.openai.com/v1",
        Api::Anthropic => "https://api.anthropic.com/v1",
        Api::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        Api::Ollama => "http://localhost:11434",
    });
    let url = Url::parse(base).ok()?;
    let path = url.path().trim_end_matches('/').to_owned();
    matches!(url.scheme(), "http" | "https").then_some((url, path))
}

/// Returns the address at which a service lists its models.
pub(super) fn list_url(service: &Service) -> Option<Url> {
    let (mut url, path) = base(service)?;
    url.set_path(&match service.api {
        Api::Anthropic if !path.ends_with("/v1") => format!("{path}/v1/models"),
        Api::OpenAi | Api::OpenAiResponses | Api::Anthropic | Api::Gemini => {
            format!("{path}/models")
        }
        Api::Ollama => format!("{}/api/tags", path.trim_end_matches("/v1")),
    });
    Some(url)
}

/// Returns the address of a request; none where the base is no URL of the web.
pub(super) fn url(service: &Service) -> Option<Url> {
    let (mut url, path) = base(service)?;
    let path = match service.api {
        Api::OpenAi => format!("{path}/chat/completions"),
        Api::OpenAiResponses => format!("{path}/responses"),
        // The usual `ANTHROPIC_BASE_URL` has no version in it.
        Api::Anthropic if path.ends_with("/v1") => format!("{path}/messages"),
        Api::Anthropic => format!("{path}/v1/messages"),
        Api::Gemini => {
            url.query_pairs_mut().append_pair("alt", "sse");
            format!("{path}/models/{}:streamGenerateContent", service.model)
        }
        // A base for OpenAI's API of the same server is understood as well.
        Api::Ollama => format!("{}/api/chat", path.trim_end_matches("/v1")),
    };
    url.set_path(&path);
    Some(url)
}

pub(super) fn headers(service: &Service) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = Vec::new();
    if let Some(key) = &service.key {
        let key = key.reveal();
        let bearer = || ("authorization".to_owned(), format!("Bearer {key}"));
        headers.push(match service.api {
            _ if service.bearer => bearer(),
            Api::OpenAi | Api::OpenAiResponses | Api::Ollama => bearer(),
            Api::Anthropic => ("x-api-key".to_owned(), key.to_owned()),
            Api::Gemini => ("x-goog-api-key".to_owned(), key.to_owned()),
        });
    }
    if service.api == Api::Anthropic {
        headers.push(("anthropic-version".to_owned(), ANTHROPIC_VERSION.to_owned()));
    }
    for (name, value) in &service.headers {
        headers.push((name.to_ascii_lowercase(), value.reveal().to_owned()));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Facts;

    #[track_caller]
    fn check(api: Api, base: Option<&str>, expected: &str) {
        let mut service = Service::new(api, "some-model-max", Facts::new("p/some-model-max"));
        service.base_url = base.map(str::to_owned);
        assert_eq!(url(&service).map(String::from).as_deref(), Some(expected));
    }

    #[test]
    fn a_base_url_is_taken_with_and_without_its_end() {
        check(
            Api::OpenAi,
            None,
            "https://api.openai.com/v1/chat/completions",
        );
        check(
            Api::OpenAi,
            Some("http://h:1/x/v1/"),
            "http://h:1/x/v1/chat/completions",
        );
        check(
            Api::OpenAiResponses,
            Some("https://a.example/openai?api-version=2"),
            "https://a.example/openai/responses?api-version=2",
        );
        check(
            Api::Anthropic,
            Some("https://proxy.example"),
            "https://proxy.example/v1/messages",
        );
        check(
            Api::Anthropic,
            Some("https://proxy.example/v1/"),
            "https://proxy.example/v1/messages",
        );
        check(
            Api::Gemini,
            Some("http://h"),
            "http://h/models/some-model-max:streamGenerateContent?alt=sse",
        );
        check(
            Api::Ollama,
            Some("http://h:11434/v1"),
            "http://h:11434/api/chat",
        );
    }

    #[test]
    fn lists_are_beside_the_requests() {
        let check = |api: Api, base: Option<&str>, expected: &str| {
            let mut service = Service::new(api, "m", Facts::new("p/m"));
            service.base_url = base.map(str::to_owned);
            assert_eq!(
                list_url(&service).map(String::from).as_deref(),
                Some(expected)
            );
        };
        check(Api::OpenAi, Some("http://h/v1/"), "http://h/v1/models");
        check(Api::Anthropic, Some("http://h"), "http://h/v1/models");
        check(Api::Anthropic, None, "https://api.anthropic.com/v1/models");
        check(
            Api::Gemini,
            Some("http://h/v1beta"),
            "http://h/v1beta/models",
        );
        check(Api::Ollama, Some("http://h:1/v1"), "http://h:1/api/tags");
    }

    #[test]
    fn a_token_is_sent_as_one() {
        let mut service = Service::new(Api::Anthropic, "m", Facts::new("p/m"));
        service.key = Some(Secret::new("t"));
        let names = |service: &Service| {
            let headers = headers(service).into_iter();
            headers.map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(&service), ["x-api-key", "anthropic-version"]);
        service.bearer = true;
        assert_eq!(names(&service), ["authorization", "anthropic-version"]);
    }

    #[test]
    fn what_is_no_web_address_is_refused() {
        for base in ["api.example", "file:///etc/passwd", ""] {
            let mut service = Service::new(Api::OpenAi, "m", Facts::new("p/m"));
            service.base_url = Some(base.to_owned());
            assert!(url(&service).is_none(), "{base}");
        }
    }
}
