//! The program's own standard streams, taken away from everyone else.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use rustix::fs::{FileType, Mode, OFlags};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

static TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes standard input and output for the protocol.
///
/// From now on descriptor 1 is standard error, so that no stray print can reach the peer, and descriptor 0 is the null device,
/// so that no child process can eat the peer's messages.
///
/// # Errors
///
/// They were taken before, or a descriptor is closed or cannot be watched.
///
/// # Panics
///
/// Outside a tokio runtime with IO enabled.
pub fn take() -> io::Result<(Input, Output)> {
    if TAKEN.swap(true, Ordering::SeqCst) {
        return Err(io::Error::other(
            "standard input and output are in use already",
        ));
    }
    move_away().inspect_err(|_| TAKEN.store(false, Ordering::SeqCst))
}

fn move_away() -> io::Result<(Input, Output)> {
    let input = private_copy(rustix::stdio::stdin(), OFlags::RDONLY)?;
    let output = private_copy(rustix::stdio::stdout(), OFlags::WRONLY)?;
    let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok((Input::new(input)?, Output::new(output)?))
}

/// Returns a descriptor for the same stream that children do not inherit.
///
/// Pipes are opened anew where the system allows it: switching them to non-blocking then leaves alone whoever shares the
/// original, such as standard error on the same pipe or the next program of a shell script.
fn private_copy(fd: impl AsFd, access: OFlags) -> io::Result<OwnedFd> {
    use std::os::fd::AsRawFd as _;

    let is_pipe = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) == FileType::Fifo;
    if is_pipe {
        let path = format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd());
        let flags = access | OFlags::CLOEXEC | OFlags::NONBLOCK;
        if let Ok(reopened) = rustix::fs::open(path, flags, Mode::empty()) {
            return Ok(reopened);
        }
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(fd, 3)?)
}

/// The kinds of stream that a program may be started with.
#[derive(Debug)]
enum Kind<Pipe> {
    Pipe(Pipe),
    /// Some programs, Node among them, start their children on socket pairs.
    Socket(UnixStream),
    /// Terminals and files, which cannot be watched and are read by a thread.
    File(tokio::fs::File),
}

fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    let socket = StdUnixStream::from(fd);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

fn file_type(fd: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode))
}

/// What the peer writes.
#[derive(Debug)]
pub struct Input(Kind<pipe::Receiver>);

impl Input {
    fn new(fd: OwnedFd) -> io::Result<Self> {
        Ok(Self(match file_type(&fd)? {
            FileType::Fifo => Kind::Pipe(pipe::Receiver::from_owned_fd(fd)?),
            FileType::Socket => Kind::Socket(socket(fd)?),
            _ => Kind::File(tokio::fs::File::from_std(File::from(fd))),
        }))
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Kind::Pipe(pipe) => Pin::new(pipe).poll_read(cx, buf),
            Kind::Socket(socket) => Pin::new(socket).poll_read(cx, buf),
            Kind::File(file) => Pin::new(file).poll_read(cx, buf),
        }
    }
}

/// What the peer reads.
#[derive(Debug)]
pub struct Output(Kind<pipe::Sender>);

impl Output {
    fn new(fd: OwnedFd) -> io::Result<Self> {
        Ok(Self(match file_type(&fd)? {
            FileType::Fifo => Kind::Pipe(pipe::Sender::from_owned_fd(fd)?),
            FileType::Socket => Kind::Socket(socket(fd)?),
            _ => Kind::File(tokio::fs::File::from_std(File::from(fd))),
        }))
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            Kind::Pipe(pipe) => Pin::new(pipe).poll_write(cx, buf),
            Kind::Socket(socket) => Pin::new(socket).poll_write(cx, buf),
            Kind::File(file) => Pin::new(file).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Kind::Pipe(pipe) => Pin::new(pipe).poll_flush(cx),
            Kind::Socket(socket) => Pin::new(socket).poll_flush(cx),
            Kind::File(file) => Pin::new(file).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Kind::Pipe(pipe) => Pin::new(pipe).poll_shutdown(cx),
            Kind::Socket(socket) => Pin::new(socket).poll_shutdown(cx),
            Kind::File(file) => Pin::new(file).poll_shutdown(cx),
        }
    }
}
