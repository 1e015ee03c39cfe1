//! Agent processes as an agent.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ply_agent::{About, Agent, Error, Mcp, Result, Session, SessionSetup, Stop, Turn, v2};
use ply_session::Accepts;
use ply_wire::negotiate::Version;

use super::link::{Greeting, Hello, Wish};
use super::process::{Process, Trouble};
use super::reopen::Setup;
use super::runner::Runner;
use super::{Caller, Launch};

/// What the hub does for agents by itself, whether a client is attached or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Services {
    /// Reads and writes files beneath the directories of a session.
    pub files: bool,
    /// Runs commands in them. They end with this process, so not where agents outlive it.
    pub terminals: bool,
    /// Has people fill in forms and visit URLs.
    pub elicitation: bool,
}

impl Default for Services {
    fn default() -> Self {
        Self {
            files: true,
            terminals: true,
            elicitation: true,
        }
    }
}

impl Services {
    /// Changes whether commands are run.
    #[must_use]
    pub fn terminals(mut self, terminals: bool) -> Self {
        self.terminals = terminals;
        self
    }

    /// Changes whether files are read and written.
    #[must_use]
    pub fn files(mut self, files: bool) -> Self {
        self.files = files;
        self
    }

    /// Changes whether people are asked for information.
    #[must_use]
    pub fn elicitation(mut self, elicitation: bool) -> Self {
        self.elicitation = elicitation;
        self
    }
}

/// An agent whose sessions are run by processes of another one, one for each.
#[derive(Debug)]
pub struct Downstream {
    shared: Arc<Shared>,
    callers: Callers,
}

/// Why an agent cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartError(Trouble);

type CallerOf = dyn Fn(&SessionSetup) -> Caller + Send + Sync;

struct Callers(Box<CallerOf>);

impl fmt::Debug for Callers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callers")
    }
}

/// What all sessions of an agent share.
pub(super) struct Shared {
    launch: Box<dyn Launch>,
    greeting: Greeting,
    hello: Hello,
    /// A process that has no session yet.
    spare: Mutex<Option<(Caller, Arc<Process>)>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared")
            .field(&self.hello.info.name)
            .finish()
    }
}

impl Downstream {
    /// Starts the agent once, to learn who it is; that process serves the first session of the same caller.
    ///
    /// # Errors
    ///
    /// The program cannot be started, or does not introduce itself as an agent.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the process is ended.
    pub async fn start(
        launch: impl Launch,
        caller: Caller,
        services: Services,
    ) -> Result<Self, StartError> {
        let greeting = Greeting {
            only_v1: false,
            files: services.files,
            terminals: services.terminals,
            elicitation: services.elicitation,
        };
        let first = Process::start(&launch, &caller, greeting).await;
        let first = Arc::new(first.map_err(StartError)?);
        let shared = Shared {
            launch: Box::new(launch),
            // What it speaks is known from here on.
            greeting: Greeting {
                only_v1: first.hello.version == Version::V1,
                ..greeting
            },
            hello: first.hello.clone(),
            spare: Mutex::new(Some((caller.clone(), first))),
        };
        Ok(Self {
            shared: Arc::new(shared),
            callers: Callers(Box::new(move |_| caller.clone())),
        })
    }

    /// Says on whose behalf the process of a session runs; without this all have the caller that the agent was started with.
    #[must_use]
    pub fn callers(
        mut self,
        callers: impl Fn(&SessionSetup) -> Caller + Send + Sync + 'static,
    ) -> Self {
        self.callers = Callers(Box::new(callers));
        self
    }

    /// Returns what the agent said of itself.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.shared.hello
    }
}

impl Shared {
    /// Returns a process for a session: one that is there, or else another.
    pub(super) async fn process(&self, caller: &Caller) -> Result<Arc<Process>, Trouble> {
        if let Some(process) = self.take(|spare| spare == caller) {
            return Ok(process);
        }
        self.start(caller).await
    }

    async fn start(&self, caller: &Caller) -> Result<Arc<Process>, Trouble> {
        let process = Process::start(&*self.launch, caller, self.greeting).await?;
        Ok(Arc::new(process))
    }

    /// Keeps a process for whoever comes next.
    pub(super) fn keep(&self, caller: Caller, process: Arc<Process>) {
        *self.spare.lock().unwrap_or_else(PoisonError::into_inner) = Some((caller, process));
    }

