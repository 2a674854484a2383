//! Traversers and the ways they went.

use std::sync::Arc;

use armilla_gremlin_value::{Path, Value};

use crate::compile::PathNeed;

/// Something on its way through the steps.
#[derive(Debug, Clone)]
pub(crate) struct Traverser {
    pub(crate) value: Value,
    /// How many it stands for.
    pub(crate) bulk: u64,
    /// Which input of a local child it comes from; zero in the traversal itself.
    pub(crate) origin: u32,
    pub(crate) path: Option<Arc<PathNode>>,
    pub(crate) sack: Option<Value>,
}

pub(crate) type Batch = Vec<Traverser>;

/// The last place of a way, and the way to it.
#[derive(Debug)]
pub(crate) struct PathNode {
    pub(crate) value: Value,
    pub(crate) labels: Arc<[Arc<str>]>,
    pub(crate) before: Option<Arc<PathNode>>,
}

impl Drop for PathNode {
    fn drop(&mut self) {
        // A long way would otherwise be dropped by as many nested calls.
        let mut before = self.before.take();
        while let Some(node) = before {
            before = match Arc::try_unwrap(node) {
                Ok(mut node) => node.before.take(),
                Err(_) => None,
            };
        }
    }
}

impl Traverser {
    pub(crate) fn new(value: Value) -> Traverser {
        Traverser { value, bulk: 1, origin: 0, path: None, sack: None }
    }

    /// Says whether another one at the same place came the same way, as far as ways are kept.
    pub(crate) fn is_like(&self, other: &Traverser) -> bool {
        self.origin == other.origin && self.way() == other.way()
    }

    /// Returns what tells its way from others; zero if it has none.
    pub(crate) fn way(&self) -> usize {
        self.path.as_ref().map_or(0, |node| Arc::as_ptr(node) as usize)
    }

    /// Returns the traverser gone on to a value.
    pub(crate) fn to(&self, value: Value, labels: &Arc<[Arc<str>]>, need: PathNeed) -> Traverser {
        let mut next = Traverser {
            value,
            bulk: self.bulk,
            origin: self.origin,
            path: self.path.clone(),
            sack: self.sack.clone(),
        };
        next.arrive(labels, need);
        next
    }

    /// Moves on to a value.
    pub(crate) fn go(&mut self, value: Value, labels: &Arc<[Arc<str>]>, need: PathNeed) {
        self.value = value;
        self.arrive(labels, need);
    }

    /// Adds where it is to its way.
    pub(crate) fn arrive(&mut self, labels: &Arc<[Arc<str>]>, need: PathNeed) {
        let kept = match need {
            PathNeed::Nothing => false,
            PathNeed::Labelled => !labels.is_empty(),
            PathNeed::All => true,
        };
        if kept {
            let before = self.path.take();
            self.path =
                Some(Arc::new(PathNode { value: self.value.clone(), labels: labels.clone(), before }));
        }
    }

    /// Gives where it is further labels.
    pub(crate) fn label(&mut self, labels: &Arc<[Arc<str>]>, need: PathNeed) {
        if labels.is_empty() || need == PathNeed::Nothing {
            return;
        }
        match self.path.take() {
            Some(node) if need == PathNeed::All => {
                let labels = node.labels.iter().cloned().chain(labels.iter().cloned()).collect();
                let (value, before) = (node.value.clone(), node.before.clone());
                self.path = Some(Arc::new(PathNode { value, labels, before }));
            }
            before => {
                self.path =
                    Some(Arc::new(PathNode { value: self.value.clone(), labels: labels.clone(), before }));
            }
        }
    }

    /// Returns the nodes of its way, the first one first.
    pub(crate) fn nodes(&self) -> Vec<&Arc<PathNode>> {
        let mut nodes = Vec::new();
        let mut at = self.path.as_ref();
        while let Some(node) = at {
            nodes.push(node);
            at = node.before.as_ref();
        }
        nodes.reverse();
        nodes
    }

    /// Returns what a label last stood for.
    pub(crate) fn last(&self, label: &str) -> Option<&Value> {
        let mut at = self.path.as_ref();
        while let Some(node) = at {
            if node.labels.iter().any(|other| other.as_ref() == label) {
                return Some(&node.value);
            }
            at = node.before.as_ref();
        }
        None
    }

    /// Returns all that a label stood for.
    pub(crate) fn all(&self, label: &str) -> Vec<&Value> {
        let nodes = self.nodes().into_iter();
        nodes
            .filter(|node| node.labels.iter().any(|other| other.as_ref() == label))
            .map(|node| &node.value)
            .collect()
    }
}

/// Makes the value of a way, or of the part of it between two labels.
pub(crate) fn path_of(nodes: &[&Arc<PathNode>]) -> Path {
    Path {
        labels: nodes.iter().map(|node| node.labels.to_vec()).collect(),
        objects: nodes.iter().map(|node| node.value.clone()).collect(),
    }
}

/// Cuts a way to the part between two labels.
pub(crate) fn section<'n>(
    nodes: Vec<&'n Arc<PathNode>>,
    from: Option<&Arc<str>>,
    to: Option<&Arc<str>>,
) -> Vec<&'n Arc<PathNode>> {
    let has = |node: &&Arc<PathNode>, label: &Arc<str>| node.labels.contains(label);
    let start = from.and_then(|label| nodes.iter().rposition(|node| has(node, label))).unwrap_or(0);
    let end =
        to.and_then(|label| nodes.iter().rposition(|node| has(node, label))).map_or(nodes.len(), |at| at + 1);
    nodes.get(start..end).map(<[_]>::to_vec).unwrap_or_default()
}

/// Hashes short keys fast; the keys are ids of elements, which are not chosen to collide.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct FastHasher(u64);

impl std::hash::Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        let rest = chunks.remainder();
        if !rest.is_empty() {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(rest) {
                *to = *from;
            }
            self.write_u64(u64::from_le_bytes(word) ^ (rest.len() as u64) << 56);
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = u128::from(self.0.rotate_left(23) ^ value)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        self.0 = (mixed as u64) ^ ((mixed >> 64) as u64);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// Makes [`FastHasher`]s, seeded so that ids a client chose cannot be made to collide on purpose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FastHashing(pub(crate) u64);

impl Default for FastHashing {
    fn default() -> FastHashing {
        FastHashing(0x517c_c1b7_2722_0a95)
    }
}

impl std::hash::BuildHasher for FastHashing {
    type Hasher = FastHasher;

    fn build_hasher(&self) -> FastHasher {
        FastHasher(self.0)
    }
}

pub(crate) type FastMap<K, V> = std::collections::HashMap<K, V, FastHashing>;
pub(crate) type FastSet<K> = std::collections::HashSet<K, FastHashing>;
