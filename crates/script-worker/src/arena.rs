//! Memory of an interpreter that can be put back, byte for byte, to what it was.
//!
//! Everything that a QuickJS runtime holds comes from its allocator: objects, shapes, atoms, code, pending jobs, the
//! runtime itself. An [`Arena`] gives all of it from one piece of memory, and keeps its own books there too. So a copy
//! of the used part is an image of the whole interpreter, and copying it back makes the interpreter forget whatever
//! has happened since, at the price of one `memcpy`.
//!
//! What this relies on, and who sees to it (`warm`): when an image is made and when it is put back, no code runs inside
//! the interpreter, and the same handles to it exist outside. Handles that came since are gone, so no count of
//! references is off. Nothing that was made inside since holds memory outside: the native function, whose closure
//! lies outside, is part of the image.
#![expect(unsafe_code, reason = "an allocator is made of raw memory")]

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::Arc;

use armilla_script::wire::Notice;
use rquickjs::allocator::Allocator;

use crate::meter::Meter;

/// Every block begins with its class, in as many bytes as keep the rest aligned.
const HEADER_BYTES: usize = 16;

/// Blocks of up to this many bytes have classes 16 bytes apart; larger ones four classes to a doubling.
const SMALL_BYTES: usize = 1024;
const SMALL_CLASSES: usize = SMALL_BYTES / 16;
const CLASSES: usize = SMALL_CLASSES + 1 + 4 * 32;

/// One piece of memory and what is known of it. The books lie at its beginning.
pub(crate) struct Arena {
    base: NonNull<u8>,
    layout: Layout,
    exhausted: Exhausted,
    meter: Arc<Meter>,
}

/// What is done when there is no room for a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exhausted {
    /// The server is told, and the process ends. QuickJS does not survive every allocation that fails, and a script can
    /// choose which one does; so it never meets one.
    EndProcess,
    /// QuickJS is told. Where a thread plays the process, which must not end.
    ReturnNull,
}

/// The books of an arena. Places are counted from its beginning; 0 is none.
#[repr(C)]
struct Books {
    used: usize,
    /// The first free block of each class. A free block holds the place of the next one.
    free: [usize; CLASSES],
}

const BOOKS_BYTES: usize = std::mem::size_of::<Books>().next_multiple_of(HEADER_BYTES);

// SAFETY: an arena is plain memory. It is only changed by the interpreter that it belongs to, which is locked then,
// and by `restore`, whose caller makes sure that no code runs inside.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

impl Arena {
    /// Makes an arena. Memory is taken from the system as it is touched.
    pub(crate) fn new(bytes: usize, exhausted: Exhausted, meter: Arc<Meter>) -> Option<Arc<Arena>> {
        let bytes = bytes.max(BOOKS_BYTES);
        let layout = Layout::from_size_align(bytes, HEADER_BYTES).ok()?;
        // SAFETY: the layout is not empty.
        let base = NonNull::new(unsafe { std::alloc::alloc(layout) })?;
        // SAFETY: there is room for the books, which are numbers, at an aligned place.
        unsafe { base.cast::<Books>().write(Books { used: BOOKS_BYTES, free: [0; CLASSES] }) };
        Some(Arc::new(Arena { base, layout, exhausted, meter }))
    }

    /// Returns how much of the arena was ever used since it was made or put back.
    pub(crate) fn used(&self) -> usize {
        // SAFETY: the books are there as long as the arena is; see above for who else may change them.
        unsafe { (*self.books()).used }
    }

    /// Copies what is used.
    pub(crate) fn image(&self) -> Box<[u8]> {
        // SAFETY: the used part was handed out or is the books; the caller of `new` keeps others out, see above.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.used()) }.into()
    }

    /// Puts everything back to what an image holds.
    ///
    /// # Safety
    ///
    /// The image is of this arena. No code runs inside the interpreter, and the handles to it are those that there were
    /// when the image was made.
    pub(crate) unsafe fn restore(&self, image: &[u8]) {
        debug_assert!(image.len() <= self.layout.size());
        // SAFETY: an image of this arena is not longer than it, and lies elsewhere.
        unsafe { std::ptr::copy_nonoverlapping(image.as_ptr(), self.base.as_ptr(), image.len()) };
    }

    fn books(&self) -> *mut Books {
        self.base.as_ptr().cast()
    }

    fn at(&self, place: usize) -> *mut u8 {
        debug_assert!(place <= self.layout.size());
        // SAFETY: places are inside of the arena.
        unsafe { self.base.as_ptr().add(place) }
    }

