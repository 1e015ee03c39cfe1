//! A scripted model service on the loopback interface, for tests of models and whole turns.
//!
//! One script serves every API: a [`Reply`] says what the model thinks, says and calls, and the server
//! puts it into the words of the API that was asked, over real HTTP on a real socket. Replies are used
//! up in order, one per request; the requests are kept for the test to look at.
//!
//! ```no_run
//! # async fn example() {
//! use ply_model_server::{Api, ModelServer, Reply};
//! use serde_json::json;
//!
//! let server = ModelServer::start([
//!     Reply::think("a file, then").and_call("read_file", json!({"path": "a.txt"})),
//!     Reply::say("It says hello."),
//! ])
//! .await;
//! let base_url = server.url(Api::Anthropic);
//! // … run a turn against `base_url` …
//! assert_eq!(server.request(1).await.tool_results()[0].1, "hello");
//! # }
//! ```
//!
//! Nothing here sleeps: a reply that is to be slow waits at a [`Gate`] which the test opens, and
//! [`ModelServer::disconnected`] tells that a client gave up.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod gate;
mod render;
mod reply;
mod seen;
mod server;

pub use self::gate::Gate;
pub use self::reply::{Reply, Stop, Usage};
pub use self::seen::Seen;
pub use self::server::ModelServer;

/// An API that the server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// OpenAI Chat Completions, `POST /v1/chat/completions`.
    Chat,
    /// OpenAI Responses, `POST /v1/responses`.
    Responses,
    /// Anthropic Messages, `POST /v1/messages`.
    Anthropic,
    /// Gemini, `POST /v1beta/models/NAME:streamGenerateContent?alt=sse`.
    Gemini,
    /// Ollama, `POST /api/chat`; `GET /api/tags` lists the models.
    Ollama,
}

impl Api {
    /// Every API.
    pub const ALL: [Self; 5] = [
        Self::Chat,
        Self::Responses,
        Self::Anthropic,
        Self::Gemini,
        Self::Ollama,
    ];

    /// Tells which API a request means.
    fn of_path(path: &str) -> Option<Self> {
        match path {
            "/v1/chat/completions" => Some(Self::Chat),
            "/v1/responses" => Some(Self::Responses),
            "/v1/messages" => Some(Self::Anthropic),
            "/api/chat" => Some(Self::Ollama),
            path if path.ends_with(":streamGenerateContent") => Some(Self::Gemini),
            _ => None,
        }
    }
}
