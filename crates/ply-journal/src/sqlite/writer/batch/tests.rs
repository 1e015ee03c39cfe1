use std::path::PathBuf;

use tokio::sync::oneshot;

use super::*;
use crate::sqlite::held::Held;
use crate::sqlite::queue::Queue;
use crate::sqlite::reader::Session;
use crate::sqlite::run::Frames;
use crate::sqlite::tail::Tail;
use crate::sqlite::writer::{Missing, open};
use crate::sqlite::{records, schema};
use crate::{Durability, Head};

/// A writer without a thread, and a session that it holds.
struct Bench {
    writer: Writer,
    lease: Lease,
    directory: PathBuf,
}

impl Bench {
    fn new(name: &str) -> Self {
        let name = format!("ply-writer-{}-{name}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        // Left by a process with the same number, if it is there.
        drop(std::fs::remove_dir_all(&directory));
        let path = directory.join("x.db");
        let file = open(&path, Missing::Make).unwrap().unwrap();
        let mut writer = Writer::new(path.clone(), Queue::new(), Tail::new(path), file);
        let (tell, mut told) = oneshot::channel();
        let head = Head::new("a", "/work", 1);
        let key = "key".to_owned();
        writer.batch(vec![Job::Create { head, key, tell }]);
        let lease = told.try_recv().unwrap().unwrap().lease;
        Self {
            writer,
            lease,
            directory,
        }
    }

    fn held(&self) -> Arc<Held> {
        Arc::clone(&self.lease.held)
    }

    /// An append that was accepted.
    fn soon(&self, record: &str) -> Job {
        let append = Append::new(&self.held(), frames(record), None, Durability::Accepted);
        assert!(self.held().queue(append.failures, true));
        Job::Append(append)
    }

    /// Writes a record, and returns what comes of it.
    fn now(&mut self, record: &str) -> Result<(), Trouble> {
        let (job, mut told) = self.waiting(record, Durability::Durable);
        self.writer.batch(vec![job]);
        told.try_recv().unwrap()
    }

    /// An append that somebody waits for.
    fn waiting(
        &self,
        record: &str,
        durability: Durability,
    ) -> (Job, oneshot::Receiver<Result<(), Trouble>>) {
        let (tell, told) = oneshot::channel();
        let held = self.held();
        let mut append = Append::new(&held, frames(record), None, durability);
        held.queue(append.failures, false);
        append.tell = Some(tell);
        (Job::Append(append), told)
    }

    /// Has the disk fail in a transaction, after the commit or before it.
    fn fail_at(&mut self, jobs: Vec<Job>, is_written: bool) {
        let done = self.writer.transact(&jobs).unwrap();
        if !is_written {
            let undo = "DELETE FROM runs; UPDATE sessions SET next = 0";
            let file = self.writer.file.as_ref().unwrap();
            file.connection.execute_batch(undo).unwrap();
        }
        self.writer.attempted = done.moved.into_iter().collect();
        let trouble = Trouble::io(std::io::ErrorKind::Other, "the disk failed");
        self.writer.fail(jobs, &trouble, Remedy::Reopen);
        self.writer.note_failure(Remedy::Reopen, &trouble);
        assert!(self.writer.file.is_none());
    }

    fn records(&self) -> Vec<String> {
        let connection = schema::open_to_read(&self.writer.path).unwrap();
        let held = self.held();
        let session = Session {
            number: held.number,
            key: held.key,
        };
        let page = records::read(&connection, session, 0, usize::MAX);
        let page = page.unwrap().unwrap().into_iter();
        page.map(|record| String::from_utf8(record).unwrap())
            .collect()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

fn frames(record: &str) -> Frames {
    Frames::new(&[record.as_bytes().to_vec()]).unwrap()
}

#[test]
fn f6_what_failed_and_is_not_there_is_written_before_what_follows() {
    let mut bench = Bench::new("missing");
    let jobs = vec![bench.soon("one"), bench.soon("two")];
    bench.fail_at(jobs, false);
    assert_eq!(bench.writer.kept.len(), 2);
    bench.now("three").unwrap();
    assert_eq!(bench.records(), ["one", "two", "three"]);
    assert_eq!(bench.held().unwritten(), 0);
}

#[test]
fn f6_what_failed_and_is_there_is_not_written_twice() {
    let mut bench = Bench::new("there");
    let jobs = vec![bench.soon("one"), bench.soon("two")];
    bench.fail_at(jobs, true);
    bench.now("three").unwrap();
    assert_eq!(bench.records(), ["one", "two", "three"]);
    assert_eq!(bench.held().unwritten(), 0);
    assert!(bench.writer.failing.is_none());
}

#[test]
fn f6_what_was_accepted_after_a_failure_is_written_although_what_failed_is_there() {
    let mut bench = Bench::new("since");
    let jobs = vec![bench.soon("one")];
    bench.fail_at(jobs, true);
    // Accepted while the writer was at it, and kept by a first attempt to open the file again.
    let since = bench.soon("two");
    bench.writer.kept.push(since);
    bench.now("three").unwrap();
    assert_eq!(bench.records(), ["one", "two", "three"]);
    assert_eq!(bench.held().unwritten(), 0);
}

#[test]
fn f6_nothing_is_written_after_records_that_the_disk_lost() {
    let mut bench = Bench::new("lost");
    bench.now("one").unwrap();
    let jobs = vec![bench.soon("two")];
    // Not only this one is gone, but also the one that was safe.
    bench.fail_at(jobs, false);
    let refused = bench.now("three");
    assert!(
        matches!(&refused, Err(Trouble::Io(_, words)) if words.contains("gone")),
        "{refused:?}"
    );
    assert!(bench.records().is_empty());
}

#[test]
fn f13_a_file_that_is_another_one_after_an_error_of_the_disk_is_not_written() {
    let mut bench = Bench::new("other");
    let jobs = vec![bench.soon("one")];
    bench.fail_at(jobs, false);
    let path = bench.writer.path.clone();
    std::fs::rename(&path, path.with_extension("away")).unwrap();
    drop(open(&path, Missing::Make).unwrap());
    assert!(matches!(bench.now("two"), Err(Trouble::Replaced)));
    assert!(matches!(bench.held().check(), Err(Trouble::Replaced)));
}

#[test]
fn only_what_must_survive_a_loss_of_power_waits_for_the_disk() {
    let bench = Bench::new("sync");
    for (durability, expected) in [
        (Durability::Accepted, Sync::Later),
        (Durability::Written, Sync::Later),
        (Durability::Durable, Sync::Now),
    ] {
        let (job, _told) = bench.waiting("one", durability);
        assert_eq!(sync_of(&[job]), expected, "{durability:?}");
    }
}

#[test]
fn what_was_called_before_a_failure_was_known_fails_with_it() {
    let mut bench = Bench::new("overtaken");
    let (first, mut first_told) = bench.waiting("one", Durability::Durable);
    // Called while the first is being written, and so in the next transaction.
    let (second, mut second_told) = bench.waiting("two", Durability::Durable);
    bench.fail_at(vec![first], false);
    let (third, mut third_told) = bench.waiting("three", Durability::Durable);
    bench.writer.batch(vec![second, third]);
    assert!(matches!(first_told.try_recv(), Ok(Err(Trouble::Io(..)))));
    assert!(matches!(second_told.try_recv(), Ok(Err(Trouble::Io(..)))));
    // Nobody could know of the second's failure when the third was called.
    assert!(matches!(third_told.try_recv(), Ok(Err(Trouble::Io(..)))));
    bench.now("four").unwrap();
    assert_eq!(bench.records(), ["four"]);
}
