use super::*;

const BYTES: usize = 1 << 20;

fn arena() -> Arc<Arena> {
    let (input, output) = std::io::pipe().unwrap();
    let meter = Meter::new(crate::channel::Channel::new(input, output));
    Arena::new(BYTES, Exhausted::ReturnNull, meter).unwrap()
}

#[test]
fn classes_hold_what_they_are_for() {
    for bytes in (0..5_000).chain([1 << 15, (1 << 15) + 1, 1 << 20, (1 << 26) - 1, 1 << 26]) {
        let class = class_of(bytes).unwrap();
        assert!(class_bytes(class) >= bytes, "{bytes}");
        assert!(class_bytes(class) <= bytes + bytes / 4 + 16, "{bytes}: {}", class_bytes(class));
        assert!(class_bytes(class).is_multiple_of(16), "{bytes}");
        assert_eq!(class_of(class_bytes(class)), Some(class), "{bytes}");
    }
    assert_eq!(class_of(usize::MAX), None);
}

/// Writes a pattern into a block.
fn fill(block: *mut u8, bytes: usize, byte: u8) {
    // SAFETY: the tests hand over blocks of at least this many bytes.
    unsafe { std::ptr::write_bytes(block, byte, bytes) };
}

fn holds(block: *mut u8, bytes: usize, byte: u8) -> bool {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts(block, bytes) }.iter().all(|found| *found == byte)
}

#[test]
fn blocks_are_apart_and_given_again() {
    let mut allocator = ArenaAllocator(arena());
    let blocks: Vec<(*mut u8, usize)> = (1..100).map(|n| (allocator.alloc(n * 13), n * 13)).collect();
    for (n, (block, bytes)) in blocks.iter().enumerate() {
        assert!(!block.is_null() && (*block as usize).is_multiple_of(16));
        fill(*block, *bytes, n as u8);
    }
    for (n, (block, bytes)) in blocks.iter().enumerate() {
        assert!(holds(*block, *bytes, n as u8), "block {n}");
    }
    let used = allocator.0.used();
    for (block, _) in &blocks {
        // SAFETY: each was handed out above and is given back once.
        unsafe { allocator.dealloc(*block) };
    }
    for (_, bytes) in &blocks {
        assert!(!allocator.alloc(*bytes).is_null());
    }
    assert_eq!(allocator.0.used(), used, "the same sizes fit where they were");
}

#[test]
fn growing_keeps_what_is_there() {
    let mut allocator = ArenaAllocator(arena());
    let mut block = allocator.calloc(4, 10);
    assert!(holds(block, 40, 0));
    fill(block, 40, 7);
    for bytes in [41, 64, 65, 1_000, 10_000, 100_000] {
        // SAFETY: the block is the one that was handed out last.
        block = unsafe { allocator.realloc(block, bytes) };
        assert!(holds(block, 40, 7), "{bytes}");
        // SAFETY: as above.
        assert!(unsafe { ArenaAllocator::usable_size(block) } >= bytes);
    }
    // SAFETY: as above.
    let shrunk = unsafe { allocator.realloc(block, 40) };
    assert!(holds(shrunk, 40, 7));
}

#[test]
fn memory_ends() {
    let mut allocator = ArenaAllocator(arena());
    assert!(allocator.alloc(BYTES).is_null());
    assert!(allocator.calloc(usize::MAX, 2).is_null());
    let count = (0..).take_while(|_| !allocator.alloc(1_000).is_null()).count();
    assert!((900..1_100).contains(&count), "{count}");
    let block = allocator.alloc(16);
    if !block.is_null() {
        // SAFETY: the block was handed out.
        assert!(unsafe { allocator.realloc(block, BYTES) }.is_null());
    }
}

#[test]
fn an_image_brings_everything_back() {
    let mut allocator = ArenaAllocator(arena());
    let kept = allocator.alloc(100);
    fill(kept, 100, 1);
    let freed = allocator.alloc(50);
    // SAFETY: it was handed out above.
    unsafe { allocator.dealloc(freed) };
    let image = allocator.0.image();
    for _ in 0..2 {
        fill(kept, 100, 2);
        assert_eq!(allocator.alloc(50), freed, "the books are as they were");
        fill(allocator.alloc(5_000), 5_000, 3);
        assert!(allocator.0.used() > image.len());
        // SAFETY: the image is of this arena, and no other code uses it.
        unsafe { allocator.0.restore(&image) };
        assert!(holds(kept, 100, 1));
        assert_eq!(allocator.0.used(), image.len());
    }
}
