//! A server in a child process.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use ply_agent::v2;
use ply_rpc::transport::child::{Child, Command, Grace, SpawnError};
use rmcp::service::ClientInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleClient, serve_client};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::{Instant, timeout_at};

use super::Settings;
use super::host::Host;
use super::link::Running;
use super::words;

/// How long one message of a server may be.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How much is read before others have their turn. A server that floods us makes work with every line, however short.
const TURN_BYTES_MAX: usize = 2 * 1024;
/// How long a server that failed may take to end by itself, so that its last words are complete.
const FAILED_END_TIME_MAX: Duration = Duration::from_millis(300);

/// Starts a server and shakes hands with it.
pub(super) async fn open(
    server: &v2::McpServerStdio,
    cwd: &Path,
    settings: &Settings,
    host: Host,
    deadline: Instant,
) -> Result<Running, String> {
    let spawned = command(server, cwd, settings).spawn().await;
    let (mut child, stdout, stdin) =
        spawned.map_err(|error| not_started(&error, server, settings))?;
    let flooded = Arc::new(AtomicBool::new(false));
    let transport = transport(stdout, stdin, Arc::clone(&flooded));
    let problem = tokio::select! {
        served = timeout_at(deadline, serve_client(host, transport)) => match served {
            Ok(Ok(service)) => return Ok(Running { service, child: Some(child), flooded }),
            // How the process ends says more than that a pipe was closed.
            Ok(Err(
                ClientInitializeError::ConnectionClosed(_)
                | ClientInitializeError::TransportError { .. },
            )) => None,
            Ok(Err(error)) => Some(words::handshake(&error)),
            Err(_) => Some(no_answer(settings.connect)),
        },
        _ = child.wait() => None,
    };
    Err(post_mortem(&mut child, problem, &flooded).await)
}

fn command(server: &v2::McpServerStdio, cwd: &Path, settings: &Settings) -> Command {
    let command = Command::new(&server.command).args(&server.args).cwd(cwd);
    // What a server needs of secrets, it is given in `env`.
    let mut command = crate::shell::without_secrets(command);
    for name in &settings.withheld {
        command = command.env_remove(name);
    }
    for variable in &server.env {
        command = command.env(&variable.name, &variable.value);
    }
    command
}

type Transport = AsyncRwTransport<RoleClient, Lines, ChildStdin>;

fn transport(stdout: ChildStdout, stdin: ChildStdin, flooded: Arc<AtomicBool>) -> Transport {
    let lines = Lines {
        stdout,
        bytes: 0,
        has_read: false,
        flooded,
    };
    AsyncRwTransport::new_client(lines, stdin).with_max_line_length(usize::MAX)
}

/// Says that there was no answer, as a problem of a server.
pub(super) fn no_answer(time: Duration) -> String {
    format!("it did not answer within {} s", time.as_secs_f32())
}

fn not_started(error: &SpawnError, server: &v2::McpServerStdio, settings: &Settings) -> String {
    let named = !server
        .command
        .0
        .as_os_str()
        .as_encoded_bytes()
        .contains(&b'/');
    if !named || error.source.kind() != io::ErrorKind::NotFound {
        return error.to_string();
    }
    let own = server.env.iter().rev().find(|own| own.name == "PATH");
    match own.map(|own| &own.value).or(settings.search_path.as_ref()) {
        Some(path) => format!("{error} (PATH is `{path}`)"),
        None => error.to_string(),
    }
}

/// Ends a server that failed and says how it went.
pub(super) async fn post_mortem(
    child: &mut Child,
    problem: Option<String>,
    flooded: &AtomicBool,
) -> String {
    let status = child.end(grace(FAILED_END_TIME_MAX)).await;
    let problem = problem.unwrap_or_else(|| match status {
        _ if flooded.load(Ordering::Acquire) => {
            format!("it wrote more than {LINE_BYTES_MAX} bytes without ending the line")
        }
        Ok(status) => words::exit(status),
        Err(_) => "it hung up".to_owned(),
    });
    problem + &words::last_lines(&child.stderr_tail())
}

/// Returns how long a child has at each step of its end.
pub(super) fn grace(time: Duration) -> Grace {
    let mut grace = Grace::default();
    grace.after_close = time;
    grace.after_term = time;
    grace
}

/// What a server writes, up to a line that is too long.
///
/// Dropping such a line would leave a call without its answer; ending the connection says so at once.
#[derive(Debug)]
struct Lines {
    stdout: ChildStdout,
    /// Bytes since the last end of a line.
    bytes: usize,
    /// Whether others have not had their turn since something was read.
    has_read: bool,
    flooded: Arc<AtomicBool>,
}

impl AsyncRead for Lines {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // What was read is worked off before more is asked for: now others may have their turn.
        if std::mem::take(&mut self.has_read) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let room = buf.remaining().min(TURN_BYTES_MAX);
        let mut turn = ReadBuf::new(buf.initialize_unfilled_to(room));
        ready!(Pin::new(&mut self.stdout).poll_read(context, &mut turn))?;
        self.has_read = true;
        let fresh = turn.filled();
        let (kept, tail) = match fresh.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => (0, fresh.len() - end - 1),
            None => (self.bytes, fresh.len()),
        };
        self.bytes = kept + tail;
        let bytes = fresh.len();
        buf.advance(bytes);
        if self.bytes > LINE_BYTES_MAX {
            self.flooded.store(true, Ordering::Release);
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        Poll::Ready(Ok(()))
    }
}
