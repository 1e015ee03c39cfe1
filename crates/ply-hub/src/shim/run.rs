//! Drives a shim over byte streams, and finds the hub again when it is gone.

use std::future::Future;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use ply_rpc::codec::{Decoder, Frame};
use ply_rpc::envelope::{Answer, Head};
use ply_rpc::limits::LINE_BYTES_MAX;
use ply_rpc::{RequestId, clean};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::{Line, Shim, json};

/// How long the hub is looked for before the editor is told that it is gone.
pub const DIAL_TIME_MAX: Duration = Duration::from_secs(60);
/// How long it takes at least until the hub is looked for again, and at most.
const DIAL_EVERY: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));
/// How long the hub may take to answer what the editor asked before it closed its stream.
const LAST_WORDS_TIME_MAX: Duration = Duration::from_secs(6);
/// Bytes that wait for one side before the other is not read.
const UNSENT_BYTES_MAX: usize = 256 * 1024;

/// Why an editor is not served any more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The hub did not come back.
    #[error("the hub could not be reached for {} seconds", DIAL_TIME_MAX.as_secs())]
    Unreachable(#[source] io::Error),
    /// The editor cannot be read, or written to.
    #[error("the connection to the editor failed")]
    Editor(#[source] io::Error),
}

/// Passes lines between an editor and the hub until the editor closes its stream. When the hub is gone, `connect` is called
/// until there is another, for [`DIAL_TIME_MAX`] at most.
///
/// # Errors
///
/// [`Error`] if the hub stays away, or the editor's streams fail.
///
/// # Cancel safety
///
/// Dropped before it is done, both connections end.
pub async fn run<RE, WE, R, W>(
    editor_in: RE,
    editor_out: WE,
    mut connect: impl AsyncFnMut() -> io::Result<(R, W)>,
) -> Result<(), Error>
where
    RE: AsyncRead + Unpin,
    WE: AsyncWrite + Unpin,
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut shim = Shim::new(fresh_name());
    let mut editor = Side::new(editor_in, editor_out);
    loop {
        let until = Instant::now() + DIAL_TIME_MAX;
        loop {
            let dialled = tend(&mut shim, &mut editor, dial(&mut connect, until)).await?;
            let Some((input, output)) = dialled.map_err(Error::Unreachable)? else {
                return Ok(());
            };
            let mut hub = Side::new(input, output);
            let was_up = pass(&mut shim, &mut editor, &mut hub).await?;
            if editor.has_ended {
                return Ok(());
            }
            let mut lines = Vec::new();
            shim.lost(&mut lines);
            editor.take(lines);
            tracing::debug!("the connection to the hub is lost");
            if was_up {
                break;
            }
            if Instant::now() >= until {
                let error = io::Error::other("it accepts connections and closes them");
                return Err(Error::Unreachable(error));
            }
            sleep(DIAL_EVERY.0).await;
        }
    }
}

/// One of the two sides.
#[derive(Debug)]
struct Side<R, W> {
    input: R,
    output: W,
    decoder: Decoder,
    unsent: BytesMut,
    has_ended: bool,
}

impl<R, W> Side<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    fn new(input: R, output: W) -> Self {
        Self {
            input,
            output,
            decoder: Decoder::new(LINE_BYTES_MAX),
            unsent: BytesMut::new(),
            has_ended: false,
        }
    }

    fn is_full(&self) -> bool {
        self.unsent.len() >= UNSENT_BYTES_MAX
    }

    fn send(&mut self, line: &[u8]) {
        self.unsent.extend_from_slice(line);
        self.unsent.extend_from_slice(b"\n");
    }

    /// Takes the lines for the editor, when there is no hub.
    fn take(&mut self, lines: Vec<Line>) {
        for line in lines {
            if let Line::Editor(line) = line {
                self.send(&line);
            }
        }
    }
}

/// Reads some, and writes some of what waits, whichever can be done first. Returns how many bytes were read, if that was it.
async fn step<R, W>(side: &mut Side<R, W>, reads: bool) -> io::Result<Option<usize>>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let has_unsent = !side.unsent.is_empty();
    tokio::select! {
        read = side.input.read(side.decoder.room()), if reads => {
            let bytes = read?;
            side.decoder.filled(bytes);
            Ok(Some(bytes))
        }
        written = side.output.write(&side.unsent), if has_unsent => {
            let written = written?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            side.unsent.advance(written);
            if side.unsent.is_empty() {
                side.output.flush().await?;
            }
            Ok(None)
        }
        else => std::future::pending().await,
    }
}

