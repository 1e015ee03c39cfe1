//! The way out of a command's own network: a proxy of the agent's that knows which hosts are allowed.
//!
//! A command in a network namespace reaches nothing but itself. Its helper opens a listener in there and
//! hands it to the agent, which accepts from it like from any other, outside. So nothing runs inside that a
//! command could take over, and there is no address that it could go around.

mod proxy;

use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, Interest};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};

use super::enter::handed;
use super::hosts::Host;

pub(super) use super::enter::gate::PORT;

/// How many connections of one command may be open at once.
const CONNECTIONS_MAX: usize = 128;
/// How many refused hosts are remembered for the answer to a command.
const REFUSED_MAX: usize = 8;

/// The agent's side of the doors of a session's commands. Dropped, all of them close.
#[derive(Debug)]
pub(in crate::shell) struct Gate {
    refused: Refused,
    accepting: AbortHandle,
}

/// Hosts that were asked for and are not allowed.
#[derive(Debug, Clone, Default)]
struct Refused(Arc<Mutex<Vec<String>>>);

impl Refused {
    fn add(&self, host: String) {
        let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() < REFUSED_MAX && !hosts.contains(&host) {
            hosts.push(host);
        }
    }
}

impl Gate {
    /// Takes in doors at a socket.
    pub(in crate::shell) fn open(socket: &PathBuf, hosts: &[Host]) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let (hosts, refused) = (Arc::from(hosts), Refused::default());
        let accepting = tokio::spawn(accept(listener, hosts, refused.clone()));
        Ok(Self {
            refused,
            accepting: accepting.abort_handle(),
        })
    }

    /// Returns the hosts that commands asked for in vain since this was last called.
    pub(in crate::shell) fn take_refused(&self) -> Vec<String> {
        let mut hosts = self
            .refused
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *hosts)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: UnixListener, hosts: Arc<[Host]>, refused: Refused) {
    let mut doors = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((helper, _)) => {
                    doors.spawn(keep_door(helper, Arc::clone(&hosts), refused.clone()));
                }
                Err(error) => return tracing::warn!(%error, "commands have no way to the network any more"),
            },
            Some(_) = doors.join_next() => {}
        }
    }
}

/// Serves one command until its helper is gone.
async fn keep_door(mut helper: UnixStream, hosts: Arc<[Host]>, refused: Refused) {
    let door = match receive(&helper).await {
        Ok(door) => door,
        Err(error) => return tracing::warn!(%error, "a command has no way to the network"),
    };
    let mut connections = JoinSet::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let mut byte = [0];
        tokio::select! {
            // It says nothing more, and its end closes the connection.
            _ = helper.read(&mut byte) => return,
            Some(_) = connections.join_next() => {}
            accepted = next(&door, &room) => match accepted {
                Ok((stream, place)) => {
                    let (hosts, refused) = (Arc::clone(&hosts), refused.clone());
                    connections.spawn(async move {
                        let _place = place;
                        let result = proxy::serve(stream, &hosts, &|host| refused.add(host)).await;
                        if let Err(error) = result {
                            tracing::debug!(%error, "a connection of a command ended");
                        }
                    });
                }
                Err(error) => return tracing::debug!(%error, "the door of a command is gone"),
            },
        }
    }
}

async fn next(
    door: &tokio::net::TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await;
    let place = place.map_err(io::Error::other)?;
    let (stream, _) = door.accept().await?;
    Ok((stream, place))
}

/// Waits for the listener that a helper hands over.
async fn receive(helper: &UnixStream) -> io::Result<tokio::net::TcpListener> {
    let received = helper.async_io(Interest::READABLE, || handed::take(helper));
    let door: OwnedFd = received.await?;
    let door = TcpListener::from(door);
    door.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(door)
}
