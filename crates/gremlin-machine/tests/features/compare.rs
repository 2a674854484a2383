//! Whether an answer is what a feature expects: types of numbers count, ids compare as text.

use armilla_gremlin_value::{Tree, Value};

use crate::notation;
use armilla_gremlin_machine::testing::MemoryGraph;

/// Says whether a value is the expected one.
pub(crate) fn same(expected: &Value, answered: &Value) -> bool {
    match (expected, answered) {
        (Value::VertexProperty(left), Value::VertexProperty(right)) => {
            let owner = match (&left.vertex, &right.vertex) {
                (Some(left), Some(right)) => left.id.equals(&right.id),
                (None, _) => true,
                (Some(_), None) => false,
            };
            owner && left.key == right.key && same(&left.value, &right.value)
        }
        // What an edge or a property has is written as that of a vertex.
        (Value::VertexProperty(left), Value::Property(right)) => {
            left.key == right.key && same(&left.value, &right.value)
        }
        (Value::Vertex(left), Value::Vertex(right)) => left.id.as_id_text().equals(&right.id.as_id_text()),
        (Value::Edge(left), Value::Edge(right)) => left.id.as_id_text().equals(&right.id.as_id_text()),
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right.iter()).all(|(left, right)| same(left, right))
        }
        (Value::List(left) | Value::Set(left), Value::BulkSet(right)) => {
            let right: Vec<&Value> =
                right.iter().flat_map(|(value, bulk)| (0..*bulk).map(move |_| value)).collect();
            same_bag(&left.iter().collect::<Vec<_>>(), &right)
        }
        (Value::Set(left), Value::Set(right)) => {
            same_bag(&left.iter().collect::<Vec<_>>(), &right.iter().collect::<Vec<_>>())
        }
        (Value::Path(left), Value::Path(right)) => {
            left.objects.len() == right.objects.len()
                && left.objects.iter().zip(&right.objects).all(|(left, right)| same(left, right))
        }
        (Value::Map(left), Value::Map(right)) => {
            left.entries.len() == right.entries.len()
                && left.entries.iter().all(|(key, value)| {
                    right.entries.iter().any(|(other, found)| same(key, other) && same(value, found))
                })
        }
        (Value::Map(left), Value::Entry(right)) => {
            matches!(left.entries.as_slice(), [(key, value)] if same(key, &right.0) && same(value, &right.1))
        }
        // Sums depend on the order in which they are made.
        (Value::Double(left), Value::Double(right)) if left.is_finite() && right.is_finite() => {
            (left - right).abs() <= 1e-9 * left.abs().max(1.0)
        }
        _ => expected.equivalent(answered),
    }
}

/// Says whether two lists have the same values, however often each.
pub(crate) fn same_bag(expected: &[&Value], answered: &[&Value]) -> bool {
    let mut left: Vec<&Value> = answered.to_vec();
    expected.len() == answered.len()
        && expected.iter().all(|value| match left.iter().position(|other| same(value, other)) {
            Some(at) => {
                left.swap_remove(at);
                true
            }
            None => false,
        })
}

/// A tree as a feature draws it: values and what is below them.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    branches: Vec<(Value, Drawn)>,
}

/// Reads a drawing of lines such as `|--marko`, deeper by three columns each.
pub(crate) fn drawn(lines: &[String], graph: &MemoryGraph) -> Result<Drawn, String> {
    let mut root = Drawn::default();
    for line in lines {
        let Some(at) = line.find("|--") else { continue };
        let mut place = &mut root;
        for _ in 0..at / 3 {
            place = match place.branches.last_mut() {
                Some((_, below)) => below,
                None => return Err(format!("a line is too deep: {line}")),
            };
        }
        place.branches.push((notation::value(line[at + 3..].trim(), graph)?, Drawn::default()));
    }
    Ok(root)
}

/// Says whether a tree is as drawn, in any order.
pub(crate) fn same_tree(expected: &Drawn, answered: &Tree) -> bool {
    expected.branches.len() == answered.branches.len()
        && expected.branches.iter().all(|(key, below)| {
            answered.branches.iter().any(|found| same(key, &found.key) && same_tree(below, &found.below))
        })
}
