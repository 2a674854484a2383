//! Computed properties of a container: checked when it is defined, evaluated when an item is indexed or queried.

use std::sync::Arc;

use armilla_container::{ComputedProperties, ContainerDefinition};
use armilla_query::{ComputedProperty, Datum, Evaluator, Frame, Look, Meter, Stop};
use armilla_value::{Node, Value};

use crate::error::{Error, Result};
use crate::limits::ITEM_STEPS_MAX;

/// The computed properties of one definition.
pub(crate) struct Computed(Vec<ComputedProperty>);

impl ComputedProperties for Computed {
    fn evaluate(&self, root: Node<'_>) -> Vec<(String, Option<Value>)> {
        let outside = Frame::empty();
        let frame = Frame::with(&outside, 0, Datum::Node(root));
        let evaluated = self.0.iter().map(|property| {
            // Each has steps of its own, so that it is there or not whichever others there are.
            let watch = watch();
            let meter = Meter::new(&watch);
            let evaluator = Evaluator::for_constants(&meter);
            let value = evaluator.eval_alone(&property.expr, &frame).ok().and_then(Datum::into_value);
            (property.name.clone(), value)
        });
        evaluated.collect()
    }
}

/// Returns what ends an expression about one item after so many steps, which are as many on every machine.
pub(crate) fn watch() -> impl Fn(u64) -> Look {
    |steps| match ITEM_STEPS_MAX.checked_sub(steps) {
        Some(left) if left > 0 => Look::GoOn(left),
        _ => Look::Stop(Stop::Steps),
    }
}

/// Returns the computed properties of a definition, or says which of them is wrong.
pub(crate) fn compile(definition: &ContainerDefinition) -> Result<Vec<ComputedProperty>> {
    let properties = definition.computed_properties.iter().flatten();
    properties
        .map(|property| {
            ComputedProperty::new(&property.name, &property.query).map_err(|error| {
                Error::invalid(format!("the computed property '{}' is invalid: {error}", property.name))
            })
        })
        .collect()
}

/// Returns what evaluates the computed properties of a stored definition.
///
/// Definitions are checked before they are stored: one that cannot be read was written by another version, and is
/// left out, as queries leave it out.
pub(crate) fn evaluator(definition: &ContainerDefinition) -> Option<Arc<dyn ComputedProperties>> {
    let properties = readable(definition);
    (!properties.is_empty()).then(|| Arc::new(Computed(properties)) as Arc<dyn ComputedProperties>)
}

/// Returns the computed properties of a stored definition.
pub(crate) fn readable(definition: &ContainerDefinition) -> Vec<ComputedProperty> {
    let properties = definition.computed_properties.iter().flatten();
    properties.filter_map(|property| ComputedProperty::new(&property.name, &property.query).ok()).collect()
}

#[cfg(test)]
mod tests;