/// Hears the editor while something else is waited for; returns nothing if the editor goes away first.
async fn tend<RE, WE, T>(
    shim: &mut Shim,
    editor: &mut Side<RE, WE>,
    wanted: impl Future<Output = io::Result<T>>,
) -> Result<io::Result<Option<T>>, Error>
where
    RE: AsyncRead + Unpin,
    WE: AsyncWrite + Unpin,
{
    let mut wanted = std::pin::pin!(wanted);
    loop {
        let reads = shim.has_room();
        tokio::select! {
            done = &mut wanted => return Ok(done.map(Some)),
            stepped = step(editor, reads) => {
                let Some(read) = stepped.map_err(Error::Editor)? else {
                    continue;
                };
                if read == 0 {
                    return Ok(Ok(None));
                }
                let lines = heard(shim, editor);
                editor.take(lines);
            }
        }
    }
}

/// Passes lines both ways until one side is gone; returns whether the hub took up everything.
async fn pass<RE, WE, R, W>(
    shim: &mut Shim,
    editor: &mut Side<RE, WE>,
    hub: &mut Side<R, W>,
) -> Result<bool, Error>
where
    RE: AsyncRead + Unpin,
    WE: AsyncWrite + Unpin,
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut was_up = false;
    let mut lines = Vec::new();
    shim.connected(&mut lines);
    loop {
        for line in lines.drain(..) {
            match line {
                Line::Editor(line) => editor.send(&line),
                Line::Hub(line) => hub.send(&line),
            }
        }
        was_up |= shim.is_up();
        let hears_editor = shim.has_room() && !hub.is_full();
        let hears_hub = !editor.is_full();
        tokio::select! {
            stepped = step(editor, hears_editor) => match stepped.map_err(Error::Editor)? {
                Some(0) => {
                    editor.has_ended = true;
                    last_words(shim, editor, hub).await;
                    return Ok(was_up);
                }
                Some(_) => lines = heard(shim, editor),
                None => {}
            },
            stepped = step(hub, hears_hub) => match stepped {
                Ok(Some(0)) | Err(_) => return Ok(was_up),
                Ok(Some(_)) => {
                    while let Some(frame) = hub.decoder.next_frame() {
                        if let Frame::Line(line) = frame {
                            shim.from_hub(clean::strip(line), &mut lines);
                        }
                    }
                }
                Ok(None) => {}
            },
        }
    }
}

/// Takes the lines that the editor has sent.
fn heard<RE, WE>(shim: &mut Shim, editor: &mut Side<RE, WE>) -> Vec<Line> {
    let mut lines = Vec::new();
    while let Some(frame) = editor.decoder.next_frame() {
        match frame {
            Frame::Line(line) => {
                let line = clean::strip(line);
                if !line.is_empty() {
                    shim.from_editor(line, &mut lines);
                }
            }
            Frame::TooLong { head, .. } => {
                if let Answer::To(id) = Head::scan(head).answer() {
                    lines.push(Line::Editor(too_long(&id)));
                }
            }
            _ => {}
        }
    }
    lines
}

fn too_long(id: &RequestId) -> Vec<u8> {
    let reason = format!("A message has at most {LINE_BYTES_MAX} bytes.");
    json::response(&id.to_string(), &json::error(-32600, &reason))
}

/// Lets the hub answer what it was asked before the editor closed its stream.
async fn last_words<RE, WE, R, W>(shim: &mut Shim, editor: &mut Side<RE, WE>, hub: &mut Side<R, W>)
where
    RE: AsyncRead + Unpin,
    WE: AsyncWrite + Unpin,
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let all = async {
        hub.output.write_all(&hub.unsent).await?;
        hub.output.shutdown().await?;
        loop {
            let bytes = hub.input.read(hub.decoder.room()).await?;
            if bytes == 0 {
                break;
            }
            hub.decoder.filled(bytes);
            let mut lines = Vec::new();
            while let Some(frame) = hub.decoder.next_frame() {
                if let Frame::Line(line) = frame {
                    shim.from_hub(clean::strip(line), &mut lines);
                }
            }
            editor.take(lines);
            editor.output.write_all(&editor.unsent).await?;
            editor.output.flush().await?;
            editor.unsent.clear();
        }
        io::Result::Ok(())
    };
    match timeout(LAST_WORDS_TIME_MAX, all).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "the last answers were not passed on"),
        Err(_) => tracing::debug!("the hub did not answer in time"),
    }
}

/// Connects, again and again, until a moment.
async fn dial<R, W>(
    connect: &mut impl AsyncFnMut() -> io::Result<(R, W)>,
    until: Instant,
) -> io::Result<(R, W)> {
    let (mut wait, longest) = DIAL_EVERY;
    loop {
        let failed = match timeout_at(until, connect()).await {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => error,
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
        if Instant::now() + wait >= until {
            return Err(failed);
        }
        sleep(wait).await;
        wait = (2 * wait).min(longest);
    }
}

/// Returns a name that no other process has: the hasher's keys come from the system's random source.
fn fresh_name() -> String {
    let half = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", half(), half())
}
