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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_roots::Roots;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};

use self::draft::Draft;
use self::record::{Record, Was};
use self::restore::Way;
use self::store::{Store, now};
use self::tree::{Known, Reader, Trouble};
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
    /// The turn that has begun, until it touches something.
    begun: Mutex<Option<Draft>>,
    /// The last piece of work. They are done one after the other, in the order in which they came.
    last: Mutex<Option<JoinHandle<()>>>,
    /// For whoever does a piece of work.
    state: Mutex<State>,
    /// What the user should know and has not heard yet.
    untold: Mutex<Vec<String>>,
}

#[derive(Debug, Default)]
struct State {
    draft: Option<Draft>,
    known: Known,
    /// Why commands cannot be taken back here.
    too_large: Option<String>,
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
        let inner = directory.and_then(|directory| {
            let store = Store::new(directory, session);
            store.prune_if_due();
            Some(Arc::new(Inner {
                roots: Roots::open(roots).ok()?,
                store,
                begun: Mutex::default(),
                last: Mutex::default(),
                state: Mutex::default(),
                untold: Mutex::default(),
            }))
        });
        Self { inner }
    }

    /// Begins a turn, whose prompt may have a message.
    pub(crate) fn begin(&self, prompt: &str, message: Option<&str>) {
        let Some(inner) = &self.inner else { return };
        let prompt = crate::text::first_line(prompt, PROMPT_CHARS_MAX);
        *lock(&inner.begun) = Some(Draft::new(prompt, message.map(str::to_owned)));
    }

    /// Notes what a call is about to touch. Returns what the user should know.
    ///
    /// # Cancel safety
    ///
    /// When it is dropped, the files are noted all the same.
    pub(crate) async fn before(&self, access: &[Access]) -> Option<String> {
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
        let begun = lock(&self.inner.as_ref()?.begun).take();
        self.work(move |inner| inner.note(begun, &paths, any)).await;
        self.take_untold()
    }

    /// Ends a turn: what it changed is recorded, whether anybody waits for that or not. Returns what the user should know.
    pub(crate) fn end(&self) -> impl Future<Output = Option<String>> + use<> {
        let touched = match &self.inner {
            Some(inner) => lock(&inner.begun).take().is_none(),
            None => false,
        };
        let ending = touched.then(|| self.work(Inner::end));
        let this = self.clone();
        async move {
            ending?.await;
            this.take_untold()
        }
    }

    /// Takes back the last turn that changed files, also where somebody changed them since if `anyway`. Says also what
    /// that cannot include.
    pub(crate) async fn undo(&self, anyway: bool) -> (Moved, Option<String>) {
        self.go(Way::Back, anyway).await
    }

    /// Does again what was taken back last.
    pub(crate) async fn redo(&self, anyway: bool) -> (Moved, Option<String>) {
        self.go(Way::Forth, anyway).await
    }

    async fn go(&self, way: Way, anyway: bool) -> (Moved, Option<String>) {
        let gone = self.work(move |inner| inner.go(way, anyway)).await;
        gone.unwrap_or((Moved::Nothing, None))
    }

    /// Does a piece of work behind those that came before, away from the runtime's threads, which must not wait for disks.
    /// It is done to its end, even if nobody waits for it.
    fn work<T, W>(&self, work: W) -> impl Future<Output = Option<T>> + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce(&Inner) -> T + Send + 'static,
    {
        let done = self.inner.as_ref().map(|inner| {
            let (tell, told) = oneshot::channel();
            let mut last = lock(&inner.last);
            let (before, inner) = (last.take(), Arc::clone(inner));
            *last = Some(tokio::spawn(async move {
                if let Some(before) = before
                    && before.await.is_err()
                {
                    tracing::error!("a checkpoint failed");
                }
                // Whoever does not wait does not care.
                let working = spawn_blocking(move || drop(tell.send(work(&inner))));
                if working.await.is_err() {
                    tracing::error!("a checkpoint failed");
                }
            }));
            told
        });
        async move { done?.await.ok() }
    }

    fn take_untold(&self) -> Option<String> {
        let untold = std::mem::take(&mut *lock(&self.inner.as_ref()?.untold));
        (!untold.is_empty()).then(|| untold.join("\n\n"))
    }

    /// Takes over the turns that a fork shares with the session that it was copied from, which are those of these messages. What the
    /// other session does from now on belongs to that one: its files are conflicts here, like those that the user changed.
    ///
    /// # Cancel safety
    ///
    /// When it is dropped, they are taken over all the same.
    pub(crate) async fn inherit(&self, session: &str, messages: HashSet<String>) {
        let session = session.to_owned();
        self.work(move |inner| inner.inherit(&session, &messages))
            .await;
    }

    /// Returns what the session did to files, as far as they still differ from what they were before it, and what that cannot
    /// include.
    pub(crate) async fn changes(&self) -> (Vec<Change>, Option<String>) {
        self.work(Inner::changes).await.unwrap_or_default()
    }
}

