//! Puts items together to bulk requests: those of one physical partition, for one connection.
//!
//! Invariants:
//! * items with the same id and partition key go to the same connection, in their order;
//! * no request has two of them, so that an operation that has to be repeated does not overtake the next one.

use armilla_client::{BULK_BODY_BYTES_MAX, BULK_OPERATIONS_MAX};

use crate::limits::WAITING_BYTES_MAX;
use crate::shape::Item;

/// Bytes of an operation beside its item and its key, more than enough.
const OPERATION_BYTES: usize = 128;

/// An item on its way.
#[derive(Debug, PartialEq)]
pub(crate) struct Entry {
    /// Which record of the input it was, from 1.
    pub(crate) number: u64,
    /// Its line in the input.
    pub(crate) line: u64,
    /// The item.
    pub(crate) item: Item,
}

impl Entry {
    /// Bytes that it takes in a request at most.
    fn bytes(&self) -> usize {
        // Each byte of a key may have to be escaped.
        self.item.text.len() + 6 * self.item.key_json.len() + OPERATION_BYTES
    }
}

/// A bulk request that is being filled.
#[derive(Debug, Default)]
struct Group {
    entries: Vec<Entry>,
    bytes: usize,
}

/// A request for a connection.
#[derive(Debug, PartialEq)]
pub(crate) struct Request {
    /// Which connection.
    pub(crate) connection: usize,
    /// The items.
    pub(crate) entries: Vec<Entry>,
}

/// Requests that are being filled.
pub(crate) struct Groups {
    connections: usize,
    /// For each connection, one of each range.
    groups: Vec<Group>,
    ranges: usize,
    bytes: usize,
}

impl Groups {
    /// Starts with empty ones.
    pub(crate) fn new(connections: usize, ranges: usize) -> Groups {
        let ranges = ranges.max(1);
        let groups = (0..connections * ranges).map(|_| Group::default()).collect();
        Groups { connections, groups, ranges, bytes: 0 }
    }

    /// Adds an item of a range, and appends requests that have become full.
    pub(crate) fn push(&mut self, range: usize, entry: Entry, full: &mut Vec<Request>) {
        let connection = (entry.item.identity % self.connections as u64) as usize;
        let index = connection * self.ranges + range.min(self.ranges - 1);
        let bytes = entry.bytes();
        let group = &self.groups[index];
        let identity = entry.item.identity;
        let has_one = group.entries.iter().any(|other| other.item.identity == identity);
        if has_one || (!group.entries.is_empty() && group.bytes + bytes >= BULK_BODY_BYTES_MAX) {
            full.push(self.take(index));
        }
        let group = &mut self.groups[index];
        group.entries.push(entry);
        group.bytes += bytes;
        self.bytes += bytes;
        if group.entries.len() == BULK_OPERATIONS_MAX {
            full.push(self.take(index));
        }
        if self.bytes > WAITING_BYTES_MAX {
            self.take_all(full);
        }
    }

    /// Appends all requests, full or not.
    pub(crate) fn take_all(&mut self, full: &mut Vec<Request>) {
        for index in 0..self.groups.len() {
            if !self.groups[index].entries.is_empty() {
                full.push(self.take(index));
            }
        }
    }

    fn take(&mut self, index: usize) -> Request {
        let group = std::mem::take(&mut self.groups[index]);
        self.bytes -= group.bytes;
        Request { connection: index / self.ranges, entries: group.entries }
    }
}

#[cfg(test)]
mod tests {
    use armilla_value::PartitionKey;

    use super::*;

    fn entry(number: u64, identity: u64, length: usize) -> Entry {
        let item = Item {
            text: vec![b' '; length],
            key: PartitionKey(Vec::new()),
            key_json: "[]".to_owned(),
            id: None,
            identity,
        };
        Entry { number, line: number, item }
    }

    fn numbers(requests: &[Request]) -> Vec<(usize, Vec<u64>)> {
        let of = |request: &Request| request.entries.iter().map(|entry| entry.number).collect();
        requests.iter().map(|request| (request.connection, of(request))).collect()
    }

    #[test]
    fn requests_become_full() {
        let mut groups = Groups::new(1, 1);
        let mut full = Vec::new();
        for number in 0..2 * BULK_OPERATIONS_MAX as u64 - 1 {
            groups.push(0, entry(number, number, 2), &mut full);
        }
        assert_eq!(full.len(), 1);
        assert_eq!(full[0].entries.len(), BULK_OPERATIONS_MAX);
        groups.take_all(&mut full);
        assert_eq!(full[1].entries.len(), BULK_OPERATIONS_MAX - 1);
        assert_eq!(groups.bytes, 0);
        full.clear();
        groups.push(0, entry(1, 1, BULK_BODY_BYTES_MAX / 2), &mut full);
        groups.push(0, entry(2, 2, BULK_BODY_BYTES_MAX / 2), &mut full);
        groups.push(0, entry(3, 3, 4 * BULK_BODY_BYTES_MAX), &mut full);
        groups.push(0, entry(4, 4, 1), &mut full);
        assert_eq!(numbers(&full), [(0, vec![1]), (0, vec![2]), (0, vec![3])]);
    }

    #[test]
    fn the_same_item_twice_is_in_two_requests_of_one_connection() {
        let mut groups = Groups::new(3, 2);
        let mut full = Vec::new();
        for (number, identity) in [(1, 4), (2, 5), (3, 4), (4, 4)] {
            groups.push(1, entry(number, identity, 2), &mut full);
        }
        assert_eq!(numbers(&full), [(1, vec![1]), (1, vec![3])]);
        groups.take_all(&mut full);
        assert_eq!(numbers(&full[2..]), [(1, vec![4]), (2, vec![2])]);
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut groups = Groups::new(64, 1);
        let mut full = Vec::new();
        for number in 0..64 {
            groups.push(0, entry(number, number, WAITING_BYTES_MAX / 64), &mut full);
        }
        assert_eq!(full.len(), 64);
        assert_eq!(groups.bytes, 0);
    }
}
