//! Our end of a connection, for tests of the other: it sends what it is told, lawful or not, and sees everything.

mod lines;
mod service;

use std::time::Duration;

use ply_client::Direction;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

pub use self::service::{Held, Reply, Service};
use crate::recording::{Frame, Recording};

/// Lines of the other side that wait to be looked at.
const LINES_WAITING_MAX: usize = 1024;
/// How long the other side may take to take in what we send.
const WRITE_TIME_MAX: Duration = Duration::from_secs(20);

/// Why a probe cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stopped {
    /// The other side closed the connection.
    #[error("the connection ended")]
    Ended,
    /// An answer did not come in time.
    #[error("no answer to `{method}` came within {} s", .waited.as_secs_f32())]
    Silent {
        /// What was asked.
        method: String,
        /// How long was waited.
        waited: Duration,
    },
    /// The other side does not take in what is sent.
    #[error("the other side stopped reading")]
    Stuck,
    /// The other side wrote more than can be kept.
    #[error("the other side wrote more than is kept of one connection")]
    Flooded,
    /// Something that the probe needs was refused.
    #[error("`{method}` was refused: {message}")]
    Refused {
        /// What was asked.
        method: String,
        /// What the answer says.
        message: String,
    },
    /// The command could not be started.
    #[error("the command cannot be started: {0}")]
    Spawn(String),
    /// The probe cannot do its work for another reason.
    #[error("{0}")]
    Other(String),
}

/// An answer that came.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The frame of the request.
    pub request: usize,
    /// The frame of the answer.
    pub frame: usize,
    /// The whole message.
    pub message: Value,
}

impl Answer {
    /// Returns the result, if it is one.
    #[must_use]
    pub fn result(&self) -> Option<&Value> {
        self.message.get("result")
    }

    /// Returns the code of the error, if it is one.
    #[must_use]
    pub fn error_code(&self) -> Option<i64> {
        self.message.get("error")?.get("code")?.as_i64()
    }

    /// Returns whether it is an error, whatever is in it.
    pub(crate) fn is_error(&self) -> bool {
        self.message.get("error").is_some()
    }

    /// Returns the message of the error, with what its data says besides, cut and harmless to show.
    #[must_use]
    pub fn error_message(&self) -> String {
        let text = |place| self.message.pointer(place).and_then(Value::as_str);
        let mut words = text("/error/message").unwrap_or_default().to_owned();
        let details = ["/error/data", "/error/data/details", "/error/data/message"];
        if let Some(details) = details.into_iter().find_map(text) {
            words = match words.is_empty() {
                true => details.to_owned(),
                false => format!("{words}: {details}"),
            };
        }
        ply_rpc::clean::for_display(words.as_bytes(), 200)
    }

    /// Says what it is, for a finding.
    pub(crate) fn said(&self) -> String {
        match self.error_code() {
            Some(code) => format!("the answer was the error {code}: {}", self.error_message()),
            None => format!("the answer was {}", self.result().unwrap_or(&Value::Null)),
        }
    }

    /// Returns both frames, as evidence.
    #[must_use]
    pub fn frames(&self) -> [usize; 2] {
        [self.request, self.frame]
    }
}

/// A request of ours that waits for its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its id.
    pub id: Value,
    /// What was asked.
    pub method: String,
    /// The frame of the request.
    pub frame: usize,
}

/// Our end of a connection.
pub struct Peer {
    out: Box<dyn AsyncWrite + Send + Unpin>,
    lines: mpsc::Receiver<Vec<u8>>,
    recording: Recording,
    began: Instant,
    sends: Direction,
    next_id: i64,
    /// Whether the connection ended, or an answer did not come.
    is_lost: bool,
    /// How requests of the other side are answered.
    pub service: Service,
    /// How long an answer may take.
    pub patience: Duration,
    /// The place of the recording in the run, for evidence.
    pub(crate) place: usize,
}

