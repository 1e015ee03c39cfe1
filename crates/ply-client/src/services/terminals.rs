//! Running commands for an agent.

use std::collections::HashMap;
use std::fmt;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use ply_rpc::RpcError;
use ply_rpc::transport::child::{Command, SpawnError};
use ply_wire::v1;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use self::output::Output;
use self::run::{Reader, Run, State};
pub(crate) use self::scene::{Scene, Show};
use self::scene::{line, show_exit};
use super::Roots;
use super::refusal::{Refusal, not_found};
use crate::lock::lock;

mod output;
mod run;
mod scene;

#[cfg(test)]
mod tests;

/// Output kept of a command unless the agent asks for less or more.
const OUTPUT_BYTES_DEFAULT: usize = 1024 * 1024;
/// Output kept of a command at most.
const OUTPUT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Terminals of one session that are not released yet.
const TERMINALS_PER_SESSION_MAX: usize = 32;
/// Size of a command's pipe. What a user's pipes may hold in all is limited, and many commands may run at once.
const PIPE_BYTES: usize = 64 * 1024;
/// How long opening the working directory may take.
const DIRECTORY_TIME_MAX: Duration = Duration::from_secs(10);

type OnOutput = Arc<dyn Fn(&v1::TerminalId, &str) + Send + Sync>;

/// Runs commands for agents, each with no input and in a process tree of its own.
///
/// A terminal belongs to the session that made it. When the last clone of this value is dropped every command is ended.
#[derive(Clone, Default)]
pub struct Terminals {
    sessions: Arc<Mutex<HashMap<v1::SessionId, Session>>>,
    on_output: Option<OnOutput>,
}

/// The terminals of one session.
struct Session {
    /// Its own from the first terminal to the end of the session, so that it also tells one life of a session from the next.
    slots: Arc<Semaphore>,
    terminals: HashMap<v1::TerminalId, Arc<Terminal>>,
}

struct Terminal {
    output: Arc<Mutex<Output>>,
    stop: watch::Sender<bool>,
    state: watch::Receiver<State>,
    _slot: OwnedSemaphorePermit,
}

impl fmt::Debug for Terminals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sessions = self.lock();
        let open: usize = sessions.values().map(|one| one.terminals.len()).sum();
        f.debug_struct("Terminals")
            .field("open", &open)
            .finish_non_exhaustive()
    }
}

impl Terminals {
    /// Returns terminals on this machine.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Hands all output to `sink` as it comes, so that it can be shown live and kept after the terminal is released.
    ///
    /// The sink is called in the order of the output and must not block.
    #[must_use]
    pub fn on_output(
        mut self,
        sink: impl Fn(&v1::TerminalId, &str) + Send + Sync + 'static,
    ) -> Self {
        self.on_output = Some(Arc::new(sink));
        self
    }

    /// Returns terminals of the same kind that share no command with these.
    pub(crate) fn fresh(&self) -> Self {
        Self {
            sessions: Arc::default(),
            on_output: self.on_output.clone(),
        }
    }

    pub(crate) async fn create(
        &self,
        roots: &Roots,
        request: v1::CreateTerminalRequest,
        show: Show,
    ) -> Result<v1::CreateTerminalResponse, RpcError> {
        check(&request)?;
        let slot = self.reserve(&request.session_id)?;
        let (answer, created) = oneshot::channel();
        let (terminals, roots) = (self.clone(), roots.clone());
        // In a task of its own: the working directory is passed as a descriptor, which has to stay open until the command runs.
        tokio::spawn(async move {
            let session = request.session_id.clone();
            let result = terminals.start(&roots, request, slot, show).await;
            if let Err(Ok(id)) = answer.send(result) {
                // The agent does not want it any more and will never learn its name.
                if let Ok(terminal) = terminals.remove(&session, &id) {
                    terminal.end().await;
                }
            }
        });
        let lost = |_| RpcError::new(RpcError::INTERNAL_ERROR, "starting the command panicked");
        let id = created.await.map_err(lost)??;
        Ok(v1::CreateTerminalResponse::new(id))
    }

    pub(crate) async fn output(
        &self,
        request: v1::TerminalOutputRequest,
    ) -> Result<v1::TerminalOutputResponse, RpcError> {
        let terminal = self.find(&request.session_id, &request.terminal_id)?;
        // The exit first: what was written before it is in the output by then.
        let exit = terminal.state.borrow().exit.clone();
        let output = lock(&terminal.output);
        Ok(v1::TerminalOutputResponse::new(output.text(), output.truncated()).exit_status(exit))
    }

