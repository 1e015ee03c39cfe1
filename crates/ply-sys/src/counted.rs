//! An allocator that counts, for benchmarks.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::Stretch;

/// The system's allocator, which counts the bytes that are asked of it once it is told to.
///
/// A block that grows counts with its whole new size, as it may have to be copied: a buffer that doubles until it holds 16 MiB
/// counts as 32. A [`Stretch`](crate::Stretch) counts as it grows.
#[derive(Debug, Default)]
pub struct Counted {
    counts: AtomicBool,
    bytes: AtomicU64,
    /// What stretches had before it began to count.
    stretched: AtomicU64,
}

impl Counted {
    /// Returns an allocator that does not count yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            counts: AtomicBool::new(false),
            bytes: AtomicU64::new(0),
            stretched: AtomicU64::new(0),
        }
    }

    /// Counts from now on.
    pub fn start(&self) {
        let stretched = Stretch::bytes_so_far();
        self.stretched.store(stretched, Ordering::Relaxed);
        self.counts.store(true, Ordering::Relaxed);
    }

    /// Returns how many bytes were allocated since it counts.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let allocated = self.bytes.load(Ordering::Relaxed);
        if !self.counts.load(Ordering::Relaxed) {
            return allocated;
        }
        allocated + Stretch::bytes_so_far() - self.stretched.load(Ordering::Relaxed)
    }

    fn count(&self, bytes: usize) {
        if self.counts.load(Ordering::Relaxed) {
            self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }
}

// SAFETY: every call is passed on to the system's allocator as it is, and counting touches nothing but two atomics.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size());
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size());
        // SAFETY: as promised by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if new_size > layout.size() {
            self.count(new_size);
        }
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_counts_in_full_and_nothing_before_the_start() {
        let counted = Counted::new();
        let small = Layout::from_size_align(100, 8).expect("a layout");
        let large = Layout::from_size_align(300, 8).expect("a layout");
        let around = |counts: &Counted| {
            // SAFETY: each block is used with the layout that it has then, and given back once.
            unsafe {
                let block = counts.alloc(small);
                let block = counts.realloc(block, small, large.size());
                let block = counts.realloc(block, large, small.size());
                counts.dealloc(block, small);
                let block = counts.alloc_zeroed(small);
                assert_eq!(*block, 0);
                counts.dealloc(block, small);
            }
        };
        around(&counted);
        assert_eq!(counted.bytes(), 0);
        counted.start();
        around(&counted);
        let mut stretch = Stretch::new(1 << 20).expect("addresses");
        assert!(stretch.grow(1000) && stretch.grow(3000));
        // Other tests have stretches too, and count here.
        assert!(counted.bytes() >= 100 + 300 + 100 + 3000);
    }
}
