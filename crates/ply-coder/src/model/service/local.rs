//! Models of a server on this machine.

use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Api, Service, target};
use crate::model::catalogue;

/// How long a server on this machine may take to say what it has.
const ASK_TIMEOUT: Duration = Duration::from_millis(300);
/// How long a list of models may be.
const LIST_BYTES_MAX: usize = 1 << 20;

/// Asks a running Ollama for its models, by the URL of the server. None are had when there is none.
///
/// # Cancel safety
///
/// Dropping it drops the request.
pub async fn ollama_models(base_url: &str) -> Vec<Service> {
    let list = timeout(ASK_TIMEOUT, list(base_url)).await;
    list.ok().flatten().unwrap_or_default()
}

/// Returns a model of an Ollama, by the URL of the server and without asking it.
pub fn ollama_model(base_url: &str, name: &str) -> Service {
    let facts = catalogue::local(&format!("ollama/{name}"));
    let mut service = Service::new(Api::Ollama, name, facts);
    service.base_url = Some(base(base_url).to_owned());
    service
}

/// Returns the URL without the path of OpenAI's API.
fn base(url: &str) -> &str {
    url.trim_end_matches('/').trim_end_matches("/v1")
}

async fn list(base_url: &str) -> Option<Vec<Service>> {
    let base = base(base_url);
    // Most machines have none, and building a client takes more time and memory than knocking.
    let url = reqwest::Url::parse(base).ok()?;
    let host = match url.host_str()? {
        // Looking the name up loads libraries and starts a thread.
        "localhost" => "127.0.0.1",
        host => host.trim_matches(['[', ']']),
    };
    drop(
        TcpStream::connect((host, url.port_or_known_default()?))
            .await
            .ok()?,
    );
    let http = target::http(None, ASK_TIMEOUT).ok()?;
    let mut response = http.get(format!("{base}/api/tags")).send().await.ok()?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > LIST_BYTES_MAX {
            return None;
        }
    }
    let body: Value = serde_json::from_slice(&body).ok()?;
    let models = body.get("models")?.as_array()?.iter();
    let names = models.filter_map(|model| model.get("name")?.as_str());
    Some(names.map(|name| ollama_model(base, name)).collect())
}
