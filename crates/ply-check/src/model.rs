//! A scripted model on the loopback interface, so that turns can be checked without a key.
//!
//! It answers the prompts that checks send, in the words of whichever API is asked: OpenAI's Chat Completions and Responses,
//! Anthropic's Messages, Gemini's. It understands nothing: a prompt that names a file or a command becomes a call of the tool that fits
//! best, what a tool returned becomes one word, and a command that only waits becomes many slow ones.

mod api;
mod http;
mod mind;

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use self::api::Api;
use self::http::Request;
use self::mind::Reply;

/// Connections that are served at a time; others wait.
const CONNECTIONS_MAX: usize = 64;
/// The pause between the words of an answer that takes a while.
const BETWEEN_WORDS: Duration = Duration::from_millis(250);
/// The key that agents are given: they want one, and nobody looks at it.
const KEY: &str = "ply-check";
/// The model that is named where an agent has no default of its own.
const NAME: &str = "ply-check-model";

/// A scripted model. Dropped, it is gone.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Model {
    /// Starts a model on a free port of the loopback interface, for agents that work in `directory`.
    ///
    /// # Errors
    ///
    /// There is no port.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn start(directory: PathBuf) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(serve(listener, directory.into()));
        Ok(Self { address, task })
    }

    /// Returns where it is, such as `http://127.0.0.1:8080`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the documented variables that point known agents at it. Each agent reads its own and ignores the others.
    #[must_use]
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let url = self.url();
        let v1 = format!("{url}/v1");
        let opencode = serde_json::json!({
            "model": format!("ply/{NAME}"),
            "provider": {"ply": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": v1, "apiKey": KEY},
                "models": {NAME: {"name": NAME, "tool_call": true}},
            }},
        });
        let opencode = opencode.to_string();
        let provider = serde_json::json!({"name": "ply", "base_url": v1, "env_key": "OPENAI_API_KEY", "wire_api": "responses"});
        let codex = serde_json::json!({"model": NAME, "model_provider": "ply", "model_providers": {"ply": provider}});
        let codex = codex.to_string();
        let pairs: [(&str, &str); 25] = [
            ("OPENAI_API_KEY", KEY),
            ("OPENAI_BASE_URL", &v1),
            ("OPENAI_API_BASE", &v1),
            ("OPENAI_HOST", &url),
            ("OPENAI_MODEL", NAME),
            ("CODEX_API_KEY", KEY),
            ("CODEX_CONFIG", &codex),
            ("MODEL_PROVIDER", "ply"),
            ("ANTHROPIC_API_KEY", KEY),
            ("ANTHROPIC_BASE_URL", &url),
            ("ANTHROPIC_MODEL", NAME),
            ("GEMINI_API_KEY", KEY),
            ("GOOGLE_GEMINI_BASE_URL", &url),
            // Without a name, this agent asks one model which other one to take.
            ("GEMINI_MODEL", "gemini-2.5-flash"),
            ("GOOGLE_GENAI_BASE_URL", &url),
            ("KIMI_API_KEY", KEY),
            ("KIMI_BASE_URL", &v1),
            ("KIMI_MODEL_NAME", NAME),
            ("GOOSE_PROVIDER", "openai"),
            ("GOOSE_MODEL", NAME),
            ("LLM_API_KEY", KEY),
            ("LLM_BASE_URL", &v1),
            ("LLM_MODEL", "openai/ply-check-model"),
            ("OPENCODE_CONFIG_CONTENT", &opencode),
            // Agents that look for news of themselves would wait for a network that is not there.
            ("DISABLE_AUTOUPDATER", "1"),
        ];
        let pairs = pairs.into_iter();
        pairs
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Takes connections until it is aborted, and its connections with it.
async fn serve(listener: TcpListener, directory: Arc<Path>) {
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= CONNECTIONS_MAX {
            connections.join_next().await;
        }
        match listener.accept().await {
            Ok((stream, _)) => {
                let directory = Arc::clone(&directory);
                connections.spawn(async move {
                    if let Err(error) = converse(stream, &directory).await {
                        tracing::debug!(%error, "a connection of the scripted model");
                    }
                });
            }
            Err(error) => tracing::debug!(%error, "the scripted model cannot accept"),
        }
        while connections.try_join_next().is_some() {}
    }
}

/// Answers the requests of one connection.
async fn converse(mut stream: TcpStream, directory: &Path) -> io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(request) = http::read(&mut stream, &mut buffer).await? {
        answer(&mut stream, &request, directory).await?;
    }
    Ok(())
}

async fn answer(stream: &mut TcpStream, request: &Request, directory: &Path) -> io::Result<()> {
    let path = request.path.split('?').next().unwrap_or_default();
    if request.method == "GET" {
        let model = serde_json::json!({"id": NAME, "object": "model", "name": NAME});
        let listing = serde_json::json!({"object": "list", "data": [model], "models": [model]});
        return http::whole(stream, 200, &listing).await;
    }
    let Some(api) = Api::of_path(path) else {
        // Telemetry and the like: the agent is to go on.
        return http::whole(stream, 200, &serde_json::json!({})).await;
    };
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    if api == Api::AnthropicCount {
        return http::whole(stream, 200, &serde_json::json!({"input_tokens": 1})).await;
    }
    let reply = mind::reply(&api.asked(&body), directory);
    let pause = match reply {
        Reply::Linger(_) => BETWEEN_WORDS,
        _ => Duration::ZERO,
    };
    let wants_stream = body.get("stream").and_then(Value::as_bool) == Some(true);
    match wants_stream || path.ends_with(":streamGenerateContent") {
        true => http::events(stream, &api.events(&reply), pause).await,
        false => {
            let words = reply.pieces().len().try_into().unwrap_or(u32::MAX);
            tokio::time::sleep(pause.saturating_mul(words)).await;
            http::whole(stream, 200, &api.whole(&reply)).await
        }
    }
}
