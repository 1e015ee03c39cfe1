//! An agent that streams the answers of a language model: `streaming_model [HOST:PORT] [MODEL]`, by default a local Ollama.
//!
//! The whole conversation goes to the model with each prompt; it is read from the session's history, so the agent keeps
//! nothing itself. HTTP/1.0 is written by hand to keep the example free of dependencies; use your HTTP client instead.

use ply::agent::serde_json::{self, Value, json};
use ply::agent::transcript::MessageKind;
use ply::agent::{Agent, Error, Result, Stop, Turn};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

struct Model {
    address: String,
    name: String,
}

impl Agent for Model {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let history = turn.history().await?;
        let messages = history.transcript().messages();
        let messages = messages.filter(|message| message.kind != MessageKind::Thought);
        let messages: Vec<_> = messages
            .map(|message| {
                let agent = message.kind == MessageKind::Agent;
                let role = if agent { "assistant" } else { "user" };
                json!({ "role": role, "content": message.text() })
            })
            .collect();
        let body = json!({ "model": self.name, "messages": messages, "stream": true });
        // Ends early when the user cancels the turn; the connection is closed with it.
        turn.unless_cancelled(self.stream(turn, &body.to_string()))
            .await?
    }
}

impl Model {
    async fn stream(&self, turn: &Turn, body: &str) -> Result<Stop> {
        let failed = |error: std::io::Error| Error::msg(format!("the model failed: {error}"));
        let mut connection = TcpStream::connect(&self.address).await.map_err(failed)?;
        let (host, length) = (&self.address, body.len());
        let request = format!(
            "POST /api/chat HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let sent = connection.write_all(request.as_bytes()).await;
        sent.map_err(failed)?;
        let mut lines = BufReader::new(connection).lines();
        while let Some(line) = lines.next_line().await.map_err(failed)? {
            // The lines of the header are no JSON.
            let Ok(part) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if let Some(text) = part.pointer("/message/content").and_then(Value::as_str) {
                turn.say(text).await?;
            }
            if part
                .get("done_reason")
                .is_some_and(|reason| reason == "length")
            {
                return Ok(Stop::MaxTokens);
            }
        }
        Ok(Stop::EndTurn)
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let address = args.next().unwrap_or("localhost:11434".to_owned());
    let name = args.next().unwrap_or("llama3.2".to_owned());
    ply::agent::serve_stdio(Model { address, name }).await
}
