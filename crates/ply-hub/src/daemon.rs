//! The hub as a process: its socket, and who may come through it.

use std::fs::File;
use std::io;
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ply_agent::Caller;
use rustix::process::geteuid;
use tokio::io::BufReader;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::ask::Ask;
use crate::ending::Ending;
use crate::hello::{self, Hello, PROTOCOL, Welcome};
use crate::hold;
use crate::hub::Hub;
use crate::peer;
use crate::{Factory, Place};

/// Clients at a time.
const CLIENTS_MAX: usize = 256;
/// How long a client may take to say who it is.
const HELLO_TIME_MAX: Duration = Duration::from_secs(10);
/// How long clients have to come for their sessions before the hub goes on with those that still run: what they bring, such as
/// their environment, is better than what the hub has.
const TAKE_OVER_AFTER: Duration = Duration::from_secs(5);
/// How long to wait when no connection can be taken, such as when there are no descriptors left.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// How long clients may take to notice that their connections are cut.
const CUT_TIME_MAX: Duration = Duration::from_secs(1);
/// How long a hub that serves nobody any more may take to end.
const ENDING_TIME_MAX: Duration = Duration::from_secs(12);
/// How long to wait before looking again whether it has ended.
const BIND_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// A hub that has its place, and serves nobody yet.
#[derive(Debug)]
pub struct Daemon {
    listener: UnixListener,
    place: Place,
    leaves: bool,
    epoch: u64,
    /// Keeps others from being the hub here.
    _own: File,
}

/// How a hub ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "after a handover the process has to end at once"]
pub enum Ended {
    /// With all its agents.
    All,
    /// Its agents go on, and the next hub with them.
    HandedOver,
}

/// Why there is no hub.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DaemonError {
    /// There is one already.
    #[error("a hub runs already; `ply hub status` tells more")]
    Running,
    /// The socket cannot be made.
    #[error("the hub's socket cannot be made: {0}")]
    Socket(#[from] io::Error),
}

impl Daemon {
    /// Takes the place. A socket that a dead hub left is replaced.
    ///
    /// # Errors
    ///
    /// Another hub has the place, or the socket cannot be made.
    pub fn bind(place: Place) -> Result<Self, DaemonError> {
        let own = place.own()?.ok_or(DaemonError::Running)?;
        let socket = place.socket();
        match std::fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let listener = UnixListener::bind(&socket)?;
        std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o600))?;
        Ok(Self {
            listener,
            epoch: place.next_epoch()?,
            place,
            leaves: false,
            _own: own,
        })
    }

    /// The same, but a hub that is ending gets a moment to leave the place. While it serves somebody it has the place.
    ///
    /// # Errors
    ///
    /// As [`bind`](Self::bind).
    ///
    /// # Cancel safety
    ///
    /// Safe to drop.
    pub async fn bind_after_another(place: Place) -> Result<Self, DaemonError> {
        let until = Instant::now() + ENDING_TIME_MAX;
        loop {
            match Self::bind(place.clone()) {
                // It serves nobody any more, or does not yet.
                Err(DaemonError::Running) if !place.socket().exists() && Instant::now() < until => {
                    tokio::time::sleep(BIND_AGAIN_AFTER).await;
                }
                bound => return bound,
            }
        }
    }

    /// Returns the number of this hub, which is higher than that of any hub before it here.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Lets the hub end by itself when it has had nothing to do for long.
    #[must_use]
    pub fn leaves_when_idle(mut self) -> Self {
        self.leaves = true;
        self
    }

    /// Serves clients until the hub is to end ([`Hub::stop`]) and has waited for what goes on. It serves them while it waits.
    ///
    /// Whoever gets [`Ended::HandedOver`] must end its process at once, without dropping anything: agents that lose this hub while it
    /// seems to work are ended.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the hub is gone and its sessions are as after a crash.
    pub async fn run<F: Factory>(self, hub: Arc<Hub<F>>) -> Ended {
        let served = Arc::new(AtomicUsize::new(0));
        let over = async {
            tokio::select! {
                ending = hub.over() => ending,
                () = hub.tend(&served, self.leaves) => Ending::NOW,
                () = hub.tell_of_questions() => Ending::NOW,
            }
        };
        let mut over = std::pin::pin!(over);
        let (taker, holders, epoch) = (Arc::clone(&hub), self.place.holders(), self.epoch);
        // Before anybody is served: those that this hub starts are not among them.
        let found = hold::of_store(&holders, hub.store());
        let taking_over = tokio::spawn(async move {
            taker.end_unclaimed(&holders, found, epoch).await;
            tokio::time::sleep(TAKE_OVER_AFTER).await;
            taker.take_over(&holders).await;
        });
        let places = Arc::new(Semaphore::new(CLIENTS_MAX));
        let cut = watch::Sender::new(false);
        let mut clients = JoinSet::new();
        let ending = loop {
            tokio::select! {
                ending = &mut over => break ending,
                taken = self.listener.accept() => match taken {
                    Ok((stream, _)) => {
                        let (hub, places) = (Arc::clone(&hub), Arc::clone(&places));
                        let holders = self.place.holders();
                        let (served, cut) = (Counted::new(&served), cut.subscribe());
                        clients.spawn(async move {
                            // Without a place the client is told so, and not kept waiting.
                            let place = places.try_acquire();
                            serve(&hub, stream, &holders, place.is_ok(), cut).await;
                            drop(served);
                        });
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a client cannot be taken");
                        tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
                    }
                },
                Some(_) = clients.join_next() => {}
            }
        };
        taking_over.abort();
        // Nobody finds it from here on, so that whoever comes starts another.
        drop(std::fs::remove_file(self.place.socket()));
        if ending.hands_over {
            // First, so that they see nothing of what is closed here: they find the next hub.
            cut.send_replace(true);
            let gone = async { while clients.join_next().await.is_some() {} };
            drop(tokio::time::timeout(CUT_TIME_MAX, gone).await);
            clients.shutdown().await;
            hub.hand_over().await;
            return Ended::HandedOver;
        }
        hub.shutdown().await;
        clients.shutdown().await;
        hold::bury_all(&self.place.holders(), hub.store(), self.epoch).await;
        Ended::All
    }
}

