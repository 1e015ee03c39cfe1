//! The one place for unsafe code: what a child process does between fork and exec, what a sandbox is built with, calls that are
//! made for another process, waiting for a process that is no child, signals as something to read, freed memory, hints about large buffers and about code that ran
//! once, buffers that grow where they are, and an allocator that counts for benchmarks.
//!
//! Everything else in the workspace forbids `unsafe`. Kept so small that it can be read in a few minutes.

#[cfg(target_os = "linux")]
pub mod apart;

mod counted;
#[cfg(target_os = "linux")]
pub mod held;
#[cfg(target_os = "linux")]
mod pages;
mod stretch;

use std::mem::MaybeUninit;
#[cfg(target_os = "linux")]
use std::{
    io,
    os::fd::{FromRawFd as _, OwnedFd},
    os::unix::process::CommandExt as _,
    process::Command,
};

#[cfg(target_os = "linux")]
use tokio::io::{Interest, unix::AsyncFd};

pub use counted::Counted;
#[cfg(target_os = "linux")]
pub use pages::give_back_code;
pub use stretch::Stretch;

/// Makes the child the leader of its own session and process group, without a controlling terminal, with no descriptor of ours
/// beyond 0, 1 and 2, as [heedful](heed_signals) as a new program, and ended by SIGTERM should the thread that spawns it die first.
///
/// That last point is per thread on Linux: spawn from a thread that lives as long as the program.
#[cfg(target_os = "linux")]
pub fn isolate(command: &mut Command) {
    heed_signals(command);
    let parent = rustix::process::getpid();
    let prepare = move || {
        rustix::process::setsid()?;
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
        // The parent may have died before the line above took effect; then no signal will ever come.
        if rustix::process::getppid() != Some(parent) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        close_on_exec_from(3);
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. `prepare` makes four plain system calls on
    // values it owns; it neither allocates nor locks nor touches memory shared with the parent.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// Makes the child the leader of its own session, whose controlling terminal is the child's standard input.
///
/// What is typed there reaches it as a user's keys do, signals included, and when the terminal goes it is hung up.
#[cfg(target_os = "linux")]
pub fn take_terminal(command: &mut Command) {
    heed_signals(command);
    let prepare = || {
        rustix::process::setsid()?;
        rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. `prepare` makes two plain system calls on
    // integers; it neither allocates nor locks nor touches memory shared with the parent.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// Has the child end by SIGINT, SIGQUIT and SIGHUP even where this program was started to ignore them, as shells start what
/// runs in the background, and blocks none of those that this program [reads](signals).
#[cfg(target_os = "linux")]
pub fn heed_signals(command: &mut Command) {
    let prepare = || {
        set_mask(libc::SIG_SETMASK, &[])?;
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
            // SAFETY: the call takes integers only, and the child has one thread. It cannot fail for these signals.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed, and `signal` and `sigprocmask` are.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// Returns a descriptor from which the given signals are read, as one [`SIGNAL_BYTES`] long record each, instead of being
/// handled. Reading it never waits.
///
/// The signals are blocked in the calling thread and in those it starts, so call it before there are others. Children inherit
/// that unless they are made to [heed signals](heed_signals).
///
/// # Errors
///
/// Too many descriptors are open.
#[cfg(target_os = "linux")]
pub fn signals(signals: &[rustix::process::Signal]) -> io::Result<OwnedFd> {
    let set = set_mask(libc::SIG_BLOCK, signals)?;
    // SAFETY: the set is initialised and outlives the call, which makes a new descriptor.
    let descriptor =
        unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was made above, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// The length of a record that is read from a descriptor of [`signals`]. Its first four bytes are the number of the signal.
#[cfg(target_os = "linux")]
pub const SIGNAL_BYTES: usize = size_of::<libc::signalfd_siginfo>();

/// Changes which signals this thread blocks, and returns the given ones as a set.
#[cfg(target_os = "linux")]
fn set_mask(how: libc::c_int, signals: &[rustix::process::Signal]) -> io::Result<libc::sigset_t> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initialises the set, and the other calls read or change a set that outlives them. All of them are
    // async-signal-safe.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal.as_raw());
        }
        if libc::pthread_sigmask(how, set.as_ptr(), std::ptr::null_mut()) != 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(set.assume_init())
    }
}

/// Marks every descriptor from `first` on as closed at exec, whoever opened it.
#[cfg(target_os = "linux")]
fn close_on_exec_from(first: libc::c_uint) {
    // SAFETY: the call takes integers only and changes no memory. It fails on kernels before 5.11, where our own descriptors
    // are still closed by the flag they were opened with.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
    }
}

/// Waits until the process behind `pidfd` has ended.
///
/// # Errors
///
/// The descriptor cannot be watched.
///
/// # Panics
///
/// Outside a tokio runtime with IO enabled.
///
/// # Cancel safety
///
/// Nothing is lost when it is dropped.
#[cfg(target_os = "linux")]
pub async fn exited(pidfd: OwnedFd) -> io::Result<()> {
    // SAFETY: an `OwnedFd` is open, is closed only when dropped, and always gives the same descriptor; it is moved into the
    // watcher, which nothing here takes it out of.
    let watched = unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) };
    // A process descriptor becomes readable when its process ends, and stays so.
    watched
        .map_err(|error| error.into_parts().1)?
        .readable()
        .await
        .map(drop)
}

/// Tells the system that `memory`, not written yet, will be written as a whole, so that it may be given in large pages.
///
/// A hint: where it is not taken nothing changes.
pub fn expect_large_write(memory: &mut [MaybeUninit<u8>]) {
    #[cfg(target_os = "linux")]
    {
        /// The largest page size that Linux is built with, and so a multiple of the one in use.
        const PAGE_BYTES_MAX: usize = 64 * 1024;
        let Some(aligned) = memory.get_mut(memory.as_ptr().align_offset(PAGE_BYTES_MAX)..) else {
            return;
        };
        // SAFETY: the range lies inside memory that is borrowed for writing and starts on a page. The advice changes neither
        // what is mapped nor its contents, only the size of the pages behind it.
        unsafe {
            libc::madvise(
                aligned.as_mut_ptr().cast(),
                aligned.len(),
                libc::MADV_HUGEPAGE,
            );
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

/// Gives memory that was freed back to the system, where the allocator keeps it. That takes a moment: call it after much was freed.
pub fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call takes an integer, locks what it works on, and changes memory that nobody uses.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_that_heeds_signals_blocks_none_of_those_that_its_parent_reads() {
        // The mask is the thread's, and the thread ends with this test.
        let check = || {
            let _descriptor = signals(&[rustix::process::Signal::TERM]).unwrap();
            let blocked = |heeds: bool| {
                let mut command = Command::new("grep");
                command.args(["SigBlk", "/proc/self/status"]);
                if heeds {
                    heed_signals(&mut command);
                }
                String::from_utf8(command.output().unwrap().stdout).unwrap()
            };
            assert_eq!(blocked(false).trim_end(), "SigBlk:\t0000000000004000");
            assert_eq!(blocked(true).trim_end(), "SigBlk:\t0000000000000000");
        };
        std::thread::spawn(check).join().unwrap();
    }

    #[test]
    fn the_hint_takes_buffers_of_any_size_and_leaves_their_contents() {
        for bytes in [0, 1, 4096, 5 << 20] {
            let mut buffer = vec![7_u8; 10];
            buffer.reserve(bytes);
            expect_large_write(buffer.spare_capacity_mut());
            buffer.resize(10 + bytes, 8);
            assert_eq!(buffer.iter().filter(|byte| **byte == 7).count(), 10);
        }
    }
}
