//! Connections of a command, made in its place.
//!
//! A socket in the file system leads to whatever listens on it, and a read-only mount does not keep anybody
//! from connecting. Nor can a filter of system calls: it does not see the address. So `connect` is held up,
//! and the process that keeps the command copies the address, looks where it leads, and connects the command's
//! socket itself. Only sockets that lie where the command may write are connected to: those it can have made. Of
//! these, where it has a network of its own, none that a program outside of it made.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ply_sys::held::{self, Call, Held};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::handed;
use super::order::Order;
use super::outside::Outside;

/// The longest address that the kernel takes, in bytes.
const ADDRESS_BYTES_MAX: usize = size_of::<libc::sockaddr_storage>();
/// How long the family is that an address begins with, in bytes.
const FAMILY_BYTES: usize = size_of::<libc::sa_family_t>();
/// The stack of a thread that makes one connection, in bytes.
const STACK_BYTES: usize = 64 * 1024;
/// Where commands have shared memory of their own.
const SHARED_MEMORY: &str = "/dev/shm";

/// Holds up the connections of this process. Returns whether that can be done here.
pub(super) fn hold(keeper: &UnixStream) -> io::Result<bool> {
    match Held::hold(libc::SYS_connect) {
        Ok(held) => handed::give(keeper, held).map(|()| true),
        // Somebody else holds up calls of ours already.
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes the connections of a command, on threads of their own, until it ends.
pub(super) fn serve(command: &UnixStream, order: &Order, outside: Option<Outside>) {
    // Without it the command ended, or nothing is held up.
    let Ok(held) = handed::take(command) else {
        return;
    };
    let held = Arc::new(Held::from(held));
    let reach = Arc::new(Reach::new(order, outside));
    let serve = move || {
        while let Ok(call) = held.next() {
            let (own, reach) = (Arc::clone(&held), Arc::clone(&reach));
            let connect = move || answer(&own, &call, connect(&own, &call, &reach));
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
            if thread.spawn(connect).is_err() {
                answer(&held, &call, Err(Errno::AGAIN.into()));
            }
        }
    };
    // Without a thread for it, connections fail.
    drop(std::thread::Builder::new().spawn(serve));
}

fn answer(held: &Held, call: &Call, result: io::Result<()>) {
    // One that does not wait any more was killed.
    drop(held.answer(call, result));
}

/// Where sockets lie that a command may connect to.
#[derive(Debug)]
struct Reach {
    own: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    /// The sockets outside of the command's network. They may lie in those places too.
    outside: Option<Outside>,
}

impl Reach {
    fn new(order: &Order, outside: Option<Outside>) -> Self {
        let private = order.private.iter().map(|(place, _)| place);
        let mut own: Vec<_> = order.writable.iter().chain(private).cloned().collect();
        own.push(SHARED_MEMORY.into());
        Self {
            own,
            protected: order.protected.clone(),
            outside,
        }
    }

    fn has(&self, socket: &Path) -> bool {
        let is_below = |places: &[PathBuf]| places.iter().any(|place| socket.starts_with(place));
        is_below(&self.own) && !is_below(&self.protected)
    }
}

/// Connects the socket of a thread. The thread, and others that share its memory, can change everything
/// meanwhile; so everything is copied once, and what is looked at is what is connected to.
fn connect(held: &Held, call: &Call, reach: &Reach) -> io::Result<()> {
    let [socket, address, length, ..] = call.arguments;
    let socket = socket_of(call.thread, socket as i32)?;
    let address = address_of(call.thread, address, length)?;
    if !held.is_waiting(call) {
        return Err(Errno::INTR.into());
    }
    let Some(path) = path_of(&address) else {
        // Of the network, or of the abstract sockets, which Landlock knows about; it confines this process too.
        return held::connect(socket, &address);
    };
    let cwd = PathBuf::from(format!("/proc/{}/cwd", call.thread.as_raw_nonzero()));
    let found = rustix::fs::openat(
        CWD,
        cwd.join(path),
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let name = format!("/proc/self/fd/{}", found.as_raw_fd());
    let is_others = || reach.outside.as_ref().map(|outside| outside.has(&found));
    if !reach.has(&std::fs::read_link(&name)?) || is_others().transpose()?.unwrap_or(false) {
        return Err(Errno::ACCESS.into());
    }
    held::connect(socket, &address_at(&name))
}

/// Returns a copy of the descriptor of a thread.
fn socket_of(thread: Pid, descriptor: i32) -> io::Result<OwnedFd> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", thread.as_raw_nonzero()))?;
    let process = status
        .lines()
        .find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())
        .and_then(Pid::from_raw)
        .ok_or(Errno::SRCH)?;
    let process = pidfd_open(process, PidfdFlags::empty())?;
    Ok(pidfd_getfd(process, descriptor, PidfdGetfdFlags::empty())?)
}

/// Copies an address out of the memory of a thread.
fn address_of(thread: Pid, at: u64, length: u64) -> io::Result<Vec<u8>> {
    // The kernel reads half of the register.
    let length = length as u32 as usize;
    if length > ADDRESS_BYTES_MAX {
        return Err(Errno::INVAL.into());
    }
    let mut address = vec![0; length];
    let memory = File::open(format!("/proc/{}/mem", thread.as_raw_nonzero()))?;
    let read = memory.read_exact_at(&mut address, at);
    read.map_err(|_| Errno::FAULT)?;
    Ok(address)
}

/// Returns the path in an address, if there is one: an abstract address has a null byte in its place.
fn path_of(address: &[u8]) -> Option<&Path> {
    let (family, path) = address.split_first_chunk::<FAMILY_BYTES>()?;
    let is_unix = libc::c_int::from(libc::sa_family_t::from_ne_bytes(*family)) == libc::AF_UNIX;
    let path = path.split(|byte| *byte == 0).next()?;
    (is_unix && !path.is_empty()).then(|| Path::new(OsStr::from_bytes(path)))
}

/// Returns the address of a socket by its path.
fn address_at(path: &str) -> Vec<u8> {
    let mut address = (libc::AF_UNIX as libc::sa_family_t).to_ne_bytes().to_vec();
    address.extend_from_slice(path.as_bytes());
    address.push(0);
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_in_the_file_system_have_a_path() {
        for path in ["/a/b", "c"] {
            let mut address = address_at(path);
            assert_eq!(path_of(&address), Some(Path::new(path)));
            // It may end without a null byte, and have anything behind one.
            address.pop();
            assert_eq!(path_of(&address), Some(Path::new(path)));
            address.extend_from_slice(b"\0rest");
            assert_eq!(path_of(&address), Some(Path::new(path)));
        }
        let inet = (libc::AF_INET as libc::sa_family_t).to_ne_bytes();
        let inet = [&inet[..], b"/path"].concat();
        for other in [address_at(""), address_at("\0name"), inet, vec![1], vec![]] {
            assert_eq!(path_of(&other), None, "{other:?}");
        }
    }

    #[test]
    fn a_command_reaches_sockets_where_it_may_write_alone() {
        let order = Order {
            writable: vec!["/work".into()],
            private: vec![("/tmp".into(), "/tmp/ply/0".into())],
            protected: vec!["/work/.git".into()],
            shown: vec!["/seen".into()],
            ..Order::default()
        };
        let reach = Reach::new(&order, None);
        for (path, reached) in [
            ("/work/s", true),
            ("/tmp/s", true),
            ("/dev/shm/s", true),
            ("/work/.git/s", false),
            ("/workshop/s", false),
            ("/seen/s", false),
            ("/home/me/.docker/run/docker.sock", false),
        ] {
            assert_eq!(reach.has(Path::new(path)), reached, "{path}");
        }
    }
}
