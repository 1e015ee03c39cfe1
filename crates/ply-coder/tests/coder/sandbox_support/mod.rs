//! A workspace with a sandbox around its commands, and places outside of it.

use std::io::Write as _;
use std::path::PathBuf;

use ply_coder::shell::{Confinement, Exit, Line, Processes, Ran, Sandbox, Support};
use tokio::time::timeout;

use crate::shell_support::{Card, PATIENCE, Scratch};

/// A workspace, a directory for temporary files, and one that is none of a command's business.
pub(crate) struct Place {
    pub(crate) scratch: Scratch,
    pub(crate) root: PathBuf,
    pub(crate) outside: PathBuf,
    pub(crate) processes: Processes,
}

/// Returns the program that Cargo builds along with the tests.
pub(crate) fn helper() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let helper = test.ancestors().nth(2).unwrap().join("examples/sandboxed");
    assert!(helper.exists(), "build it first: cargo build --examples");
    helper
}

impl Place {
    /// Returns a place where a person looks at each command.
    pub(crate) async fn new(change: impl FnOnce(&mut Sandbox)) -> Self {
        let place = Self::unprobed(change);
        let support = place.processes.support().await;
        assert!(support.works(), "these tests need Landlock: {support:?}");
        place
    }

    /// Returns a place where nobody looks at commands; none where the kernel cannot confine them wholly.
    pub(crate) async fn unattended(change: impl FnOnce(&mut Sandbox)) -> Option<Self> {
        let place = Self::unprobed(change);
        let support = place.processes.support().await;
        place.processes.confine(Confinement::Unattended);
        if support.is_complete() {
            return Some(place);
        }
        // Past the capture of the test's output, so that nobody takes a skipped test for one that passed.
        let words = format!("NOT TESTED: the sandbox is not complete here: {support:?}\n");
        std::io::stderr().write_all(words.as_bytes()).unwrap();
        assert!(
            std::env::var_os("PLY_REQUIRE_SANDBOX").is_none(),
            "PLY_REQUIRE_SANDBOX is set, and {words}"
        );
        None
    }

    fn unprobed(change: impl FnOnce(&mut Sandbox)) -> Self {
        let scratch = Scratch::new();
        let (root, outside) = (scratch.dir("root"), scratch.dir("outside"));
        std::fs::write(outside.join("victim"), "before").unwrap();
        std::fs::write(root.join("own"), "own").unwrap();
        std::fs::create_dir(outside.join("empty")).unwrap();
        let mut sandbox = Sandbox::default();
        sandbox.helper = Some(helper());
        sandbox.temporary = vec![scratch.dir("temp")];
        change(&mut sandbox);
        let processes = Processes::new(sandbox, scratch.0.join("logs"));
        Self {
            scratch,
            root,
            outside,
            processes,
        }
    }

    pub(crate) fn line(&self, command: &str) -> Line {
        let command = command.replace("OUT", self.outside.to_str().unwrap());
        Line::new(command, &self.root)
    }

    pub(crate) async fn run(&self, command: &str) -> Ran {
        self.run_line(&self.line(command)).await
    }

    pub(crate) async fn run_line(&self, line: &Line) -> Ran {
        let card = Card::new();
        let ran = timeout(PATIENCE, self.processes.run(line, &card)).await;
        ran.expect("the command hangs").unwrap()
    }

    /// Runs a command that must fail.
    #[track_caller]
    pub(crate) fn fails(&self, command: &str) -> impl Future<Output = Ran> {
        let at = std::panic::Location::caller();
        async move {
            let ran = self.run(command).await;
            assert_ne!(ran.exit, Exit::Code(0), "{at}: {command}: {ran:?}");
            ran
        }
    }

    /// Runs a command that must work, and returns its output.
    pub(crate) async fn works(&self, command: &str) -> String {
        let ran = self.run(command).await;
        assert_eq!(ran.exit, Exit::Code(0), "{command}: {ran:?}");
        ran.output
    }

    /// Returns everything about the files outside that must not change.
    pub(crate) fn outside(&self) -> Vec<(String, Option<String>)> {
        let entries = std::fs::read_dir(&self.outside).unwrap();
        let entry = |path: PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).ok())
        };
        let mut found: Vec<_> = entries.map(|found| entry(found.unwrap().path())).collect();
        found.sort();
        found
    }
}

/// Returns whether commands have namespaces of their own.
pub(crate) fn is_apart(support: &Support) -> bool {
    matches!(support, Support::Works { apart: true, .. })
}
