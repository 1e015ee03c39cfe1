//! What can fail, in words for whoever has to act.

use std::fmt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use ply_rpc::transport::child::SpawnError;
use ply_rpc::{CallError, Closed, Noise, RpcError};
use ply_wire::{negotiate, v2};
use serde_json::Value;

use crate::limits::{REASON_CHARS_SHOWN, STDERR_CHARS_SHOWN};

/// Why something could not be done.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program could not be started.
    #[error(transparent)]
    Spawn(Arc<SpawnError>),
    /// The program started but did not become an agent.
    #[error("the agent did not start: {reason}{end}")]
    Start {
        /// What went wrong.
        reason: StartFailure,
        /// What is known of its end.
        end: Box<PostMortem>,
    },
    /// The agent is gone, and it was not started by this client or must not be started again.
    #[error("the agent is gone{0}")]
    Gone(Box<PostMortem>),
    /// The agent crashed so often that it is not started again for now.
    #[error(
        "the agent crashed {crashes} times in a row and is not started again; try again in {} s{last}",
        retry_after.as_secs()
    )]
    CrashLoop {
        /// Crashes counted.
        crashes: usize,
        /// When another start will be tried.
        retry_after: Duration,
        /// What is known of the last end.
        last: Box<PostMortem>,
    },
    /// The agent wants a login first.
    #[error("the agent wants a login first; call `login` with one of its {} methods", methods.len())]
    AuthRequired {
        /// The ways to log in that the agent offers.
        methods: Vec<v2::AuthMethod>,
    },
    /// A login in a terminal did not work, or was given up.
    #[error("the login failed ({status}); try again, or choose another method")]
    LoginFailed {
        /// How the program of the login ended.
        status: ExitStatus,
    },
    /// The program of a login could not be run.
    #[error("the login could not be run: {0}")]
    LoginNotRun(Arc<std::io::Error>),
    /// The agent does not offer this, so it was not asked.
    #[error("the agent does not offer {what}; {hint}")]
    NotOffered {
        /// What was wanted.
        what: &'static str,
        /// What to do instead.
        hint: &'static str,
    },
    /// This was called outside of a tokio runtime.
    #[error(
        "no tokio runtime is running here; call this inside one, for example under `#[tokio::main]`"
    )]
    NoRuntime,
    /// What was given cannot be sent.
    #[error("{what}")]
    Invalid {
        /// What is wrong with it, and what would be right.
        what: &'static str,
    },
    /// The agent was started again, and an option of the session cannot be set back to what it was. Nothing was prompted.
    #[error(
        "the agent was started again, and the option `{}` cannot be set back to `{}`: {}; set it to another value, or open the \
         session again with `load_session` to take it as it is",
        harmless(option),
        harmless(value),
        harmless(why)
    )]
    NotRestored {
        /// The id of the option.
        option: String,
        /// The value that it had.
        value: String,
        /// What the agent said.
        why: String,
    },
    /// The session was closed or deleted.
    #[error("the session is closed; open it again with `load_session` or make a new one")]
    SessionClosed,
    /// A session with this id is open already.
    #[error("the session is open already; use the one there is, or close it first")]
    SessionOpen,
    /// An earlier request to open the session was given up, and the agent has not ended it.
    #[error(
        "the agent has not answered an earlier, cancelled request to open this session; try again later"
    )]
    SessionOpening,
    /// Too many prompts of the session wait for their turn.
    #[error("{0} prompts wait for their turn already; wait for some of them to end")]
    TooManyPrompts(usize),
    /// The question was answered before, or taken back.
    #[error("the question is closed: it was answered or taken back before")]
    Answered,
    /// The option was not offered.
    #[error("no such option was offered; choose one of `options()`")]
    NoSuchOption,
    /// The agent refused.
    #[error("the agent refused: {}", rpc_words(.0))]
    Refused(RpcError),
    /// The agent's answer never came or cannot be used.
    #[error(transparent)]
    Call(CallError),
    /// The client was closed on this side.
    #[error("the connection to the agent was closed on this side")]
    Closed,
    /// A turn failed.
    #[error(transparent)]
    Turn(#[from] TurnError),
}

