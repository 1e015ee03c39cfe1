//! A hub's side: the connection to a holder.

use std::io;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

use super::files::Directory;
use super::frame::{BODY_BYTES_MAX, Decoder, Frame, Kind, encode};
use super::message::{Ended, FromHolder, FromHub, PROTOCOL, body};
use super::start::Error;
use crate::pipe::{Exit, FromAgent, PIPE_LINES_MAX, Pipe, ToAgent};

/// How long a holder may take to say where its agent stands.
const HELLO_TIME_MAX: Duration = Duration::from_secs(10);
/// Orders to a holder that wait.
const ORDERS_MAX: usize = 16;
/// Lines are written together up to this size.
const WRITE_BYTES: usize = 64 * 1024;

/// A connection to a holder.
///
/// It lasts until [`Pipe::to`] is dropped. The agent then goes on without a hub, for as long as its order said.
#[derive(Debug)]
pub struct Connection {
    /// The agent's lines.
    pub pipe: Pipe,
    /// What else the holder is told.
    pub control: Control,
    /// The agent's process id.
    pub agent: u32,
}

/// Tells a holder what is not for its agent.
#[derive(Debug, Clone)]
pub struct Control {
    orders: mpsc::Sender<Ordered>,
}

#[derive(Debug)]
enum Ordered {
    Busy(bool),
    Bury,
    Stderr(oneshot::Sender<String>),
}

impl Control {
    /// Says whether a turn runs or a question is open, which is worth waiting for longer should this hub go.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: it was said or not.
    pub async fn busy(&self, busy: bool) {
        self.order(Ordered::Busy(busy)).await;
    }

    /// Says so without waiting. Returns whether it was said; if not, too much waits to be said.
    pub(crate) fn busy_now(&self, busy: bool) -> bool {
        self.orders.try_send(Ordered::Busy(busy)).is_ok()
    }

    /// Has the holder end what is left of its agent, remove its files and end itself. The connection ends when that is done.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: it was said or not.
    pub async fn bury(&self) {
        self.order(Ordered::Bury).await;
    }

    /// Returns the last of the agent's standard error; `None` if the connection is lost.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn stderr(&self) -> Option<String> {
        let (answer, answered) = oneshot::channel();
        self.order(Ordered::Stderr(answer)).await;
        answered.await.ok()
    }

    async fn order(&self, order: Ordered) {
        // Without a connection there is nobody to tell, which the end of the pipe says.
        drop(self.orders.send(order).await);
    }
}

/// Connects to a holder as the hub of this epoch.
///
/// Epochs of the same hub may repeat; a hub that begins must have a higher one than any before it. Whoever was connected is cut
/// off. The pipe gives the agent's lines from the first one that was not acknowledged on, and its end again if it has ended.
///
/// # Errors
///
/// The holder is gone, or was taken over by a later hub.
///
/// # Cancel safety
///
/// Cancel safe.
///
/// # Panics
///
/// Outside a tokio runtime with IO and time enabled.
pub async fn connect(directory: &Path, id: &str, epoch: u64) -> Result<Connection, Error> {
    let directory = Directory::open(directory).map_err(Error::Directory)?;
    let socket = directory.socket(id).map_err(Error::Directory)?;
    let stream = UnixStream::connect(socket).await.map_err(Error::Lost)?;
    let peer = stream.peer_cred().map_err(Error::Lost)?;
    if peer.uid() != rustix::process::geteuid().as_raw() {
        let problem = "the socket belongs to another user";
        return Err(Error::Lost(io::Error::other(problem)));
    }
    let (mut from, mut to) = stream.into_split();
    let mut decoder = Decoder::default();
    let greeting = greet(&mut from, &mut to, &mut decoder, epoch);
    let greeted = tokio::time::timeout(HELLO_TIME_MAX, greeting).await;
    let hello = greeted.unwrap_or_else(|_| Err(Error::Lost(io::ErrorKind::TimedOut.into())))?;

    let (lines, from_agent) = mpsc::channel(PIPE_LINES_MAX);
    let (to_agent, for_agent) = mpsc::channel(PIPE_LINES_MAX);
    let (orders, ordered) = mpsc::channel(ORDERS_MAX);
    let (asked, asking) = mpsc::channel(ORDERS_MAX);
    tokio::spawn(read((from, decoder), lines, asking, hello.last_in));
    tokio::spawn(write(to, for_agent, ordered, asked));
    Ok(Connection {
        pipe: Pipe {
            hello: hello.stands(),
            from: from_agent,
            to: to_agent,
        },
        control: Control { orders },
        agent: hello.pid,
    })
}

async fn greet(
    from: &mut OwnedReadHalf,
    to: &mut OwnedWriteHalf,
    decoder: &mut Decoder,
    epoch: u64,
) -> Result<FromHolder, Error> {
    let mut hello = Vec::new();
    let protocol = PROTOCOL;
    let message = body(&FromHub { protocol, epoch });
    encode(Kind::Hello, 0, &message, &mut hello);
    to.write_all(&hello).await.map_err(Error::Lost)?;
    let frame = next(from, decoder).await.map_err(Error::Lost)?;
    let frame = frame.ok_or_else(|| Error::Lost(io::ErrorKind::UnexpectedEof.into()))?;
    match frame.kind {
        Kind::Refused => Err(Error::Fenced {
            epoch: frame.number,
        }),
        Kind::Hello => serde_json::from_slice(&frame.body)
            .map_err(|_| Error::Lost(io::ErrorKind::InvalidData.into())),
        _ => Err(Error::Lost(io::ErrorKind::InvalidData.into())),
    }
}

