//! The agents of the hub.

use std::path::PathBuf;
use std::sync::Arc;

use ply_coder::Coder;
use ply_hub::{Factory, Place, Wanted};

use crate::program::agent::{self, Setup};
use crate::program::roster::BUILT_IN;

/// What makes the agents: the one in this program.
#[derive(Debug)]
pub(super) struct Agents {
    place: Place,
    store: PathBuf,
}

impl Agents {
    pub(super) fn new(place: Place, store: PathBuf) -> Self {
        Self { place, store }
    }
}

impl Factory for Agents {
    type Agent = Coder;

    async fn agent(&self, wanted: &Wanted) -> Result<Arc<Coder>, String> {
        if !wanted.command.is_empty() {
            return Err(format!(
                "the hub cannot start the agent `{}` yet",
                wanted.name
            ));
        }
        let env = wanted.env.clone();
        let setup = Setup::read_with(
            None,
            None,
            Arc::new(move |name| env.get(name).map(Into::into)),
        );
        let config = setup.and_then(|setup| {
            let mut config = agent::configure(None, &setup, Some(&self.store))?;
            // Commands that a model runs must not reach the hub, which could approve them.
            config.sandbox.hidden.push(self.place.path().to_owned());
            Ok(config)
        });
        Ok(Arc::new(match config {
            Ok(config) => Coder::new(config),
            Err(problem) => Coder::refusing(problem),
        }))
    }

    fn known(&self, key: &str) -> Option<Wanted> {
        let env = std::env::vars_os();
        let env = env.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        (key == BUILT_IN).then(|| Wanted {
            name: key.to_owned(),
            key: key.to_owned(),
            command: Vec::new(),
            env: env.collect(),
            cwd: "/".into(),
        })
    }
}