impl Error {
    pub(crate) fn login_lost(error: std::io::Error) -> Self {
        Self::LoginNotRun(Arc::new(error))
    }
}

impl From<SpawnError> for Error {
    fn from(error: SpawnError) -> Self {
        Self::Spawn(Arc::new(error))
    }
}

/// Why a program did not become an agent.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StartFailure {
    /// It ended, or closed its output, before it answered.
    #[error("it ended before it answered `initialize`; check its arguments")]
    Ended,
    /// It did not answer in time.
    #[error("it did not answer `initialize` within {} s", .0.as_secs())]
    Deadline(Duration),
    /// It sends back what it is given.
    #[error("it sends back what it is given, so it is no agent")]
    Echo,
    /// It answered with an error.
    #[error("it refused `initialize`: {}", rpc_words(.0))]
    Refused(RpcError),
    /// It speaks no version that this client speaks, or answered something else.
    #[error("{0}; update the agent or this client")]
    Answer(negotiate::AnswerError),
    /// It ended when it was greeted again in version 1, which tells it of files and terminals. One that is started by this client is
    /// then started again and greeted once.
    #[error("it answered `initialize`, and ended when it was sent again in version 1")]
    SecondGreeting,
    /// It answered version 2 in the shape of version 1, and asked for version 1 it did not answer well either.
    #[error("it answered version 2 in the shape of version 1; then, asked for version 1, {0}")]
    VersionEchoed(Box<StartFailure>),
    /// The request failed in another way.
    #[error("{0}")]
    Call(CallError),
}

/// Why a turn did not end well. The session can be prompted again.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The agent says that the turn failed.
    #[error("the turn failed: {}", words(*code, message, data.as_ref()))]
    Failed {
        /// The error code; -32000 asks for a login.
        code: i64,
        /// The agent's words, as it sent them.
        message: String,
        /// Details.
        data: Option<Value>,
    },
    /// The agent ended before the turn did.
    #[error("the agent stopped during the turn{0}")]
    Interrupted(Box<PostMortem>),
    /// The session was closed while the prompt waited or ran.
    #[error("the session was closed before the turn ended")]
    SessionClosed,
    /// The turn was cancelled and the agent went on all the same.
    #[error(
        "the agent still works {} s after the turn was cancelled; `Agent::kill` ends it",
        after.as_secs()
    )]
    CancelIgnored {
        /// How long it was given to stop.
        after: Duration,
    },
}

impl TurnError {
    /// Returns whether the agent wants a login first.
    #[must_use]
    pub fn is_auth_required(&self) -> bool {
        matches!(self, Self::Failed { code, .. } if *code == AUTH_REQUIRED)
    }

    pub(crate) fn from_rpc(error: &RpcError) -> Self {
        Self::Failed {
            code: error.code,
            message: error.message.clone(),
            data: data_of(error),
        }
    }

    pub(crate) fn from_wire(error: &v2::Error) -> Self {
        Self::Failed {
            code: i32::from(error.code).into(),
            message: error.message.clone(),
            data: error.data.clone(),
        }
    }
}

/// The error code of an agent that wants a login.
pub(crate) const AUTH_REQUIRED: i64 = -32000;
/// The error code for a session or file that does not exist.
pub(crate) const NOT_FOUND: i64 = -32002;

/// What is known of an agent's end.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PostMortem {
    /// Why the connection ended.
    pub reason: Option<Closed>,
    /// How the process ended; none if it is not ours or still ran when its output closed.
    pub status: Option<ExitStatus>,
    /// The end of what it wrote to standard error, made harmless to show.
    pub stderr_tail: String,
    /// What it printed that was no protocol message.
    pub noise: Noise,
}

impl PostMortem {
    pub(crate) fn set_stderr(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let text: Vec<char> = harmless(text.trim()).chars().collect();
        let cut = text.len().saturating_sub(STDERR_CHARS_SHOWN);
        self.stderr_tail = text.into_iter().skip(cut).collect();
    }
}

fn data_of(error: &RpcError) -> Option<Value> {
    let data = error.data.as_ref()?;
    serde_json::from_str(data.get()).ok()
}

fn rpc_words(error: &RpcError) -> String {
    words(error.code, &error.message, data_of(error).as_ref())
}

