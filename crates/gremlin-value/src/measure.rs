//! How deep a value is nested, and how much a walk over all of its parts has to do.
//!
//! Values share parts, so that one that takes little memory may have more parts than can ever be walked over:
//! comparing, hashing and writing look at each part as often as it occurs. Whoever makes a value measures it, and
//! makes no value beyond its bounds; so those walks need none of their own.
//!
//! Not here: the bounds (whoever makes values has them), and bytes of memory (`gremlin-machine`).

use crate::{Tree, Value};

/// Bytes of a text that weigh as much as one part.
const BYTES_PER_PART: u64 = 32;

/// What an element weighs: its own parts are not walked over, but it is looked up.
const ELEMENT_WEIGHT: u64 = 2;

/// The bounds of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Most levels of values in values; a value without parts has one.
    pub depth_max: usize,
    /// Most parts, each counted as often as it occurs; long texts count for several.
    pub weight_max: u64,
}

/// The bound that a value is beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    Depth,
    Weight,
}

impl Value {
    /// Says whether it has parts that are values.
    pub fn is_collection(&self) -> bool {
        matches!(
            self,
            Value::List(_)
                | Value::Set(_)
                | Value::BulkSet(_)
                | Value::Map(_)
                | Value::Metrics(_)
                | Value::Entry(_)
                | Value::Path(_)
                | Value::Tree(_)
        )
    }

    /// Returns its weight, unless it is beyond the bounds. It takes no more steps than the bounds allow.
    pub fn weigh(&self, bounds: Bounds) -> Result<u64, Beyond> {
        let mut scale = Scale { left: bounds.weight_max, depth_max: bounds.depth_max };
        scale.add(self, 1)?;
        Ok(bounds.weight_max - scale.left)
    }
}

struct Scale {
    left: u64,
    depth_max: usize,
}

impl Scale {
    fn take(&mut self, weight: u64) -> Result<(), Beyond> {
        self.left = self.left.checked_sub(weight).ok_or(Beyond::Weight)?;
        Ok(())
    }

    fn add(&mut self, value: &Value, depth: usize) -> Result<(), Beyond> {
        if depth > self.depth_max {
            return Err(Beyond::Depth);
        }
        match value {
            Value::String(text) | Value::BigDecimal(text) => {
                self.take(1 + text.len() as u64 / BYTES_PER_PART)
            }
            Value::Bytes(bytes) => self.take(1 + bytes.len() as u64 / BYTES_PER_PART),
            Value::List(values) | Value::Set(values) => self.all(values.iter(), depth),
            // How often a value occurs is a number beside it, which costs nothing to look at.
            Value::BulkSet(values) => self.all(values.iter().map(|(value, _)| value), depth),
            Value::Map(map) | Value::Metrics(map) => {
                self.all(map.entries.iter().flat_map(|(key, value)| [key, value]), depth)
            }
            Value::Entry(entry) => self.all([&entry.0, &entry.1].into_iter(), depth),
            Value::Path(path) => self.all(path.objects.iter(), depth),
            Value::Tree(tree) => self.tree(tree, depth),
            Value::Vertex(_) | Value::Edge(_) => self.take(ELEMENT_WEIGHT),
            Value::VertexProperty(property) => {
                self.take(1)?;
                self.add(&property.value, depth + 1)
            }
            Value::Property(property) => {
                self.take(1)?;
                self.add(&property.value, depth + 1)
            }
            _ => self.take(1),
        }
    }

    fn all<'v>(&mut self, values: impl Iterator<Item = &'v Value>, depth: usize) -> Result<(), Beyond> {
        self.take(1)?;
        for value in values {
            self.add(value, depth + 1)?;
        }
        Ok(())
    }

    fn tree(&mut self, tree: &Tree, depth: usize) -> Result<(), Beyond> {
        if depth > self.depth_max {
            return Err(Beyond::Depth);
        }
        self.take(1)?;
        for branch in &tree.branches {
            self.add(&branch.key, depth + 1)?;
            self.tree(&branch.below, depth + 1)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "measure_tests.rs"]
mod tests;
