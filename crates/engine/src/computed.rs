//! Computed properties of a container: checked when it is defined, evaluated when an item is indexed or queried.

use std::sync::Arc;

use armilla_container::{ComputedProperties, ContainerDefinition};
use armilla_query::{ComputedProperty, Datum, Evaluator, Frame};
use armilla_value::{Node, Value};

use crate::error::{Error, Result};

/// The computed properties of one definition.
pub(crate) struct Computed(Vec<ComputedProperty>);

impl ComputedProperties for Computed {
    fn evaluate(&self, root: Node<'_>) -> Vec<(String, Option<Value>)> {
        let evaluator = Evaluator::for_constants();
        let outside = Frame::empty();
        let frame = Frame::with(&outside, 0, Datum::Node(root));
        let evaluated = self.0.iter().map(|property| {
            // Only what a computed property may not contain can fail.
            let value = evaluator.eval(&property.expr, &frame).ok().and_then(Datum::into_value);
            (property.name.clone(), value)
        });
        evaluated.collect()
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
