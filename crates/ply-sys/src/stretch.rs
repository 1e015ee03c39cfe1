//! Bytes that grow where they are.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that were made room for in all stretches so far, for [`Counted`](crate::Counted).
static BYTES: AtomicU64 = AtomicU64::new(0);

/// A buffer of zeros that grows without its bytes being copied, up to a length that is known beforehand.
///
/// The addresses for all of it are taken at once; memory is asked of the system as it grows.
#[derive(Debug)]
pub struct Stretch {
    memory: Memory,
    bytes: usize,
}

impl Stretch {
    /// Returns an empty buffer that can grow to `bytes_max`, or none if the system has no such range of addresses.
    #[must_use]
    pub fn new(bytes_max: usize) -> Option<Self> {
        let memory = Memory::reserve(bytes_max)?;
        Some(Self { memory, bytes: 0 })
    }

    /// Makes the buffer at least this long, and returns whether there was memory for that.
    #[must_use]
    pub fn grow(&mut self, bytes: usize) -> bool {
        if bytes <= self.bytes {
            return true;
        }
        let grown = self.memory.open(bytes);
        if grown {
            BYTES.fetch_add((bytes - self.bytes) as u64, Ordering::Relaxed);
            self.bytes = bytes;
        }
        grown
    }

    pub(crate) fn bytes_so_far() -> u64 {
        BYTES.load(Ordering::Relaxed)
    }
}

impl Deref for Stretch {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.memory.get(self.bytes)
    }
}

impl DerefMut for Stretch {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.memory.get_mut(self.bytes)
    }
}

#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Memory {
    start: std::ptr::NonNull<u8>,
    /// Length of the mapping.
    reserved: usize,
    /// How much of it can be read and written.
    open: usize,
}

// SAFETY: the mapping belongs to its value alone, and nothing about it is bound to a thread.
#[cfg(target_os = "linux")]
unsafe impl Send for Memory {}
// SAFETY: a shared value gives out shared slices only.
#[cfg(target_os = "linux")]
unsafe impl Sync for Memory {}

#[cfg(target_os = "linux")]
impl Memory {
    /// Memory is opened up to multiples of this, the size of a large page, so that large pages can be behind it.
    const STEP: usize = 2 * 1024 * 1024;

    fn reserve(bytes: usize) -> Option<Self> {
        // SAFETY: a new private mapping at an address that the system chooses touches nothing that exists.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return None;
        }
        let memory = Self {
            start: std::ptr::NonNull::new(start.cast())?,
            reserved: bytes,
            open: 0,
        };
        // SAFETY: the range is the mapping made above. The advice changes only the size of the pages that will be behind it.
        unsafe {
            libc::madvise(start, bytes, libc::MADV_HUGEPAGE);
        }
        Some(memory)
    }

    fn open(&mut self, bytes: usize) -> bool {
        if bytes <= self.open {
            return true;
        }
        if bytes > self.reserved {
            return false;
        }
        let start = self.start.as_ptr();
        let end = (start.addr() + bytes).next_multiple_of(Self::STEP);
        let open = (end - start.addr()).min(self.reserved);
        // SAFETY: the range begins where the mapping does, which is at a page, and lies within it.
        let opened =
            unsafe { libc::mprotect(start.cast(), open, libc::PROT_READ | libc::PROT_WRITE) };
        if opened == 0 {
            self.open = open;
        }
        opened == 0
    }

    fn get(&self, bytes: usize) -> &[u8] {
        debug_assert!(bytes <= self.open);
        // SAFETY: so much of the mapping is open, and it was zeros at first; it lives as long as `self`, and whoever may write to it
        // has `self` for itself.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), bytes) }
    }

    fn get_mut(&mut self, bytes: usize) -> &mut [u8] {
        debug_assert!(bytes <= self.open);
        // SAFETY: as above, and `self` is borrowed for writing.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), bytes) }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `reserve`, and what was borrowed from it is gone.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.reserved);
        }
    }
}

/// Elsewhere all of it is asked of the allocator at once; memory that is not written costs nothing there either.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct Memory(Vec<u8>);

#[cfg(not(target_os = "linux"))]
impl Memory {
    fn reserve(bytes: usize) -> Option<Self> {
        let mut memory = Vec::new();
        memory.try_reserve_exact(bytes).ok()?;
        Some(Self(memory))
    }

    fn open(&mut self, bytes: usize) -> bool {
        let has_room = bytes <= self.0.capacity();
        if has_room && bytes > self.0.len() {
            self.0.resize(bytes, 0);
        }
        has_room
    }

    fn get(&self, bytes: usize) -> &[u8] {
        self.0.get(..bytes).unwrap_or_default()
    }

    fn get_mut(&mut self, bytes: usize) -> &mut [u8] {
        self.0.get_mut(..bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_stays_where_it_is_while_the_rest_is_zeros() {
        let max = 9 << 20;
        let mut stretch = Stretch::new(max).expect("addresses");
        assert!(stretch.is_empty());
        let mut start = None;
        for (round, bytes) in (0..=max).step_by((1 << 20) + 77).enumerate() {
            let before = stretch.len();
            assert!(stretch.grow(bytes));
            assert_eq!(stretch.len(), bytes);
            let at = stretch.as_ptr();
            assert_eq!(*start.get_or_insert(at), at);
            assert!(stretch[before..].iter().all(|byte| *byte == 0));
            let value = u8::try_from(round).expect("few rounds");
            stretch[before..].fill(value + 1);
            assert!(bytes == 0 || stretch[0] == 2);
        }
        assert!(stretch.grow(10), "it is as long already");
        assert!(stretch.grow(max));
        assert!(!stretch.grow(max + 1));
        assert_eq!(stretch.len(), max);
    }
}
