//! What the model answers, in no API's words.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::{Gate, Seen};

/// What the model answers to one request.
///
/// A reply begins with one of the functions (`say`, `think`, `call`, `empty`, `status`, `hang`,
/// `computed`) and goes on with the methods.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(crate) before: Option<Gate>,
    pub(crate) status: u16,
    pub(crate) trouble: Option<Trouble>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) steps: Vec<Step>,
    pub(crate) stop: Stop,
    pub(crate) usage: Option<Usage>,
    pub(crate) split_bytes: Option<usize>,
    pub(crate) line_end: &'static str,
    pub(crate) computed: Option<Computed>,
}

/// Why the model stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// It is done, or wants its calls run.
    #[default]
    End,
    /// The answer may not be longer.
    MaxTokens,
    /// It will not answer.
    Refusal,
}

/// The tokens that the service counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request, cached ones included.
    pub input: u64,
    /// Tokens of the answer, thoughts included.
    pub output: u64,
    /// Those of the request that came from a cache.
    pub cached: u64,
    /// Those of the request that were put into a cache, as Anthropic counts them.
    pub written: u64,
}

/// A failure that each service words in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// What the status says.
    Status,
    /// The conversation is longer than the model's window.
    Overflow,
    /// No money is left.
    Quota,
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Say(String),
    Think {
        text: String,
        signature: Option<String>,
    },
    Call {
        id: Option<String>,
        name: String,
        arguments: String,
    },
    Wait(Gate),
    /// A frame whose data is no JSON.
    Malformed,
    /// A frame with exactly this data.
    Frame(String),
    /// Something that only keeps the connection alive.
    Comment,
    /// An error in the middle of the stream, as if of this status.
    Fail(u16),
    /// The connection breaks.
    Cut,
    /// The answer ends as if it were whole, but without the end that the API asks for.
    EndEarly,
}

#[derive(Clone)]
pub(crate) struct Computed(pub(crate) Arc<dyn Fn(&Seen) -> Reply + Send + Sync>);

impl fmt::Debug for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Computed")
    }
}

impl Reply {
    /// Returns an answer with nothing in it.
    pub fn empty() -> Self {
        Self {
            before: None,
            status: 200,
            trouble: None,
            headers: Vec::new(),
            steps: Vec::new(),
            stop: Stop::End,
            usage: Some(Usage {
                input: 100,
                output: 20,
                cached: 0,
                written: 0,
            }),
            split_bytes: None,
            line_end: "\n",
            computed: None,
        }
    }

    /// Returns an answer that begins with text.
    pub fn say(text: impl Into<String>) -> Self {
        Self::empty().and_say(text)
    }

    /// Returns an answer that begins with a thought, signed where the API signs thoughts.
    pub fn think(text: impl Into<String>) -> Self {
        Self::empty().and_think(text)
    }

    /// Returns an answer that begins with a call of a tool.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::empty().and_call(name, arguments)
    }

    /// Returns an error with this HTTP status, in the service's words.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            trouble: Some(Trouble::Status),
            ..Self::empty()
        }
    }

    /// Returns the error of a conversation that is too long for the model.
    pub fn overflow() -> Self {
        Self {
            status: 400,
            trouble: Some(Trouble::Overflow),
            ..Self::empty()
        }
    }

    /// Returns the error of an account without money or quota.
    pub fn quota() -> Self {
        Self {
            status: 429,
            trouble: Some(Trouble::Quota),
            ..Self::empty()
        }
    }

    /// Returns an answer of which not even the headers come before the gate is open.
    pub fn hang(gate: &Gate) -> Self {
        Self::empty().after(gate)
    }

    /// Returns an answer that is made when the request is there.
    pub fn computed(reply: impl Fn(&Seen) -> Self + Send + Sync + 'static) -> Self {
        Self {
            computed: Some(Computed(Arc::new(reply))),
            ..Self::empty()
        }
    }

    /// Adds text.
    #[must_use]
    pub fn and_say(self, text: impl Into<String>) -> Self {
        self.step(Step::Say(text.into()))
    }

    /// Adds a thought, signed `signed(TEXT)` where the API signs thoughts.
    #[must_use]
    pub fn and_think(self, text: impl Into<String>) -> Self {
        let text = text.into();
        let signature = Some(format!("signed({text})"));
        self.step(Step::Think { text, signature })
    }

    /// Adds a thought that nobody signed.
    #[must_use]
    pub fn and_think_unsigned(self, text: impl Into<String>) -> Self {
        self.step(Step::Think {
            text: text.into(),
            signature: None,
        })
    }

    /// Adds a call. Several calls are made in parallel.
    #[must_use]
    pub fn and_call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.step(Step::Call {
            id: None,
            name: name.into(),
            arguments: arguments.to_string(),
        })
    }

    /// Adds a call with an id of the test's choice; an empty one is left out where it can be.
    #[must_use]
    pub fn and_call_with_id(
        self,
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: Value,
    ) -> Self {
        self.step(Step::Call {
            id: Some(id.into()),
            name: name.into(),
            arguments: arguments.to_string(),
        })
    }

    /// Adds a call whose arguments are this text, which need not be JSON.
    ///
    /// Gemini and Ollama send arguments as JSON, not as text: what is no JSON is a JSON string there.
    #[must_use]
    pub fn and_call_text(self, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.step(Step::Call {
            id: None,
            name: name.into(),
            arguments: arguments.into(),
        })
    }

    /// Waits in the middle of the answer until the gate is open.
    #[must_use]
    pub fn and_wait(self, gate: &Gate) -> Self {
        self.step(Step::Wait(gate.clone()))
    }

    /// Adds a frame that is no JSON.
    #[must_use]
    pub fn and_malformed(self) -> Self {
        self.step(Step::Malformed)
    }

    /// Adds a frame with exactly this data.
    #[must_use]
    pub fn and_frame(self, data: impl Into<String>) -> Self {
        self.step(Step::Frame(data.into()))
    }

    /// Adds something that only keeps the connection alive.
    #[must_use]
    pub fn and_comment(self) -> Self {
        self.step(Step::Comment)
    }

    /// Ends the answer with an error in the stream, as if of this status.
    #[must_use]
    pub fn and_fail(self, status: u16) -> Self {
        self.step(Step::Fail(status))
    }

    /// Breaks the connection; what follows is not sent.
    #[must_use]
    pub fn and_cut(self) -> Self {
        self.step(Step::Cut)
    }

    /// Ends the body properly, but without the end that the API asks for.
    #[must_use]
    pub fn and_end_early(self) -> Self {
        self.step(Step::EndEarly)
    }

    /// Keeps back even the headers until the gate is open.
    #[must_use]
    pub fn after(mut self, gate: &Gate) -> Self {
        self.before = Some(gate.clone());
        self
    }

    /// Sets why the model stops.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Sets the tokens that the service counts.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Has the service count no tokens.
    #[must_use]
    pub fn no_usage(mut self) -> Self {
        self.usage = None;
        self
    }

    /// Adds a `retry-after` header in seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header("retry-after", seconds.to_string())
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends the body in pieces of so many bytes, wherever that cuts it.
    #[must_use]
    pub fn split_every(mut self, bytes: usize) -> Self {
        self.split_bytes = Some(bytes.max(1));
        self
    }

    /// Ends the lines of an event stream with a carriage return and a line feed.
    #[must_use]
    pub fn crlf(mut self) -> Self {
        self.line_end = "\r\n";
        self
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}
