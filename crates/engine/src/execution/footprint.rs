//! What a script has read and written, as people are told who try it.

use crate::limits::FOOTPRINT_BYTES_MAX;

/// What a script has read and written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Footprint {
    /// Items that it read by their names.
    pub reads: u64,
    /// Pages of queries.
    pub queries: u64,
    /// Rows of those pages.
    pub rows: u64,
    /// Writes.
    pub writes: u64,
    /// The first of the writes, in their order: what was done to which item.
    pub written: Vec<(Touch, String)>,
    /// What those take up.
    bytes: usize,
}

/// What an entry takes up beside its id.
const ENTRY_BYTES: usize = 32;

/// What is done to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// It is made.
    Create,
    /// It is given another body.
    Replace,
    /// It is deleted.
    Delete,
}

impl Footprint {
    pub(crate) fn write(&mut self, touch: Touch, id: &str) {
        self.writes += 1;
        // Once one is left out, so are those behind it.
        let is_whole = self.written.len() as u64 + 1 == self.writes;
        if is_whole && self.bytes + id.len() <= FOOTPRINT_BYTES_MAX {
            self.bytes += id.len() + ENTRY_BYTES;
            self.written.push((touch, id.to_owned()));
        }
    }
}

impl Touch {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Touch::Create => "create",
            Touch::Replace => "replace",
            Touch::Delete => "delete",
        }
    }
}