    pub(crate) async fn wait_for_exit(
        &self,
        request: v1::WaitForTerminalExitRequest,
    ) -> Result<v1::WaitForTerminalExitResponse, RpcError> {
        let terminal = self.find(&request.session_id, &request.terminal_id)?;
        let mut state = terminal.state.clone();
        // Whoever waits does not keep the terminal alive.
        drop(terminal);
        let exited = state.wait_for(|state| state.exit.is_some()).await;
        let exit = exited.ok().and_then(|state| state.exit.clone());
        exit.map(v1::WaitForTerminalExitResponse::new)
            .ok_or_else(stuck)
    }

    pub(crate) async fn kill(
        &self,
        request: v1::KillTerminalRequest,
    ) -> Result<v1::KillTerminalResponse, RpcError> {
        let terminal = self.find(&request.session_id, &request.terminal_id)?;
        if !terminal.end().await {
            return Err(stuck());
        }
        Ok(v1::KillTerminalResponse::new())
    }

    pub(crate) async fn release(
        &self,
        request: v1::ReleaseTerminalRequest,
    ) -> Result<v1::ReleaseTerminalResponse, RpcError> {
        let terminal = self.remove(&request.session_id, &request.terminal_id)?;
        if !terminal.end().await {
            return Err(stuck());
        }
        Ok(v1::ReleaseTerminalResponse::new())
    }

    /// Releases every terminal of `session`.
    pub(crate) async fn end_session(&self, session: &v1::SessionId) {
        let ended = self.lock().remove(session);
        end_each(ended).await;
    }

    /// Releases every terminal.
    pub(crate) async fn end_all(&self) {
        let ended = std::mem::take(&mut *self.lock());
        end_each(ended.into_values()).await;
    }

    async fn start(
        &self,
        roots: &Roots,
        request: v1::CreateTerminalRequest,
        slot: OwnedSemaphorePermit,
        show: Show,
    ) -> Result<v1::TerminalId, RpcError> {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let missing = || Refusal::RootGone.answer(Path::new(""));
        let cwd = request.cwd.as_deref().or_else(|| roots.cwd());
        let cwd = cwd.ok_or_else(missing)?.to_owned();
        let directory = open_directory(roots.clone(), cwd.clone()).await?;
        let mut command = Command::new(&request.command)
            .args(&request.args)
            // A name would be looked up again, and could mean another directory by then.
            .cwd(format!("/proc/self/fd/{}", directory.as_raw_fd()))
            .env("PWD", &cwd)
            .pipe_bytes(PIPE_BYTES);
        for variable in &request.env {
            command = command.env(&variable.name, &variable.value);
        }
        let (child, pipe) = command.spawn_merged().await.map_err(|e| not_started(&e))?;
        drop(directory);
        let limit = request
            .output_byte_limit
            .map_or(OUTPUT_BYTES_DEFAULT, |limit| {
                usize::try_from(limit).map_or(OUTPUT_BYTES_MAX, |limit| limit.min(OUTPUT_BYTES_MAX))
            });
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let id = v1::TerminalId::new(format!("terminal-{count}"));
        let output = Arc::new(Mutex::new(Output::new(limit)));
        let ((stop, stopped), (told, state)) =
            (watch::channel(false), watch::channel(State::default()));
        let run = Run {
            child,
            reader: Reader::new(
                id.clone(),
                pipe,
                Arc::clone(&output),
                Some(self.shown(&show)),
            ),
            stop: stopped,
            state: told,
        };
        let line = line(&request);
        show(
            &id,
            Scene::Started {
                command: &line,
                cwd: &cwd,
            },
        );
        tokio::spawn(run.run());
        tokio::spawn(show_exit(id.clone(), state.clone(), show));
        let slots = Arc::clone(slot.semaphore());
        let terminal = Arc::new(Terminal {
            output,
            stop,
            state,
            _slot: slot,
        });
        if !self.add(&request.session_id, &slots, &id, &terminal) {
            terminal.end().await;
            return Err(RpcError::invalid_request("the session has ended"));
        }
        Ok(id)
    }

    /// Returns who is handed the output: the program's own sink, and whoever shows the session.
    fn shown(&self, show: &Show) -> OnOutput {
        let (sink, show) = (self.on_output.clone(), Arc::clone(show));
        Arc::new(move |id, text| {
            show(id, Scene::Output(text));
            if let Some(sink) = &sink {
                sink(id, text);
            }
        })
    }

