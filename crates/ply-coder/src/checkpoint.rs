//! Checkpoints: what files were like before each turn, so that the user can take a turn back.
//!
//! They lie in a store of Ply's own and leave the user's repository alone. Tools that say which files they touch have
//! those noted; before the first call that could touch anything, such as a command, all files are that are not
//! ignored. At the end of the turn both are compared with what is there, and the difference is the turn's record.

mod draft;
mod record;
mod restore;
mod store;
mod tree;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use ply_roots::Roots;

use self::draft::Draft;
use self::record::{Record, Was};
use self::restore::Way;
use self::store::{Store, now};
use self::tree::{Known, Reader};
use crate::tool::{Access, Change};

/// Characters of a prompt that a record names its turn by.
const PROMPT_CHARS_MAX: usize = 60;

/// The checkpoints of a session.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoints {
    inner: Option<Arc<Inner>>,
}

#[derive(Debug)]
struct Inner {
    roots: Roots,
    store: Store,
    /// One turn at a time is in here; whoever restores keeps others out.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    draft: Option<Draft>,
    known: Known,
    /// Whether commands cannot be taken back here, which the user has been told.
    is_too_large: bool,
}

/// What the user hears of a turn that was taken back, or done again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// There is no such turn.
    Nothing,
    /// Somebody changed these files since; nothing was done.
    Conflicts(Vec<PathBuf>),
    /// It was done.
    Done {
        /// How the turn's prompt began.
        prompt: String,
        /// The files that are as they were.
        files: Vec<PathBuf>,
        /// The files that are not, and why.
        failed: Vec<(PathBuf, String)>,
    },
}

impl Checkpoints {
    /// Returns the checkpoints of a session with these directories, which lie below `directory`. Without one there
    /// are none.
    pub(crate) fn new(directory: Option<&Path>, session: &str, roots: Vec<PathBuf>) -> Self {
        static PRUNED: Once = Once::new();
        let inner = directory.and_then(|directory| {
            let store = Store::new(directory, session);
            let old = store.clone();
            PRUNED.call_once(|| drop(std::thread::spawn(move || old.prune())));
            Some(Arc::new(Inner {
                roots: Roots::open(roots).ok()?,
                store,
                state: Mutex::default(),
            }))
        });
        Self { inner }
    }

    /// Begins a turn, whose prompt may have a message.
    pub(crate) fn begin(&self, prompt: &str, message: Option<&str>) {
        let Some(inner) = &self.inner else { return };
        let prompt = crate::text::first_line(prompt, PROMPT_CHARS_MAX);
        inner.lock().draft = Some(Draft::new(prompt, message.map(str::to_owned)));
    }

    /// Notes what a call is about to touch. Returns what the user should know.
    ///
    /// # Cancel safety
    ///
    /// When it is dropped, the files are noted all the same.
    pub(crate) async fn before(&self, access: &[Access]) -> Option<String> {
        let inner = Arc::clone(self.inner.as_ref()?);
        let (mut paths, mut any) = (Vec::new(), false);
        for access in access {
            match access {
                Access::Write(path) | Access::Delete(path) | Access::Trigger { path, .. } => {
                    paths.push(path.clone());
                }
                Access::Read(_) | Access::Fetch(_) | Access::Stop { .. } => {}
                _ => any = true,
            }
        }
        if paths.is_empty() && !any {
            return None;
        }
        let noting = tokio::task::spawn_blocking(move || inner.note(&paths, any));
        noting.await.ok().flatten()
    }

    /// Ends a turn: what it changed is recorded. Returns what the user should know.
    ///
    /// # Cancel safety
    ///
    /// When it is dropped, the turn is recorded all the same.
    pub(crate) async fn end(&self) -> Option<String> {
        let inner = Arc::clone(self.inner.as_ref()?);
        if inner.lock().draft.as_ref().is_none_or(Draft::is_empty) {
            return None;
        }
        let ending = tokio::task::spawn_blocking(move || inner.end());
        ending.await.ok().flatten()
    }

    /// Takes back the last turn that changed files, also where somebody changed them since if `anyway`.
    pub(crate) async fn undo(&self, anyway: bool) -> Moved {
        self.go(Way::Back, anyway).await
    }

    /// Does again what was taken back last.
    pub(crate) async fn redo(&self, anyway: bool) -> Moved {
        self.go(Way::Forth, anyway).await
    }

    async fn go(&self, way: Way, anyway: bool) -> Moved {
        let Some(inner) = self.inner.clone() else {
            return Moved::Nothing;
        };
        let going = tokio::task::spawn_blocking(move || inner.go(way, anyway));
        going.await.unwrap_or(Moved::Nothing)
    }

    /// Takes over the turns that a fork shares with the session that it was copied from, which are those of these messages. What the
    /// other session does from now on belongs to that one: its files are conflicts here, like those that the user changed.
    ///
    /// # Cancel safety
    ///
    /// When it is dropped, they are taken over all the same.
    pub(crate) async fn inherit(&self, session: &str, messages: HashSet<String>) {
        let Some(inner) = self.inner.clone() else {
            return;
        };
        let session = session.to_owned();
        let taking = tokio::task::spawn_blocking(move || inner.inherit(&session, &messages));
        if taking.await.is_err() {
            tracing::warn!("a fork cannot take turns back that it shares");
        }
    }

