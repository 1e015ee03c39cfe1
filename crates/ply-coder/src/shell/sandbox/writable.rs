//! Where commands may write, found out once: a command must not move the borders of the next one.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::enter::order::Order;
use super::guarded::{self, Guarded};
use super::private::Private;
use super::{Confinement, Sandbox, Secrets, bounds};

/// The directories that commands of a session may write to: real ones, spelled without links, none below
/// another.
///
/// A command can put a link where one of its directories was, if it may write around it. So nothing is
/// looked up again for a later command, and a directory that is reached through another writable one is
/// left out: either it lies there and needs no right of its own, or a link leads out of there, which a
/// command of an earlier session may have made.
#[derive(Debug, Default)]
pub(in crate::shell) struct Writable {
    /// Of commands that change the workspace, temporary files aside.
    workspace: Vec<PathBuf>,
    /// Those for temporary files that lie in none of the others.
    temporary: Vec<PathBuf>,
    /// What is put in their place, where commands have files of their own.
    private: Option<Private>,
    /// The cache of commands that change the workspace.
    cache: Option<PathBuf>,
    /// The repositories and secrets in there.
    guarded: Arc<Guarded>,
    /// Keys that lie at home.
    keys: Vec<PathBuf>,
    /// How much of the machine commands may use.
    bounds: bounds::Bounds,
}

impl Writable {
    /// Finds them, and makes the cache if there is none. It asks the file system. With `apart`, commands
    /// get temporary files of their own.
    ///
    /// # Errors
    ///
    /// There is no place for temporary files.
    pub(in crate::shell) fn find(
        sandbox: &Sandbox,
        roots: &[PathBuf],
        apart: bool,
    ) -> io::Result<Self> {
        let cache = sandbox.cache.as_deref().and_then(|cache| {
            let made = make_private(cache);
            if let Err(error) = &made {
                tracing::warn!(%error, "commands have no cache");
            }
            made.ok().and_then(|()| real(cache))
        });
        // The workspace has found its roots already, and the user opened it.
        let roots: Vec<_> = roots.iter().filter_map(|root| real(root)).collect();
        let own = roots.iter().chain(&cache);
        let own: Vec<_> = own.map(|path| (path.clone(), path.clone())).collect();
        let named = |paths: &[PathBuf]| -> Vec<_> {
            let named = paths.iter().map(|path| (path.clone(), real(path)));
            let named = named.filter_map(|(path, real)| Some((path, real?)));
            named.collect()
        };
        let (writable, temporary) = (named(&sandbox.writable), named(&sandbox.temporary));
        let lasting: Vec<_> = own.iter().chain(&writable).cloned().collect();
        let all: Vec<_> = lasting.iter().chain(&temporary).cloned().collect();
        // A root in a directory for temporary files is no part of that where commands have their own.
        let around_own = if apart { &lasting } else { &all };
        let mut workspace = apart_from(&own, around_own);
        workspace.extend(apart_from(&writable, &all));
        let around: Vec<_> = temporary.iter().map(|(_, real)| real.clone()).collect();
        let temporary = apart_from(&temporary, &all);
        let private = match apart {
            true => Some(Private::make(&around, &temporary)?),
            false => None,
        };
        Ok(Self {
            private,
            temporary,
            guarded: Arc::new(Guarded::find(&roots, &workspace)),
            keys: guarded::keys(sandbox.home.as_deref()),
            workspace,
            cache,
            bounds: sandbox.bounds.or_by_machine(),
        })
    }

    /// Returns the directories for commands that are confined so.
    pub(in crate::shell) fn of(&self, confinement: Confinement) -> Vec<PathBuf> {
        let workspace = match confinement {
            Confinement::Workspace | Confinement::Unattended => self.workspace.as_slice(),
            Confinement::ReadOnly => &[],
        };
        workspace.iter().chain(&self.temporary).cloned().collect()
    }

    /// Returns what the helper is told about files, for commands that are confined so.
    pub(super) fn order(
        &self,
        sandbox: &Sandbox,
        confinement: Confinement,
        secrets: Secrets,
    ) -> Order {
        let mut order = Order {
            apart: self.private.is_some(),
            writable: self.of(confinement),
            hidden: sandbox.hidden.iter().chain(&self.keys).cloned().collect(),
            processes: self.bounds.processes,
            memory: self.bounds.memory,
            file: self.bounds.file,
            free: self.bounds.free,
            ..Order::default()
        };
        if let Some(private) = &self.private {
            private.places().clone_into(&mut order.private);
            let is_private = |path: &PathBuf| self.temporary.contains(path);
            order.writable.retain(|path| !is_private(path));
        }
        if confinement == Confinement::ReadOnly {
            // One that lies among temporary files would be gone with them.
            order.shown.clone_from(&self.workspace);
        }
        if confinement == Confinement::Unattended || secrets != Secrets::Shown {
            order.protected = self.guarded.repositories();
        }
        order.discreet = secrets != Secrets::Shown;
        if secrets == Secrets::Hidden {
            let mut hidden = self.guarded.secrets();
            hidden.retain(|secret| !sandbox.readable.contains(secret));
            order.hidden.extend(hidden);
        }
        order
    }

    pub(in crate::shell) fn guarded(&self) -> &Arc<Guarded> {
        &self.guarded
    }

    pub(in crate::shell) fn private(&self) -> Option<&Private> {
        self.private.as_ref()
    }

    /// Returns the directory for caches, if commands that are confined so may write to it.
    pub(in crate::shell) fn cache(&self, confinement: Confinement) -> Option<&Path> {
        let cache = self.cache.as_deref();
        cache.filter(|_| confinement != Confinement::ReadOnly)
    }
}

