//! Where items and index entries come from: one physical partition, or a part of it, as of one moment.
//!
//! The engine implements [`Source`] over a container's partitions; feeds that are no containers (databases, offers)
//! and tests use [`MemorySource`]. Everything is asked for in batches, so that the call through the trait costs little.

mod memory;

use armilla_index::paths::PathSegment;
use armilla_index::{IndexId, KeyRange, split_entry};
use armilla_value::{HashedKey, Node, Stored};
use bytes::Bytes;

use crate::error::{Error, ErrorKind, Result};

pub use memory::{MemoryComputed, MemoryOptions, MemorySource};

/// A property that the server adds to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemProperty {
    /// The resource id.
    Rid,
    /// The link.
    SelfLink,
    /// The version.
    Etag,
    /// A link that no client uses.
    Attachments,
    /// When the item was written, in seconds since 1970.
    Ts,
}

impl SystemProperty {
    /// Returns the property of a name.
    pub fn find(name: &str) -> Option<SystemProperty> {
        Some(match name {
            "_rid" => SystemProperty::Rid,
            "_self" => SystemProperty::SelfLink,
            "_etag" => SystemProperty::Etag,
            "_attachments" => SystemProperty::Attachments,
            "_ts" => SystemProperty::Ts,
            _ => return None,
        })
    }

    /// Returns the property's name.
    pub fn name(self) -> &'static str {
        match self {
            SystemProperty::Rid => "_rid",
            SystemProperty::SelfLink => "_self",
            SystemProperty::Etag => "_etag",
            SystemProperty::Attachments => "_attachments",
            SystemProperty::Ts => "_ts",
        }
    }
}

/// One item of a source. Cloning it copies no content.
#[derive(Debug, Clone)]
pub struct SourceItem {
    /// The item's number: unique in the container, growing in the order of insertion.
    pub number: u64,
    /// When it was written, in seconds since 1970.
    pub ts: u32,
    /// Size of its JSON with system properties.
    pub json_bytes: u32,
    /// Where its stored form begins in `bytes`.
    pub stored_at: u32,
    /// The source's own bytes of it.
    pub bytes: Bytes,
}

impl SourceItem {
    /// Returns the item's content.
    pub fn root(&self) -> Node<'_> {
        let stored = Stored::open(&self.bytes[self.stored_at as usize..]);
        stored.expect("a source hands out checked items").root()
    }
}

/// Which way index entries are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the lowest.
    Forward,
    /// From the highest.
    Reverse,
}

/// A composite index that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompositeIndex {
    /// Which index.
    pub id: IndexId,
    /// Its paths, and whether each is descending.
    pub paths: Vec<(Vec<PathSegment>, bool)>,
    /// Whether it is a tuple path: one entry for each array element.
    pub is_tuple: bool,
}

/// One physical partition, or a part of it, as of one moment.
pub trait Source: Send + Sync {
    /// Returns the id of the physical partition.
    fn range_id(&self) -> u32;

    /// Returns the part of the ring that is covered: from the first hashed key to the first one beyond.
    fn bounds(&self) -> (HashedKey, HashedKey);

    /// Returns whether the source may be read now. It is asked when the source's turn comes, where sources are read one
    /// after the other; if not, the page ends before it.
    fn is_admitted(&self) -> bool {
        true
    }

    /// Notes that the page has come to the source. One whose plan was made beforehand may not be reached.
    fn visit(&self) {}

    /// Returns whether the whole physical partition is covered, so that its index entries are all ours, and each is of an
    /// item that can be loaded.
    fn is_whole(&self) -> bool;

    /// Returns whether exactly one logical partition is covered.
    fn is_logical(&self) -> bool;

    /// Returns the text that all items have at a path, where one logical partition is covered and the path is of its key.
    fn key_text(&self, path: &[PathSegment]) -> Option<&str> {
        let _ = path;
        None
    }

    /// Returns the number of items covered, about: exact where [`Source::is_counted`] says so.
    fn item_count(&self) -> u64;

