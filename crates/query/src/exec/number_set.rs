//! A set of item numbers, one bit each where they lie close together.

use std::collections::HashMap;

use crate::budget::Memory;
use crate::error::Result;

/// Words of a block.
const WORDS: usize = 64;

/// Numbers of a block, as a power of two.
const BLOCK_BITS: u32 = 12;

/// What a block takes in memory.
const BLOCK_BYTES: usize = WORDS * 8 + 32;

/// A set of item numbers.
pub(super) struct NumberSet<'q> {
    blocks: HashMap<u64, Box<[u64; WORDS]>>,
    memory: &'q Memory,
}

impl<'q> NumberSet<'q> {
    /// Returns an empty set.
    pub(super) fn new(memory: &'q Memory) -> NumberSet<'q> {
        NumberSet { blocks: HashMap::new(), memory }
    }

    /// Adds a number.
    pub(super) fn insert(&mut self, number: u64) -> Result<()> {
        let (block, word, bit) = place(number);
        let block = match self.blocks.entry(block) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                self.memory.take(BLOCK_BYTES, "the items that lack an indexed path")?;
                entry.insert(Box::new([0; WORDS]))
            }
        };
        block[word] |= bit;
        Ok(())
    }

    /// Returns whether a number is in the set.
    pub(super) fn contains(&self, number: u64) -> bool {
        let (block, word, bit) = place(number);
        self.blocks.get(&block).is_some_and(|block| block[word] & bit != 0)
    }
}

impl Drop for NumberSet<'_> {
    fn drop(&mut self) {
        self.memory.give_back(self.blocks.len() * BLOCK_BYTES);
    }
}

fn place(number: u64) -> (u64, usize, u64) {
    let inside = number & ((1 << BLOCK_BITS) - 1);
    (number >> BLOCK_BITS, (inside / 64) as usize, 1 << (inside % 64))
}
