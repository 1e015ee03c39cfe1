//! One connection to an agent with one session, without IO.
//!
//! [`Link::line`] takes what the agent wrote, [`Link::wish`] what the hub wants; both say what is to be done. The state of a
//! link depends on nothing else, so it can be folded from a record of both, or written down and read back: whoever continues a
//! connection that another process began goes on exactly where that one stopped. Nothing here waits, reads a clock or panics
//! about what an agent sends.

pub mod again;
mod answered;
mod extend;
mod hello;
mod inbound;
mod session;
mod turn;
mod version;
mod wish;

use std::collections::BTreeMap;

use bytes::Bytes;
use ply_rpc::{RequestId, RpcError, line};
use ply_wire::lift::AskId;
use ply_wire::method::Request;
use ply_wire::negotiate::Version;
use ply_wire::{convert, v1, v2};
use serde::{Deserialize, Serialize};

use self::session::Session;
pub use self::wish::{
    Done, End, Failure, Greeting, Hello, How, Opening, Output, Service, Told, Wish,
};
pub use ply_session::{Answer, Question};

/// Requests of an agent that may be open at once; more are refused.
pub const REQUESTS_OPEN_MAX: usize = 256;
/// Updates of a session that is being made which wait for its id.
pub const EARLY_UPDATES_MAX: usize = 256;
/// Characters of a method's name that are repeated in words.
const METHOD_CHARS_MAX: usize = 64;

/// The state of one connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The number of the last line that the agent wrote.
    last_in: u64,
    /// The number of the last line that was made for it.
    last_out: u64,
    last_call: i64,
    /// Our requests that were not answered.
    calls: BTreeMap<i64, Call>,
    last_request: u64,
    /// The agent's requests that were not answered, by the numbers they have here.
    requests: BTreeMap<u64, Asked>,
    greeting: Option<Greeting>,
    hello: Option<Hello>,
    session: Option<Session>,
    /// The message of the last prompt that was sent.
    prompted: Option<v2::MessageId>,
}

impl Default for Link {
    fn default() -> Self {
        Self::new()
    }
}

/// A request of ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Call {
    Greet {
        only_v1: bool,
    },
    Open {
        how: How,
    },
    Prompt,
    SetOption,
    SetMode {
        mode: v1::SessionModeId,
    },
    Close,
    /// A tool call or a terminal is to stop.
    CancelEntity,
    Extend,
    Login,
    Logout,
}

impl Call {
    fn method(&self, version: Option<Version>) -> &'static str {
        match (self, version) {
            (Self::Greet { .. }, _) => "initialize",
            (Self::Open { how: How::New }, _) => "session/new",
            (Self::Open { how: How::Load }, Some(Version::V1)) => "session/load",
            (Self::Open { .. }, _) => "session/resume",
            (Self::Prompt, _) => "session/prompt",
            (Self::SetOption, _) => "session/set_config_option",
            (Self::SetMode { .. }, _) => "session/set_mode",
            (Self::Close, _) => "session/close",
            (Self::CancelEntity, _) => "tool_call/cancel",
            (Self::Extend, _) => "an extension",
            (Self::Login, Some(Version::V1)) => "authenticate",
            (Self::Login, _) => "auth/login",
            (Self::Logout, Some(Version::V1)) => "logout",
            (Self::Logout, _) => "auth/logout",
        }
    }
}

/// A request of the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Asked {
    /// Its own id.
    id: RequestId,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Permission {
        /// The lifter's name for it.
        ask: Option<AskId>,
        options: Vec<v2::PermissionOptionId>,
    },
    Elicitation {
        ask: Option<AskId>,
    },
    Service,
}

impl Link {
    /// Returns the link to an agent that was just started.
    #[must_use]
    pub fn new() -> Self {
        Self {
            last_in: 0,
            last_out: 0,
            last_call: 0,
            calls: BTreeMap::new(),
            last_request: 0,
            requests: BTreeMap::new(),
            greeting: None,
            hello: None,
            session: None,
            prompted: None,
        }
    }

    /// Returns the number of the last line of the agent that was taken.
    #[must_use]
    pub fn last_in(&self) -> u64 {
        self.last_in
    }

    /// Returns the number of the last line that was made for the agent.
    #[must_use]
    pub fn last_out(&self) -> u64 {
        self.last_out
    }

    /// Returns what the agent said of itself.
    #[must_use]
    pub fn hello(&self) -> Option<&Hello> {
        self.hello.as_ref()
    }

    /// Returns the agent's own id for the session, once it has one.
    #[must_use]
    pub fn session(&self) -> Option<&v2::SessionId> {
        self.session.as_ref()?.id.as_ref()
    }

