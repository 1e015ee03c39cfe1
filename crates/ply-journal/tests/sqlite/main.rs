//! The store in SQLite: what it does beyond the promises of every journal.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking, and their child processes report in lines"
)]

mod child;
mod crash;
mod damage;
mod disk;
mod files;
mod golden;
mod leases;
mod model;
#[path = "../scratch/mod.rs"]
mod scratch;
mod writing;

use ply_journal::{Durability, Error, Head, Journal as _, Log, Records, Sqlite};

fn head(id: &str) -> Head {
    Head::new(id, "/work", 1)
}

/// Creates a session, with a key of its own.
async fn create(journal: &Sqlite, head: Head) -> Box<dyn Log> {
    let key = format!("key of {}", head.id);
    journal.create(head, &key).await.unwrap().log
}

fn texts(range: std::ops::Range<u64>) -> Vec<Vec<u8>> {
    range
        .map(|number| number.to_string().into_bytes())
        .collect()
}

async fn append(
    log: &dyn Log,
    range: std::ops::Range<u64>,
    durability: Durability,
) -> Result<(), Error> {
    log.append(texts(range), durability, None).await.map(drop)
}

/// Reads all records, which must be there without damage.
async fn all<R: Records + ?Sized>(log: &R) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    loop {
        let page = log.read(found.len() as u64, 10_000).await.unwrap();
        if page.is_empty() {
            return found;
        }
        found.extend(page.records);
    }
}
