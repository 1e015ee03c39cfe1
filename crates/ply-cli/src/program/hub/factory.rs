//! The agents of the hub.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ply_coder::Coder;
use ply_hub::down::{self, Downstream, Holders, Kept, Services};
use ply_hub::{Factory, Place, Runner, Wanted};
use ply_rpc::transport::child::TREE_VARIABLE;

use super::attach;
use crate::program::agent::{self, Setup};
use crate::program::roster::Roster;

/// What makes the agents: the one in this program, and any other.
#[derive(Debug)]
pub(super) struct Agents {
    place: Place,
    holders: Holders,
    /// Those that are in use, by what was wanted.
    known: Mutex<HashMap<Wanted, Weak<Runner<Coder>>>>,
}

impl Agents {
    pub(super) fn new(place: Place, holders: Holders) -> Self {
        Self {
            place,
            holders,
            known: Mutex::default(),
        }
    }

    /// Returns the agent in this program, as the environment of a client configures it.
    fn built_in(&self, env: BTreeMap<String, String>) -> Coder {
        let variable = Arc::new(move |name: &str| env.get(name).map(OsString::from));
        let setup = Setup::read_with(None, None, variable);
        let config = setup.and_then(|setup| {
            let mut config = agent::configure(None, &setup, Some(&self.holders.store))?;
            // Its place is this hub's, whatever the client's environment says.
            config.sandbox.hidden.push(self.place.path().to_owned());
            Ok(config)
        });
        match config {
            Ok(config) => Coder::new(config),
            Err(problem) => Coder::refusing(problem),
        }
    }

    fn in_use(&self, wanted: &Wanted) -> Option<Arc<Runner<Coder>>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(wanted)?.upgrade()
    }

    fn note(&self, wanted: &Wanted, agent: &Arc<Runner<Coder>>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, agent| agent.strong_count() > 0);
        known.insert(wanted.clone(), Arc::downgrade(agent));
    }
}

impl Factory for Agents {
    type Agent = Runner<Coder>;

    async fn agent(&self, wanted: &Wanted) -> Result<Arc<Runner<Coder>>, String> {
        if let Some(agent) = self.in_use(wanted) {
            return Ok(agent);
        }
        let agent = Arc::new(match wanted.command.split_first() {
            None => Runner::Here(self.built_in(wanted.env.clone())),
            Some((program, args)) => {
                let launch = down::child(program).args(args).held(self.holders.clone());
                let env = wanted
                    .env
                    .iter()
                    .map(|(name, value)| (name.into(), value.into()));
                let caller = down::Caller::new().env(env).cwd(&wanted.cwd);
                let started = Downstream::start(launch, caller, services()).await;
                Runner::Down(Arc::new(started.map_err(|error| {
                    format!("the agent `{}` cannot be started: {error}", wanted.name)
                })?))
            }
        });
        self.note(wanted, &agent);
        Ok(agent)
    }

    fn known(&self, key: &str) -> Option<Wanted> {
        let roster = Roster::read(None).ok()?;
        let choice = roster.choices().iter().find(|choice| choice.key == key)?;
        Some(attach::wanted(choice, "/".into()))
    }

    fn kept(&self, wanted: &Wanted, kept: &Kept) -> Option<Arc<Runner<Coder>>> {
        let (program, args) = wanted.command.split_first()?;
        let launch = down::child(program).args(args).held(self.holders.clone());
        // That of the client that wanted the agent is nowhere. It matters only if the agent has to be started again.
        let env = std::env::vars_os().filter(|(name, _)| name != TREE_VARIABLE);
        let caller = down::Caller::new().env(env).cwd(&wanted.cwd);
        let agent = Downstream::kept(launch, caller, services(), kept);
        Some(Arc::new(Runner::Down(Arc::new(agent))))
    }
}

/// Returns what the hub does for agents. Terminals of its own would end with it, and the agents do not.
fn services() -> Services {
    Services::default().terminals(false)
}