/// Says what an error object says. Its message is often no more than the name of its code, and the reason is in the data.
fn words(code: i64, message: &str, data: Option<&Value>) -> String {
    let message = harmless(message);
    match data.and_then(reason).filter(|it| !message.contains(it)) {
        Some(reason) => format!("{message} ({code}): {reason}"),
        None => format!("{message} ({code})"),
    }
}

/// Returns the reason in the data of an error, harmless and cut: the text that it is or that it has where agents put one, else
/// all of it as JSON.
fn reason(data: &Value) -> Option<String> {
    let text = match data {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            let mut names = ["details", "message", "error", "reason"].iter();
            let said = names.find_map(|name| members.get(*name)?.as_str());
            said.map_or_else(|| data.to_string(), str::to_owned)
        }
        data => data.to_string(),
    };
    let text = harmless(text.trim());
    let cut = match text.char_indices().nth(REASON_CHARS_SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    };
    (!cut.is_empty()).then_some(cut)
}

/// Leaves out what could deceive whoever reads the text: control characters other than line breaks and tabs, and those that
/// are invisible or change the direction of reading.
fn harmless(text: &str) -> String {
    let is_shown = |char: &char| match char {
        '\n' | '\t' => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => false,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => false,
        char => !char.is_control(),
    };
    text.chars().filter(is_shown).collect()
}

/// Written behind a sentence: begins with a blank or a semicolon, or is empty.
impl fmt::Display for PostMortem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.status, &self.reason) {
            (Some(status), _) => write!(f, " ({status})")?,
            (None, Some(reason)) => write!(f, " ({reason})")?,
            (None, None) => {}
        }
        if !self.stderr_tail.is_empty() {
            write!(
                f,
                "; it last wrote to standard error:\n{}",
                self.stderr_tail
            )?;
        }
        if let Some(line) = self.noise.first_lines.first() {
            let lines = self.noise.lines;
            write!(
                f,
                "; it printed {lines} lines that are no message, first: {line}"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_agent_writes_cannot_deceive_in_an_error() {
        let mut end = PostMortem::default();
        end.set_stderr("a\u{202e}b\u{200b}c\x1b[2J\td\ne\u{feff}".as_bytes());
        assert_eq!(end.stderr_tail, "abc[2J\td\ne");
        let refused = Error::Refused(RpcError::new(1, "no\u{2066}\u{7}pe"));
        assert!(refused.to_string().contains("nope"), "{refused}");
        let failed = TurnError::from_rpc(&RpcError::new(1, "no\u{200d}\rpe"));
        assert!(failed.to_string().contains("nope"), "{failed}");
    }

    #[test]
    fn the_reason_in_the_data_of_an_error_is_shown() {
        let shown = |data: Value| {
            let error = RpcError::new(-32603, "Internal error").with_data(&data);
            let refused = Error::Refused(error.clone()).to_string();
            let failed = TurnError::from_rpc(&error).to_string();
            let refused = refused.strip_prefix("the agent refused: ").unwrap();
            assert_eq!(failed.strip_prefix("the turn failed: "), Some(refused));
            let bare = "Internal error (-32603)";
            let rest = refused.strip_prefix(bare).unwrap();
            rest.strip_prefix(": ").unwrap_or(rest).to_owned()
        };
        assert_eq!(shown(json!({"details": "no quota"})), "no quota");
        assert_eq!(shown(json!({"code": 1, "error": "late"})), "late");
        assert_eq!(shown(json!("plain\u{202e}\u{7}")), "plain");
        assert_eq!(shown(json!({"retryAfter": 3})), r#"{"retryAfter":3}"#);
        assert_eq!(shown(json!("Internal error")), "", "said already");
        assert_eq!(shown(Value::Null), "");
        let long = shown(json!("x".repeat(5000)));
        assert_eq!(long.chars().count(), REASON_CHARS_SHOWN + 1);
    }

    #[test]
    fn an_end_of_which_nothing_is_known_leaves_a_whole_sentence() {
        let gone = Error::Gone(Box::default()).to_string();
        assert_eq!(gone, "the agent is gone");
        let stopped = TurnError::Interrupted(Box::default()).to_string();
        assert_eq!(stopped, "the agent stopped during the turn");
    }
}
