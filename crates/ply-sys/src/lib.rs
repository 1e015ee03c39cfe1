//! The one place for unsafe code: what a child process does between fork and exec, what a sandbox is built with, waiting for a
//! process that is no child, hints about large buffers and about code that ran once, and an allocator that counts for
//! benchmarks.
//!
//! Everything else in the workspace forbids `unsafe`. Kept so small that it can be read in a few minutes.

#[cfg(target_os = "linux")]
pub mod apart;

mod counted;
#[cfg(target_os = "linux")]
mod pages;

use std::mem::MaybeUninit;
#[cfg(target_os = "linux")]
use std::{io, os::fd::OwnedFd, os::unix::process::CommandExt as _, process::Command};

#[cfg(target_os = "linux")]
use tokio::io::{Interest, unix::AsyncFd};

pub use counted::Counted;
#[cfg(target_os = "linux")]
pub use pages::give_back_code;

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
/// runs in the background.
#[cfg(target_os = "linux")]
pub fn heed_signals(command: &mut Command) {
    let prepare = || {
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
            // SAFETY: the call takes integers only, and the child has one thread. It cannot fail for these signals.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed, and `signal` is one.
    unsafe {
        command.pre_exec(prepare);
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

#[cfg(test)]
mod tests {
    use super::*;

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