/// A panic elsewhere leaves what is locked whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    fn reader(&self) -> Reader<'_> {
        Reader {
            roots: &self.roots,
            store: &self.store,
        }
    }

    fn below(&self) -> Vec<&Path> {
        self.roots.reals().collect()
    }

    fn note(&self, begun: Option<Draft>, paths: &[PathBuf], any: bool) {
        let mut state = lock(&self.state);
        let State {
            draft,
            known,
            too_large,
        } = &mut *state;
        if begun.is_some() {
            *draft = begun;
        }
        let Some(draft) = draft.as_mut() else { return };
        for path in paths {
            draft.note(path, self.reader());
        }
        if !any || draft.is_whole() || too_large.is_some() {
            return;
        }
        match self.reader().walk(&self.below(), false, now(), known) {
            Ok(tree) => draft.set_tree(tree),
            Err(trouble) => {
                let words = beyond(&trouble.to_string());
                match trouble {
                    // What was read so far need not be read again: the next turn gets further.
                    Trouble::Slow => draft.set_partial(),
                    Trouble::TooLarge => {
                        *too_large = Some(trouble.to_string());
                        known.clear();
                    }
                }
                lock(&self.untold).push(words);
            }
        }
    }

    fn end(&self) {
        let mut state = lock(&self.state);
        let Some(draft) = state.draft.take() else {
            return;
        };
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
        self.store.prune_if_due();
        let reason = match (kept, trouble) {
            (Err(error), _) => error.to_string(),
            (Ok(()), Err(trouble)) => trouble.to_string(),
            (Ok(()), Ok(())) => return,
        };
        lock(&self.untold).push(format!(
            "`/undo` cannot take back all of this turn: {reason}."
        ));
    }

    fn inherit(&self, session: &str, messages: &HashSet<String>) {
        let _nobody_else = lock(&self.state);
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

    fn go(&self, way: Way, anyway: bool) -> (Moved, Option<String>) {
        let beyond = self.beyond();
        (self.moved(way, anyway), beyond)
    }

    /// Returns what cannot be taken back or shown here.
    fn beyond(&self) -> Option<String> {
        lock(&self.state).too_large.as_deref().map(beyond)
    }

    fn moved(&self, way: Way, anyway: bool) -> Moved {
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

    fn changes(&self) -> (Vec<Change>, Option<String>) {
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
        (changed.collect(), self.beyond())
    }
}

fn beyond(reason: &str) -> String {
    format!(
        "`/undo` and `/diff` know the agent's edits here, but not what commands change: {reason}."
    )
}

fn moved(record: &Record, failed: Vec<(PathBuf, String)>) -> Moved {
    let paths = record.changed.iter().map(|changed| &changed.path);
    let is_done = |path: &&PathBuf| !failed.iter().any(|(other, _)| other == *path);
    let mut files: Vec<_> = paths.filter(is_done).cloned().collect();
    if record.changed.is_empty() {
        let directories = record.made.iter().chain(&record.removed);
        files.extend(directories.cloned());
    }
    Moved::Done {
        prompt: record.prompt.clone(),
        files,
        failed,
    }
}

#[cfg(test)]
mod tests;
