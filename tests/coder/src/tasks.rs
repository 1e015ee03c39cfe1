//! Tasks: small repositories with something to do, done by a scripted model with the agent's own tools.
//!
//! A task is a directory: `task.json` says what the user wants and what the model answers, `before` is
//! the repository as it is found and `after` as it has to be left, byte for byte. What is proven is that
//! the tools and the loop carry out what a model asks for and tell it what it needs; not that some model
//! would have asked for it.

mod check;
mod conversation;
mod report;
mod run;
mod script;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use self::report::Report;
pub use self::run::{run, run_with};
pub use self::script::{Answer, Call, HookLines, Said, Script, Steer};
pub use self::tree::{File, Tree};

/// Tasks that run at a time; most of the time of one is spent waiting for a compiler.
const WORKERS: usize = 2;

/// A repository with something to do.
#[derive(Debug)]
pub struct Task {
    /// Its name, which is that of its directory.
    pub name: String,
    /// What is wanted, and what the model answers.
    pub script: Script,
    /// The repository as it is found.
    pub before: Tree,
    /// The repository as it has to be left.
    pub after: Tree,
}

impl Task {
    /// Loads a task from its directory.
    ///
    /// # Errors
    ///
    /// Something is missing, or `task.json` says something that is not understood.
    pub fn load(directory: &Path) -> Result<Self, String> {
        let name = directory.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let broken = |what: &str, error: &dyn std::fmt::Display| format!("{name}: {what}: {error}");
        let text = std::fs::read_to_string(directory.join("task.json"))
            .map_err(|error| broken("`task.json` cannot be read", &error))?;
        let script =
            serde_json::from_str(&text).map_err(|error| broken("`task.json` is wrong", &error))?;
        let tree = |which: &str| {
            let tree = Tree::read(&directory.join(which), &[]);
            tree.map_err(|error| broken(&format!("`{which}` cannot be read"), &error))
        };
        Ok(Self {
            script,
            before: tree("before")?,
            after: tree("after")?,
            name,
        })
    }
}

/// Returns where the tasks of this repository are.
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tasks")
}

/// Loads the tasks with these names, or all of them, in the order of their names.
///
/// # Errors
///
/// There is no task of a name, or one cannot be loaded.
pub fn load(names: &[String]) -> Result<Vec<Task>, String> {
    let entries = std::fs::read_dir(directory())
        .map_err(|error| format!("the directory of the tasks cannot be read: {error}"))?;
    let mut paths: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    paths.sort();
    let named = |path: &Path, name: &String| path.file_name().is_some_and(|it| it == name.as_str());
    for name in names {
        if !paths.iter().any(|path| named(path, name)) {
            return Err(format!("there is no task `{name}`"));
        }
    }
    paths.retain(|path| names.is_empty() || names.iter().any(|name| named(path, name)));
    paths.iter().map(|path| Task::load(path)).collect()
}

/// Runs tasks, and returns what came of each in their order.
///
/// `done` is told of each as soon as it has ended. With `keep`, the tree that a task left is put into
/// the directory of its name there.
pub fn run_all(tasks: &[Task], keep: Option<&Path>, done: impl Fn(&Report) + Sync) -> Vec<Report> {
    let next = AtomicUsize::new(0);
    let reports = Mutex::new(Vec::new());
    let work = || {
        // A runtime for each worker: what one task leaves behind ends before others can see it.
        while let Some((place, task)) = {
            let place = next.fetch_add(1, Ordering::Relaxed);
            tasks.get(place).map(|task| (place, task))
        } {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let report = runtime.block_on(run(task, keep));
            done(&report);
            reports.lock().unwrap().push((place, report));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..WORKERS.min(tasks.len()) {
            scope.spawn(work);
        }
    });
    let mut reports = reports.into_inner().unwrap();
    reports.sort_by_key(|(place, _)| *place);
    reports.into_iter().map(|(_, report)| report).collect()
}
