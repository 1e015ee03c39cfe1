//! The agents of the hub under test: commands, each behind a holder.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ply_hub::down::{self, Downstream, Holders, Kept, Services};
use ply_hub::{Factory, Wanted};

/// The key of an agent that is the hub's child, for the benchmark.
pub const BARE: &str = "bare";

/// What makes them.
#[derive(Debug)]
pub struct Agents {
    holders: Holders,
    /// Those in use.
    known: Mutex<HashMap<Wanted, Weak<Downstream>>>,
}

impl Agents {
    /// Returns what makes agents behind these holders.
    #[must_use]
    pub fn new(holders: Holders) -> Self {
        let known = Mutex::default();
        Self { holders, known }
    }
}

impl Factory for Agents {
    type Agent = Downstream;

    async fn agent(&self, wanted: &Wanted) -> Result<Arc<Downstream>, String> {
        let in_use = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.get(wanted).and_then(Weak::upgrade)
        };
        if let Some(agent) = in_use {
            return Ok(agent);
        }
        let (program, args) = wanted.command.split_first().ok_or("no command")?;
        let child = down::child(program).args(args);
        let env = wanted.env.iter();
        let caller = down::Caller::new().env(env.map(|(name, value)| (name.into(), value.into())));
        let services = Services::default().terminals(false);
        let started = match wanted.key == BARE {
            true => Downstream::start(child, caller, services).await,
            false => {
                let launch = child.held(self.holders.clone());
                Downstream::start(launch, caller, services).await
            }
        };
        let agent = Arc::new(started.map_err(|error| error.to_string())?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(wanted.clone(), Arc::downgrade(&agent));
        Ok(agent)
    }

    fn known(&self, _: &str) -> Option<Wanted> {
        None
    }

    fn kept(&self, wanted: &Wanted, kept: &Kept) -> Option<Arc<Downstream>> {
        let (program, args) = wanted.command.split_first()?;
        let launch = down::child(program).args(args).held(self.holders.clone());
        let services = Services::default().terminals(false);
        let agent = Downstream::kept(launch, down::Caller::new(), services, kept);
        Some(Arc::new(agent))
    }
}
