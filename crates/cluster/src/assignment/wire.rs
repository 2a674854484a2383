//! The bytes of an assignment.
//!
//! ```text
//! "ARAS" version epoch
//! nodes: count, then for each its id, its address, its version, and 1 if it is about to end
//! for each node, in that order: count, then the ids of its partitions, each as the distance to the one before
//! leaving: count, then their ids in the same way; then for each the id of its node, and since when
//! crc32c of all that
//! ```
//! Numbers are in base 128, lowest digit first, as in many formats.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Assignment, Node, Place};
use crate::limits::{ASSIGNMENT_BYTES_MAX, NODES_MAX, PARTITIONS_MAX, TEXT_BYTES_MAX};
use crate::{NodeId, PartitionId};

const MAGIC: &[u8; 4] = b"ARAS";
const VERSION: u8 = 1;
const SUM_BYTES: usize = 4;

impl Assignment {
    /// Writes the assignment.
    pub fn encode(&self) -> Bytes {
        let mut out = Vec::from(MAGIC);
        out.push(VERSION);
        push_number(&mut out, self.epoch);
        push_number(&mut out, self.nodes.len() as u64);
        for (id, node) in &self.nodes {
            push_text(&mut out, id.as_str());
            push_text(&mut out, &node.address);
            push_text(&mut out, &node.version);
            push_number(&mut out, node.is_leaving.into());
        }
        let mut of_nodes: BTreeMap<&NodeId, Vec<u64>> =
            self.nodes.keys().map(|id| (id, Vec::new())).collect();
        let mut leaving = Vec::new();
        for (partition, place) in &self.places {
            match place {
                // What is on a node that is not in the table is on none.
                Place::On(node) => of_nodes.entry(node).or_default().push(partition.0),
                Place::Leaving { node, since } => leaving.push((partition.0, node, *since)),
            }
        }
        for id in self.nodes.keys() {
            push_ids(&mut out, of_nodes.get(id).map_or(&[], Vec::as_slice));
        }
        let ids: Vec<u64> = leaving.iter().map(|(partition, _, _)| *partition).collect();
        push_ids(&mut out, &ids);
        for (_, node, since) in leaving {
            push_text(&mut out, node.as_str());
            push_number(&mut out, since);
        }
        let sum = crc32c::crc32c(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out.into()
    }

    /// Reads an assignment; nothing where it is not one, or one of a later version.
    pub fn decode(bytes: &[u8]) -> Option<Assignment> {
        if bytes.len() > ASSIGNMENT_BYTES_MAX {
            return None;
        }
        let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(SUM_BYTES)?)?;
        if crc32c::crc32c(body).to_le_bytes() != *sum {
            return None;
        }
        let rest = body.strip_prefix(MAGIC)?.strip_prefix(&[VERSION])?;
        let mut reader = Reader(rest);
        let epoch = reader.number()?;
        let count = reader.count(NODES_MAX)?;
        let mut nodes = BTreeMap::new();
        let mut order = Vec::new();
        for _ in 0..count {
            let id = NodeId::new(reader.text()?);
            let (address, version) = (reader.text()?.to_owned(), reader.text()?.to_owned());
            // Other bits are for later versions.
            let node = Node { address, version, is_leaving: reader.number()? & 1 == 1 };
            order.push(id.clone());
            if nodes.insert(id, node).is_some() {
                return None;
            }
        }
        let mut places = BTreeMap::new();
        for node in order {
            for id in reader.ids()? {
                if places.insert(PartitionId(id), Place::On(node.clone())).is_some() {
                    return None;
                }
            }
        }
        for id in reader.ids()? {
            let place = Place::Leaving { node: NodeId::new(reader.text()?), since: reader.number()? };
            if places.insert(PartitionId(id), place).is_some() {
                return None;
            }
        }
        reader.0.is_empty().then_some(Assignment { epoch, nodes, places })
    }
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
    push_number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn push_ids(out: &mut Vec<u8>, ids: &[u64]) {
    push_number(out, ids.len() as u64);
    let mut last = 0;
    for id in ids {
        push_number(out, id - last);
        last = *id;
    }
}

/// What is left to read.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for place in 0..10 {
            let byte = self.byte()?;
            let digit = u64::from(byte & 0x7F);
            let shifted = digit << (7 * place);
            if shifted >> (7 * place) != digit {
                return None;
            }
            number |= shifted;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn count(&mut self, most: usize) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= most)
    }

    fn text(&mut self) -> Option<&'b str> {
        let length = self.count(TEXT_BYTES_MAX)?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    /// Ids, which grow. What they take is bounded by the bytes that there are, not by what these say.
    fn ids(&mut self) -> Option<Vec<u64>> {
        let count = self.count(PARTITIONS_MAX)?;
        let mut ids = Vec::with_capacity(count.min(self.0.len()));
        let mut last = 0u64;
        for place in 0..count {
            let distance = self.number()?;
            if place > 0 && distance == 0 {
                return None;
            }
            last = last.checked_add(distance)?;
            ids.push(last);
        }
        Some(ids)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(number: u64) -> NodeId {
        NodeId::new(&format!("node-{number}"))
    }

    fn assignments() -> impl Strategy<Value = Assignment> {
        let node = ("[a-z:0-9]{0,9}", "[0-9.]{0,5}");
        let nodes = proptest::collection::btree_map(0u64..6, node, 0..6);
        let places =
            proptest::collection::btree_map(any::<u64>(), (0u64..6, any::<bool>(), any::<u64>()), 0..40);
        (any::<u64>(), nodes, places).prop_map(|(epoch, nodes, places)| {
            let nodes: BTreeMap<NodeId, Node> = nodes
                .into_iter()
                .map(|(number, (address, version))| {
                    (id(number), Node { address, version, is_leaving: number % 3 == 1 })
                })
                .collect();
            let place = |(number, leaves, since): (u64, bool, u64)| match !leaves
                && nodes.contains_key(&id(number))
            {
                true => Place::On(id(number)),
                false => Place::Leaving { node: id(number), since },
            };
            let places =
                places.into_iter().map(|(partition, to)| (PartitionId(partition), place(to))).collect();
            Assignment { epoch, nodes, places }
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(assignment in assignments()) {
            prop_assert_eq!(Assignment::decode(&assignment.encode()), Some(assignment));
        }

        #[test]
        fn damage_is_noticed(assignment in assignments(), at in any::<prop::sample::Index>(), with in 1u8..) {
            let mut bytes = assignment.encode().to_vec();
            let at = at.index(bytes.len());
            bytes[at] ^= with;
            prop_assert_eq!(Assignment::decode(&bytes), None);
            prop_assert_eq!(Assignment::decode(&bytes[..at]), None);
        }

        /// Also with a sum that is right.
        #[test]
        fn no_bytes_are_too_odd(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = [&MAGIC[..], &[VERSION], &body].concat();
            bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
            if let Some(read) = Assignment::decode(&bytes) {
                prop_assert_eq!(Assignment::decode(&read.encode()), Some(read));
            }
        }
    }

    #[test]
    fn counts_that_lie_take_no_memory() {
        let mut bytes = [&MAGIC[..], &[VERSION, 1, 0]].concat();
        push_number(&mut bytes, PARTITIONS_MAX as u64);
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
        assert_eq!(Assignment::decode(&bytes), None);
    }
}
