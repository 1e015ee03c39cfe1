//! An agent behind a holder, which outlives the hub.

use std::ffi::OsString;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::PathBuf;

use super::child::Child;
use super::{Caller, Launch, Launched, Launching};
use crate::hold::{self, Control, Order};

/// Where a hub has its holders.
#[derive(Debug, Clone)]
pub struct Holders {
    /// The program that is a holder when its argument is [`hold::WORD`].
    pub program: PathBuf,
    /// The directory of their sockets.
    pub directory: PathBuf,
    /// The hub's epoch, higher than that of any hub before it.
    pub epoch: u64,
    /// The store of the hub's sessions.
    pub store: PathBuf,
}

/// A holder that this hub is connected to.
#[derive(Debug)]
pub struct Holder {
    /// Its name, which another hub finds it by.
    pub id: String,
    /// What it is told besides lines.
    pub control: Control,
}

/// An agent's program, to be started behind a holder.
#[derive(Debug, Clone)]
#[must_use = "it does nothing until it is started"]
pub struct Held {
    child: Child,
    holders: Holders,
}

impl Child {
    /// Has the program started behind a holder instead.
    pub fn held(self, holders: Holders) -> Held {
        Held {
            child: self,
            holders,
        }
    }
}

impl Launch for Held {
    fn launch(&self, caller: &Caller) -> Launching {
        let (holders, child) = (self.holders.clone(), &self.child);
        let id = fresh_id();
        let env: Vec<(OsString, OsString)> = match &caller.env {
            Some(env) => env.clone(),
            None => std::env::vars_os().collect(),
        };
        let cwd = caller.cwd.clone().unwrap_or_else(|| PathBuf::from("/"));
        let agent = child.program.to_string_lossy();
        let order = Order::new(&id, &child.program, cwd)
            .args(&child.args)
            .envs(env)
            .about(&agent, &holders.store.to_string_lossy());
        Box::pin(async move {
            let started = hold::start(&holders.program, &holders.directory, order);
            started.await.map_err(io::Error::other)?;
            connect(&holders, id).await
        })
    }

    fn command(&self) -> Option<Vec<String>> {
        let words = std::iter::once(&self.child.program).chain(&self.child.args);
        let words = words.map(|word| word.to_str().map(str::to_owned));
        words.collect()
    }

    fn holds(&self, holder: &str) -> bool {
        let found = hold::find(&self.holders.directory);
        found.is_ok_and(|found| found.iter().any(|about| about.id == holder))
    }

    fn reach(&self, holder: &str) -> Launching {
        let (holders, id) = (self.holders.clone(), holder.to_owned());
        Box::pin(async move { connect(&holders, id).await })
    }
}

async fn connect(holders: &Holders, id: String) -> io::Result<Launched> {
    let connected = hold::connect(&holders.directory, &id, holders.epoch).await;
    let connected = connected.map_err(io::Error::other)?;
    let control = connected.control;
    Ok(Launched {
        pipe: connected.pipe,
        holder: Some(Holder { id, control }),
    })
}

/// Returns a name that no holder has.
fn fresh_id() -> String {
    let half = || RandomState::new().hash_one(0_u8);
    format!("{:016x}{:016x}", half(), half())
}
