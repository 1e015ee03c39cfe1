//! Agents behind the hub: any ACP agent process, of version 1 or 2, as the runner of a session.
//!
//! [`link`] is one connection to such a process, without IO. [`Downstream`] is an [`Agent`](ply_agent::Agent) whose sessions are
//! run by such processes, one for each; where they come from is for a [`Launch`] to say, such as [`child`].

mod adopt;
mod agent;
mod book;
mod child;
mod driver;
mod held;
mod kept;
mod left;
pub mod link;
mod options;
mod process;
mod queue;
mod reopen;
mod reporting;
mod runner;
mod screen;
mod serve;
mod words;

use std::ffi::OsString;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;

pub use self::agent::{Downstream, Services, StartError};
pub use self::child::{Child, child};
pub use self::held::{Held, Holder, Holders};
pub use self::kept::Kept;
pub(crate) use self::left::{let_go, may_end, outlives};
use crate::pipe::Pipe;

/// On whose behalf a process runs. It is never recorded.
#[derive(Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Caller {
    /// The whole environment of the process; none for that of this one.
    pub env: Option<Vec<(OsString, OsString)>>,
    /// The directory it is started in; none for that of this process.
    pub cwd: Option<PathBuf>,
}

impl Caller {
    /// Returns a caller with the environment and the directory of this process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the whole environment.
    #[must_use]
    pub fn env(mut self, env: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.env = Some(env.into_iter().collect());
        self
    }

    /// Sets the directory.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }
}

/// Without the values of the environment, which may be secrets.
impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.env.as_ref().map(Vec::len);
        f.debug_struct("Caller")
            .field("variables", &names)
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// A process that runs.
#[derive(Debug)]
pub struct Launched {
    /// Its lines.
    pub pipe: Pipe,
    /// What keeps it alive without this hub, if something does.
    pub holder: Option<Holder>,
}

/// A process that is being started, or connected to.
pub type Launching = Pin<Box<dyn Future<Output = io::Result<Launched>> + Send>>;

/// Starts processes of an agent.
pub trait Launch: Send + Sync + 'static {
    /// Starts one.
    fn launch(&self, caller: &Caller) -> Launching;

    /// Returns the words that start one, for another hub; none if nobody could go on with it.
    fn command(&self) -> Option<Vec<String>> {
        None
    }

    /// Returns whether this holder, which another hub started, still has its process.
    fn holds(&self, holder: &str) -> bool {
        let _ = holder;
        false
    }

    /// Connects to the process of a holder that another hub started.
    fn reach(&self, holder: &str) -> Launching {
        let _ = holder;
        Box::pin(std::future::ready(Err(io::ErrorKind::NotFound.into())))
    }
}
