//! An agent that streams the answers of a language model: `streaming_model [HOST:PORT] [MODEL]`, by default a local Ollama.
//!
//! The whole conversation goes to the model with each prompt; it is read from the session's history, so the agent keeps
//! nothing itself. HTTP/1.0 is written by hand to keep the example free of dependencies; use your HTTP client instead.

use ply::agent::serde_json::{self, Value, json};
use ply::agent::transcript::MessageKind;
use ply::agent::{Agent, Result, Stop, Turn};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

struct Model {
    address: String,
    name: String,
}

impl Agent for Model {
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let history = turn.history().await?;
        let messages = history.transcript().messages().filter_map(|message| {
            let role = match message.kind {
                MessageKind::User => "user",
                MessageKind::Agent => "assistant",
                MessageKind::Thought => return None,
            };
            Some(json!({ "role": role, "content": message.text() }))
        });
        let messages: Vec<_> = messages.collect();
        let body = json!({ "model": self.name, "messages": messages, "stream": true });
        let body = body.to_string();

        // Ends early when the user cancels the turn; the connection is closed with it.
        let connecting = TcpStream::connect(&self.address);
        let mut connection = turn.unless_cancelled(connecting).await??;
        let (host, length) = (&self.address, body.len());
        let header = format!("Host: {host}\r\nContent-Length: {length}\r\n");
        let request = format!("POST /api/chat HTTP/1.0\r\n{header}\r\n{body}");
        connection.write_all(request.as_bytes()).await?;
        let mut lines = BufReader::new(connection).lines();
        while let Some(line) = turn.unless_cancelled(lines.next_line()).await?? {
            // The lines of the header are no JSON.
            let part: Value = serde_json::from_str(&line).unwrap_or_default();
            if let Some(text) = part.pointer("/message/content").and_then(Value::as_str) {
                turn.say(text).await?;
            }
            if part.get("done_reason") == Some(&json!("length")) {
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
