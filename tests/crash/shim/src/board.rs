//! The board: a file of numbers that both the program and whoever watches it read and write.
//!
//! It is mapped into memory, so what stands on it outlives a program that is killed.

use std::ffi::CString;
use std::sync::atomic::AtomicU64;

/// Kinds of calls, in the order of their numbers on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Write,
    Sync,
    Truncate,
    Open,
    Unlink,
    Read,
}

impl Kind {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "write" => Self::Write,
            "sync" => Self::Sync,
            "truncate" => Self::Truncate,
            "open" => Self::Open,
            "unlink" => Self::Unlink,
            "read" => Self::Read,
            _ => return None,
        })
    }
}

/// What stands on the board.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Board {
    /// Not 0 once the disk is to work again.
    pub(crate) healed: AtomicU64,
    /// How often the fault was played.
    pub(crate) fired: AtomicU64,
    writes: AtomicU64,
    syncs: AtomicU64,
    truncates: AtomicU64,
    opens: AtomicU64,
    unlinks: AtomicU64,
    reads: AtomicU64,
}

impl Board {
    /// Maps the board, none if the file cannot be.
    pub(crate) fn map(path: &str) -> Option<&'static Self> {
        let path = CString::new(path).ok()?;
        // SAFETY: the path is a C string, and the call touches no other memory. The descriptor is this function's own.
        let file = unsafe {
            libc::syscall(
                libc::SYS_openat,
                libc::AT_FDCWD,
                path.as_ptr(),
                libc::O_RDWR,
            )
        };
        let file = libc::c_int::try_from(file).ok().filter(|file| *file >= 0)?;
        // SAFETY: a new mapping at an address of the system's choice; it overlaps no memory in use.
        let mapped = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Self>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file,
                0,
            )
        };
        if mapped == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: the mapping is aligned to a page, as large as a board, never taken away, and any bytes are a board: it holds
        // nothing but atomic numbers, which others may change at any time.
        Some(unsafe { &*mapped.cast::<Self>() })
    }

    pub(crate) fn count(&self, kind: Kind) -> &AtomicU64 {
        match kind {
            Kind::Write => &self.writes,
            Kind::Sync => &self.syncs,
            Kind::Truncate => &self.truncates,
            Kind::Open => &self.opens,
            Kind::Unlink => &self.unlinks,
            Kind::Read => &self.reads,
        }
    }
}