fn make_private(dir: &Path) -> io::Result<()> {
    let mut make = std::fs::DirBuilder::new();
    make.recursive(true).mode(0o700).create(dir)
}

/// Returns the directory that a path names, if there is one. The whole file system would be no sandbox,
/// and is a slip; so is a path whose meaning depends on where the agent was started.
fn real(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    let real = path.canonicalize().ok()?;
    (real.is_dir() && real != Path::new("/")).then_some(real)
}

/// Returns the real ones of `some`, each once and without those that are reached through another of `all`.
///
/// The ones that may only be written by other commands count too: what those may change is not trusted.
fn apart_from(some: &[(PathBuf, PathBuf)], all: &[(PathBuf, PathBuf)]) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for (named, real) in some {
        let inside = |path: &Path| {
            let around = |(_, other): &(PathBuf, PathBuf)| path.starts_with(other);
            all.iter().any(around)
        };
        let ways = named.ancestors().chain(real.ancestors());
        // The path itself is where it is; whoever may write to what is above it decides where that is.
        let above = ways.filter(|way| *way != named && *way != real);
        let mut above = above.filter_map(|way| way.canonicalize().ok());
        if !kept.contains(real) && !above.any(|way| inside(&way)) {
            kept.push(real.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn sandbox(writable: &[PathBuf], temporary: &[PathBuf]) -> Sandbox {
        Sandbox {
            writable: writable.to_vec(),
            temporary: temporary.to_vec(),
            ..Sandbox::default()
        }
    }

    fn find(sandbox: &Sandbox, roots: &[PathBuf]) -> Writable {
        Writable::find(sandbox, roots, false).unwrap()
    }

    fn scratch() -> (tempfile::TempDir, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().canonicalize().unwrap();
        for dir in ["root/below", "temp/below", "home", "other"] {
            std::fs::create_dir_all(path.join(dir)).unwrap();
        }
        (scratch, path)
    }

    #[test]
    fn only_real_directories_are_writable_and_never_the_whole_file_system() {
        let (_scratch, at) = scratch();
        std::fs::write(at.join("file"), "").unwrap();
        symlink("/", at.join("everything")).unwrap();
        symlink("other", at.join("link")).unwrap();
        let names = ["none", "file", "everything", "link", "other"];
        let mut writable: Vec<_> = names.iter().map(|name| at.join(name)).collect();
        writable.extend(["/".into(), "relative".into(), "/..".into()]);
        let found = find(&sandbox(&writable, &[at.join("temp")]), &[at.join("root")]);
        assert_eq!(
            found.of(Confinement::Workspace),
            [at.join("root"), at.join("other"), at.join("temp")]
        );
        assert_eq!(found.of(Confinement::ReadOnly), [at.join("temp")]);
    }

    #[test]
    fn what_is_reached_through_another_one_has_no_right_of_its_own() {
        let (_scratch, at) = scratch();
        // A command of an earlier session may have made these.
        symlink(at.join("home"), at.join("temp/link")).unwrap();
        symlink(at.join("home"), at.join("root/link")).unwrap();
        symlink(at.join("temp"), at.join("door")).unwrap();
        let writable = ["root/below", "root/link", "door/link"].map(|name| at.join(name));
        let temporary = ["temp", "temp/below", "temp/link", "root/link"].map(|name| at.join(name));
        let found = find(&sandbox(&writable, &temporary), &[at.join("root")]);
        assert_eq!(
            found.of(Confinement::Workspace),
            [at.join("root"), at.join("temp")]
        );
        assert_eq!(found.of(Confinement::ReadOnly), [at.join("temp")]);
    }

    #[test]
    fn the_cache_is_made_for_its_user_alone_when_it_is_needed() {
        let (_scratch, at) = scratch();
        let mut sandbox = sandbox(&[], &[at.join("temp")]);
        sandbox.cache = Some(at.join("state/cache"));
        let found = find(&sandbox, &[at.join("root")]);
        let cache = at.join("state/cache");
        assert_eq!(found.cache(Confinement::Workspace), Some(cache.as_path()));
        assert_eq!(found.cache(Confinement::ReadOnly), None);
        assert!(found.of(Confinement::Workspace).contains(&cache));
        let mode = cache.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        // One that cannot be made is none.
        std::fs::write(at.join("file"), "").unwrap();
        sandbox.cache = Some(at.join("file/cache"));
        let found = find(&sandbox, &[]);
        assert_eq!(found.cache(Confinement::Workspace), None);
    }

    #[test]
    fn where_commands_have_temporary_files_of_their_own_a_root_in_the_shared_ones_is_a_root() {
        let (_scratch, at) = scratch();
        let sandbox = sandbox(&[], &[at.join("temp")]);
        let root = at.join("temp/below");
        let found = Writable::find(&sandbox, std::slice::from_ref(&root), true).unwrap();
        let order = found.order(&sandbox, Confinement::Unattended, Secrets::Shown);
        assert_eq!(order.writable, std::slice::from_ref(&root));
        let [(replaced, private)] = order.private.as_slice() else {
            panic!("{order:?}");
        };
        assert_eq!(*replaced, at.join("temp"));
        assert!(private.is_dir() && private.starts_with(at.join("temp")));
        assert_eq!(order.protected, [root.join(".git")]);
        let order = found.order(&sandbox, Confinement::Workspace, Secrets::Shown);
        assert!(order.apart && order.protected.is_empty());
        let order = found.order(&sandbox, Confinement::ReadOnly, Secrets::Shown);
        assert!(order.writable.is_empty() && order.private.len() == 1);
        assert_eq!(order.shown, [root]);
    }
}
