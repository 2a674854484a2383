//! What is written at once.

use bytes::Bytes;

use crate::Family;

/// One change of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Sets the value of a key.
    Put {
        /// Where the key lives.
        family: Family,
        /// The key.
        key: Bytes,
        /// Its new value.
        value: Bytes,
    },
    /// Removes a key, if it is there.
    Delete {
        /// Where the key lives.
        family: Family,
        /// The key.
        key: Bytes,
    },
}

/// Changes that become visible and durable together. A later operation on the same key wins.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    ops: Vec<Op>,
    bytes: usize,
}

impl Batch {
    /// Returns an empty batch.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// Sets the value of a key.
    pub fn put(&mut self, family: Family, key: impl Into<Bytes>, value: impl Into<Bytes>) {
        let (key, value) = (key.into(), value.into());
        self.bytes += key.len() + value.len();
        self.ops.push(Op::Put { family, key, value });
    }

    /// Removes a key, if it is there.
    pub fn delete(&mut self, family: Family, key: impl Into<Bytes>) {
        let key = key.into();
        self.bytes += key.len();
        self.ops.push(Op::Delete { family, key });
    }

    /// Returns the operations in the order in which they were added.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Returns the operations themselves.
    pub fn into_ops(self) -> Vec<Op> {
        self.ops
    }

    /// Returns the bytes of all keys and values.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }
}
