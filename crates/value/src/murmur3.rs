//! MurmurHash3 in the two variants that partition keys use, seed 0.

/// Hashes to 32 bits (x86 variant).
pub(crate) fn murmur3_32(bytes: &[u8]) -> u32 {
    const C1: u32 = 0xCC9E_2D51;
    const C2: u32 = 0x1B87_3593;
    let mix = |word: u32| word.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut hash = 0u32;
    for block in blocks {
        hash ^= mix(u32::from_le_bytes(*block));
        hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64);
    }
    if !tail.is_empty() {
        let mut last = [0; 4];
        last[..tail.len()].copy_from_slice(tail);
        hash ^= mix(u32::from_le_bytes(last));
    }
    hash ^= bytes.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

/// Returns a fingerprint of some bytes that is the same everywhere and for ever.
pub fn fingerprint(bytes: &[u8]) -> u128 {
    let (low, high) = murmur3_128(bytes);
    u128::from(high) << 64 | u128::from(low)
}

/// Hashes to 128 bits (x64 variant): the low word, then the high word.
pub(crate) fn murmur3_128(bytes: &[u8]) -> (u64, u64) {
    const C1: u64 = 0x87C3_7B91_1142_53D5;
    const C2: u64 = 0x4CF5_AD43_2745_937F;
    let mix_low = |word: u64| word.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let mix_high = |word: u64| word.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let halves = |block: &[u8; 16]| {
        let word = u128::from_le_bytes(*block);
        (word as u64, (word >> 64) as u64)
    };
    let (blocks, tail) = bytes.as_chunks::<16>();
    let (mut low, mut high) = (0u64, 0u64);
    for block in blocks {
        let (first, second) = halves(block);
        low = (low ^ mix_low(first))
            .rotate_left(27)
            .wrapping_add(high)
            .wrapping_mul(5)
            .wrapping_add(0x52DC_E729);
        high = (high ^ mix_high(second))
            .rotate_left(31)
            .wrapping_add(low)
            .wrapping_mul(5)
            .wrapping_add(0x3849_5AB5);
    }
    if !tail.is_empty() {
        let mut last = [0; 16];
        last[..tail.len()].copy_from_slice(tail);
        let (first, second) = halves(&last);
        // Zero mixes to zero, so a tail of up to eight bytes leaves the high word alone.
        high ^= mix_high(second);
        low ^= mix_low(first);
    }
    low ^= bytes.len() as u64;
    high ^= bytes.len() as u64;
    low = low.wrapping_add(high);
    high = high.wrapping_add(low);
    low = finish(low);
    high = finish(high);
    low = low.wrapping_add(high);
    high = high.wrapping_add(low);
    (low, high)
}

fn finish(mut word: u64) -> u64 {
    word = (word ^ word >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    word = (word ^ word >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    word ^ word >> 33
}
