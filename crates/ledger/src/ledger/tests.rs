use armilla_value::{Component, PartitionKey, Value};

use super::*;
use crate::limits::{CONTAINER_SHAPES_MAX, IDLE_MS, MEMORY_BYTES_MAX, ORIGIN_REQUESTS};
use crate::note::Took;
use crate::report::{ContainerRequests, Link, Shape, Slot, Tally};

mod bounds;
mod links;
mod tallies;

/// A time that is no round one.
const NOW: i64 = 1_700_000_123_456;

const POSTS: u64 = 7;
const USERS: u64 = 1 << 50;

fn key(text: &str) -> PartitionKey {
    PartitionKey(vec![Component::String(text.to_owned())])
}

fn parameter(name: &str, value: impl Into<Value>) -> (String, Value) {
    (name.to_owned(), value.into())
}

/// A request that was done, for one request unit.
fn done<'a>(container: u64, act: Act<'a>, key: Option<&'a PartitionKey>) -> Note<'a> {
    let took = Took {
        charge: 100,
        micros: 50,
        items: 2,
        entries: 3,
        rows: 1,
        bytes: 10,
        partitions: 1,
        ..Took::default()
    };
    Note { container, act, key, took, outcome: Outcome::Done }
}

fn query<'a>(container: u64, text: &'a str, parameters: &'a [(String, Value)]) -> Note<'a> {
    done(container, Act::Query { text, parameters }, None)
}

fn shapes(report: &Report, container: u64) -> &[Shape] {
    report.containers.get(&container).map_or(&[], |requests| &requests.shapes)
}

#[track_caller]
fn shape_of<'r>(report: &'r Report, container: u64, kind: ShapeKind, text: &str) -> &'r Shape {
    let mut found = shapes(report, container).iter().filter(|shape| shape.kind == kind && shape.text == text);
    let shape = found.next().unwrap_or_else(|| panic!("no {kind:?} {text}: {:?}", shapes(report, container)));
    assert_eq!(found.next(), None);
    shape
}
