//! What is kept of a sample to compare it with those of other containers: hashes of values, and small members of items.
//!
//! Not here: the comparison, which is in `references` and `copies`.

use std::collections::BTreeMap;

/// What is kept of a container's items to compare them with others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sketches {
    pub(crate) is_whole: bool,
    /// The paths of the partition key, as text.
    pub(crate) key_paths: Vec<String>,
    /// The names of members of cards and objects, by their hashes.
    pub(crate) names: BTreeMap<u64, String>,
    pub(crate) entities: BTreeMap<String, EntitySketches>,
}

impl Sketches {
    /// Says whether all items of the container were looked at.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }
}

/// What is kept of one sort of items.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EntitySketches {
    /// The values at each path that has texts or numbers.
    pub(crate) paths: BTreeMap<String, PathSketch>,
    /// Items, in the order of the hashes of their ids.
    pub(crate) cards: Vec<Card>,
    /// Objects at paths.
    pub(crate) objects: BTreeMap<String, Vec<KeptObject>>,
}

/// The values at a path.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PathSketch {
    /// Hashes of texts and numbers, from the lowest.
    pub(crate) hashes: Vec<u64>,
    /// The hash up to which every value is among them.
    pub(crate) below: u64,
    /// Values that are the id of the item that they are in.
    pub(crate) own_ids: u64,
}

impl PathSketch {
    /// Says whether what is at the path is the id of the item itself, mostly.
    pub(crate) fn is_own_id(&self, values: u64) -> bool {
        self.own_ids > values / 2
    }

    /// Says whether all values are among the hashes.
    pub(crate) fn is_complete(&self) -> bool {
        self.below == u64::MAX
    }
}

/// The small members of an item.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Card {
    /// The hash of its id.
    pub(crate) id: u64,
    /// Hashes of names and values, in the order of the names.
    pub(crate) members: Vec<(u64, u64)>,
    /// Whether there are several items of this id and sort which differ: then it is not known which one is meant.
    pub(crate) is_ambiguous: bool,
    is_noted: bool,
}

impl Card {
    pub(crate) fn note(&mut self, id: u64, members: Vec<(u64, u64)>) {
        if !self.is_noted {
            *self = Card { id, members, is_ambiguous: false, is_noted: true };
        } else if self.members != members {
            self.is_ambiguous = true;
        }
    }
}

/// An object in an item.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct KeptObject {
    /// The hash of the id of the item, or of its text where it has none.
    pub(crate) item: u64,
    /// Hashes of names and values, in the order of the names.
    pub(crate) members: Vec<(u64, u64)>,
}
