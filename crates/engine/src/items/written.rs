//! What became of a write.

use std::ops::Deref;

use armilla_container::Written;

/// An item that was written.
pub struct ItemWritten {
    /// What the write did.
    pub written: Written,
    /// What the trigger after the write wants the caller to be shown instead of the item, as JSON.
    pub response_body: Option<String>,
}

impl From<Written> for ItemWritten {
    fn from(written: Written) -> ItemWritten {
        ItemWritten { written, response_body: None }
    }
}

impl Deref for ItemWritten {
    type Target = Written;

    fn deref(&self) -> &Written {
        &self.written
    }
}
