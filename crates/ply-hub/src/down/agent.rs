//! Agent processes as an agent.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use ply_agent::event::Handover;
use ply_agent::{
    About, Agent, Error, Extension, Mcp, Result, Session, SessionSetup, Stop, Turn, Value, v2,
};
use ply_session::Accepts;
use ply_wire::negotiate::Version;

use super::adopt::is_unsent;
use super::link::{Greeting, Hello, Wish};
use super::process::{Process, Trouble};
use super::reopen::Setup;
use super::runner::Runner;
use super::{Caller, Kept, Launch};

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
    pub(super) launch: Box<dyn Launch>,
    greeting: Greeting,
    hello: Hello,
    /// On whose behalf a process runs that has no session yet.
    caller: Caller,
    /// A process that has no session yet.
    spare: Mutex<Option<(Caller, Arc<Process>)>>,
    /// Processes of sessions that do not go on without a login.
    locked_out: Mutex<Vec<Weak<Process>>>,
    /// Whether a session goes on in another process, once that is known: what agents say of it is not believed.
    goes_on: Mutex<Option<bool>>,
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
            caller: caller.clone(),
            spare: Mutex::new(Some((caller.clone(), first))),
            locked_out: Mutex::default(),
            goes_on: Mutex::default(),
        };
        Ok(Self::of(shared, caller))
    }

    /// Returns an agent of which another hub wrote this down, to go on with its processes. Nothing is started until one is needed.
    pub fn kept(launch: impl Launch, caller: Caller, services: Services, kept: &Kept) -> Self {
        let hello = kept.hello();
        let shared = Shared {
            launch: Box::new(launch),
            greeting: Greeting {
                only_v1: hello.version == Version::V1,
                files: services.files,
                terminals: services.terminals,
                elicitation: services.elicitation,
            },
            hello,
            caller: caller.clone(),
            spare: Mutex::default(),
            locked_out: Mutex::default(),
            goes_on: Mutex::default(),
        };
        Self::of(shared, caller)
    }

    fn of(shared: Shared, caller: Caller) -> Self {
        Self {
            shared: Arc::new(shared),
            callers: Callers(Box::new(move |_| caller.clone())),
        }
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

/// A process for a session.
pub(super) struct Found {
    pub(super) process: Arc<Process>,
    /// Whether it was there. It may have ended without anybody having noticed; another one is asked then.
    pub(super) was_kept: bool,
}

impl Shared {
    /// Returns a process for a session: one that is there, or else another.
    pub(super) async fn process(&self, caller: &Caller) -> Result<Found, Trouble> {
        if let Some(process) = self.take(|spare| spare == caller) {
            return Ok(Found {
                process,
                was_kept: true,
            });
        }
        Ok(Found {
            process: self.start(caller).await?,
            was_kept: false,
        })
    }

    /// Returns whether the process that another hub had is still there.
    pub(super) fn holds(&self, handover: &Handover) -> bool {
        let holder = handover.holder();
        holder.is_some_and(|holder| self.launch.holds(holder))
    }

    /// Notes whether a session went on in another process. Once it did, a failure has another reason.
    pub(super) fn set_goes_on(&self, does: bool) {
        let mut goes_on = self.goes_on.lock().unwrap_or_else(PoisonError::into_inner);
        *goes_on = Some(does || *goes_on == Some(true));
    }

    /// Returns whether sessions go on in other processes, if that is known.
    pub(super) fn goes_on(&self) -> Option<bool> {
        *self.goes_on.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn start(&self, caller: &Caller) -> Result<Arc<Process>, Trouble> {
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

    /// Notes that a session's process does not go on without a login.
    pub(super) fn wants_login(&self, process: &Arc<Process>) {
        let mut locked_out = self.locked_out();
        locked_out.retain(|known| known.upgrade().is_some_and(|known| !known.is_gone()));
        if !locked_out
            .iter()
            .any(|known| known.as_ptr() == Arc::as_ptr(process))
        {
            locked_out.push(Arc::downgrade(process));
        }
    }

    fn locked_out(&self) -> MutexGuard<'_, Vec<Weak<Process>>> {
        self.locked_out
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs in where a login is wanted: in the processes of sessions that asked for one, or else in the process that the next session
    /// gets.
    async fn login(&self, method: &v2::AuthMethodId) -> Result<()> {
        let wish = || Wish::Login {
            method: method.clone(),
        };
        let wanting: Vec<_> = std::mem::take(&mut *self.locked_out());
        let wanting = wanting.iter().filter_map(Weak::upgrade);
        let wanting: Vec<_> = wanting.filter(|process| !process.is_gone()).collect();
        if wanting.is_empty() {
            return self.ask_spare("auth/login", wish()).await;
        }
        let mut done = Ok(());
        for process in wanting {
            if let Err(trouble) = process.ask("auth/login", wish()).await {
                self.wants_login(&process);
                done = done.and(Err(trouble.error()));
            }
        }
        done
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
                let caller = self.caller.clone();
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
        // How some agents say that they take words for the turn that runs; clients ask for it by `_session/steering`.
        let steering = capabilities
            .meta
            .as_ref()
            .and_then(|meta| meta.get("steering"));
        about.meta = steering.map(|steering| {
            let mut meta = v2::Meta::new();
            meta.insert("steering".to_owned(), steering.clone());
            meta
        });
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
        if let Some(handover) = &setup.adopted {
            return Arc::clone(&runner).adopt(session, handover).await;
        }
        if setup.reopened {
            runner.open_again(session).await
        } else {
            runner.open_new(session).await
        }
    }

    async fn adopts(&self, _: &v2::SessionId, setup: &SessionSetup) -> Result<bool> {
        let known = setup.adopted.as_ref();
        Ok(known.is_some_and(|known| self.shared.holds(known) || is_unsent(known)))
    }

    async fn close(&self, session: &Session) {
        if let Some(runner) = session.try_state::<Arc<Runner>>() {
            runner.close().await;
        }
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let runner: &Arc<Runner> = turn.session().state();
        runner.prompt(turn).await
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
        self.shared.login(method).await
    }

    async fn extension(&self, request: &Extension) -> Result<Value> {
        let session = request.session().map_err(|_| Error::method_not_found())?;
        let runner = session.try_state::<Arc<Runner>>();
        let runner = runner.ok_or_else(Error::method_not_found)?;
        runner.extend(&session, request).await
    }

    async fn extension_notification(&self, notification: &Extension) {
        let Ok(session) = notification.session() else {
            return;
        };
        let Some(runner) = session.try_state::<Arc<Runner>>() else {
            return;
        };
        if let Err(error) = runner.notify(notification).await {
            tracing::debug!(%error, "a notification of a client is not passed on");
        }
    }

    async fn logout(&self) -> Result<()> {
        self.shared.ask_spare("auth/logout", Wish::Logout).await
    }
}