/// Counts a client for as long as it is served.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(served: &Arc<AtomicUsize>) -> Self {
        served.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(served))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn serve<F: Factory>(
    hub: &Hub<F>,
    stream: UnixStream,
    holders: &Path,
    has_place: bool,
    mut cut: watch::Receiver<bool>,
) {
    let peer = match peer::of(&stream) {
        Ok(peer) => peer,
        Err(error) => return tracing::warn!(%error, "a client cannot be looked at"),
    };
    let (stream, twin) = match twin(stream) {
        Ok(both) => both,
        Err(error) => return tracing::warn!(%error, "a client cannot be served"),
    };
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    if peer.uid != geteuid().as_raw() {
        return tracing::warn!(uid = peer.uid, "a client of another user was refused");
    }
    let heard = tokio::time::timeout(HELLO_TIME_MAX, hello::hear::<Hello>(&mut reader)).await;
    let hello = match heard {
        Ok(Ok(hello)) => hello,
        Ok(Err(error)) => return tracing::debug!(%error, "a client did not say who it is"),
        Err(_) => return tracing::debug!("a client did not say who it is in time"),
    };
    let is_stranger = peer.pid.is_some_and(|pid| peer::is_stranger(pid, holders));
    let (welcome, caller) = match admit(hub, &hello, is_stranger, has_place) {
        Ok(()) => welcome(hub, hello).await,
        Err(reason) => (Welcome::Refused { reason }, None),
    };
    if let Err(error) = hello::say(&mut writer, &welcome).await {
        return tracing::debug!(%error, "a client went away at once");
    }
    if let Some(caller) = caller {
        // What is not answered yet gets no answer then, not even that the connection ended: the next hub answers it.
        let cutting = async {
            // It never ends before the hub does.
            drop(cut.wait_for(|is_cut| *is_cut).await);
            drop(twin.shutdown(Shutdown::Both));
        };
        tokio::select! {
            () = hub.server().over_as(caller, reader, writer) => {}
            () = cutting => {}
        }
    }
}

/// Returns a second handle of a connection, by which it can be cut whoever uses it.
fn twin(stream: UnixStream) -> io::Result<(UnixStream, std::os::unix::net::UnixStream)> {
    let twin = stream.into_std()?;
    Ok((UnixStream::from_std(twin.try_clone()?)?, twin))
}

/// Returns what a client is told, and how it is served if it is.
async fn welcome<F: Factory>(hub: &Hub<F>, hello: Hello) -> (Welcome, Option<Caller>) {
    let refused = |reason| (Welcome::Refused { reason }, None);
    if let Some(ask) = hello.ask.as_ref().filter(|ask| **ask != Ask::Watch) {
        return match hub.tell(ask.clone()).await {
            Ok(told) => (Welcome::Told(told), None),
            Err(reason) => refused(reason),
        };
    }
    match hub.admit(hello).await {
        Ok(caller) => {
            let ready = Welcome::Ready {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                pid: std::process::id(),
            };
            (ready, Some(caller))
        }
        Err(reason) => refused(reason),
    }
}

fn admit<F: Factory>(
    hub: &Hub<F>,
    hello: &Hello,
    is_stranger: bool,
    has_place: bool,
) -> Result<(), String> {
    if !has_place {
        return Err(format!(
            "the hub serves {CLIENTS_MAX} clients at a time; close one and try again"
        ));
    }
    if hello.protocol != PROTOCOL {
        return Err(format!(
            "the hub that runs is of version {} and greets in another way; `ply hub stop` ends it when its turns are done",
            env!("CARGO_PKG_VERSION")
        ));
    }
    if hello.store != hub.store() {
        return Err(format!(
            "the hub that runs keeps sessions in {}, not in {}; use that store, or `--no-hub`",
            hub.store().display(),
            hello.store.display()
        ));
    }
    if is_stranger {
        return Err(
            "agents and the commands that they run may not use the hub: they could approve what they do themselves"
                .to_owned(),
        );
    }
    Ok(())
}