    fn allocate(&self, bytes: usize) -> *mut u8 {
        let Some(class) = class_of(bytes) else { return self.exhausted() };
        // SAFETY: the books are valid, and only used under the interpreter's lock. A free block of a class is a place
        // that was handed out with that class before, and begins with the place of the next one. A new block ends
        // inside of the arena.
        unsafe {
            let books = self.books();
            let place = (*books).free[class];
            if place != 0 {
                (*books).free[class] = self.at(place).cast::<usize>().read();
                return self.at(place);
            }
            let begin = (*books).used;
            let end = begin.saturating_add(HEADER_BYTES + class_bytes(class));
            if end > self.layout.size() {
                return self.exhausted();
            }
            (*books).used = end;
            self.at(begin).cast::<usize>().write(class);
            self.at(begin + HEADER_BYTES)
        }
    }

    /// Does what is to be done where memory ends.
    #[cold]
    fn exhausted(&self) -> *mut u8 {
        match self.exhausted {
            Exhausted::ReturnNull => std::ptr::null_mut(),
            Exhausted::EndProcess => {
                // No code is in the middle of a frame: frames are not made of this memory, and there is one thread.
                let _ = self.meter.channel().send(&Notice::OutOfMemory { steps: self.meter.steps() });
                std::process::exit(0)
            }
        }
    }

    /// # Safety
    ///
    /// The block was handed out by this arena and not given back since.
    unsafe fn release(&self, block: *mut u8) {
        // SAFETY: the block is inside of the arena, and its header before it; it is at least as long as a place.
        unsafe {
            let class = class_at(block);
            let books = self.books();
            block.cast::<usize>().write((*books).free[class]);
            (*books).free[class] = block.offset_from(self.base.as_ptr()).unsigned_abs();
        }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and the interpreter, which held an `Arc`, is gone.
        unsafe { std::alloc::dealloc(self.base.as_ptr(), self.layout) };
    }
}

/// Returns the class of blocks of at least some bytes.
fn class_of(bytes: usize) -> Option<usize> {
    if bytes <= SMALL_BYTES {
        return Some(bytes.div_ceil(16).max(1));
    }
    // The smallest of the four steps of its doubling that is large enough.
    let doubling = (bytes - 1).ilog2() as usize;
    let low = 1usize << doubling;
    let step = (bytes - low).div_ceil(low / 4);
    let class = SMALL_CLASSES + 4 * (doubling - SMALL_BYTES.ilog2() as usize) + step;
    (class < CLASSES).then_some(class)
}

fn class_bytes(class: usize) -> usize {
    if class <= SMALL_CLASSES {
        return 16 * class;
    }
    let large = class - SMALL_CLASSES - 1;
    let low = SMALL_BYTES << (large / 4);
    low + (large % 4 + 1) * (low / 4)
}

/// # Safety
///
/// The block was handed out by an arena.
unsafe fn class_at(block: *mut u8) -> usize {
    // SAFETY: a block has its header before it.
    unsafe { block.sub(HEADER_BYTES).cast::<usize>().read() }
}

/// An arena as the allocator of a runtime.
pub(crate) struct ArenaAllocator(pub(crate) Arc<Arena>);

// SAFETY: blocks are inside of the arena, apart from each other, aligned to 16 bytes, and as long as their class says,
// which is at least as long as was asked for.
unsafe impl Allocator for ArenaAllocator {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        self.0.allocate(size)
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(bytes) = count.checked_mul(size) else { return self.0.exhausted() };
        let block = self.0.allocate(bytes);
        if !block.is_null() {
            // SAFETY: the block has this many bytes.
            unsafe { std::ptr::write_bytes(block, 0, bytes) };
        }
        block
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        // SAFETY: as the caller says.
        unsafe { self.0.release(block) };
    }

    unsafe fn realloc(&mut self, block: *mut u8, new_size: usize) -> *mut u8 {
        if block.is_null() {
            return self.0.allocate(new_size);
        }
        if new_size == 0 {
            // SAFETY: as the caller says.
            unsafe { self.0.release(block) };
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller says.
        let old_bytes = unsafe { class_bytes(class_at(block)) };
        if new_size <= old_bytes && new_size >= old_bytes / 2 {
            return block;
        }
        let moved = self.0.allocate(new_size);
        if !moved.is_null() {
            // SAFETY: both blocks have this many bytes and are not the same; the old one is not used any more.
            unsafe {
                std::ptr::copy_nonoverlapping(block, moved, old_bytes.min(new_size));
                self.0.release(block);
            }
        }
        moved
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: as the caller says.
        unsafe { class_bytes(class_at(block)) }
    }
}

#[cfg(test)]
mod tests;
