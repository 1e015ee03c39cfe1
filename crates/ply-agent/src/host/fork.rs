//! Copies of sessions.

use std::path::PathBuf;
use std::sync::Arc;

use ply_journal::{Description, Durability, Error, Head, Journal, Log, Records};
use ply_rpc::{Responder, RpcError};
use ply_session::{ForkPoint, Forking, Input, RequestId, fork_record, is_forked};
use ply_wire::link::rpc_error_v2;
use ply_wire::v2;
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};

use super::partial::{PARTIAL, is_partial};
use super::{Host, fresh_id};
use crate::clock;
use crate::error::no_such_session;
use crate::session::Session;
use crate::session::control::{Control, ForkAnswer, Waiter};

/// Bytes that are copied at a time.
const COPY_BYTES: usize = 256 * 1024;
/// How often a session that ends just then is looked for anew.
const FORK_TRIES_MAX: usize = 16;

/// A question how much of a session is in its journal. Dropped, it is taken back.
#[derive(Debug)]
pub(crate) struct Asked {
    session: Session,
    request: RequestId,
    told: oneshot::Receiver<ForkAnswer>,
}

impl Drop for Asked {
    fn drop(&mut self) {
        // One that was answered is not known any more.
        let request = self.request;
        self.session.input_if_open(Input::Withdraw { request });
    }
}

/// How many copies are being made, and whether there may be more.
#[derive(Debug, Default)]
pub(super) struct Copies(watch::Sender<UnderWay>);

#[derive(Debug, Default)]
struct UnderWay {
    copies: usize,
    are_given_up: bool,
}

/// One of them. The last clone counts.
type Counted = Arc<Count>;

struct Count(watch::Sender<UnderWay>);

impl Copies {
    /// Counts one more; none if the agent ends.
    fn begin(&self) -> Option<Counted> {
        let may_begin = self.0.send_if_modified(|under_way| {
            under_way.copies += usize::from(!under_way.are_given_up);
            !under_way.are_given_up
        });
        may_begin.then(|| Arc::new(Count(self.0.clone())))
    }

    /// Gives up all of them, since the agent ends.
    pub(super) fn give_up(&self) {
        self.0
            .send_modify(|under_way| under_way.are_given_up = true);
    }

    async fn given_up(&self) {
        self.wait_for(|under_way| under_way.are_given_up).await;
    }

    /// Waits until those that were given up are cleared away.
    pub(super) async fn over(&self) {
        self.wait_for(|under_way| under_way.copies == 0).await;
    }

    async fn wait_for(&self, is: fn(&UnderWay) -> bool) {
        // We are a sender ourselves, so there is one.
        let _is_it = self.0.subscribe().wait_for(is).await.is_ok();
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.0.send_modify(|under_way| under_way.copies -= 1);
    }
}

/// A copy that is being made. Dropped before it is whole, it is deleted.
struct Copying {
    journal: Arc<dyn Journal>,
    id: v2::SessionId,
    log: Option<Box<dyn Log>>,
    is_whole: bool,
    counted: Counted,
}

impl Drop for Copying {
    fn drop(&mut self) {
        // When the runtime ends there is nobody to delete it. Its head says that it is not whole.
        let (false, Ok(runtime)) = (self.is_whole, Handle::try_current()) else {
            return;
        };
        let (journal, id, log) = (Arc::clone(&self.journal), self.id.clone(), self.log.take());
        let counted = Arc::clone(&self.counted);
        runtime.spawn(async move {
            if let Some(log) = log
                && let Err(error) = log.close().await
            {
                tracing::debug!(session = %id.0, %error, "a copy that is given up is not given back");
            }
            if let Err(error) = journal.delete(&id.0).await {
                tracing::error!(session = %id.0, %error, "a copy that is given up is not deleted");
            }
            drop(counted);
        });
    }
}

impl Host {
    /// Copies a session up to its last finished turn, and returns the id of the copy. What its clients sent before it was
    /// `asked` is part of it. Stops at once when nobody waits for the answer any more or the agent ends, whatever the journal
    /// does.
    pub(crate) async fn fork(
        &self,
        source: &v2::SessionId,
        asked: Option<Asked>,
        cwd: PathBuf,
        responder: &Responder,
    ) -> Result<v2::SessionId, RpcError> {
        let ends = || RpcError::internal("the agent ends; fork the session when it runs again");
        let counted = self.copies.begin().ok_or_else(ends)?;
        tokio::select! {
            biased;
            () = self.copies.given_up() => Err(ends()),
            fork = self.copy(source, asked, cwd, counted) => fork,
            () = responder.cancelled() => Err(RpcError::cancelled()),
        }
    }

