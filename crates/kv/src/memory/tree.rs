//! An ordered map whose copies cost nothing until one of them changes.
//!
//! A B-tree with counted nodes. A clone shares every node. A change copies the nodes on its path that
//! are shared and mutates the others in place, so without clones it is as cheap as an ordinary B-tree,
//! and with them a change costs one path, never the whole map.
//!
//! Nodes are removed when they are empty, not when they are half empty: the height follows the most
//! entries the tree ever had, and no key is moved on the way down.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use bytes::Bytes;

use crate::Direction;

/// Most entries of a leaf and most children of an inner node.
const NODE_ENTRIES_MAX: usize = 32;

/// An ordered map of bytes with clones in constant time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    root: Option<Arc<Node>>,
    bytes: u64,
}

#[derive(Debug, Clone)]
enum Node {
    Leaf(Vec<(Bytes, Bytes)>),
    Inner {
        /// `separators[i]` is above every key of `children[i]` and not above any of `children[i + 1]`.
        separators: Vec<Bytes>,
        children: Vec<Arc<Node>>,
    },
}

/// The upper half of a node that became too large, with its smallest possible key.
type Split = (Bytes, Arc<Node>);

impl Tree {
    /// Returns the bytes of all keys and values.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether there is no key.
    pub(crate) fn is_empty(&self) -> bool {
        let mut is_empty = true;
        self.walk(&Bound::Unbounded, &Bound::Unbounded, Direction::Forward, &mut |_, _| {
            is_empty = false;
            ControlFlow::Break(())
        });
        is_empty
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Bytes> {
        let mut node = self.root.as_ref()?;
        loop {
            match &**node {
                Node::Leaf(entries) => {
                    let index = entries.binary_search_by(|entry| entry.0.as_ref().cmp(key)).ok()?;
                    return Some(&entries[index].1);
                }
                Node::Inner { separators, children } => node = &children[child_index(separators, key)],
            }
        }
    }

    /// Sets the value of a key.
    pub(crate) fn insert(&mut self, key: Bytes, value: Bytes) {
        self.bytes += (key.len() + value.len()) as u64;
        let Some(root) = &mut self.root else {
            self.root = Some(Arc::new(Node::Leaf(vec![(key, value)])));
            return;
        };
        let (replaced_bytes, split) = insert_into(root, key, value);
        self.bytes -= replaced_bytes as u64;
        if let Some((separator, upper)) = split {
            let lower = root.clone();
            self.root =
                Some(Arc::new(Node::Inner { separators: vec![separator], children: vec![lower, upper] }));
        }
    }

    /// Removes a key, if it is there.
    pub(crate) fn remove(&mut self, key: &[u8]) {
        // Look first: a miss must not copy shared nodes.
        let Some(value_bytes) = self.get(key).map(Bytes::len) else { return };
        self.bytes -= (key.len() + value_bytes) as u64;
        let Some(root) = &mut self.root else { return };
        if remove_from(root, key) {
            self.root = None;
            return;
        }
        while let Some(root) = &self.root
            && let Node::Inner { children, .. } = &**root
            && children.len() == 1
        {
            self.root = Some(children[0].clone());
        }
    }

    /// Calls `visit` with the entries of a range in the order of the walk until it breaks.
    pub(crate) fn walk(
        &self,
        lower: &Bound<Bytes>,
        upper: &Bound<Bytes>,
        direction: Direction,
        visit: &mut dyn FnMut(&Bytes, &Bytes) -> ControlFlow<()>,
    ) {
        if let Some(root) = &self.root {
            let _ = walk_node(root, lower, upper, direction, visit);
        }
    }
}

fn child_index(separators: &[Bytes], key: &[u8]) -> usize {
    separators.partition_point(|separator| separator.as_ref() <= key)
}

/// Inserts below a node and returns the bytes of the entry it replaced.
fn insert_into(node: &mut Arc<Node>, key: Bytes, value: Bytes) -> (usize, Option<Split>) {
    match Arc::make_mut(node) {
        Node::Leaf(entries) => match entries.binary_search_by(|entry| entry.0.cmp(&key)) {
            Ok(index) => {
                let replaced_bytes = key.len() + entries[index].1.len();
                entries[index].1 = value;
                (replaced_bytes, None)
            }
            Err(index) => {
                let appended = index == entries.len();
                entries.insert(index, (key, value));
                if entries.len() <= NODE_ENTRIES_MAX {
                    return (0, None);
                }
                // Keys that arrive in order leave full nodes behind instead of half-empty ones.
                let at = if appended { entries.len() - 1 } else { entries.len() / 2 };
                let upper = split_off(entries, at);
                (0, Some((upper[0].0.clone(), Arc::new(Node::Leaf(upper)))))
            }
        },
        Node::Inner { separators, children } => {
            let index = child_index(separators, &key);
            let (replaced_bytes, split) = insert_into(&mut children[index], key, value);
            let Some((separator, upper)) = split else { return (replaced_bytes, None) };
            let appended = index + 1 == children.len();
            separators.insert(index, separator);
            children.insert(index + 1, upper);
            if children.len() <= NODE_ENTRIES_MAX {
                return (replaced_bytes, None);
            }
            let at = if appended { children.len() - 1 } else { children.len() / 2 };
            let upper_children = split_off(children, at);
            let upper_separators = split_off(separators, at);
            let separator =
                separators.pop().expect("an inner node that splits has a separator for every child");
            let upper = Node::Inner { separators: upper_separators, children: upper_children };
            (replaced_bytes, Some((separator, Arc::new(upper))))
        }
    }
}

/// Splits a vector, giving the upper part room to grow without moving at once.
fn split_off<T>(entries: &mut Vec<T>, at: usize) -> Vec<T> {
    let mut upper = Vec::with_capacity(NODE_ENTRIES_MAX + 1);
    upper.extend(entries.drain(at..));
    upper
}

/// Removes a key that is there and returns whether the node is now empty.
fn remove_from(node: &mut Arc<Node>, key: &[u8]) -> bool {
    match Arc::make_mut(node) {
        Node::Leaf(entries) => {
            if let Ok(index) = entries.binary_search_by(|entry| entry.0.as_ref().cmp(key)) {
                entries.remove(index);
            }
            entries.is_empty()
        }
        Node::Inner { separators, children } => {
            let index = child_index(separators, key);
            if remove_from(&mut children[index], key) {
                children.remove(index);
                if !separators.is_empty() {
                    separators.remove(index.saturating_sub(1));
                }
            }
            children.is_empty()
        }
    }
}

fn walk_node(
    node: &Node,
    lower: &Bound<Bytes>,
    upper: &Bound<Bytes>,
    direction: Direction,
    visit: &mut dyn FnMut(&Bytes, &Bytes) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match node {
        Node::Leaf(entries) => {
            let from = entries.partition_point(|entry| is_below(&entry.0, lower));
            let to = entries.partition_point(|entry| !is_above(&entry.0, upper));
            let Some(inside) = entries.get(from..to) else { return ControlFlow::Continue(()) };
            match direction {
                Direction::Forward => inside.iter().try_for_each(|(key, value)| visit(key, value)),
                Direction::Reverse => inside.iter().rev().try_for_each(|(key, value)| visit(key, value)),
            }
        }
        Node::Inner { separators, children } => {
            let from = match lower {
                Bound::Included(key) | Bound::Excluded(key) => child_index(separators, key),
                Bound::Unbounded => 0,
            };
            let to = match upper {
                Bound::Included(key) | Bound::Excluded(key) => child_index(separators, key),
                Bound::Unbounded => children.len() - 1,
            };
            let Some(inside) = children.get(from..=to) else { return ControlFlow::Continue(()) };
            match direction {
                Direction::Forward => {
                    inside.iter().try_for_each(|child| walk_node(child, lower, upper, direction, visit))
                }
                Direction::Reverse => {
                    inside.iter().rev().try_for_each(|child| walk_node(child, lower, upper, direction, visit))
                }
            }
        }
    }
}

fn is_below(key: &Bytes, lower: &Bound<Bytes>) -> bool {
    match lower {
        Bound::Included(bound) => key < bound,
        Bound::Excluded(bound) => key <= bound,
        Bound::Unbounded => false,
    }
}

fn is_above(key: &Bytes, upper: &Bound<Bytes>) -> bool {
    match upper {
        Bound::Included(bound) => key > bound,
        Bound::Excluded(bound) => key >= bound,
        Bound::Unbounded => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn entries(
        tree: &Tree,
        lower: Bound<Bytes>,
        upper: Bound<Bytes>,
        direction: Direction,
    ) -> Vec<(Bytes, Bytes)> {
        let mut found = Vec::new();
        tree.walk(&lower, &upper, direction, &mut |key, value| {
            found.push((key.clone(), value.clone()));
            ControlFlow::Continue(())
        });
        found
    }

    fn key(number: u16) -> Bytes {
        Bytes::copy_from_slice(&number.to_be_bytes())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn agrees_with_a_map_and_clones_never_change(
            ops in proptest::collection::vec((any::<bool>(), 0u16..700, any::<u8>()), 0..3_000),
            bounds in proptest::collection::vec((0u16..720, 0u16..720, 0u8..9), 0..12),
        ) {
            let mut tree = Tree::default();
            let mut model: BTreeMap<Bytes, Bytes> = BTreeMap::new();
            let mut clones = Vec::new();
            for (index, (put, number, value)) in ops.into_iter().enumerate() {
                if put {
                    let value = Bytes::from(vec![value; usize::from(value) % 5]);
                    tree.insert(key(number), value.clone());
                    model.insert(key(number), value);
                } else {
                    tree.remove(&key(number));
                    model.remove(&key(number));
                }
                prop_assert_eq!(tree.get(&key(number)), model.get(&key(number)));
                if index % 500 == 0 {
                    clones.push((tree.clone(), model.clone()));
                }
            }
            clones.push((tree, model));
            for (tree, model) in clones {
                let all: Vec<_> = model.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                prop_assert_eq!(entries(&tree, Bound::Unbounded, Bound::Unbounded, Direction::Forward), all);
                let bytes: usize = model.iter().map(|(k, v)| k.len() + v.len()).sum();
                prop_assert_eq!(tree.bytes(), bytes as u64);
                for (low, high, kinds) in &bounds {
                    let bound = |number: u16, kind: u8| match kind {
                        0 => Bound::Unbounded,
                        1 => Bound::Included(key(number)),
                        _ => Bound::Excluded(key(number)),
                    };
                    let (lower, upper) = (bound(*low, kinds % 3), bound(*high, kinds / 3));
                    let mut expected: Vec<_> = model
                        .iter()
                        .filter(|(k, _)| !is_below(k, &lower) && !is_above(k, &upper))
                        .map(|(k, v)| (k.clone(), v.clone()))
                        .collect();
                    prop_assert_eq!(entries(&tree, lower.clone(), upper.clone(), Direction::Forward), expected.clone());
                    expected.reverse();
                    prop_assert_eq!(entries(&tree, lower, upper, Direction::Reverse), expected);
                }
            }
        }
    }

    #[test]
    fn keys_in_order_fill_their_nodes() {
        let mut tree = Tree::default();
        for number in 0..10_000u32 {
            tree.insert(Bytes::copy_from_slice(&number.to_be_bytes()), Bytes::new());
        }
        fn leaves(node: &Node) -> usize {
            match node {
                Node::Leaf(_) => 1,
                Node::Inner { children, .. } => children.iter().map(|child| leaves(child)).sum(),
            }
        }
        assert!(leaves(tree.root.as_ref().unwrap()) <= 10_000 / NODE_ENTRIES_MAX + 2);
    }
}
