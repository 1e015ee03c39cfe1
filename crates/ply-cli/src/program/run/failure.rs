//! What went wrong, for people and for scripts.

use ply_client::text::{self, Line};
use ply_client::{StartFailure, TurnError, v2};
use serde::Serialize;

use crate::program::error::Error;
use crate::program::output;
use crate::program::roster::Choice;

/// Exit codes; the table is in the help and in the guide.
pub(super) mod exit {
    pub(in crate::program::run) const FAILED: u8 = crate::program::error::FAILED;
    pub(in crate::program::run) const USAGE: u8 = crate::program::error::USAGE;
    pub(in crate::program::run) const TIME: u8 = 3;
    pub(in crate::program::run) const NO_SESSION: u8 = crate::program::error::NO_SESSION;
    pub(in crate::program::run) const REFUSED_PERMISSION: u8 = 5;
    pub(in crate::program::run) const LOGIN: u8 = 6;
    pub(in crate::program::run) const NO_AGENT: u8 = 7;
    pub(in crate::program::run) const REFUSAL: u8 = 8;
    pub(in crate::program::run) const LIMIT: u8 = 9;
    pub(in crate::program::run) const UNKNOWN: u8 = 10;
}

/// Why a run did not come to a good end. The names are promised to scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Failure {
    pub(super) code: &'static str,
    pub(super) detail: String,
    pub(super) hint: Option<String>,
    /// Whether the same command may well succeed when it is run again, and does nothing twice.
    pub(super) retryable: bool,
    /// What the agent itself said, if it did.
    pub(super) acp: Option<Box<Acp>>,
    #[serde(skip)]
    pub(super) exit: u8,
}

/// An error of the agent, as it sent it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Acp {
    code: i64,
    message: String,
    data: Option<serde_json::Value>,
}

impl Acp {
    fn of(error: &ply_client::Error) -> Option<Self> {
        use ply_client::Error as E;
        match error {
            E::Refused(error)
            | E::Start {
                reason: StartFailure::Refused(error),
                ..
            } => Some(Self {
                code: error.code,
                message: error.message.clone(),
                data: error
                    .data
                    .as_ref()
                    .and_then(|data| serde_json::from_str(data.get()).ok()),
            }),
            E::Turn(error) => Self::of_turn(error),
            _ => None,
        }
    }

    fn of_turn(error: &TurnError) -> Option<Self> {
        match error {
            TurnError::Failed {
                code,
                message,
                data,
            } => Some(Self {
                code: *code,
                message: message.clone(),
                data: data.clone(),
            }),
            _ => None,
        }
    }
}

