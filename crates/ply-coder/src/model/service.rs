//! Models of real services: OpenAI and everything that speaks like it, Anthropic, Gemini, Ollama.
//!
//! Requests, transport and framing are `genai`'s, but for Ollama (see `frames`). The answer is read from the raw frames that `genai`
//! hands to a frame sink, not from its own events, because those cannot carry what the turn loop needs:
//! they lose where a call begins and ends (Responses tells of a call with its first argument bytes
//! only, Chat forgets which call they belong to), the order of parts inside a frame (Gemini), refusals
//! (Chat, Responses), encrypted thoughts in their place (Responses, redacted ones at Anthropic), and
//! they make a proper end out of a stream that broke off (Responses, Gemini, Ollama). The tests named
//! `model_*` show each of these.
//!
//! Nothing is set up before the first request: no TLS, no connection pool.

mod answer;
mod decode;
mod failure;
mod frames;
mod list;
mod request;
mod target;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::stream;

use self::answer::Answer;
use self::decode::Decoder;
use self::frames::Frames;
pub use self::list::{models, ollama_model, ollama_models};
use crate::BoxFuture;
use crate::model::{Delta, Deltas, Facts, Failure, Model, Request, catalogue};

/// How long the first byte of an answer may take: models load, and think, before they speak.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(300);
/// How long a service may be silent in the middle of an answer.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(120);

/// How a service is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Api {
    /// OpenAI Chat Completions, which many services understand.
    OpenAi,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini.
    Gemini,
    /// Ollama's own API.
    Ollama,
}

/// A text that nobody may see. Its `Debug` says `[redacted]`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, to be sent and for nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// A model of a service, and how it is reached.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Service {
    /// How it is spoken to.
    pub api: Api,
    /// Where it is; none for the usual place of its API.
    pub base_url: Option<String>,
    /// Whether it was the user who said where it is.
    pub own_address: bool,
    /// The key.
    pub key: Option<Secret>,
    /// Whether the key goes into `Authorization` where the API has a header of its own, as gateways want it.
    pub bearer: bool,
    /// What to do when there is no key or a wrong one: "set `ANTHROPIC_API_KEY`".
    pub key_hint: String,
    /// The service's name for people.
    pub service: String,
    /// The model's name at the service.
    pub model: String,
    /// What is known about the model.
    pub facts: Facts,
    /// Further headers; they win over those that are sent anyway.
    pub headers: Vec<(String, Secret)>,
    /// The proxy, as a URL.
    pub proxy: Option<Secret>,
    /// Whether the service takes a `prompt_cache_key`. Some refuse fields that they do not know.
    pub cache_keys: bool,
    /// Whether thoughts are sent back through Chat Completions, which has no signatures for them.
    /// Some services ask for it, OpenAI refuses it.
    pub resend_thoughts: bool,
    /// Whether the model has to speak between results and what the user says next.
    pub speaks_after_results: bool,
    /// How long the first byte of an answer may take.
    pub first_byte_timeout: Duration,
    /// How long the service may be silent in the middle of an answer.
    pub silence_timeout: Duration,
}

impl Service {
    /// Returns a model at the usual place of its API, without a key.
    pub fn new(api: Api, model: impl Into<String>, facts: Facts) -> Self {
        Self {
            api,
            base_url: None,
            own_address: false,
            key: None,
            bearer: false,
            key_hint: "set `key` of the provider in `config.toml`".to_owned(),
            service: match api {
                Api::OpenAi | Api::OpenAiResponses => "OpenAI",
                Api::Anthropic => "Anthropic",
                Api::Gemini => "Gemini",
                Api::Ollama => "Ollama",
            }
            .to_owned(),
            model: model.into(),
            facts,
            headers: Vec::new(),
            proxy: None,
            cache_keys: api == Api::OpenAiResponses,
            resend_thoughts: false,
            speaks_after_results: false,
            first_byte_timeout: FIRST_BYTE_TIMEOUT,
            silence_timeout: SILENCE_TIMEOUT,
        }
    }

    /// Returns another model of the same service.
    #[must_use]
    pub fn with_model(&self, model: &str) -> Self {
        let provider = self.facts.id.split('/').next().unwrap_or_default();
        let id = format!("{provider}/{model}");
        let facts = match self.api {
            Api::Ollama => catalogue::local(&id),
            _ => catalogue::facts(&id),
        };
        Self {
            model: model.to_owned(),
            facts,
            ..self.clone()
        }
    }
}

/// Returns the model of a service. It does nothing before its first request.
pub fn open(service: Service) -> Arc<dyn Model> {
    Arc::new(Remote { service })
}

/// A model of a service.
#[derive(Debug)]
struct Remote {
    service: Service,
}

impl Model for Remote {
    fn facts(&self) -> &Facts {
        &self.service.facts
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Deltas, Failure>> {
        Box::pin(self.start(request))
    }
}

impl Remote {
    /// Sends the request and waits for the first frame, so that what goes wrong before it fails here.
    async fn start(&self, request: &Request) -> Result<Deltas, Failure> {
        let service = &self.service;
        if service.key.is_none() && service.base_url.is_none() && service.api != Api::Ollama {
            return Err(failure::no_key(service));
        }
        let mut frames = Frames::open(service, request).await?;
        let mut reading = Reading {
            decoder: decode::decoder(service),
            answer: Answer::new(service, request),
            waiting: VecDeque::new(),
            over: false,
            frames: None,
        };
        match frames.next().await {
            Some(frame) => reading.take(&frame?),
            None => return Err(failure::cut(service)),
        }
        reading.frames = Some(frames);
        Ok(Box::pin(stream::unfold(reading, async |mut reading| {
            let delta = reading.next().await?;
            Some((delta, reading))
        })))
    }
}

/// An answer that is being read.
struct Reading {
    frames: Option<Frames>,
    decoder: Box<dyn Decoder>,
    answer: Answer,
    waiting: VecDeque<Result<Delta, Failure>>,
    over: bool,
}

impl Reading {
    async fn next(&mut self) -> Option<Result<Delta, Failure>> {
        loop {
            if let Some(delta) = self.waiting.pop_front() {
                return Some(delta);
            }
            if self.over {
                return None;
            }
            // Taken out while it is waited for, so that an answer that is over drops its connection.
            let mut frames = self.frames.take()?;
            match frames.next().await {
                Some(Ok(frame)) => self.take(&frame),
                Some(Err(failure)) => {
                    // An answer may be whole before its connection is.
                    let ended = self.decoder.end(&mut self.answer).or(Err(failure));
                    self.end(ended);
                }
                None => {
                    let ended = self.decoder.end(&mut self.answer);
                    self.end(ended);
                }
            }
            if !self.over {
                self.frames = Some(frames);
            }
        }
    }

    /// Reads one frame.
    fn take(&mut self, frame: &str) {
        let read = self
            .answer
            .count(frame.len())
            .and_then(|()| self.decoder.frame(frame, &mut self.answer));
        if read.is_err() || self.answer.is_over() {
            self.end(read);
        } else {
            self.waiting.extend(self.answer.drain().map(Ok));
        }
    }

    fn end(&mut self, ended: Result<(), Failure>) {
        self.over = true;
        self.waiting.extend(self.answer.drain().map(Ok));
        if let Err(failure) = ended {
            self.waiting.push_back(Err(failure));
        }
    }
}