    fn reserve(&self, session: &v1::SessionId) -> Result<OwnedSemaphorePermit, RpcError> {
        let slots = {
            let mut sessions = self.lock();
            let session = sessions.entry(session.clone()).or_insert_with(|| Session {
                slots: Arc::new(Semaphore::new(TERMINALS_PER_SESSION_MAX)),
                terminals: HashMap::new(),
            });
            Arc::clone(&session.slots)
        };
        let full = |_| {
            let reason = format!(
                "the session has {TERMINALS_PER_SESSION_MAX} terminals already; release one first"
            );
            RpcError::new(RpcError::INTERNAL_ERROR, reason)
        };
        slots.try_acquire_owned().map_err(full)
    }

    /// Adds a terminal, unless its session has ended since `slots` were its own.
    fn add(
        &self,
        session: &v1::SessionId,
        slots: &Arc<Semaphore>,
        id: &v1::TerminalId,
        terminal: &Arc<Terminal>,
    ) -> bool {
        match self.lock().get_mut(session) {
            Some(session) if Arc::ptr_eq(&session.slots, slots) => {
                session.terminals.insert(id.clone(), Arc::clone(terminal));
                true
            }
            _ => false,
        }
    }

    fn find(
        &self,
        session: &v1::SessionId,
        id: &v1::TerminalId,
    ) -> Result<Arc<Terminal>, RpcError> {
        let sessions = self.lock();
        let found = sessions
            .get(session)
            .and_then(|session| session.terminals.get(id));
        found.cloned().ok_or_else(not_found)
    }

    fn remove(
        &self,
        session: &v1::SessionId,
        id: &v1::TerminalId,
    ) -> Result<Arc<Terminal>, RpcError> {
        let mut sessions = self.lock();
        let found = sessions
            .get_mut(session)
            .and_then(|session| session.terminals.remove(id));
        found.ok_or_else(not_found)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<v1::SessionId, Session>> {
        lock(&self.sessions)
    }
}

impl Terminal {
    /// Ends the command and everything it started, and returns whether that worked.
    async fn end(&self) -> bool {
        self.stop.send_replace(true);
        let mut state = self.state.clone();
        state.wait_for(|state| state.ended).await.is_ok()
    }
}

async fn end_each(sessions: impl IntoIterator<Item = Session>) {
    let terminals: Vec<Arc<Terminal>> = sessions
        .into_iter()
        .flat_map(|session| session.terminals.into_values())
        .collect();
    // All are told before any is waited for.
    for terminal in &terminals {
        terminal.stop.send_replace(true);
    }
    for terminal in &terminals {
        if !terminal.end().await {
            tracing::warn!("a command is still running after its session has ended");
        }
    }
}

async fn open_directory(roots: Roots, cwd: PathBuf) -> Result<std::os::fd::OwnedFd, RpcError> {
    let path = cwd.clone();
    let work = tokio::task::spawn_blocking(move || Ok(roots.directory(&cwd)?.into()));
    let opened = match tokio::time::timeout(DIRECTORY_TIME_MAX, work).await {
        Ok(opened) => opened.unwrap_or(Err(Refusal::Panicked)),
        Err(_) => Err(Refusal::Slow),
    };
    opened.map_err(|refusal| refusal.answer(&path))
}

/// Refuses what no process can be started with.
fn check(request: &v1::CreateTerminalRequest) -> Result<(), RpcError> {
    let variables = request.env.iter();
    let texts = [&request.command]
        .into_iter()
        .chain(&request.args)
        .chain(variables.clone().flat_map(|one| [&one.name, &one.value]));
    let reason = if texts.into_iter().any(|text| text.contains('\0')) {
        "a command, its arguments and its environment cannot hold NUL characters"
    } else if request.command.is_empty() {
        "the command is empty"
    } else if variables
        .into_iter()
        .any(|one| one.name.is_empty() || one.name.contains('='))
    {
        "the name of an environment variable is empty or holds `=`"
    } else {
        return Ok(());
    };
    Err(RpcError::new(RpcError::INVALID_PARAMS, reason))
}

fn not_started(error: &SpawnError) -> RpcError {
    let reason = format!(
        "the command cannot be started: {}; {}",
        error.source,
        error.hint()
    );
    RpcError::new(RpcError::INTERNAL_ERROR, reason)
}

fn stuck() -> RpcError {
    let reason = "the command could not be ended; the system does not let go of it";
    RpcError::new(RpcError::INTERNAL_ERROR, reason)
}
