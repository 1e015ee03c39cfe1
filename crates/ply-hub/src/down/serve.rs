//! Files and terminals for an agent of version 1: those of the client whose prompt it works on if that offers them, else the
//! hub's own, confined to the session's directories.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_agent::{Error, Session, Terminal, Turn};
use ply_client::{FileService, Files, Scope, TerminalService, Terminals};
use ply_rpc::RpcError;
use ply_wire::{v1, v2};
use serde::Serialize;
use serde_json::Value;

use super::link::Service;
use super::screen::Screen;

/// What serves the requests of one process.
pub(super) struct Hands {
    files: Files,
    terminals: Terminals,
    scope: Scope,
    /// What the ids of own terminals begin with, so that no other in the session's history has them.
    prefix: String,
    /// Terminals of clients, by the ids that the agent knows.
    borrowed: Mutex<HashMap<v1::TerminalId, Arc<Terminal>>>,
}

/// An answer, and the terminal that was made for it.
pub(super) type Served = (Option<v1::TerminalId>, Result<Value, RpcError>);

impl Hands {
    pub(super) fn new(session: &Session, prefix: String, screen: Arc<Screen>) -> Self {
        let shown = prefix.clone();
        let show = move |update| screen.show(renamed(update, &shown));
        let roots = session.additional_directories().to_vec();
        let scope = Scope::of(session.id().clone(), session.cwd().to_owned(), roots, show);
        Self {
            files: Files::new(),
            terminals: Terminals::new(),
            scope,
            prefix,
            borrowed: Mutex::default(),
        }
    }

    /// Serves a request; without a turn nobody's but the hub's own means are there.
    pub(super) async fn serve(&self, turn: Option<&Turn>, service: Service) -> Served {
        match service {
            Service::ReadFile(request) => (None, self.read(turn, request).await),
            Service::WriteFile(request) => (None, self.write(turn, request).await),
            Service::CreateTerminal(request) => self.create(turn, request).await,
            service => (None, self.terminal(service).await),
        }
    }

    async fn read(
        &self,
        turn: Option<&Turn>,
        mut request: v1::ReadTextFileRequest,
    ) -> Result<Value, RpcError> {
        request.path = self.scope.cwd().join(&request.path);
        if let Some(turn) = turn.filter(|turn| turn.can_read_files()) {
            let mut reading = turn.read_text_file(&request.path);
            if let Some(line) = request.line {
                reading = reading.line(line);
            }
            if let Some(limit) = request.limit {
                reading = reading.limit(limit);
            }
            match reading.await {
                Ok(content) => return value(v1::ReadTextFileResponse::new(content)),
                Err(error) => refused_by_client(turn, &error)?,
            }
        }
        let content = FileService::read_text_file(&self.files, &self.scope, request).await?;
        value(v1::ReadTextFileResponse::new(content))
    }

    async fn write(
        &self,
        turn: Option<&Turn>,
        mut request: v1::WriteTextFileRequest,
    ) -> Result<Value, RpcError> {
        request.path = self.scope.cwd().join(&request.path);
        if let Some(turn) = turn.filter(|turn| turn.can_write_files()) {
            let content = request.content.clone();
            match turn.write_text_file(&request.path, content).await {
                Ok(()) => return value(v1::WriteTextFileResponse::new()),
                Err(error) => refused_by_client(turn, &error)?,
            }
        }
        FileService::write_text_file(&self.files, &self.scope, request).await?;
        value(v1::WriteTextFileResponse::new())
    }

    async fn create(&self, turn: Option<&Turn>, request: v1::CreateTerminalRequest) -> Served {
        if let Some(turn) = turn.filter(|turn| turn.has_terminals()) {
            match self.borrow(turn, &request).await {
                Ok(id) => return (Some(id.clone()), value(v1::CreateTerminalResponse::new(id))),
                Err(error) => {
                    if let Err(error) = refused_by_client(turn, &error) {
                        return (None, Err(error));
                    }
                }
            }
        }
        let mut request = request;
        request.session_id = self.session();
        match TerminalService::create(&self.terminals, &self.scope, request).await {
            Ok(made) => {
                let id = v1::TerminalId::new(format!("{}{}", self.prefix, made.terminal_id));
                (Some(id.clone()), value(v1::CreateTerminalResponse::new(id)))
            }
            Err(error) => (None, Err(error)),
        }
    }

