//! What a sandbox is built with: copies of this process in namespaces of their own, and mounts that cannot be written to.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

use rustix::process::{Pid, Signal};

/// Which side of a [`fork`] this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The process that called, with the id of its copy.
    Parent(Pid),
    /// The copy.
    Child,
}

/// Copies this process, which must have one thread.
///
/// # Errors
///
/// There are more threads, or the system has no room for another process.
pub fn fork() -> io::Result<Side> {
    copy(0)
}

/// Copies this process into new namespaces for users, mounts, processes and System V objects; with `network`, for the network too.
///
/// The copy has all capabilities in there, and its user and group ids mean nothing until the parent writes its id maps.
///
/// # Errors
///
/// There are more threads, or the system does not allow it.
pub fn fork_apart(network: bool) -> io::Result<Side> {
    let mut flags =
        libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    if network {
        flags |= libc::CLONE_NEWNET;
    }
    copy(flags)
}

fn copy(flags: libc::c_int) -> io::Result<Side> {
    // Another thread could hold a lock that nobody in the copy would ever release.
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other(
            "a process with several threads cannot be copied",
        ));
    }
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: without a stack and without shared memory this is a fork. The process has one thread, so the copy has everything
    // that the original has, locks included, and may go on like it. No pointer is passed.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match i32::try_from(pid) {
        Ok(0) => Ok(Side::Child),
        Ok(pid) if pid > 0 => Pid::from_raw(pid)
            .map(Side::Parent)
            .ok_or_else(|| io::Error::other("the copy has no process id")),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes a mount and all that are mounted below it read-only.
///
/// # Errors
///
/// The kernel is older than 5.12, or this process may not.
pub fn make_read_only(mount: impl AsFd) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the descriptor is open, the path is empty and ends with a null byte, and the attributes are of the size that is
    // given. The call keeps neither.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Turns on the loopback device of this network namespace.
///
/// # Errors
///
/// There is none, or this process may not.
pub fn loopback_up(socket: impl AsFd) -> io::Result<()> {
    // SAFETY: all fields are integers and arrays of them, for which zeros are values.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(*b"lo") {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the descriptor is open, and the call reads a request of this type, which outlives it.
    let done = unsafe {
        libc::ioctl(
            socket.as_fd().as_raw_fd(),
            libc::SIOCSIFFLAGS as _,
            &raw const request,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The signals that can be sent to a process group to be handled by its members.
const FOR_OTHERS: [libc::c_int; 10] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

/// Ignores signals that are meant for others of the process group. Children that are started afterwards ignore them too.
pub fn ignore_signals() {
    for signal in FOR_OTHERS {
        // SAFETY: the call takes integers only, and cannot fail for these signals.
        unsafe {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
}

/// Ends this process by a signal, as if nothing handled it. Returns if the signal does not end processes.
pub fn end_by(signal: Signal) {
    let signal = signal.as_raw();
    // SAFETY: the calls take integers only. A signal that cannot be handled stays as it is.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(libc::getpid(), signal);
    }
}