    /// Returns whether [`Source::item_count`] is exact: it can be where the partition or one logical partition is covered.
    fn is_counted(&self) -> bool {
        self.is_whole() || self.is_logical()
    }

    /// Returns the number of items and their bytes in the whole physical partition.
    fn totals(&self) -> (u64, u64);

    /// Returns how many times more items and entries a plan is chosen for than there are: more than 1 where this is a sample,
    /// and what the plan of the whole would cost is asked. What is found does not depend on it.
    fn magnification(&self) -> u64 {
        1
    }

    /// Returns whether the index of a path is complete.
    fn is_path_usable(&self, path: &[PathSegment]) -> bool;

    /// Returns whether the policy asks for an index of a path, be it complete or not; for a computed property, only
    /// where the policy names it.
    fn is_path_in_policy(&self, path: &[PathSegment]) -> bool {
        self.is_path_usable(path)
    }

    /// Returns whether items that lack a path have an entry that says so.
    fn has_undefined_entries(&self, path: &[PathSegment]) -> bool;

    /// Returns the composite indexes that are complete.
    fn composites(&self) -> Vec<CompositeIndex>;

    /// Returns the composite indexes that the policy asks for, be they complete or not.
    fn composites_in_policy(&self) -> Vec<CompositeIndex> {
        self.composites()
    }

    /// Returns the number of entries of an index.
    fn index_entries(&self, id: IndexId) -> Result<u64>;

    /// Adds up to `entries_max` index entries of a range to `out`. Returns whether there are more.
    fn entries(
        &self,
        range: &KeyRange,
        direction: Direction,
        entries_max: usize,
        out: &mut Vec<Bytes>,
    ) -> Result<bool>;

    /// Counts the entries of a range.
    fn count_entries(&self, range: &KeyRange) -> Result<u64> {
        let mut numbers = Vec::new();
        self.entry_numbers(range, usize::MAX, &mut numbers)?;
        Ok(numbers.len() as u64)
    }

    /// Adds the item numbers of up to `numbers_max` entries of a range to `out`, in the order of the entries. Returns the
    /// entry behind which there may be more.
    fn entry_numbers(
        &self,
        range: &KeyRange,
        numbers_max: usize,
        out: &mut Vec<u64>,
    ) -> Result<Option<Bytes>> {
        let mut entries = Vec::new();
        let more = self.entries(range, Direction::Forward, numbers_max, &mut entries)?;
        for entry in &entries {
            let damaged = || Error::new(ErrorKind::Source, "an index entry is damaged");
            out.push(split_entry(entry).ok_or_else(damaged)?.2);
        }
        Ok(entries.pop().filter(|_| more))
    }

    /// Adds one item, or nothing, to `out` for each number; nothing for an item outside of the bounds.
    fn load(&self, numbers: &[u64], out: &mut Vec<Option<SourceItem>>) -> Result<()>;

    /// Adds up to `items_max` items in the order of their keys to `out`, from behind `after`. Returns whether there
    /// are more.
    fn scan(
        &self,
        after: Option<&[u8]>,
        items_max: usize,
        out: &mut Vec<(Bytes, SourceItem)>,
    ) -> Result<bool>;

    /// Adds up to `numbers_max` item numbers in order to `out`, from behind `after`; those of items outside of the
    /// bounds may be among them. Returns whether there are more.
    fn numbers(&self, after: u64, numbers_max: usize, out: &mut Vec<u64>) -> Result<bool>;

    /// Returns the item with an id, where one logical partition is covered.
    fn point(&self, id: &str) -> Result<Option<SourceItem>>;

    /// Returns a system property as text, [`SystemProperty::Ts`] excepted.
    fn system(&self, item: &SourceItem, property: SystemProperty) -> String;

    /// Returns the number that stands for an item: the low part of its resource id.
    fn document_id(&self, item: &SourceItem) -> u64 {
        item.number
    }

    /// Writes an item's JSON with its system properties.
    fn write_json(&self, item: &SourceItem, out: &mut Vec<u8>);
}
