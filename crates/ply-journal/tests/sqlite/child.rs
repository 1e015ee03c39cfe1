//! Child processes: this test program started again, to do one thing.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use ply_journal::{Description, Durability, Error, Head, Journal, Log, Sqlite};

use crate::{all, append, create, head, texts};

const ROLE: &str = "PLY_JOURNAL_TEST_ROLE";
const STORE: &str = "PLY_JOURNAL_TEST_STORE";

/// A child process that does one thing with a store.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Process {
    pub(crate) fn start(role: &str, store: &Path) -> Self {
        Self::start_under(&[], role, store)
    }

    /// Starts it with a command before it.
    pub(crate) fn start_under(before: &[&str], role: &str, store: &Path) -> Self {
        let program = std::env::current_exe().unwrap();
        let mut words: Vec<_> = before.iter().map(PathBuf::from).collect();
        words.push(program);
        let mut command = Command::new(&words[0]);
        let mut child = command
            .args(&words[1..])
            .args(["child::a_child_process_plays_its_role", "--exact"])
            .args(["--nocapture", "--quiet"])
            .env(ROLE, role)
            .env(STORE, store)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
        }
    }

    /// Returns the next word that the child says.
    pub(crate) fn hear(&mut self) -> Option<String> {
        for line in self.lines.by_ref() {
            // The test harness says things too, and begins lines that are not its own.
            if let Some((_, said)) = line.unwrap().split_once("SAYS ") {
                return Some(said.to_owned());
            }
        }
        None
    }

    /// Lets the child go on, or end.
    pub(crate) fn go_on(&mut self) {
        drop(self.stdin.take());
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn ends_well(mut self) {
        self.go_on();
        let rest: Vec<String> = self.lines.by_ref().map_while(Result::ok).collect();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {rest:?}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already if the test went well.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn say(words: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nSAYS {words}").unwrap();
    out.flush().unwrap();
}

/// Waits until the parent lets the child go on.
fn wait() {
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[tokio::test]
async fn a_child_process_plays_its_role() {
    let (Ok(role), Ok(store)) = (std::env::var(ROLE), std::env::var(STORE)) else {
        // Nobody's child.
        return;
    };
    let journal = Sqlite::new(&store);
    match role.as_str() {
        "writes" => writes(&journal).await,
        "notes" => notes(&journal).await,
        "streams" => streams(&journal).await,
        "competes" => competes(&journal).await,
        "holds" => holds(&journal).await,
        "makes" => makes(&journal).await,
        "is limited" => is_limited(&journal).await,
        role => panic!("no role {role}"),
    }
}

async fn open(journal: &Sqlite, id: &str) -> Box<dyn Log> {
    match journal.open(id).await.unwrap() {
        Some(opened) => opened.log,
        None => create(journal, head(id)).await,
    }
}

/// Writes numbers on and on, some accepted, some written and some durable, and says those that are safe.
async fn writes(journal: &Sqlite) {
    let log = open(journal, "a").await;
    let mut next = all(&*log).await.len() as u64;
    loop {
        append(&*log, next..next + 3, Durability::Accepted)
            .await
            .unwrap();
        // A kill is not a loss of power.
        let durability = match next % 2 {
            0 => Durability::Durable,
            _ => Durability::Written,
        };
        append(&*log, next + 3..next + 5, durability).await.unwrap();
        next += 5;
        say(next);
    }
}

/// Writes one number after the other, each with its description, and says those that are written.
async fn notes(journal: &Sqlite) {
    let opened = match journal.open("a").await.unwrap() {
        Some(opened) => opened,
        None => journal.create(head("a"), "key").await.unwrap(),
    };
    let mut next = opened.records;
    loop {
        let at = i64::try_from(next).unwrap() + 1;
        let change = Description::updated(at).host(Some(format!("note {at}")));
        let record = texts(next..next + 1);
        let append = opened.log.append(record, Durability::Written, Some(change));
        append.await.unwrap();
        next += 1;
        say(next);
    }
}

/// Writes numbers that are accepted, on and on, and says how many it wrote.
async fn streams(journal: &Sqlite) {
    let log = open(journal, "a").await;
    let mut next = all(&*log).await.len() as u64;
    loop {
        append(&*log, next..next + 100, Durability::Accepted)
            .await
            .unwrap();
        next += 100;
        say(next);
    }
}

/// Writes to a session of its own, together with other processes.
async fn competes(journal: &Sqlite) {
    let id = std::process::id().to_string();
    let log = create(journal, head(&id)).await;
    say("ready");
    wait();
    for number in 0..crate::leases::APPENDS {
        append(&*log, number..number + 1, Durability::Durable)
            .await
            .unwrap();
    }
}

/// Holds a session until it is let go.
async fn holds(journal: &Sqlite) {
    let log = open(journal, "a").await;
    append(&*log, 0..10, Durability::Durable).await.unwrap();
    say("held");
    wait();
}

/// Makes a session and waits.
async fn makes(journal: &Sqlite) {
    let head = Head::new("a", "/work", 1);
    let _log = create(journal, head).await;
    say("made");
    wait();
}

/// Writes until its files may not grow any more, which is an error of the disk to it.
async fn is_limited(journal: &Sqlite) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let log = create(journal, head("a")).await;
    let record = |number: u64| vec![format!("{number:01000}").into_bytes()];
    let mut next = 0;
    let failed = loop {
        match log.append(record(next), Durability::Accepted, None).await {
            Ok(_) => next += 1,
            Err(error) => break error,
        }
        assert!(next < 1_000_000, "there is no limit");
    };
    assert!(matches!(failed, Error::Io(_)), "{failed}");
    let again = log.append(record(next), Durability::Durable, None).await;
    assert!(matches!(again, Err(Error::Io(_))), "{again:?}");
    let mut limit = getrlimit(Resource::Fsize);
    limit.current = limit.maximum;
    setrlimit(Resource::Fsize, limit).unwrap();
    log.append(record(next), Durability::Durable, None)
        .await
        .unwrap();
    let expected: Vec<Vec<u8>> = (0..=next).flat_map(record).collect();
    assert!(all(&*log).await == expected, "records are missing");
    drop(log);
    journal.close().await.unwrap();
    say("done");
}
