//! Memory of the whole program, from mimalloc.
//!
//! Requests and commits allocate on one thread and free on another, many times each; the system's allocator took a sixth
//! of the time of a write for it. The crate that offers mimalloc as an allocator asks for every piece by its alignment,
//! for which mimalloc has a longer way: a twentieth of all instructions of a short query. Nearly all pieces want no more
//! than a word's, which every piece has.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;

use libmimalloc_sys as mimalloc;

/// The alignment that a piece of any size has.
const ALIGN_OF_ALL: usize = size_of::<usize>();

/// Gives memory out.
pub(crate) struct Allocator;

// SAFETY: mimalloc keeps what the trait asks of an allocator. A piece that was asked for without an alignment has that of
// a word, and may be given back or changed in size as any other.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: there is nothing that these may not be asked.
        unsafe {
            if layout.align() <= ALIGN_OF_ALL {
                mimalloc::mi_malloc(layout.size()).cast()
            } else {
                mimalloc::mi_malloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            if layout.align() <= ALIGN_OF_ALL {
                mimalloc::mi_zalloc(layout.size()).cast()
            } else {
                mimalloc::mi_zalloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, _: Layout) {
        // SAFETY: the caller gives back what it got here.
        unsafe { mimalloc::mi_free(piece.cast::<c_void>()) }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller got the piece here.
        unsafe {
            if layout.align() <= ALIGN_OF_ALL {
                mimalloc::mi_realloc(piece.cast(), size).cast()
            } else {
                mimalloc::mi_realloc_aligned(piece.cast(), size, layout.align()).cast()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_lies_as_it_was_asked_for() {
        for align in [1, 2, 4, 8, 16, 32, 64, 4_096] {
            for size in (1..300).chain([1_000, 5_000, 100_000, 3_000_000]) {
                let layout = Layout::from_size_align(size, align).unwrap();
                let grown = size * 2 + 1;
                // SAFETY: sizes are not zero, and each piece is given back as what it was.
                unsafe {
                    let piece = Allocator.alloc(layout);
                    assert_eq!(piece.addr() % align, 0, "{size} bytes, {align}");
                    piece.write_bytes(7, size);
                    let piece = Allocator.realloc(piece, layout, grown);
                    assert_eq!(piece.addr() % align, 0, "{grown} bytes, {align}");
                    assert_eq!(*piece.add(size - 1), 7);
                    Allocator.dealloc(piece, Layout::from_size_align(grown, align).unwrap());
                    let zeroed = Allocator.alloc_zeroed(layout);
                    assert_eq!(zeroed.addr() % align, 0, "{size} bytes, {align}");
                    assert_eq!((*zeroed, *zeroed.add(size - 1)), (0, 0));
                    Allocator.dealloc(zeroed, layout);
                }
            }
        }
    }
}
