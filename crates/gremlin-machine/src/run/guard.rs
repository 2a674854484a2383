//! Bounds of a running traversal: how deep and how large a value may be, and how long it goes on without a look
//! at the clock and at the client.
//!
//! Every batch that a step gives on goes through [`Context::bound`]: so no value gets deeper or larger than its bounds
//! by more than one step, and what walks over values (hashes, comparisons, formats, drops) needs no bound of its own.
//! Loops over bulks, lists and texts say with [`Context::work`] what they do.
//!
//! Not here: the memory that is held (`context`).

use std::cmp::Ordering;

use armilla_gremlin_value::{Beyond, Bounds, Predicate, Value};

use super::context::Context;
use super::traverser::{Batch, Traverser};
use crate::error::{ErrorKind, MachineError, Result};
use crate::limits;
use crate::step::Step;

/// Work that is done between two looks at the clock and the client.
const WORK_BETWEEN_CHECKS: u64 = 4_096;

/// The work of looking at a collection, whose parts are not counted then.
const COLLECTION_WORK: u64 = 512;

/// Bounds of every value.
const BOUNDS: Bounds = Bounds { depth_max: limits::VALUE_DEPTH_MAX, weight_max: limits::VALUE_PARTS_MAX };

impl<'p> Context<'p> {
    /// Counts work, and looks from time to time whether the traversal may go on.
    pub(crate) fn work(&mut self, amount: u64) -> Result<()> {
        self.worked = self.worked.saturating_add(amount);
        if self.worked >= WORK_BETWEEN_CHECKS {
            self.worked = 0;
            self.graph.check()?;
        }
        Ok(())
    }

    /// Counts the work of hashing or comparing a value.
    pub(crate) fn look_at(&mut self, value: &Value) -> Result<()> {
        self.work(if value.is_collection() { COLLECTION_WORK } else { 1 })
    }

    /// Refuses a batch with a value that is beyond the bounds.
    pub(crate) fn bound(&mut self, batch: &[Traverser]) -> Result<()> {
        for traverser in batch {
            if traverser.value.is_collection() {
                let weight = traverser.value.weigh(BOUNDS).map_err(beyond)?;
                self.work(weight / 8)?;
            }
        }
        Ok(())
    }

    /// Sorts rows, looking from time to time whether the traversal may go on.
    pub(crate) fn sort<T>(
        &mut self,
        rows: Vec<T>,
        work: u64,
        compare: impl Fn(&T, &T) -> Ordering,
    ) -> Result<Vec<T>> {
        armilla_gremlin_value::sort_by(rows, &mut |left, right| {
            self.work(work)?;
            Ok(compare(left, right))
        })
    }
}

fn beyond(bound: Beyond) -> MachineError {
    match bound {
        Beyond::Depth => MachineError::runtime(format!(
            "A value is nested deeper than {} levels: take it apart with unfold(), or collect less of the way",
            limits::VALUE_DEPTH_MAX
        )),
        Beyond::Weight => too_many_parts(),
    }
}

/// Makes the error of a collection that is too large.
pub(crate) fn too_many_parts() -> MachineError {
    MachineError::new(
        ErrorKind::Memory,
        format!(
            "A value has more than {} parts: collect less in one value, or take it apart with unfold()",
            limits::VALUE_PARTS_MAX
        ),
    )
}

/// Makes the error of a text that is too long.
pub(crate) fn too_long(name: &str) -> MachineError {
    MachineError::runtime(format!(
        "{name}() makes a text of more than {} bytes: put less together",
        limits::TEXT_LEN_MAX
    ))
}

/// Refuses a number of parts that no value may have, before they are made.
pub(crate) fn parts(count: u64) -> Result<u64> {
    if count > limits::VALUE_PARTS_MAX { Err(too_many_parts()) } else { Ok(count) }
}

/// Returns the work of testing a value: it may be compared with each alternative.
pub(crate) fn work_of(predicate: &Predicate) -> u64 {
    predicate.joined().map(work_of).fold(1 + predicate.alternatives().len() as u64, u64::saturating_add)
}

/// Makes new texts and lists from values. What a batch of them takes is counted while it is made.
pub(crate) fn make_each<'p>(
    step: &Step,
    batch: Batch,
    cx: &mut Context<'p>,
    mut make: impl FnMut(&Traverser, &mut Context<'p>) -> Result<Option<Value>>,
) -> Result<Batch> {
    let mut held = 0;
    let made = super::simple::try_each(step, batch, cx, |traverser, cx| {
        let value = make(traverser, cx)?;
        let bytes = match &value {
            Some(Value::String(text)) => text.len() as u64,
            Some(value @ (Value::List(_) | Value::Set(_) | Value::Map(_))) => 64 * super::values::len(value),
            _ => 0,
        };
        cx.work(1 + bytes / 64)?;
        cx.hold(bytes)?;
        held += bytes;
        Ok(value)
    });
    cx.release(held);
    made
}

/// Draws how many of a number of traversers pass, each with a probability.
pub(crate) fn draw_passing(bulk: u64, probability: f64, cx: &mut Context<'_>) -> u64 {
    if bulk <= limits::DRAWS_MAX {
        return (0..bulk).filter(|_| cx.draw_real() < probability).count() as u64;
    }
    // Of many the number that pass is as good as normally distributed.
    let (count, probability) = (bulk as f64, probability.clamp(0.0, 1.0));
    let (radius, angle) = (1.0 - cx.draw_real(), cx.draw_real());
    let normal = (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
    let passing = count * probability + normal * (count * probability * (1.0 - probability)).sqrt();
    (passing.round().max(0.0) as u64).min(bulk)
}
