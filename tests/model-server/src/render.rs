//! Puts a reply into the words of an API.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;
mod trouble;

use bytes::Bytes;
use serde_json::Value;

use crate::reply::Step;
use crate::{Api, Gate, Reply, Seen, Stop, Usage};

/// How many characters of a text or of arguments go into one frame.
const DELTA_CHARS: usize = 8;

/// What is done to a body next.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Bytes are sent.
    Bytes(Bytes),
    /// The test is waited for.
    Wait(Gate),
    /// The connection is torn.
    Cut,
}

/// An API's words for the parts of an answer.
trait Words {
    fn begin(&mut self, out: &mut Writer);
    fn say(&mut self, out: &mut Writer, text: &str);
    fn think(&mut self, out: &mut Writer, text: &str, signature: Option<&str>);
    fn call(&mut self, out: &mut Writer, id: &str, name: &str, arguments: &str);
    fn end(&mut self, out: &mut Writer, stop: Stop);
}

/// Returns the body of a reply to a request, which is the `index`th.
pub(crate) fn pieces(reply: &Reply, seen: &Seen, index: usize) -> Vec<Piece> {
    if let Some(trouble) = reply.trouble {
        let body = trouble::body(seen.api, trouble, reply.status);
        return vec![Piece::Bytes(Bytes::from(body.to_string()))];
    }
    let mut out = Writer::new(reply.line_end);
    let mut words: Box<dyn Words> = match seen.api {
        Api::Chat => Box::new(chat::Chat::new(reply.usage)),
        Api::Responses => Box::new(responses::Responses::new(reply.usage)),
        Api::Anthropic => Box::new(anthropic::Anthropic::new(reply.usage)),
        Api::Gemini => Box::new(gemini::Gemini::new(reply.usage)),
        Api::Ollama => Box::new(ollama::Ollama::new(reply.usage)),
    };
    words.begin(&mut out);
    let mut calls = 0;
    for step in &reply.steps {
        match step {
            Step::Say(text) => words.say(&mut out, text),
            Step::Think { text, signature } => words.think(&mut out, text, signature.as_deref()),
            Step::Call {
                id,
                name,
                arguments,
            } => {
                let made = format!("call_{index}_{calls}");
                calls += 1;
                words.call(&mut out, id.as_deref().unwrap_or(&made), name, arguments);
            }
            Step::Wait(gate) => out.pieces.push(Piece::Wait(gate.clone())),
            Step::Malformed => out.frame(seen.api, "{\"half\": "),
            Step::Comment if seen.api == Api::Ollama => out.push("\n".to_owned()),
            Step::Comment => out.push(format!(": alive{0}{0}", reply.line_end)),
            Step::Frame(data) => out.frame(seen.api, data),
            Step::Fail(status) => {
                trouble::frame(&mut out, seen.api, *status);
                return out.finish(reply.split_bytes);
            }
            Step::Cut => {
                out.pieces.push(Piece::Cut);
                return out.finish(reply.split_bytes);
            }
            Step::EndEarly => return out.finish(reply.split_bytes),
        }
    }
    words.end(&mut out, reply.stop);
    out.finish(reply.split_bytes)
}

/// Collects the frames of a body.
struct Writer {
    line_end: &'static str,
    pieces: Vec<Piece>,
}

impl Writer {
    fn new(line_end: &'static str) -> Self {
        Self {
            line_end,
            pieces: Vec::new(),
        }
    }

    /// Adds an event without a name.
    fn data(&mut self, data: &Value) {
        self.sse(None, &data.to_string());
    }

    /// Adds an event whose name is also its `type`.
    fn typed(&mut self, data: &Value) {
        self.sse(data["type"].as_str(), &data.to_string());
    }

    /// Adds a line of newline-delimited JSON.
    fn line(&mut self, data: &Value) {
        self.push(format!("{data}\n"));
    }

    /// Adds a frame with exactly this data.
    fn frame(&mut self, api: Api, data: &str) {
        match api {
            Api::Ollama => self.push(format!("{data}\n")),
            Api::Anthropic | Api::Responses => {
                let name = serde_json::from_str::<Value>(data).ok();
                let name = name.as_ref().and_then(|data| data["type"].as_str());
                self.sse(Some(name.unwrap_or("content_block_delta")), data);
            }
            Api::Chat | Api::Gemini => self.sse(None, data),
        }
    }

    fn sse(&mut self, name: Option<&str>, data: &str) {
        let end = self.line_end;
        let name = name.map_or(String::new(), |name| format!("event: {name}{end}"));
        self.push(format!("{name}data: {data}{end}{end}"));
    }

    fn push(&mut self, text: String) {
        self.pieces.push(Piece::Bytes(Bytes::from(text)));
    }

    fn finish(self, split_bytes: Option<usize>) -> Vec<Piece> {
        let Some(size) = split_bytes else {
            return self.pieces;
        };
        let mut pieces = Vec::new();
        let mut waiting = Vec::new();
        for piece in self.pieces {
            match piece {
                Piece::Bytes(bytes) => waiting.extend_from_slice(&bytes),
                other => {
                    pieces.extend(cut(&waiting, size));
                    waiting.clear();
                    pieces.push(other);
                }
            }
        }
        pieces.extend(cut(&waiting, size));
        pieces
    }
}

fn cut(bytes: &[u8], size: usize) -> impl Iterator<Item = Piece> {
    bytes
        .chunks(size)
        .map(|chunk| Piece::Bytes(Bytes::copy_from_slice(chunk)))
}

/// Returns a text in the pieces in which it is streamed.
fn deltas(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(DELTA_CHARS).map(String::from_iter).collect()
}

/// Returns arguments as JSON, for APIs that do not send them as text.
fn arguments_json(arguments: &str) -> Value {
    if arguments.is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()))
}

/// Returns the usage, or none of it.
fn counted(usage: Option<Usage>) -> Usage {
    usage.unwrap_or(Usage {
        input: 0,
        output: 0,
        cached: 0,
        written: 0,
    })
}