/// Returns the next frame, or `None` at the end.
async fn next(from: &mut OwnedReadHalf, decoder: &mut Decoder) -> io::Result<Option<Frame>> {
    loop {
        let frame = decoder.next();
        if let Some(frame) = frame.map_err(|error| io::Error::other(error.to_string()))? {
            return Ok(Some(frame));
        }
        if from.read_buf(decoder.buffer()).await? == 0 {
            return Ok(None);
        }
    }
}

/// Hands on what the holder says; the agent was written lines up to `written` before.
async fn read(
    (mut from, mut decoder): (OwnedReadHalf, Decoder),
    lines: mpsc::Sender<FromAgent>,
    mut asking: mpsc::Receiver<oneshot::Sender<String>>,
    mut written: u64,
) {
    let mut stderr = String::new();
    loop {
        let frame = tokio::select! {
            frame = next(&mut from, &mut decoder) => frame,
            () = lines.closed() => return,
        };
        let frame = match frame {
            Ok(Some(frame)) => frame,
            Ok(None) => return,
            Err(error) => return tracing::debug!(%error, "the connection to a holder is lost"),
        };
        let number = frame.number;
        let news = match frame.kind {
            Kind::Out => FromAgent::Line {
                number,
                line: frame.body,
            },
            Kind::Wrote => {
                written = number;
                FromAgent::Wrote { number }
            }
            Kind::Stderr => {
                stderr = String::from_utf8_lossy(&frame.body).into_owned();
                // Whoever asked may have gone.
                while let Ok(asked) = asking.try_recv() {
                    drop(asked.send(stderr.clone()));
                }
                continue;
            }
            Kind::Exit => {
                let ended: Ended = serde_json::from_slice(&frame.body).unwrap_or_default();
                FromAgent::Exit(Exit {
                    code: ended.code,
                    signal: ended.signal,
                    stderr: std::mem::take(&mut stderr),
                    // The holder has said how far it came before it tells of the end.
                    written,
                })
            }
            _ => continue,
        };
        if lines.send(news).await.is_err() {
            return;
        }
    }
}

/// Tells the holder what it is to be told, until nobody has anything more to say.
async fn write(
    mut to: OwnedWriteHalf,
    mut lines: mpsc::Receiver<ToAgent>,
    mut ordered: mpsc::Receiver<Ordered>,
    asked: mpsc::Sender<oneshot::Sender<String>>,
) {
    let mut out = Vec::new();
    let mut is_open = true;
    while is_open {
        tokio::select! {
            Some(order) = ordered.recv() => obey(order, &asked, &mut out),
            line = lines.recv() => match line {
                Some(line) => {
                    say(line, &mut out);
                    while out.len() < WRITE_BYTES && let Ok(line) = lines.try_recv() {
                        say(line, &mut out);
                    }
                }
                None => is_open = false,
            },
        }
        while let Ok(order) = ordered.try_recv() {
            obey(order, &asked, &mut out);
        }
        if let Err(error) = to.write_all(&out).await {
            return tracing::debug!(%error, "the connection to a holder is lost");
        }
        // A long line is rare and leaves a long buffer.
        out.clear();
        out.shrink_to(WRITE_BYTES);
    }
}

fn say(line: ToAgent, out: &mut Vec<u8>) {
    match line {
        ToAgent::Line { number, line } if line.len() > BODY_BYTES_MAX => {
            tracing::error!(
                number,
                bytes = line.len(),
                "a line for an agent is too long"
            );
        }
        ToAgent::Line { number, line } => encode(Kind::In, number, &in_one_line(line), out),
        ToAgent::Acknowledge { upto } => encode(Kind::Acknowledge, upto, &[], out),
        ToAgent::Stop => encode(Kind::Stop, 0, &[], out),
    }
}

/// Returns a line without line feeds inside, which in JSON are as good as spaces.
fn in_one_line(line: Bytes) -> Bytes {
    if memchr::memchr(b'\n', &line).is_none() {
        return line;
    }
    let replace = |byte: &u8| if *byte == b'\n' { b' ' } else { *byte };
    line.iter().map(replace).collect()
}

fn obey(order: Ordered, asked: &mpsc::Sender<oneshot::Sender<String>>, out: &mut Vec<u8>) {
    match order {
        Ordered::Busy(busy) => encode(Kind::Busy, u64::from(busy), &[], out),
        Ordered::Bury => encode(Kind::Bury, 0, &[], out),
        Ordered::Stderr(answer) => {
            // One that finds too many before it gets no answer, which its asker takes for a lost connection.
            drop(asked.try_send(answer));
            encode(Kind::Stderr, 0, &[], out);
        }
    }
}
