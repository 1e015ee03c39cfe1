//! Which servers a session begins with: the client's, then the user's, then those of the project that the user allowed.

use std::path::Path;

use super::Servers;
use super::configured::{Configured, Variables};
use super::project::{self, ProjectServer, Undecided};
use crate::context::files::Levels;
use crate::permission::Permissions;

/// Returns the servers that a project in this directory names, and what is wrong with its file, in whole sentences.
#[must_use]
pub fn project_servers(cwd: &Path) -> (Vec<Configured>, Vec<String>) {
    let found = project::read(cwd, Levels::find(cwd).repository.as_deref());
    let servers = found.servers.into_iter().map(|server| server.configured);
    (servers.collect(), found.problems)
}

impl Servers {
    /// Begins to connect to the servers of the user's configuration. Those of the client come first, and keep their names.
    pub(crate) fn add_configured(&self, configured: &[Configured], variables: &Variables) {
        for server in configured.iter().filter(|server| server.enabled) {
            let name = server.shown_name();
            if self.has(&name) {
                continue;
            }
            match server.resolve(variables, None) {
                Ok(start) => self.add(start),
                Err(problem) => self.refuse(name, problem),
            }
        }
    }

    /// Begins to connect to the servers of the project that the user's rules allow, and returns those that the user is to be asked
    /// about.
    pub(crate) fn add_project(
        &self,
        cwd: &Path,
        repository: Option<&Path>,
        configured: &[Configured],
        permissions: &Permissions,
        variables: &Variables,
    ) -> Undecided {
        let found = project::read(cwd, repository);
        let mut undecided = Vec::new();
        for server in found.servers {
            let name = server.configured.shown_name();
            let is_users = configured.iter().any(|own| own.shown_name() == name);
            if is_users || self.has(&name) {
                continue;
            }
            match permissions.may_start(&name, &server.version) {
                Some(true) => self.add_allowed(&server, variables),
                Some(false) => {}
                None => undecided.push(server),
            }
        }
        Undecided::new(undecided, found.problems)
    }

    /// Begins to connect to a server of the project that the user allowed.
    pub(crate) fn add_allowed(&self, server: &ProjectServer, variables: &Variables) {
        let directory = Some(server.directory.clone());
        match server.configured.resolve(variables, directory) {
            Ok(start) => self.add(start),
            Err(problem) => self.refuse(server.configured.shown_name(), problem),
        }
    }
}