    /// Returns what the session did to files, as far as they still differ from what they were before it.
    pub(crate) async fn changes(&self) -> Vec<Change> {
        let Some(inner) = self.inner.clone() else {
            return Vec::new();
        };
        let comparing = tokio::task::spawn_blocking(move || inner.changes());
        comparing.await.unwrap_or_default()
    }
}

impl Inner {
    /// A panic elsewhere leaves the state whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reader(&self) -> Reader<'_> {
        Reader {
            roots: &self.roots,
            store: &self.store,
        }
    }

    fn below(&self) -> Vec<&Path> {
        self.roots.reals().collect()
    }

    fn note(&self, paths: &[PathBuf], any: bool) -> Option<String> {
        let mut state = self.lock();
        let State {
            draft,
            known,
            is_too_large,
        } = &mut *state;
        let draft = draft.as_mut()?;
        for path in paths {
            draft.note(path, self.reader());
        }
        if !any || draft.has_tree() || *is_too_large {
            return None;
        }
        match self.reader().walk(&self.below(), false, now(), known) {
            Ok(tree) => {
                draft.set_tree(tree);
                None
            }
            Err(reason) => {
                *is_too_large = true;
                known.clear();
                Some(format!(
                    "`/undo` takes back edits here, but not what commands change: {reason}."
                ))
            }
        }
    }

    fn end(&self) -> Option<String> {
        let mut state = self.lock();
        let draft = state.draft.take()?;
        let records = self.store.records();
        let number = records.last().map_or(1, |last| last.number + 1);
        let reader = self.reader();
        let (record, trouble) = draft.finish(number, &self.below(), reader, &mut state.known);
        let kept = record.map_or(Ok(()), |record| {
            // What was taken back cannot be done again on top of something else.
            for undone in records.iter().filter(|record| record.undone) {
                self.store.forget(undone.number)?;
            }
            self.store.keep(&record)
        });
        let reason = match (kept, trouble) {
            (Err(error), _) => error.to_string(),
            (Ok(()), Err(reason)) => reason,
            (Ok(()), Ok(())) => return None,
        };
        Some(format!(
            "`/undo` cannot take back all of this turn: {reason}."
        ))
    }

    fn inherit(&self, session: &str, messages: &HashSet<String>) {
        let _nobody_else = self.lock();
        let theirs = self.store.of(session);
        let is_shared = |record: &Record| {
            let message = record.message.as_ref();
            message.is_some_and(|message| messages.contains(message))
        };
        for record in theirs.records().into_iter().filter(is_shared) {
            if let Err(error) = self.store.share(&theirs, record.number) {
                tracing::warn!(%error, "a fork cannot take back a turn that it shares");
            }
        }
    }

    fn go(&self, way: Way, anyway: bool) -> Moved {
        let _nobody_else = self.lock();
        let mut records = self.store.records();
        let found = match way {
            Way::Back => records.iter_mut().rev().find(|record| !record.undone),
            Way::Forth => records.iter_mut().find(|record| record.undone),
        };
        let Some(record) = found else {
            return Moved::Nothing;
        };
        let conflicts = restore::conflicts(record, way, self.reader());
        if !conflicts.is_empty() && !anyway {
            return Moved::Conflicts(conflicts);
        }
        for changed in &mut record.changed {
            if conflicts.contains(&changed.path) {
                // What is overwritten comes back when the turn goes the other way.
                let now = self.reader().look(&changed.path);
                match way {
                    Way::Back => changed.after = now,
                    Way::Forth => changed.before = now,
                }
            }
        }
        let failed = restore::restore(record, way, self.reader());
        record.undone = way == Way::Back;
        if let Err(error) = self.store.keep(record) {
            tracing::warn!(%error, "that a turn was taken back is not recorded");
        }
        moved(record, failed)
    }

    fn changes(&self) -> Vec<Change> {
        let mut first = BTreeMap::new();
        for record in self.store.records() {
            for changed in record.changed.into_iter().filter(|_| !record.undone) {
                first.entry(changed.path).or_insert(changed.before);
            }
        }
        let text = |was: &Was| match was {
            Was::File { content, .. } => {
                let content = self.store.get(content).ok()?;
                Some(String::from_utf8(content).unwrap_or_else(|_| "(not text)\n".to_owned()))
            }
            Was::Link { target } => Some(format!("(a link to {target})\n")),
            Was::Unkept { .. } => Some("(not kept)\n".to_owned()),
            Was::Missing => None,
        };
        let changed = first.into_iter().filter_map(|(path, before)| {
            let now = self.reader().look(&path);
            (now != before).then(|| Change {
                path,
                old: text(&before),
                new: text(&now),
            })
        });
        changed.collect()
    }
}

fn moved(record: &Record, failed: Vec<(PathBuf, String)>) -> Moved {
    let paths = record.changed.iter().map(|changed| &changed.path);
    let is_done = |path: &&PathBuf| !failed.iter().any(|(other, _)| other == *path);
    Moved::Done {
        prompt: record.prompt.clone(),
        files: paths.filter(is_done).cloned().collect(),
        failed,
    }
}

#[cfg(test)]
mod tests;
