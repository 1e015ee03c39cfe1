//! System calls of other processes that are held up by seccomp until this one has made them in their place.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd};

use rustix::process::Pid;

/// The receiving end of held calls. While nobody has it open, the calls fail with `ENOSYS`.
#[derive(Debug)]
pub struct Held(OwnedFd);

/// A call that is held up.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    id: u64,
    /// The thread that waits in it.
    pub thread: Pid,
    /// Its arguments.
    pub arguments: [u64; 6],
}

impl Held {
    /// Holds up every `call` of this thread and of what it starts from now on, for good.
    ///
    /// The filter looks at the number alone. Another one has to keep calls of other architectures away.
    ///
    /// # Errors
    ///
    /// The kernel is older than 5.0, the thread may gain privileges, or another process receives held calls of
    /// this one already.
    pub fn hold(call: libc::c_long) -> io::Result<Self> {
        let number =
            u32::try_from(call).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let instruction = |code: u32, jt, jf, k| libc::sock_filter {
            code: code as u16,
            jt,
            jf,
            k,
        };
        let mut filter = [
            // The number is the first field of what a filter sees.
            instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
            instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, number),
            instruction(
                libc::BPF_RET | libc::BPF_K,
                0,
                0,
                libc::SECCOMP_RET_USER_NOTIF,
            ),
            instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog {
            len: filter.len() as libc::c_ushort,
            filter: filter.as_mut_ptr(),
        };
        let install = |flags: libc::c_ulong| {
            // SAFETY: the program points to as many instructions as it says, which outlive the call.
            let made = unsafe {
                libc::syscall(
                    libc::SYS_seccomp,
                    libc::SECCOMP_SET_MODE_FILTER,
                    flags,
                    &raw const program,
                )
            };
            match i32::try_from(made) {
                // SAFETY: the call made this descriptor, and nobody else knows of it.
                Ok(made) if made >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(made) }),
                _ => Err(io::Error::last_os_error()),
            }
        };
        let listener = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        // A call that a signal interrupts is made twice, so only signals that kill may. Before Linux 5.19 all do.
        let made = install(listener | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
        match made {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => install(listener).map(Self),
            made => made.map(Self),
        }
    }

    /// Waits for the next call.
    ///
    /// # Errors
    ///
    /// Nobody is left whose calls are held up.
    pub fn next(&self) -> io::Result<Call> {
        loop {
            // SAFETY: all fields are integers and arrays of them, for which zeros are values.
            let mut told: libc::seccomp_notif = unsafe { std::mem::zeroed() };
            // SAFETY: the descriptor is open, and the call fills in a value of this type, which outlives it.
            let done = unsafe {
                libc::ioctl(
                    self.0.as_raw_fd(),
                    libc::SECCOMP_IOCTL_NOTIF_RECV,
                    &raw mut told,
                )
            };
            let error = io::Error::last_os_error();
            let thread = Pid::from_raw(told.pid.cast_signed());
            match (done, thread, error.raw_os_error()) {
                (0, Some(thread), _) => {
                    return Ok(Call {
                        id: told.id,
                        thread,
                        arguments: told.data.args,
                    });
                }
                // A thread of another namespace, or one that was killed before it could be told.
                (0, None, _) | (_, _, Some(libc::ENOENT | libc::EINTR)) => {}
                _ => return Err(error),
            }
        }
    }

    /// Returns whether the thread still waits. If it does, nothing else has got its id since [`Self::next`].
    #[must_use]
    pub fn is_waiting(&self, call: &Call) -> bool {
        // SAFETY: the descriptor is open, and the call reads a number, which outlives it.
        let done = unsafe {
            libc::ioctl(
                self.0.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_ID_VALID,
                &raw const call.id,
            )
        };
        done == 0
    }

    /// Lets the thread go on, as if its call had returned 0 or failed with this error.
    ///
    /// # Errors
    ///
    /// It does not wait any more.
    pub fn answer(&self, call: &Call, result: io::Result<()>) -> io::Result<()> {
        let error = match result {
            Ok(()) => 0,
            Err(error) => -error.raw_os_error().unwrap_or(libc::EIO),
        };
        let answer = libc::seccomp_notif_resp {
            id: call.id,
            val: 0,
            error,
            flags: 0,
        };
        // SAFETY: the descriptor is open, and the call reads a value of this type, which outlives it.
        let done = unsafe {
            libc::ioctl(
                self.0.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SEND,
                &raw const answer,
            )
        };
        if done == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

impl AsFd for Held {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<OwnedFd> for Held {
    /// Takes one that another process handed over.
    fn from(handed: OwnedFd) -> Self {
        Self(handed)
    }
}

/// Connects a socket to an address as the kernel has it: the family, then what the family wants.
///
/// # Errors
///
/// Those of `connect`.
pub fn connect(socket: impl AsFd, address: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(address.len())
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: the descriptor is open, and the kernel copies as many bytes as it is told, whatever they are.
    let done =
        unsafe { libc::connect(socket.as_fd().as_raw_fd(), address.as_ptr().cast(), length) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
