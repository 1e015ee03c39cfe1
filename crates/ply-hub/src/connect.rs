//! The way to a hub, which is started if there is none.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::Command;

use crate::Place;
use crate::ask::Told;
use crate::hello::{self, Hello, HelloError, Welcome};

/// How long a hub may take to start: it may have to wait for the end of another.
const START_TIME_MAX: Duration = Duration::from_secs(15);
/// How long a hub may take to greet: it may have to start an agent first.
const WELCOME_TIME_MAX: Duration = Duration::from_secs(60);
/// How much of what a hub says that does not start is read.
const REASON_BYTES_MAX: u64 = 4096;
/// What a hub writes to its standard output when it can be reached.
pub const READY: &str = "ready";

/// A connection to a hub, on which ACP is spoken.
#[derive(Debug)]
pub struct Connected {
    /// From the hub.
    pub reader: BufReader<OwnedReadHalf>,
    /// To the hub.
    pub writer: OwnedWriteHalf,
    /// The version of its program.
    pub version: String,
}

/// Why there is no way to a hub.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// There is none.
    #[error("no hub runs")]
    None,
    /// It does not serve this client.
    #[error("{0}")]
    Refused(String),
    /// It does not answer.
    #[error("the hub does not answer")]
    Silent,
    /// It could not be started.
    #[error("the hub cannot be started: {0}")]
    NotStarted(String),
    /// The connection broke.
    #[error("the hub cannot be reached: {0}")]
    Broken(#[from] HelloError),
}

/// Connects to the hub that runs.
///
/// # Errors
///
/// There is none, or it does not serve this client.
///
/// # Cancel safety
///
/// Dropped before it is done, the connection ends.
pub async fn connect(place: &Place, hello: &Hello) -> Result<Connected, ConnectError> {
    let (reader, writer, welcome) = greet(place, hello).await?;
    match welcome {
        Welcome::Ready { version, .. } => Ok(Connected {
            reader,
            writer,
            version,
        }),
        Welcome::Refused { reason } => Err(ConnectError::Refused(reason)),
        Welcome::Told(_) => Err(HelloError::Other.into()),
    }
}

/// Asks the hub that runs something.
///
/// # Errors
///
/// There is none, or it refuses.
///
/// # Cancel safety
///
/// Dropped before it is done, the hub may do it or not.
pub async fn ask(place: &Place, hello: &Hello) -> Result<Told, ConnectError> {
    match greet(place, hello).await?.2 {
        Welcome::Told(told) => Ok(told),
        Welcome::Refused { reason } => Err(ConnectError::Refused(reason)),
        Welcome::Ready { .. } => Err(HelloError::Other.into()),
    }
}

async fn greet(
    place: &Place,
    hello: &Hello,
) -> Result<(BufReader<OwnedReadHalf>, OwnedWriteHalf, Welcome), ConnectError> {
    let stream = match UnixStream::connect(place.socket()).await {
        Ok(stream) => stream,
        Err(error) if is_none(&error) => return Err(ConnectError::None),
        Err(error) => return Err(HelloError::Io(error).into()),
    };
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let greeted = async {
        hello::say(&mut writer, hello).await?;
        hello::hear(&mut reader).await
    };
    match tokio::time::timeout(WELCOME_TIME_MAX, greeted).await {
        Ok(welcome) => Ok((reader, writer, welcome?)),
        Err(_) => Err(ConnectError::Silent),
    }
}

/// Returns whether nobody is behind the socket.
fn is_none(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    )
}

/// Connects to the hub, and starts it with `serve` if there is none. Of those that find none at the same time one starts it.
///
/// `serve` must be a command that goes on by itself and writes [`READY`] or what is wrong to its standard output.
///
/// # Errors
///
/// It cannot be started, or does not serve this client.
///
/// # Cancel safety
///
/// Dropped before it is done, the hub may be started or not.
pub async fn connect_or_start(
    place: &Place,
    hello: &Hello,
    serve: impl FnOnce() -> std::process::Command,
) -> Result<Connected, ConnectError> {
    match connect(place, hello).await {
        Err(ConnectError::None) => {}
        connected => return connected,
    }
    let starting = place.clone();
    // Another client may hold the lock for as long as a hub takes to start.
    let lock = tokio::task::spawn_blocking(move || starting.starting()).await;
    let not_started = |error: &dyn std::fmt::Display| ConnectError::NotStarted(error.to_string());
    let _lock = lock
        .map_err(|error| not_started(&error))?
        .map_err(|error| not_started(&error))?;
    match connect(place, hello).await {
        Err(ConnectError::None) => {}
        connected => return connected,
    }
    start(serve()).await?;
    connect(place, hello).await
}

/// Starts a hub and waits until it can be reached.
async fn start(serve: std::process::Command) -> Result<(), ConnectError> {
    let not_started = |error: io::Error| ConnectError::NotStarted(error.to_string());
    let mut command = Command::from(serve);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(not_started)?;
    let Some(out) = child.stdout.take() else {
        return Err(ConnectError::NotStarted("it has no output".to_owned()));
    };
    let mut said = String::new();
    let mut out = BufReader::new(out).take(REASON_BYTES_MAX);
    match tokio::time::timeout(START_TIME_MAX, out.read_line(&mut said)).await {
        Ok(Ok(_)) if said.trim() == READY => Ok(()),
        Ok(Ok(0)) => Err(ConnectError::NotStarted("it ended at once".to_owned())),
        Ok(Ok(_)) => Err(ConnectError::NotStarted(said.trim().to_owned())),
        Ok(Err(error)) => Err(not_started(error)),
        Err(_) => {
            let seconds = START_TIME_MAX.as_secs();
            Err(ConnectError::NotStarted(format!(
                "it was not ready after {seconds} seconds"
            )))
        }
    }
}
