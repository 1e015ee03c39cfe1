//! A store does what a list of lists does, whatever is asked of it in whatever order.

use std::collections::BTreeMap;

use ply_journal::{Durability, Error, Filter, Head, Journal, Log, Opened, Sqlite};
use proptest::prelude::*;

use crate::scratch::Scratch;

const SESSIONS: usize = 3;

#[derive(Debug, Clone)]
enum Op {
    /// With one of two keys.
    Create(usize, bool),
    Open(usize),
    Release(usize),
    Delete(usize),
    Append(usize, Vec<usize>, Durability),
    Read(usize, u64, usize),
    Look(usize),
    List,
    Reopen {
        close: bool,
    },
}

fn op() -> impl Strategy<Value = Op> {
    let session = 0..SESSIONS;
    let sizes = prop::collection::vec(
        prop_oneof![8 => 0..200usize, 2 => 1_000..5_000usize, 1 => 60_000..200_000usize],
        0..6,
    );
    let durability = prop_oneof![4 => Just(Durability::Accepted), 1 => Just(Durability::Written), 1 => Just(Durability::Durable)];
    prop_oneof![
        2 => (session.clone(), any::<bool>()).prop_map(|(a, b)| Op::Create(a, b)),
        2 => session.clone().prop_map(Op::Open),
        1 => session.clone().prop_map(Op::Release),
        1 => session.clone().prop_map(Op::Delete),
        8 => (session.clone(), sizes, durability).prop_map(|(a, b, c)| Op::Append(a, b, c)),
        4 => (session.clone(), 0..40u64, 0..100_000usize).prop_map(|(a, b, c)| Op::Read(a, b, c)),
        2 => session.prop_map(Op::Look),
        1 => Just(Op::List),
        1 => any::<bool>().prop_map(|close| Op::Reopen { close }),
    ]
}

/// The page that a read returns.
fn page(records: &[Vec<u8>], from: u64, bytes_max: usize) -> Vec<Vec<u8>> {
    let (mut page, mut bytes) = (Vec::new(), 0);
    for record in records.iter().skip(usize::try_from(from).unwrap()) {
        bytes += record.len();
        if !page.is_empty() && bytes > bytes_max {
            break;
        }
        page.push(record.clone());
    }
    page
}

#[derive(Debug)]
struct World {
    scratch: Scratch,
    journal: Sqlite,
    logs: BTreeMap<usize, Box<dyn Log>>,
    model: BTreeMap<usize, Session>,
    count: u8,
}

/// A session as it should be.
#[derive(Debug, Default)]
struct Session {
    key: bool,
    epoch: u64,
    records: Vec<Vec<u8>>,
}

impl Session {
    /// Compares a session that was opened with this one.
    fn check(&mut self, opened: &Opened) {
        assert!(opened.epoch > self.epoch);
        self.epoch = opened.epoch;
        assert_eq!(opened.records, self.records.len() as u64);
    }
}

impl World {
    async fn step(&mut self, op: Op) {
        match op {
            Op::Create(session, key) => {
                let head = Head::new(session.to_string(), "/work", 1);
                match self.journal.create(head, &key.to_string()).await {
                    Ok(opened) => {
                        let known = self.model.entry(session);
                        let known = known.or_insert_with(|| Session {
                            key,
                            ..Session::default()
                        });
                        assert_eq!(known.key, key);
                        known.check(&opened);
                        assert!(self.logs.insert(session, opened.log).is_none());
                    }
                    Err(Error::Exists) => assert!(self.model[&session].key != key),
                    Err(Error::InUse(_)) => {
                        assert!(self.model[&session].key == key);
                        assert!(self.logs.contains_key(&session));
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            Op::Open(session) => match self.journal.open(&session.to_string()).await {
                Ok(Some(opened)) => {
                    self.model.get_mut(&session).unwrap().check(&opened);
                    assert!(self.logs.insert(session, opened.log).is_none());
                }
                Ok(None) => assert!(!self.model.contains_key(&session)),
                Err(Error::InUse(_)) => assert!(self.logs.contains_key(&session)),
                Err(error) => panic!("{error}"),
            },
            Op::Release(session) => drop(self.logs.remove(&session)),
            Op::Delete(session) => {
                let deleted = self.journal.delete(&session.to_string()).await.unwrap();
                assert_eq!(deleted, self.model.remove(&session).is_some());
                if let Some(log) = self.logs.remove(&session) {
                    let late = log.append(vec![vec![1]], Durability::Durable, None).await;
                    assert!(matches!(late, Err(Error::Deleted)), "{late:?}");
                }
            }
            Op::Append(session, sizes, durability) => {
                let Some(log) = self.logs.get(&session) else {
                    return;
                };
                let records: Vec<Vec<u8>> = sizes
                    .iter()
                    .map(|size| {
                        self.count = self.count.wrapping_add(1);
                        vec![self.count; *size]
                    })
                    .collect();
                log.append(records.clone(), durability, None).await.unwrap();
                self.model
                    .get_mut(&session)
                    .unwrap()
                    .records
                    .extend(records);
            }
            Op::Read(session, from, bytes_max) => {
                if let Some(log) = self.logs.get(&session) {
                    let read = log.read(from, bytes_max).await.unwrap();
                    let records = &self.model[&session].records;
                    assert!(read.records == page(records, from, bytes_max));
                }
            }
            Op::Look(session) => {
                let found = self.journal.look(&session.to_string()).await.unwrap();
                assert_eq!(found.is_some(), self.model.contains_key(&session));
                if let Some((_, look)) = found {
                    let read = look.read(0, usize::MAX).await.unwrap();
                    assert!(read.records == self.model[&session].records);
                }
            }
            Op::List => {
                let page = self.journal.list(Filter::new(10)).await.unwrap();
                let ids: Vec<String> = page.sessions.into_iter().map(|head| head.id).collect();
                let expected: Vec<String> = self.model.keys().map(ToString::to_string).collect();
                assert_eq!(ids, expected);
            }
            Op::Reopen { close } => {
                if close {
                    self.journal.close().await.unwrap();
                }
                self.logs.clear();
                self.journal = Sqlite::new(self.scratch.store());
            }
        }
    }
}

proptest! {
    #[test]
    fn a_store_does_what_its_model_does(ops in prop::collection::vec(op(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let scratch = Scratch::in_memory();
            let mut world = World {
                journal: Sqlite::new(scratch.store()),
                scratch,
                logs: BTreeMap::new(),
                model: BTreeMap::new(),
                count: 0,
            };
            for op in ops {
                world.step(op).await;
            }
            // All of it is there for whoever comes later.
            world.step(Op::Reopen { close: false }).await;
            for session in 0..SESSIONS {
                world.step(Op::Look(session)).await;
            }
        });
    }
}
