//! Stands between a client and its agent.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use ply_check::trace::{Exit, Header, Redactor};
use ply_client::text::Line;
use ply_rpc::transport::child::{Child, Command, Grace, end_leftovers};
use ply_rpc::transport::stdio;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::task::JoinHandle;

use super::arguments::Trace;
use super::file;
use super::recorder::{Recorder, Stream};
use super::shown_stderr::ShownStderr;
use crate::program::error::Error;
use crate::program::output;

/// The exit code when the agent cannot be started, as shells have it.
const NOT_STARTED: u8 = 127;
/// What is read at once.
const READ_BYTES: usize = 64 * 1024;
/// How long the last output of an agent that ended waits for a client that does not read it.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(30);
/// How long the agent has the machine for itself before leftovers are looked for.
const LEFTOVERS_AFTER: Duration = Duration::from_millis(300);
/// How long processes that the agent left behind have, at each step of being ended.
const LEFT_BEHIND_TIME_MAX: Duration = Duration::from_secs(1);

/// Runs the agent and records what passes.
pub(super) async fn run(arguments: Trace) -> Result<ExitCode, Error> {
    let started = jiff::Timestamp::now();
    let file::Made { file, path, is_new } =
        file::create(arguments.output.clone(), arguments.force, &started)?;
    let words = arguments.agent.iter().map(|word| word.to_string_lossy());
    let header = Header::new(format!("{started:.3}"), words, !arguments.no_redact);
    let redactor = (!arguments.no_redact).then(Redactor::new);
    let recorder = Recorder::start(file, &header, redactor).map_err(Error::Start)?;
    let recorder = Arc::new(recorder);
    let (shown, queue) = ShownStderr::start().map_err(Error::Start)?;

    let mut words = arguments.agent.iter();
    let command = Command::new(words.next().cloned().unwrap_or_default()).args(words);
    let recorded = Arc::clone(&recorder);
    let command = command.on_stderr(move |bytes| {
        // A reader that does not keep up misses something; the recording has it.
        drop(queue.try_send(bytes.to_vec()));
        recorded.bytes(Stream::Stderr, bytes);
    });
    let mut signals = Forwarded::new().map_err(Error::Start)?;
    let (mut child, from_agent, to_agent) = match command.spawn().await {
        Ok(started) => started,
        Err(error) => {
            output::tell(&format!("error: {}", Line(&error.to_string())));
            output::tell("  hint: the words after `--` have to start an agent");
            if is_new {
                // There is nothing in it, and under its name it would be in the way of the next try.
                drop(std::fs::remove_file(&path));
            }
            return Ok(ExitCode::from(NOT_STARTED));
        }
    };
    let (input, output) = stdio::take().map_err(Error::Start)?;
    output::tell(&format!(
        "ply trace: recording to {}",
        ply_client::text::path(&path)
    ));
    let to_agent = tokio::spawn(pump(
        input,
        to_agent,
        Stream::ToAgent,
        Arc::clone(&recorder),
    ));
    let to_client = tokio::spawn(pump(
        from_agent,
        output,
        Stream::ToClient,
        Arc::clone(&recorder),
    ));
    // Whoever kills a recorder leaves no time to end what its agent had started; the next one does it.
    tokio::spawn(async {
        tokio::time::sleep(LEFTOVERS_AFTER).await;
        end_leftovers(Grace::default()).await
    });
    let status = supervise(&mut child, &mut signals, to_client).await;
    // With it goes the last sender to our standard error.
    drop(child);
    shown.finish();
    let (exit, code) = told(status);
    recorder.finish(exit);
    if !to_agent.is_finished() {
        // A thread may sit in a read of a terminal that will not return; nothing is left to do here.
        std::process::exit(i32::from(code));
    }
    Ok(ExitCode::from(code))
}

/// Passes bytes on as they come, and leaves a copy with the recorder.
async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    stream: Stream,
    recorder: Arc<Recorder>,
) {
    let mut buffer = vec![0; READ_BYTES];
    // A read that fails is the end, as for any reader of a pipe.
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let bytes = buffer.get(..count).unwrap_or_default();
        let passed = match to.write_all(bytes).await {
            Ok(()) => to.flush().await,
            Err(error) => Err(error),
        };
        recorder.bytes(stream, bytes);
        if passed.is_err() {
            // Nobody reads any more. Dropping our end tells the writer.
            break;
        }
    }
    recorder.closed(stream);
    // The end is passed on; a socket needs to be told, and for the rest dropping does it.
    drop(to.shutdown().await);
}

/// Waits for the agent, hands it signals on the way, and ends what it left behind.
async fn supervise(
    child: &mut Child,
    signals: &mut Forwarded,
    mut to_client: JoinHandle<()>,
) -> std::io::Result<ExitStatus> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let status = loop {
        tokio::select! {
            status = child.wait() => break status,
            signal = signals.next() => if let Some(group) = group {
                // It may be gone in this very moment, and then there is nobody to tell.
                kill_process_group(group, signal).ok();
            },
        }
    };
    let mut grace = Grace::default();
    grace.after_close = LEFT_BEHIND_TIME_MAX;
    grace.after_term = LEFT_BEHIND_TIME_MAX;
    if let Err(error) = child.end(grace).await {
        output::tell(&format!(
            "warning: processes of the agent are left: {error}"
        ));
    }
    tokio::select! {
        _ = &mut to_client => {}
        _ = signals.next() => {}
        () = tokio::time::sleep(DRAIN_TIME_MAX) => {}
    }
    status
}

/// Returns how the agent ended, and the exit code that says so.
fn told(status: std::io::Result<ExitStatus>) -> (Exit, u8) {
    let Ok(status) = status else {
        return (Exit::default(), crate::program::error::FAILED);
    };
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => i32::from(crate::program::error::FAILED),
    };
    let code = u8::try_from(code).unwrap_or(crate::program::error::FAILED);
    (Exit::new(status.code(), status.signal()), code)
}

/// The signals that are meant for the agent.
struct Forwarded {
    interrupt: Signals,
    terminate: Signals,
    hangup: Signals,
}

impl Forwarded {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.hangup.recv() => Signal::HUP,
        }
    }
}
