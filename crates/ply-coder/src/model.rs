//! What the turn loop knows of language models: one request in, a stream of ordered deltas out.

pub mod catalogue;
pub mod offline;
pub mod prices;
pub mod retry;
pub mod service;

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use futures::Stream;
use serde_json::Value;

use crate::BoxFuture;

/// A language model.
pub trait Model: fmt::Debug + Send + Sync {
    /// Returns what is known about it.
    fn facts(&self) -> &Facts;

    /// Sends a request and returns the stream of its answer. Dropping either ends the request.
    ///
    /// The stream ends after [`Delta::Stopped`] or an error; one that ends without either was cut.
    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Deltas, Failure>>;
}

/// The stream of a model's answer.
pub type Deltas = Pin<Box<dyn Stream<Item = Result<Delta, Failure>> + Send>>;

/// What is known about a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// Its name in configuration and in the model option: `anthropic/claude-sonnet-4-5`.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// How many tokens a request and its answer may have together.
    pub window_tokens: u64,
    /// How many of them the answer may have.
    pub output_tokens_max: u64,
    /// Whether it takes images.
    pub images: bool,
    /// Whether it takes audio.
    pub audio: bool,
    /// Whether how hard it thinks can be chosen.
    pub efforts: bool,
    /// Whether it is trained to change files by the patches of `apply_patch`.
    pub patches: bool,
}

impl Facts {
    /// Returns the facts of a model of which no more than the name is known.
    pub fn new(id: impl Into<String>) -> Self {
        let id = id.into();
        Self {
            name: id.clone(),
            id,
            window_tokens: 128_000,
            output_tokens_max: 16_000,
            images: false,
            audio: false,
            efforts: false,
            patches: false,
        }
    }
}

/// How hard a model is to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effort {
    /// As little as it can.
    Low,
    /// Its usual.
    Medium,
    /// As hard as it can.
    High,
}

impl Effort {
    /// Returns its name in configuration and options.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// Returns the effort of that name.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High]
            .into_iter()
            .find(|effort| effort.id() == id)
    }
}

/// One request.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Instructions that come before the conversation.
    pub system: String,
    /// The conversation. It begins with a user's message, and every call has its result in the
    /// message after it.
    pub messages: Vec<Message>,
    /// The tools that may be called.
    pub tools: Vec<ToolSpec>,
    /// How hard to think; none for the model's default.
    pub effort: Option<Effort>,
    /// How many tokens the answer may have; none for the model's most.
    pub output_tokens_max: Option<u64>,
    /// A name that stays the same for requests of one session, for caches of the service.
    pub cache_key: Option<String>,
}

/// A tool, as a model is told about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, and when to use it.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// What the user said.
    User(Vec<Content>),
    /// What the model said, in the order in which it came.
    Assistant(Vec<Part>),
    /// What came of the calls in the message before, in their order.
    Results(Vec<CallResult>),
}

/// Something that is shown to a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Its type, such as `image/png`.
        mime_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// Sound.
    Audio {
        /// Its type, such as `audio/wav`.
        mime_type: String,
        /// The bytes in base64.
        data: String,
    },
}

/// A part of what a model said.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text for the user.
    Text(String),
    /// A thought, with what its service needs to take it back.
    Thought {
        /// The thought.
        text: String,
        /// The service's signature.
        signature: Option<String>,
    },
    /// A call of a tool.
    Call(Call),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its id in the conversation.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments: an object, or a string with what is no JSON.
    pub arguments: Value,
    /// What its service needs to take it back.
    pub signatures: Vec<String>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    /// The call's id.
    pub call: String,
    /// The tool's name.
    pub name: String,
    /// What the model is told.
    pub text: String,
    /// Images that go with it.
    pub images: Vec<Content>,
    /// Whether the tool failed.
    pub failed: bool,
}

/// One piece of a model's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More text for the user.
    Text(String),
    /// More of a thought.
    Thought(String),
    /// The signature of the thought so far.
    Signature(String),
    /// A call begins; its arguments follow. Places count the calls of the answer from 0.
    CallStarted {
        /// Which call.
        place: usize,
        /// The service's id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// More of a call's arguments, as JSON text.
    CallArguments {
        /// Which call.
        place: usize,
        /// What is added.
        json: String,
    },
    /// A call is complete.
    CallEnded {
        /// Which call.
        place: usize,
        /// All of it.
        call: Call,
    },
    /// What the request took so far.
    Usage(Usage),
    /// The answer is complete.
    Stopped(Stopped),
}

/// Tokens of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens of the request, cached ones included.
    pub input_tokens: u64,
    /// Tokens of the answer, thoughts included.
    pub output_tokens: u64,
    /// Those of the request that came from a cache.
    pub cached_tokens: u64,
    /// Those of the request that were put into a cache, where that has a price of its own.
    pub cache_write_tokens: u64,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It said what it had to say, or wants tools to be run.
    End,
    /// The answer may not be longer.
    MaxTokens,
    /// It will not answer this.
    Refusal,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What sort of failure.
    pub class: FailureClass,
    /// What happened and what to do, for people; without the service's raw answer.
    pub message: String,
    /// How long the service asks to wait.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// Returns a failure.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            retry_after: None,
        }
    }
}

/// What sort of failure a request met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureClass {
    /// Too many requests, or the service is busy: 429, 529.
    Busy,
    /// The service failed: 5xx.
    Service,
    /// No connection, or a reset.
    Network,
    /// Nobody is at the address, which is the user's own or on this machine: waiting for the network does
    /// not help.
    Unreachable,
    /// The service took the request and says nothing for too long.
    Silent,
    /// The answer broke off in the middle.
    Cut,
    /// The answer makes no sense.
    Malformed,
    /// The service does not take the request: 400.
    Rejected,
    /// The conversation is too long for the model.
    ContextOverflow,
    /// No key, or a wrong one: 401, 403.
    Unauthorized,
    /// No money or quota is left: 402.
    Quota,
    /// There is no such model: 404.
    NoSuchModel,
    /// The request is too large: 413.
    TooLarge,
    /// The provider is set up so that no request can be made.
    Setup,
}