    async fn copy(
        &self,
        source: &v2::SessionId,
        mut asked: Option<Asked>,
        cwd: PathBuf,
        counted: Counted,
    ) -> Result<v2::SessionId, RpcError> {
        for _ in 0..FORK_TRIES_MAX {
            let upto = match asked.take().or_else(|| self.ask_for_records(source)) {
                Some(mut asked) => match (&mut asked.told).await {
                    Ok(Ok(records)) => records,
                    Ok(Err(error)) => return Err(rpc_error_v2(&error)),
                    // It is over; what it was is in the journal.
                    Err(_) => continue,
                },
                None => u64::MAX,
            };
            return match copy(self.journal(), source, upto, cwd, counted).await {
                Ok(Some(fork)) => Ok(fork),
                Ok(None) => Err(no_such_session(source)),
                Err(error) => Err(crate::Error::from(error).to_rpc()),
            };
        }
        Err(RpcError::internal(
            "the session is opened and closed all the time",
        ))
    }

    /// Asks a session how much of it is in the journal; none if it is not open.
    pub(crate) fn ask_for_records(&self, source: &v2::SessionId) -> Option<Asked> {
        let session = self.open_session(source)?;
        let (tell, told) = oneshot::channel();
        let request = self.next_request();
        let input = Box::new(Input::Fork { request });
        let control = Control::Request(input, Waiter::Fork(tell));
        session.control(control).ok()?;
        Some(Asked {
            session,
            request,
            told,
        })
    }
}

async fn copy(
    journal: Arc<dyn Journal>,
    source: &v2::SessionId,
    upto: u64,
    cwd: PathBuf,
    counted: Counted,
) -> Result<Option<v2::SessionId>, Error> {
    let found = journal.look(&source.0).await?;
    let Some((_, records)) = found.filter(|(head, _)| !is_partial(head)) else {
        return Ok(None);
    };
    let point = fork_point(&*records, upto).await?;
    let fork = fresh_id();
    let mut head = Head::new(&*fork.0, cwd, clock::now_ms());
    head.title.clone_from(&point.title);
    head.host = Some(PARTIAL.to_owned());
    let mut copying = Copying {
        journal: Arc::clone(&journal),
        id: fork.clone(),
        log: None,
        is_whole: false,
        counted,
    };
    // The id names the creation too, since nobody else knows it.
    let log = journal.create(head, &fork.0).await?.log;
    fill(&**copying.log.insert(log), &*records, &point, source).await?;
    if let Some(log) = copying.log.take() {
        log.close().await?;
    }
    copying.is_whole = true;
    Ok(Some(fork))
}

/// Finds where the copy ends, among the first records.
async fn fork_point(records: &dyn Records, upto: u64) -> Result<ForkPoint, Error> {
    let (mut forking, mut from) = (Forking::default(), 0);
    while from < upto {
        match records.read(from, COPY_BYTES).await {
            Ok(batch) if batch.records.is_empty() => break,
            Ok(batch) => {
                let known = usize::try_from(upto - from).unwrap_or(usize::MAX);
                let first = batch.records.iter().take(known);
                first.for_each(|record| forking.record(record));
                from = batch.next;
            }
            // A journal that does not go on would keep us here for ever.
            Err(Error::Damaged { next, .. }) if next > from => {
                forking.missing(next - from);
                from = next;
            }
            Err(error) => return Err(error),
        }
        // A journal in memory never waits.
        tokio::task::yield_now().await;
    }
    Ok(forking.point())
}

/// Writes the copy. Records that cannot be read are left out.
async fn fill(
    log: &dyn Log,
    records: &dyn Records,
    point: &ForkPoint,
    source: &v2::SessionId,
) -> Result<(), Error> {
    let mut from = 0;
    // That it is a copy comes first: one that is cut off in the middle would use ids of its past again.
    let mut page = vec![fork_record(source)];
    while from < point.records {
        match records.read(from, COPY_BYTES).await {
            Ok(batch) if batch.records.is_empty() => break,
            Ok(batch) => {
                let left = usize::try_from(point.records - from).unwrap_or(usize::MAX);
                let first = batch.records.into_iter().take(left);
                let next: Vec<_> = first.filter(|record| is_forked(record)).collect();
                if !next.is_empty() {
                    let page = std::mem::replace(&mut page, next);
                    log.append(page, Durability::Written, None).await?;
                }
                from = batch.next;
            }
            Err(Error::Damaged { next, .. }) if next > from => {
                tracing::warn!(session = %source.0, from, next, "damaged records are not copied");
                from = next;
            }
            Err(error) => return Err(error),
        }
        // A journal in memory never waits.
        tokio::task::yield_now().await;
    }
    let is_whole = Description::default().host(None);
    log.append(page, Durability::Durable, Some(is_whole))
        .await?;
    Ok(())
}
