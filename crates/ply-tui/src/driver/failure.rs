//! What errors of the SDK mean to the user.

use std::error::Error as _;
use std::io;

use ply_client::text::Line;
use ply_client::{Agent, Error, TurnError};

use crate::app::event::Failure;

/// Says why an agent or a session cannot be used.
pub(super) fn of(error: &Error) -> Failure {
    match error {
        Error::AuthRequired { methods } => Failure::Auth(methods.clone(), None),
        Error::Spawn(spawn) => {
            let cause = spawn
                .source()
                .and_then(|cause| cause.downcast_ref::<io::Error>());
            let kind = cause.map(io::Error::kind);
            match kind {
                Some(io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
                    Failure::Missing(error.to_string())
                }
                _ => Failure::Other(error.to_string()),
            }
        }
        Error::NotOffered { what, .. } if what.starts_with("opening old sessions") => {
            let words =
                "the agent ended and cannot open its session again; Ctrl-N begins a new one";
            Failure::Other(words.to_owned())
        }
        Error::NotRestored {
            option, value, why, ..
        } => Failure::Other(format!(
            "the agent was started again, and {} cannot be set back to {}: {}; choose another value, nothing was sent",
            Line(option),
            Line(value),
            Line(why)
        )),
        Error::Gone(_) | Error::CrashLoop { .. } => Failure::Died(error.to_string()),
        error => Failure::Other(error.to_string()),
    }
}

/// Says why a turn did not end well.
pub(super) fn of_turn(error: &TurnError, agent: &Agent) -> Failure {
    match error {
        error @ TurnError::Failed { message, .. } if error.is_auth_required() => {
            // They name the key that was refused, or what to set.
            let words = Some(message.clone()).filter(|message| !message.trim().is_empty());
            Failure::Auth(agent.auth_methods(), words)
        }
        TurnError::Interrupted(_) => Failure::Died(error.to_string()),
        error => Failure::Other(error.to_string()),
    }
}