impl Failure {
    pub(super) fn new(exit: u8, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            hint: None,
            retryable: false,
            acp: None,
            exit,
        }
    }

    pub(super) fn usage(detail: impl Into<String>) -> Self {
        Self::new(exit::USAGE, "usage", detail)
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    fn said(mut self, acp: Option<Acp>) -> Self {
        self.acp = acp.map(Box::new);
        self
    }

    /// Says it to people. What others said in it stays on lines of its own, moved in and harmless.
    pub(super) fn tell(&self) {
        let mut said = String::from("error: ");
        said.push_str(&indented(&self.detail));
        if let Some(hint) = &self.hint {
            said.push_str("\n  hint: ");
            said.push_str(&indented(hint));
        }
        output::tell(&said);
    }

    /// Returns the failure of a start that did not become an agent.
    pub(super) fn of_start(error: &ply_client::Error, choice: &Choice) -> Self {
        use ply_client::Error as E;
        let failure = Self::new(exit::NO_AGENT, "agent_start", error.to_string());
        let failure = failure.said(Acp::of(error));
        match error {
            E::Spawn(_) => {
                let name = Line(&choice.name).to_string();
                match &choice.install {
                    Some(install) => failure.hint(format!("to get {name}: {install}")),
                    None => failure.hint("check the command; `ply run --help` has examples"),
                }
            }
            E::Start { reason, .. } => match reason {
                StartFailure::Deadline(_) => failure
                    .hint("is it a program that speaks the Agent Client Protocol?")
                    .retryable(),
                _ => failure.hint("is it a program that speaks the Agent Client Protocol?"),
            },
            _ => Self::of_call(error, choice),
        }
    }

    /// Returns the failure of a request.
    pub(super) fn of_call(error: &ply_client::Error, choice: &Choice) -> Self {
        use ply_client::Error as E;
        match error {
            E::AuthRequired { methods } => Self::login(methods, choice),
            E::NotOffered { what, hint } => {
                let detail = format!("the agent does not offer {what}");
                Self::new(exit::USAGE, "not_offered", detail).hint(*hint)
            }
            E::Invalid { what } => Self::usage(*what),
            E::SessionClosed => {
                let detail = "the agent closed the session before the prompt was sent";
                Self::new(exit::FAILED, "agent_error", detail)
            }
            E::Gone(_) | E::CrashLoop { .. } => {
                Self::new(exit::FAILED, "agent_gone", error.to_string()).retryable()
            }
            E::Spawn(_) | E::Start { .. } => {
                Self::new(exit::NO_AGENT, "agent_start", error.to_string())
            }
            E::Turn(turn) => Self::of_turn(turn, &[], choice),
            _ => Self::new(exit::FAILED, "agent_error", error.to_string()).said(Acp::of(error)),
        }
    }

    /// Returns the failure of opening an old session.
    pub(super) fn of_session(error: &ply_client::Error, id: Option<&str>, choice: &Choice) -> Self {
        use ply_client::Error as E;
        match error {
            // What else is not offered has nothing to do with its being an old one.
            E::NotOffered { what, .. } if !what.ends_with("sessions") => {
                Self::of_call(error, choice)
            }
            E::NotOffered { .. } | E::Refused(_) | E::SessionClosed => {
                // Its own words are for programs.
                let why = match error {
                    E::NotOffered { what, .. } => format!("the agent does not offer {what}"),
                    E::SessionClosed => "the agent closed it".to_owned(),
                    error => error.to_string(),
                };
                let detail = match id {
                    Some(id) => format!("the session `{}` cannot be opened: {why}", Line(id)),
                    None => format!("no earlier session can be opened: {why}"),
                };
                let failure = Self::new(exit::NO_SESSION, "no_session", detail);
                let failure = failure.said(Acp::of(error));
                failure.hint("`ply sessions ls` lists sessions; without `--session` and `--continue` a new one begins")
            }
            _ => Self::of_call(error, choice),
        }
    }

    /// Returns the failure of a turn.
    pub(super) fn of_turn(error: &TurnError, methods: &[v2::AuthMethod], choice: &Choice) -> Self {
        match error {
            TurnError::Failed { message, .. } if error.is_auth_required() => {
                let mut failure = Self::login(methods, choice).said(Acp::of_turn(error));
                if !message.is_empty() {
                    failure.detail = format!("{}: {message}", failure.detail);
                    // Its own words say what to do where it offers no way to log in.
                    failure.hint = failure.hint.filter(|_| !methods.is_empty());
                }
                failure
            }
            TurnError::Interrupted(_) => {
                let failure = Self::new(exit::UNKNOWN, "outcome_unknown", error.to_string());
                failure.hint("look at what it has done before you run it again")
            }
            _ => {
                let failure = Self::new(exit::FAILED, "turn_failed", error.to_string());
                failure.said(Acp::of_turn(error))
            }
        }
    }

    /// Returns the failure of a turn whose end says nothing about how it went.
    pub(super) fn no_stop_reason() -> Self {
        let detail =
            "the agent ended the turn without a stop reason, so nothing says that it went well";
        let failure = Self::new(exit::FAILED, "no_stop_reason", detail);
        failure.hint("check what it has done; `ply check agent` tells more about the agent")
    }

    fn login(methods: &[v2::AuthMethod], choice: &Choice) -> Self {
        let failure = Self::new(exit::LOGIN, "auth_required", "the agent requires a login");
        let program = choice.command.program().to_string_lossy().into_owned();
        let ways: Vec<_> = methods
            .iter()
            .map(|way| login_line(way, &program))
            .collect();
        match ways.is_empty() {
            true => failure.hint(format!(
                "log in by the agent's own means; it is started by `{program}`"
            )),
            false => failure.hint(format!("ways to log in:\n{}", ways.join("\n"))),
        }
    }
}

/// Says how to log in by one method, on one line.
fn login_line(method: &v2::AuthMethod, program: &str) -> String {
    let line = match method {
        v2::AuthMethod::Terminal(terminal) => {
            let arguments = terminal.args.join(" ");
            format!(
                "{}: run `{program} {arguments}` in a terminal",
                terminal.name
            )
        }
        v2::AuthMethod::Agent(agent) => {
            let about = agent
                .description
                .as_deref()
                .unwrap_or("by the agent itself");
            format!(
                "{}: {about} (in `ply chat`, or by the agent's own command)",
                agent.name
            )
        }
        other => format!("{}: see the agent's documentation", other.method_id().0),
    };
    Line(&line).to_string()
}

/// Returns text of several lines, of which all but the first are moved in.
fn indented(text: &str) -> String {
    text::lines(text).collect::<Vec<_>>().join("\n    ")
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::NoAgent { .. } => "no_agent",
            Error::Config { .. } => "config",
            Error::Output(_) => "output",
            _ => "failed",
        };
        // Lines are moved in when they are told, not before.
        let hint = error.hint().map(|hint| hint.replace("\n    ", "\n"));
        let failure = Self::new(error.exit_code(), code, error.to_string());
        Self { hint, ..failure }
    }
}
