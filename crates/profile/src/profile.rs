//! What is told of a container's data.

use std::collections::BTreeMap;

use armilla_value::Value;

/// What a sample of a container's items shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// Items that were looked at.
    pub items: u64,
    /// Their bytes as JSON, without the system properties.
    pub bytes: u64,
    /// Bytes of items: the median, the 99th of a hundred, the largest.
    pub bytes_p50: u64,
    /// The 99th of a hundred.
    pub bytes_p99: u64,
    /// The largest item.
    pub bytes_max: u64,
    /// The path whose value says what an item is, such as `/type`, where there is one.
    pub discriminator: Option<String>,
    /// Whether the items are of one sort, as far as their members tell.
    pub sorts: usize,
    /// The sorts of items by what the discriminator says; `""` for all where there is none, and for those without.
    pub entities: BTreeMap<String, Entity>,
    /// What the partition key of the container looks like.
    pub key: KeyProfile,
    /// When the items were last written, in seconds since 1970: the first and the last.
    pub written: Option<(i64, i64)>,
}

/// One sort of items.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entity {
    /// Items that were looked at.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The largest of them.
    pub bytes_max: u64,
    /// Every path of them: `/name`, `/address/city`, `/tags/[]`, `/lines/[]/price`.
    pub paths: BTreeMap<String, PathProfile>,
    /// How many more paths there are, which had no room; exact below [`crate::limits::BEYOND_EXACT_MAX`].
    pub paths_beyond: u64,
    /// Ids of a few, the largest first.
    pub examples: Vec<String>,
}

/// What is at a path.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PathProfile {
    /// Items that have it.
    pub items: u64,
    /// Values there are of it: more than items where it lies in an array.
    pub values: u64,
    /// The bytes of its values as JSON.
    pub bytes: u64,
    /// The longest of them.
    pub bytes_max: u64,
    /// How many are null.
    pub nulls: u64,
    /// How many are true or false.
    pub booleans: u64,
    /// How many are numbers.
    pub numbers: u64,
    /// How many are texts.
    pub texts: u64,
    /// How many are objects.
    pub objects: u64,
    /// How many are arrays.
    pub arrays: u64,
    /// Different values, as far as they were counted; exact below [`crate::limits::DISTINCT_EXACT_MAX`].
    pub distinct: u64,
    /// How many values the most frequent one has, and which it is.
    pub most: Option<(Value, u64)>,
    /// Lengths of arrays: the median, the 99th of a hundred, the longest.
    pub lengths: Option<Lengths>,
    /// How many of the texts are dates or times.
    pub dates: u64,
    /// How many of the texts are GUIDs.
    pub guids: u64,
    /// For objects: how many have a value that another item's object at this path has as well.
    pub repeated: u64,
}

/// How long arrays are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lengths {
    /// The median.
    pub p50: u64,
    /// The 99th of a hundred.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}

/// What a partition key looks like.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KeyProfile {
    /// Different keys in the sample.
    pub distinct: u64,
    /// Items without one, or with null.
    pub missing: u64,
    /// Items whose key is a number.
    pub numbers: u64,
    /// Items whose key is a text.
    pub texts: u64,
    /// Items whose key is their id.
    pub ids: u64,
    /// Items whose key reads as a date or time.
    pub dates: u64,
    /// The longest key, in bytes.
    pub bytes_max: u64,
    /// Keys that begin with the same hundred bytes as another.
    pub prefix_shared: u64,
    /// The largest logical partitions of the sample: key, items, bytes.
    pub largest: Vec<(String, u64, u64)>,
    /// How well the order of the keys follows the order in which items were written: -1 to 1.
    pub monotone: f64,
}
