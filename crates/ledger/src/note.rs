//! What is noted of one request, where it was served.

use armilla_value::{PartitionKey, Value};

/// One request, as it came and with what it took. Everything is borrowed: most requests are not written down.
#[derive(Debug, Clone, Copy)]
pub struct Note<'a> {
    /// The container's resource id, as a number.
    pub container: u64,
    /// What was asked.
    pub act: Act<'a>,
    /// The logical partition that it was about, where it named one.
    pub key: Option<&'a PartitionKey>,
    /// What it took.
    pub took: Took,
    /// What came of it.
    pub outcome: Outcome,
}

/// What was asked.
#[derive(Debug, Clone, Copy)]
pub enum Act<'a> {
    /// One item by its id.
    Read {
        /// The id.
        id: &'a str,
    },
    /// An item was created, or created or replaced. What it says it is (the text at one of the usual names of
    /// discriminators) is the text of the shape, so that each sort of item has its own.
    Create {
        /// Its text, where it is at hand.
        item: &'a [u8],
    },
    /// An item was replaced.
    Replace {
        /// Its id.
        id: &'a str,
    },
    /// Parts of an item were changed.
    Patch {
        /// Its id.
        id: &'a str,
    },
    /// An item was deleted.
    Delete {
        /// Its id.
        id: &'a str,
    },
    /// A page of a query.
    Query {
        /// Its text, or the text that says the same as what a front end made.
        text: &'a str,
        /// Its parameters, their names with the `@`.
        parameters: &'a [(String, Value)],
    },
    /// A stored procedure.
    Procedure {
        /// Its name.
        name: &'a str,
    },
    /// Several writes as one.
    Batch,
    /// A page of a list of items.
    List,
    /// A page of the change feed.
    Changes,
}

/// What a request took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Took {
    /// Its charge, in hundredths of a request unit.
    pub charge: u64,
    /// From where it was asked to where it was answered, in microseconds.
    pub micros: u64,
    /// Items that were read.
    pub items: u64,
    /// Index entries that were read.
    pub entries: u64,
    /// Rows that were given, or items.
    pub rows: u64,
    /// Their bytes, or those of the item that was written.
    pub bytes: u64,
    /// Physical partitions that were asked.
    pub partitions: u32,
    /// For queries that were paged: whether this is not the first page.
    pub is_continued: bool,
    /// For queries: whether the request named one part of the ring, as clients do that ask every physical partition
    /// themselves.
    pub is_ranged: bool,
}

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Done,
    /// It was refused for want of throughput.
    Throttled,
    /// It was refused for another reason, such as a condition that did not hold, or an item that is not there.
    Refused,
}
