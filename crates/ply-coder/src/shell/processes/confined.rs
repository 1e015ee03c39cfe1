//! How the commands of a session are confined.

use std::path::PathBuf;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::Processes;
use crate::shell::sandbox::{
    Confinement, Gate, Network, Sandboxed, Secrets, Support, Writable, planted,
};
use crate::shell::{Error, Line};

impl Processes {
    /// Says what commands may write from now on. Those that run already are not changed by it.
    pub fn confine(&self, confinement: Confinement) {
        *self.locked_confinement() = confinement;
    }

    /// Returns what commands may write.
    #[must_use]
    pub fn confinement(&self) -> Confinement {
        *self.locked_confinement()
    }

    /// Returns whether commands can be confined here, and finds it out if that is not known yet. From
    /// then on [`Self::sandbox_notice`] and [`Self::is_confined`] tell.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn support(&self) -> Support {
        let probe = || async {
            match self.sandbox.probe().await {
                // A machine that was busy once would run everything without a sandbox from then on.
                unknown @ Support::Unknown { .. } => Err(unknown),
                known => Ok(known),
            }
        };
        match self.support.get_or_try_init(probe).await {
            Ok(known) => known.clone(),
            Err(unknown) => unknown,
        }
    }

    /// Returns whether commands are known to be confined; not before [`Self::support`] said so.
    #[must_use]
    pub fn is_confined(&self) -> bool {
        self.support.get().is_some_and(Support::works)
    }

    /// Returns what the user should know about the sandbox, once [`Self::support`] or a command has
    /// found out.
    #[must_use]
    pub fn sandbox_notice(&self) -> Option<String> {
        self.support.get()?.notice()
    }

    /// Returns which network commands have now.
    #[must_use]
    pub fn network(&self) -> Network {
        match self.support.get() {
            Some(Support::Off | Support::Absent { .. }) => Network::Shared,
            _ => self.sandbox.network_for(self.confinement()),
        }
    }

    /// Returns how a command is confined now; not at all where there is no sandbox.
    pub(in crate::shell) async fn sandboxed(
        &self,
        line: &Line,
        confinement: Confinement,
    ) -> Result<Option<Sandboxed>, Error> {
        let read_only = confinement == Confinement::ReadOnly;
        if line.outside {
            return match read_only {
                true => Err(Error::ReadOnlyOutside),
                false => Ok(None),
            };
        }
        let support = self.support().await;
        let is_required = [confinement, self.confinement()]
            .iter()
            .any(|confinement| self.sandbox.is_required(*confinement));
        let reason = match support {
            Support::Works { missing, .. } if is_required && !missing.is_empty() => {
                return Err(Error::SandboxRequired(missing.join(" ")));
            }
            Support::Works { apart, .. } => return self.confined(line, confinement, apart).await,
            Support::Off => "it is turned off".to_owned(),
            Support::Absent { reason } => reason,
            Support::Unknown { reason } => return Err(Error::SandboxUnknown(reason)),
        };
        match confinement {
            Confinement::ReadOnly => Err(Error::ReadOnlyUnconfined(reason)),
            _ if is_required => Err(Error::SandboxRequired(format!("{reason}."))),
            _ => Ok(None),
        }
    }

    async fn confined(
        &self,
        line: &Line,
        confinement: Confinement,
        apart: bool,
    ) -> Result<Option<Sandboxed>, Error> {
        let writable = self.writable(&line.roots, apart).await?;
        let gate = match (self.sandbox.network_for(confinement), writable.private()) {
            (Network::Hosts, Some(private)) => {
                let (socket, hosts) = (private.gate(), &self.sandbox.hosts);
                let open = || async { Gate::open(&socket, hosts).map(Arc::new) };
                let gate = self.gate.get_or_try_init(open).await;
                Some(Arc::clone(gate.map_err(Error::Gate)?))
            }
            // Without a network of its own for the command there is no way that leads to these hosts alone.
            _ => None,
        };
        let sandbox = &self.sandbox;
        let is_unattended = self.confinement() == Confinement::Unattended;
        if is_unattended {
            // What the user made since the last command is not that command's work, and is guarded too.
            let guarded = Arc::clone(writable.guarded());
            let looked = tokio::task::spawn_blocking(move || guarded.look_again());
            looked.await.map_err(|error| Error::Ruleset(error.into()))?;
        }
        let secrets = match confinement {
            _ if line.secrets => Secrets::Shown,
            _ if is_unattended => Secrets::Hidden,
            Confinement::ReadOnly => Secrets::Passed,
            _ => Secrets::Shown,
        };
        Ok(Sandboxed::new(
            sandbox,
            confinement,
            secrets,
            writable,
            gate,
        ))
    }

    /// Returns how a command would be confined now; none where there is no sandbox.
    pub(super) fn enforced(&self) -> Option<Confinement> {
        self.is_confined().then(|| self.confinement())
    }

    /// Returns how a line is confined: one that only looks may write nothing, where that can be enforced.
    pub(in crate::shell) async fn confinement_of(&self, line: &Line) -> Confinement {
        let confinement = self.confinement();
        match line.looks && !line.outside && self.support().await.works() {
            true => Confinement::ReadOnly,
            false => confinement,
        }
    }

    /// Disarms repositories that a command made which nobody looked at, and returns what is to be known about them.
    pub(in crate::shell) async fn disarm_repositories(
        &self,
        confinement: Confinement,
    ) -> Vec<String> {
        let found = self.writable.get();
        let Some((_, writable)) = found.filter(|_| confinement == Confinement::Unattended) else {
            return Vec::new();
        };
        let guarded = Arc::clone(writable.guarded());
        let disarm = tokio::task::spawn_blocking(move || planted::disarm(&guarded));
        disarm.await.unwrap_or_default()
    }

    /// Returns where commands may write: what the first one found.
    async fn writable(&self, roots: &[PathBuf], apart: bool) -> Result<&Writable, Error> {
        let find = || async {
            let (sandbox, roots) = (self.sandbox.clone(), roots.to_vec());
            let find = move || {
                let writable = Writable::find(&sandbox, &roots, apart)?;
                Ok((roots, writable))
            };
            let found = tokio::task::spawn_blocking(find).await;
            found.map_err(std::io::Error::other).flatten()
        };
        let found = self.writable.get_or_try_init(find).await;
        let (first, writable) = found.map_err(|error| Error::Ruleset(error.into()))?;
        // A session has the same roots from its beginning to its end. Others would have to be looked up
        // after commands could put links there.
        if first == roots {
            Ok(writable)
        } else {
            Err(Error::OtherRoots)
        }
    }

    fn locked_confinement(&self) -> MutexGuard<'_, Confinement> {
        self.confinement
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