impl Peer {
    /// Returns our end of a connection over a reader and a writer; `sends` says which side we are.
    pub fn new<R, W>(reader: R, writer: W, sends: Direction, recording: Recording) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (tell, lines) = mpsc::channel(LINES_WAITING_MAX);
        tokio::spawn(lines::read(reader, tell));
        Self {
            out: Box::new(writer),
            lines,
            recording,
            began: Instant::now(),
            sends,
            next_id: 1,
            is_lost: false,
            service: Service::default(),
            patience: Duration::from_secs(10),
            place: 0,
        }
    }

    /// Returns whether the connection ended, or an answer that was waited for did not come.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Returns everything that went over the connection.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Sends a message and returns its frame.
    ///
    /// # Errors
    ///
    /// The connection ended, or the other side does not read.
    ///
    /// # Cancel safety
    ///
    /// A part of the line may have been sent.
    pub async fn send(&mut self, message: &Value) -> Result<usize, Stopped> {
        let line = message.to_string();
        let frame = self.record(line.as_bytes());
        self.write(format!("{line}\n").as_bytes()).await?;
        Ok(frame)
    }

    /// Sends bytes as they are, which may be no message at all, and returns the frame of their first line.
    ///
    /// # Errors
    ///
    /// As for [`Peer::send`].
    ///
    /// # Cancel safety
    ///
    /// A part may have been sent.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> Result<usize, Stopped> {
        self.recording.play_foul();
        let mut first = None;
        for line in bytes.split(|byte| *byte == b'\n') {
            if !line.is_empty() {
                let frame = self.record(line);
                first.get_or_insert(frame);
            }
        }
        self.write(bytes).await?;
        Ok(first.unwrap_or_else(|| self.recording.len().saturating_sub(1)))
    }

    /// Sends a piece of a message, or several of them, which is lawful.
    pub(crate) async fn send_piece(&mut self, bytes: &[u8]) -> Result<usize, Stopped> {
        let frame = self.record(bytes);
        self.write(bytes).await?;
        Ok(frame)
    }

    /// Sends a notification and returns its frame.
    ///
    /// # Errors
    ///
    /// As for [`Peer::send`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Peer::send`].
    pub async fn notify(&mut self, method: &str, params: Value) -> Result<usize, Stopped> {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.send(&message).await
    }

    /// Sends a request and does not wait.
    ///
    /// # Errors
    ///
    /// As for [`Peer::send`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Peer::send`].
    pub async fn begin(&mut self, method: &str, params: Value) -> Result<Call, Stopped> {
        let id = json!(self.next_id);
        self.next_id += 1;
        self.begin_as(id, method, params).await
    }

    /// Sends a request under a chosen id and does not wait.
    ///
    /// # Errors
    ///
    /// As for [`Peer::send`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Peer::send`].
    pub async fn begin_as(
        &mut self,
        id: Value,
        method: &str,
        params: Value,
    ) -> Result<Call, Stopped> {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let frame = self.send(&message).await?;
        Ok(Call {
            id,
            method: method.to_owned(),
            frame,
        })
    }

    /// Waits for the answer to a request of ours. Requests of the other side are served meanwhile; everything else stays in the
    /// recording.
    ///
    /// # Errors
    ///
    /// [`Stopped::Silent`] if it does not come in time.
    ///
    /// # Cancel safety
    ///
    /// Frames that were read stay in the recording.
    pub async fn answer(&mut self, call: &Call) -> Result<Answer, Stopped> {
        let patience = self.patience;
        let theirs = self.theirs();
        let fits = |frame: &Frame| {
            frame.direction == theirs && frame.is_answer() && frame.id() == Some(&call.id)
        };
        // It may have come while something else was waited for.
        let found = match self.seen_since(call.frame, fits) {
            Some(frame) => Some(frame),
            None => self.until(patience, fits).await?,
        };
        let silent = || Stopped::Silent {
            method: call.method.clone(),
            waited: patience,
        };
        self.is_lost |= found.is_none();
        let frame = found.ok_or_else(silent)?;
        Ok(Answer {
            request: call.frame,
            frame: frame.number,
            message: frame.json.unwrap_or_default(),
        })
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    ///
    /// As for [`Peer::answer`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Peer::send`].
    pub async fn ask(&mut self, method: &str, params: Value) -> Result<Answer, Stopped> {
        let call = self.begin(method, params).await?;
        self.answer(&call).await
    }

    /// Sends a request whose success the probe needs, and returns the answer and its result.
    ///
    /// # Errors
    ///
    /// [`Stopped::Refused`] if it fails.
    ///
    /// # Cancel safety
    ///
    /// As for [`Peer::send`].
    pub async fn need(&mut self, method: &str, params: Value) -> Result<(Answer, Value), Stopped> {
        let answer = self.ask(method, params).await?;
        match answer.result().cloned() {
            Some(result) => Ok((answer, result)),
            None => Err(Stopped::Refused {
                method: method.to_owned(),
                message: answer.error_message(),
            }),
        }
    }

    /// Waits for a frame of the other side that fits, none if the time is over first. Requests of the other side are served.
    ///
    /// # Errors
    ///
    /// [`Stopped::Ended`] if the connection ends first.
    ///
    /// # Cancel safety
    ///
    /// Frames that were read stay in the recording.
    pub async fn until(
        &mut self,
        within: Duration,
        fits: impl Fn(&Frame) -> bool,
    ) -> Result<Option<Frame>, Stopped> {
        let deadline = Instant::now() + within;
        loop {
            match self.next_before(deadline).await? {
                Some(frame) if fits(&frame) => return Ok(Some(frame)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// Takes in what comes for a while, and returns it.
    ///
    /// # Errors
    ///
    /// [`Stopped::Ended`] if the connection ends meanwhile.
    ///
    /// # Cancel safety
    ///
    /// Frames that were read stay in the recording.
    pub async fn listen(&mut self, time: Duration) -> Result<Vec<Frame>, Stopped> {
        let deadline = Instant::now() + time;
        let mut heard = Vec::new();
        while let Some(frame) = self.next_before(deadline).await? {
            heard.push(frame);
        }
        Ok(heard)
    }

    /// Returns the next frame of the other side before the deadline. A request is served by [`Peer::service`] first.
    async fn next_before(&mut self, deadline: Instant) -> Result<Option<Frame>, Stopped> {
        let line = match timeout_at(deadline, self.lines.recv()).await {
            Ok(Some(line)) => line,
            Ok(None) => {
                self.is_lost = true;
                return Err(Stopped::Ended);
            }
            Err(_) => return Ok(None),
        };
        if self.recording.is_full() {
            return Err(Stopped::Flooded);
        }
        let at = self.began.elapsed();
        let frame = self.recording.add(at, self.theirs(), &line);
        if frame.is_request()
            && let Some(answer) = self.service.serve(&frame)
        {
            self.send(&answer).await?;
        }
        Ok(Some(frame))
    }

    /// Answers a request that the service held.
    ///
    /// # Errors
    ///
    /// As for [`Peer::send`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Peer::send`].
    pub async fn respond(&mut self, id: &Value, result: Value) -> Result<usize, Stopped> {
        let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
        self.send(&message).await
    }

    /// Closes our half of the connection.
    ///
    /// # Cancel safety
    ///
    /// The half may stay open.
    pub async fn close_output(&mut self) {
        // The other side may have closed it first, which is as well.
        drop(self.out.shutdown().await);
        self.out = Box::new(tokio::io::sink());
    }

    /// Returns the first frame after another that fits, of either side, among those that were seen.
    #[must_use]
    pub fn seen_since(&self, frame: usize, fits: impl Fn(&Frame) -> bool) -> Option<Frame> {
        self.recording.with_frames(|frames| {
            let mut later = frames.iter().skip(frame + 1);
            later.find(|frame| fits(frame)).cloned()
        })
    }

    fn theirs(&self) -> Direction {
        match self.sends {
            Direction::ToAgent => Direction::ToClient,
            Direction::ToClient => Direction::ToAgent,
        }
    }

    fn record(&self, line: &[u8]) -> usize {
        let at = self.began.elapsed();
        self.recording.add(at, self.sends, line).number
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Stopped> {
        let deadline = Instant::now() + WRITE_TIME_MAX;
        let written = async {
            self.out.write_all(bytes).await?;
            self.out.flush().await
        };
        match timeout_at(deadline, written).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => {
                self.is_lost = true;
                Err(Stopped::Ended)
            }
            Err(_) => Err(Stopped::Stuck),
        }
    }
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer")
            .field("sends", &self.sends)
            .field("frames", &self.recording.len())
            .finish_non_exhaustive()
    }
}