    fn take(&self, is_it: impl Fn(&Caller) -> bool) -> Option<Arc<Process>> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = spare.take_if(|(caller, process)| is_it(caller) || process.is_gone());
        let (_, process) = taken?;
        (!process.is_gone()).then_some(process)
    }

    /// Asks a process that has no session.
    async fn ask_spare(&self, method: &'static str, wish: Wish) -> Result<()> {
        let spare = {
            let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            let living = spare.as_ref().filter(|(_, process)| !process.is_gone());
            living.cloned()
        };
        let (caller, process) = match spare {
            Some(spare) => spare,
            None => {
                let caller = Caller::new();
                let process = self.start(&caller).await.map_err(Trouble::error)?;
                (caller, process)
            }
        };
        let asked = process.ask(method, wish).await;
        self.keep(caller, process);
        asked.map(|_| ()).map_err(Trouble::error)
    }
}

impl Agent for Downstream {
    fn about(&self) -> About {
        let Hello {
            info,
            capabilities,
            auth_methods,
            ..
        } = &self.shared.hello;
        let session = capabilities.session.as_ref();
        let prompt = session.and_then(|session| session.prompt.as_ref());
        let mcp = session.and_then(|session| session.mcp.as_ref());
        let accepts = Accepts {
            image: prompt.is_some_and(|prompt| prompt.image.is_some()),
            audio: prompt.is_some_and(|prompt| prompt.audio.is_some()),
            embedded_context: prompt.is_some_and(|prompt| prompt.embedded_context.is_some()),
        };
        let mut about = About::new(&*info.name, &*info.version)
            .accepts(accepts)
            .mcp(Mcp {
                stdio: mcp.is_some_and(|mcp| mcp.stdio.is_some()),
                http: mcp.is_some_and(|mcp| mcp.http.is_some()),
            });
        about.title.clone_from(&info.title);
        about.additional_directories =
            session.is_some_and(|session| session.additional_directories.is_some());
        // A login in a terminal would start the hub's program, not the agent's.
        let methods = auth_methods.iter();
        let methods = methods.filter(|method| matches!(method, v2::AuthMethod::Agent(_)));
        about.auth_methods = methods.cloned().collect();
        about
    }

    async fn open(&self, session: &Session, setup: &SessionSetup) -> Result<()> {
        let own = Setup {
            cwd: setup.cwd.clone(),
            additional_directories: setup.additional_directories.clone(),
            mcp_servers: setup.mcp_servers.clone(),
        };
        let caller = (self.callers.0)(setup);
        let runner = Arc::new(Runner::new(Arc::clone(&self.shared), caller, own));
        session.set_state(Arc::clone(&runner));
        if setup.reopened {
            runner.open_again(session).await
        } else {
            runner.open_new(session).await
        }
    }

    async fn close(&self, session: &Session) {
        if let Some(runner) = session.try_state::<Arc<Runner>>() {
            runner.close().await;
        }
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let turn = &*turn;
        let runner: &Arc<Runner> = turn.session().state();
        let live = turn
            .unless_cancelled(runner.ready(turn.session()))
            .await??;
        runner.note(turn.session(), &live).await?;
        let message = turn.prompt().message_id();
        let message = message.ok_or_else(|| Error::msg("the prompt has no message"))?;
        let wish = Wish::Prompt {
            message: message.clone(),
            content: turn.prompt().content().to_vec(),
        };
        let begins = live.process.prompt(wish).await.map_err(Trouble::error)?;
        live.work(turn, begins).await
    }

    async fn set_option(
        &self,
        session: &Session,
        option: &v2::SessionConfigId,
        value: &v2::SessionConfigOptionValue,
    ) -> Result<()> {
        let runner: &Arc<Runner> = session.state();
        runner
            .set_option(session, option.clone(), value.clone())
            .await
    }

    async fn login(&self, method: &v2::AuthMethodId) -> Result<()> {
        let method = method.clone();
        let wish = Wish::Login { method };
        self.shared.ask_spare("auth/login", wish).await
    }

    async fn logout(&self) -> Result<()> {
        self.shared.ask_spare("auth/logout", Wish::Logout).await
    }
}
