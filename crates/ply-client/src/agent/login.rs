//! Logins that run in a terminal: the agent's own program, with other arguments.

use std::collections::HashSet;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ply_wire::v2;

use super::Agent;
use crate::Error;
use crate::command::Command;

/// A login to be run in a terminal.
///
/// [`run`](Self::run) uses the terminal of this program. A program with a terminal of its own to show starts
/// [`command`](Self::command) there and passes the end on with [`ended`](Self::ended).
#[derive(Debug)]
#[must_use = "nothing is run before `run`"]
pub struct TerminalLogin {
    agent: Agent,
    command: Command,
}

impl Agent {
    /// Prepares a login that runs in a terminal: the command that started the agent, with the arguments of the method behind
    /// its own, and the method's variables over its own.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a method that is not offered or not of this kind, or that sets a variable twice;
    /// [`Error::NotOffered`] if the agent was not started by this client.
    pub fn terminal_login(&self, method: &str) -> Result<TerminalLogin, Error> {
        let methods = self.auth_methods();
        let found = methods.iter().find_map(|known| match known {
            v2::AuthMethod::Terminal(terminal) if &*terminal.method_id.0 == method => {
                Some(terminal)
            }
            _ => None,
        });
        let Some(method) = found else {
            let what =
                "the agent offers no such login in a terminal; choose one of `auth_methods()`";
            return Err(Error::Invalid { what });
        };
        let mut names = HashSet::new();
        if !method
            .env
            .iter()
            .all(|variable| names.insert(&variable.name))
        {
            let what = "the agent's login sets a variable twice; choose another method";
            return Err(Error::Invalid { what });
        }
        let Some(command) = self.inner.command.clone() else {
            return Err(Error::NotOffered {
                what: "a login in a terminal to a client that did not start it",
                hint: "log in where the agent was started, then connect again",
            });
        };
        let command = method
            .env
            .iter()
            .fold(command.args(&method.args), |command, variable| {
                command.env(&variable.name, &variable.value)
            });
        Ok(TerminalLogin {
            agent: self.clone(),
            command,
        })
    }
}

impl TerminalLogin {
    /// Returns the command to run.
    pub fn command(&self) -> &Command {
        &self.command
    }

    /// Runs the login in the terminal of this program and waits for its end. Then the agent is started again.
    ///
    /// # Errors
    ///
    /// [`Error::Spawn`] if it cannot be run, and as for [`ended`](Self::ended).
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the login is killed and counts as failed.
    pub async fn run(self) -> Result<(), Error> {
        let mut child = self.command.start_in_terminal()?;
        let status = child.wait().await.map_err(Error::login_lost)?;
        self.ended(status).await
    }

    /// Takes the end of a login that was run elsewhere. Only the exit status 0 means that it worked (V1-AUTH-10); then the agent
    /// is started and greeted again, so that it finds who logged in. What needed the login can be tried again.
    ///
    /// # Errors
    ///
    /// [`Error::LoginFailed`] if it did not work; whatever can fail in starting the agent again.
    ///
    /// # Cancel safety
    ///
    /// The agent is started again when it is next needed.
    pub async fn ended(self, status: ExitStatus) -> Result<(), Error> {
        if !status.success() {
            return Err(Error::LoginFailed { status });
        }
        let old = self.agent.inner.current();
        // It did what it was started for, so this is no crash.
        old.parts.routes.useful.store(true, Ordering::Relaxed);
        old.parts.kill();
        old.parts.last().await;
        drop(old);
        let connection: Arc<_> = self.agent.inner.connection().await?;
        drop(connection);
        Ok(())
    }
}
