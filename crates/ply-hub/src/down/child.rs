//! An agent as a child of this process.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use ply_rpc::codec::{Decoder, Frame};
use ply_rpc::envelope::Head;
use ply_rpc::transport::child::{self, Command, Grace};
use ply_rpc::{RpcError, line};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc;

use super::{Caller, Launch, Launched, Launching};
use crate::pipe::{Exit, FromAgent, Hello, PIPE_LINES_MAX, Pipe, ToAgent};

/// An agent's program, to be started as a child of this process.
#[derive(Debug, Clone)]
#[must_use = "it does nothing until it is started"]
pub struct Child {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
}

/// Returns an agent's program, to be started as a child of this process.
pub fn child(program: impl AsRef<OsStr>) -> Child {
    Child {
        program: program.as_ref().to_owned(),
        args: Vec::new(),
    }
}

impl Child {
    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
        self.args.extend(args);
        self
    }
}

impl Launch for Child {
    fn launch(&self, caller: &Caller) -> Launching {
        let mut command = Command::new(&self.program).args(&self.args);
        if let Some(env) = &caller.env {
            command = command.env_clear();
            for (name, value) in env {
                command = command.env(name, value);
            }
        }
        if let Some(cwd) = &caller.cwd {
            command = command.cwd(cwd);
        }
        Box::pin(async move {
            let spawned = command.spawn().await.map_err(io::Error::other)?;
            Ok(Launched {
                pipe: pipe(spawned),
                holder: None,
            })
        })
    }
}

fn pipe((child, stdout, stdin): (child::Child, ChildStdout, ChildStdin)) -> Pipe {
    let (to, to_agent) = mpsc::channel(PIPE_LINES_MAX);
    let (from_agent, from) = mpsc::channel(PIPE_LINES_MAX);
    tokio::spawn(keep(child, stdout, stdin, from_agent, to_agent));
    Pipe {
        hello: Hello::default(),
        from,
        to,
    }
}

/// Moves lines until the child is gone, or nobody wants it any more.
async fn keep(
    mut child: child::Child,
    stdout: ChildStdout,
    stdin: ChildStdin,
    from: mpsc::Sender<FromAgent>,
    to: mpsc::Receiver<ToAgent>,
) {
    let written = Arc::<AtomicU64>::default();
    let writing = tokio::spawn(write(stdin, to, from.clone(), Arc::clone(&written)));
    let reading = read(stdout, &from);
    // Whoever reads may be slow; an order to stop must not wait for that.
    let mut writing = std::pin::pin!(writing);
    tokio::select! {
        () = reading => {
            // Its input is closed when the task that writes is gone. One that is told to stop may be in the middle of a step.
            writing.abort();
            drop(writing.await);
        }
        _ = &mut writing => {}
    }
    let written = written.load(Ordering::Acquire);
    let ended = child.end(Grace::default()).await;
    let stderr = String::from_utf8_lossy(&child.stderr_tail()).into_owned();
    let exit = match ended {
        Ok(status) => Exit {
            code: status.code(),
            signal: status.signal(),
            stderr,
            written,
        },
        Err(error) => {
            tracing::warn!(%error, "how an agent ended is not known");
            Exit {
                stderr,
                written,
                ..Exit::default()
            }
        }
    };
    // Nobody may be left to hear it.
    drop(from.send(FromAgent::Exit(exit)).await);
}

/// Returns when it is told to stop, or nobody is left to tell it anything.
async fn write(
    mut stdin: ChildStdin,
    mut to: mpsc::Receiver<ToAgent>,
    from: mpsc::Sender<FromAgent>,
    whole: Arc<AtomicU64>,
) {
    let (mut last, mut is_broken) = (0, false);
    while let Some(order) = to.recv().await {
        let (number, line) = match order {
            ToAgent::Line { number, line } => (number, line),
            ToAgent::Acknowledge { .. } => continue,
            ToAgent::Stop => return,
        };
        if number <= last || is_broken {
            continue;
        }
        last = number;
        let mut buffer = BytesMut::with_capacity(line.len() + 1);
        buffer.extend_from_slice(&line);
        buffer.extend_from_slice(b"\n");
        let written = async {
            stdin.write_all(&buffer).await?;
            whole.store(number, Ordering::Release);
            stdin.flush().await
        };
        if let Err(error) = written.await {
            // It may still have something to say, and an order to stop may come.
            tracing::debug!(%error, "an agent does not read any more");
            is_broken = true;
            continue;
        }
        // Nobody has to hear it.
        drop(from.try_send(FromAgent::Wrote { number }));
    }
}

async fn read(mut stdout: ChildStdout, from: &mpsc::Sender<FromAgent>) {
    let (mut decoder, mut number) = (Decoder::default(), 0);
    loop {
        let is_open = match stdout.read(decoder.room()).await {
            Ok(bytes) => {
                decoder.filled(bytes);
                bytes > 0
            }
            Err(error) => {
                tracing::debug!(%error, "an agent's output cannot be read");
                false
            }
        };
        loop {
            let line = match decoder.next_frame() {
                Some(Frame::Line(line)) => Bytes::copy_from_slice(line),
                Some(Frame::TooLong { head, .. }) => too_long(head),
                Some(Frame::Endless { .. }) => return,
                None => break,
            };
            number += 1;
            if from.send(FromAgent::Line { number, line }).await.is_err() {
                return;
            }
        }
        if !is_open {
            // What is left was cut off.
            return;
        }
    }
}

/// Returns what stands for a line that is too long: whoever waits for the answer in it is told.
fn too_long(head: &[u8]) -> Bytes {
    tracing::warn!("a line of an agent is too long and is skipped");
    let Some(id) = Head::scan(head).ends_call() else {
        return Bytes::new();
    };
    let error = RpcError::internal("the answer is too long");
    Bytes::from(line::error(&id, &error))
}