    /// Returns whether the agent works in the foreground: on a prompt, or by itself.
    #[must_use]
    pub fn is_working(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.turn.is_some() || session.is_own)
    }

    /// Returns whether the agent works on a prompt.
    #[must_use]
    pub fn has_prompt(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.turn.is_some())
    }

    /// Returns the message of the last prompt that was sent.
    #[must_use]
    pub fn prompted(&self) -> Option<&v2::MessageId> {
        self.prompted.as_ref()
    }

    /// Returns the number of the last request of the agent.
    #[must_use]
    pub fn last_request(&self) -> u64 {
        self.last_request
    }

    /// Returns how many requests of the agent wait for an answer.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        self.requests.len()
    }

    /// Takes a line of the agent. One that was taken before changes nothing.
    pub fn line(&mut self, number: u64, line: &[u8], out: &mut Vec<Output>) {
        if number <= self.last_in {
            return;
        }
        if number > self.last_in + 1 {
            let missing = number - self.last_in - 1;
            out.push(Output::Odd(format!(
                "{missing} lines of the agent are missing"
            )));
        }
        self.last_in = number;
        self.take(line, out);
    }

    /// Takes a wish of the hub. Returns the number of the request that was sent for it, under which it is answered; none if
    /// there is nothing to wait for, or nothing to be done.
    pub fn wish(&mut self, wish: Wish, out: &mut Vec<Output>) -> Option<i64> {
        match wish {
            Wish::Greet(greeting) => self.greet(greeting, out),
            Wish::Open(opening) => self.open(*opening, out),
            Wish::Prompt { message, content } => self.prompt(message, content, out),
            Wish::Cancel => {
                self.cancel(out);
                None
            }
            Wish::SetOption { option, value } => self.set_option(option, value, out),
            Wish::Answer { request, answer } => {
                self.answer(request, answer, out);
                None
            }
            Wish::Serve {
                request,
                terminal,
                result,
            } => {
                self.served(request, terminal, result, out);
                None
            }
            Wish::CancelCall { call } => self.cancel_call(call, out),
            Wish::CancelTerminal { terminal } => self.cancel_terminal(terminal, out),
            Wish::Extend {
                method,
                params,
                is_request: true,
            } => self.extend(&method, &params, out),
            Wish::Extend { method, params, .. } => {
                if self.takes(&method) {
                    self.tell(&method, &params, out);
                }
                None
            }
            Wish::Close => {
                let session = self.session()?.clone();
                self.ask_either(
                    Call::Close,
                    v2::CloseSessionRequest::new(session),
                    convert::session::close_down,
                    out,
                )
            }
            Wish::Login { method } => self.ask_either(
                Call::Login,
                v2::LoginAuthRequest::new(method),
                convert::auth::login_down,
                out,
            ),
            Wish::Logout => self.ask_either(
                Call::Logout,
                v2::LogoutAuthRequest::new(),
                convert::auth::logout_down,
                out,
            ),
        }
    }

    fn version(&self) -> Option<Version> {
        self.hello.as_ref().map(|hello| hello.version)
    }

    /// Sends a request in the version that the agent speaks.
    fn ask_either<Q: Serialize, P: Request + Serialize>(
        &mut self,
        call: Call,
        request: Q,
        down: impl FnOnce(&Q) -> P,
        out: &mut Vec<Output>,
    ) -> Option<i64> {
        match self.version()? {
            Version::V1 => self.ask(call, &down(&request), out),
            Version::V2 => self.ask(call, &request, out),
        }
    }

    fn ask(&mut self, call: Call, params: &impl Serialize, out: &mut Vec<Output>) -> Option<i64> {
        let method = call.method(self.version());
        self.ask_as(method, call, params, out)
    }

    fn ask_as(
        &mut self,
        method: &str,
        call: Call,
        params: &impl Serialize,
        out: &mut Vec<Output>,
    ) -> Option<i64> {
        let id = self.last_call + 1;
        match line::request(id, method, params) {
            Ok(line) => {
                self.last_call = id;
                self.calls.insert(id, call);
                self.send(line, out);
                Some(id)
            }
            Err(error) => {
                out.push(Output::Odd(format!(
                    "`{}` cannot be encoded: {error}",
                    named(method)
                )));
                None
            }
        }
    }

    fn tell(&mut self, method: &str, params: &impl Serialize, out: &mut Vec<Output>) {
        match line::notification(method, params) {
            Ok(line) => self.send(line, out),
            Err(error) => out.push(Output::Odd(format!(
                "`{method}` cannot be encoded: {error}"
            ))),
        }
    }

    fn respond(
        &mut self,
        id: &RequestId,
        result: Result<&impl Serialize, &RpcError>,
        out: &mut Vec<Output>,
    ) {
        let line = match result {
            Ok(result) => line::result(id, result)
                .unwrap_or_else(|error| line::error(id, &RpcError::internal(error.to_string()))),
            Err(error) => line::error(id, error),
        };
        self.send(line, out);
    }

    fn refuse(&mut self, id: &RequestId, error: &RpcError, out: &mut Vec<Output>) {
        self.respond(id, Err::<&(), _>(error), out);
    }

    fn send(&mut self, line: Vec<u8>, out: &mut Vec<Output>) {
        self.last_out += 1;
        out.push(Output::Send {
            number: self.last_out,
            line: Bytes::from(line),
        });
    }
}

/// Returns a method's name as it may be repeated in words.
fn named(method: &str) -> String {
    let shown = |char: &char| !char.is_control();
    method
        .chars()
        .filter(shown)
        .take(METHOD_CHARS_MAX)
        .collect()
}

#[cfg(test)]
mod tests;