    /// Has the client that prompted run a command.
    async fn borrow(
        &self,
        turn: &Turn,
        request: &v1::CreateTerminalRequest,
    ) -> Result<v1::TerminalId, Error> {
        let mut new = turn.terminal(&request.command);
        for arg in &request.args {
            new = new.arg(arg);
        }
        for variable in &request.env {
            new = new.env(&variable.name, &variable.value);
        }
        if let Some(cwd) = &request.cwd {
            new = new.cwd(cwd);
        }
        if let Some(bytes) = request.output_byte_limit {
            new = new.output_bytes(bytes);
        }
        let terminal = new.await?;
        let id = v1::TerminalId::new(terminal.id().0.clone());
        self.lock().insert(id.clone(), Arc::new(terminal));
        Ok(id)
    }

    /// Serves what is asked of a terminal that was made before.
    async fn terminal(&self, service: Service) -> Result<Value, RpcError> {
        match service {
            Service::TerminalOutput(mut request) => {
                if let Some(terminal) = self.borrowed(&request.terminal_id) {
                    return value(terminal.output().await.map_err(|error| rpc(&error))?);
                }
                (request.session_id, request.terminal_id) = self.own(&request.terminal_id)?;
                value(TerminalService::output(&self.terminals, request).await?)
            }
            Service::WaitForTerminal(mut request) => {
                if let Some(terminal) = self.borrowed(&request.terminal_id) {
                    let exit = terminal.wait().await.map_err(|error| rpc(&error))?;
                    return value(v1::WaitForTerminalExitResponse::new(exit));
                }
                (request.session_id, request.terminal_id) = self.own(&request.terminal_id)?;
                value(TerminalService::wait_for_exit(&self.terminals, request).await?)
            }
            Service::KillTerminal(mut request) => {
                if let Some(terminal) = self.borrowed(&request.terminal_id) {
                    terminal.kill().await.map_err(|error| rpc(&error))?;
                    return value(v1::KillTerminalResponse::new());
                }
                (request.session_id, request.terminal_id) = self.own(&request.terminal_id)?;
                value(TerminalService::kill(&self.terminals, request).await?)
            }
            Service::ReleaseTerminal(mut request) => {
                let borrowed = self.lock().remove(&request.terminal_id);
                if let Some(terminal) = borrowed {
                    // Somebody who still waits for it lets go of it soon, which releases it too.
                    if let Some(terminal) = Arc::into_inner(terminal) {
                        terminal.release().await.map_err(|error| rpc(&error))?;
                    }
                    return value(v1::ReleaseTerminalResponse::new());
                }
                (request.session_id, request.terminal_id) = self.own(&request.terminal_id)?;
                value(TerminalService::release(&self.terminals, request).await?)
            }
            _ => Err(RpcError::method_not_found()),
        }
    }

    /// Returns the names under which an own terminal is known here.
    fn own(&self, id: &v1::TerminalId) -> Result<(v1::SessionId, v1::TerminalId), RpcError> {
        let own = id.0.strip_prefix(&self.prefix);
        let own = own.ok_or_else(|| RpcError::invalid_params("there is no such terminal"))?;
        Ok((self.session(), v1::TerminalId::new(own)))
    }

    fn session(&self) -> v1::SessionId {
        v1::SessionId::new(self.scope.id().0.clone())
    }

    fn borrowed(&self, id: &v1::TerminalId) -> Option<Arc<Terminal>> {
        self.lock().get(id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<v1::TerminalId, Arc<Terminal>>> {
        // No code that can panic runs under the lock.
        self.borrowed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Hands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Hands").field(&self.scope).finish()
    }
}

/// Passes on what a client answered. One that is gone leaves the request to the hub.
fn refused_by_client(turn: &Turn, error: &Error) -> Result<(), RpcError> {
    match error.as_rpc() {
        Some(refusal) => Err(refusal.clone()),
        None if turn.is_cancelled() => Err(RpcError::cancelled()),
        None => Ok(()),
    }
}

fn rpc(error: &Error) -> RpcError {
    let refusal = error.as_rpc().cloned();
    refusal.unwrap_or_else(|| RpcError::internal(error.to_string()))
}

fn value(answer: impl Serialize) -> Result<Value, RpcError> {
    serde_json::to_value(answer).map_err(|error| RpcError::internal(error.to_string()))
}

/// Gives a terminal in an update the id that it has in the session.
fn renamed(mut update: v2::SessionUpdate, prefix: &str) -> v2::SessionUpdate {
    let id = match &mut update {
        v2::SessionUpdate::TerminalUpdate(update) => &mut update.terminal_id,
        v2::SessionUpdate::TerminalOutputChunk(chunk) => &mut chunk.terminal_id,
        _ => return update,
    };
    *id = v2::TerminalId::new(format!("{prefix}{}", id.0));
    update
}
