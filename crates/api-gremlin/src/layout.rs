//! How a graph lies in a container: which property is the partition key, and which names are the server's own.

use std::sync::Arc;

use armilla_engine::ContainerDefinition;
use armilla_gremlin_value::Value;
use armilla_value::{Component, PartitionKey};

use crate::values;

/// Names that no property may have, beside all that begin with an underscore.
const RESERVED: [&str; 2] = ["id", "label"];

/// The property that says how long an element lives; it is stored as it is.
pub(crate) const LIFETIME: &str = "ttl";

/// Members of items that are no properties.
pub(crate) mod members {
    pub(crate) const ID: &str = "id";
    pub(crate) const LABEL: &str = "label";
    pub(crate) const IS_EDGE: &str = "_isEdge";
    pub(crate) const OUT_ID: &str = "_vertexId";
    pub(crate) const OUT_LABEL: &str = "_vertexLabel";
    pub(crate) const IN_ID: &str = "_sink";
    pub(crate) const IN_LABEL: &str = "_sinkLabel";
    pub(crate) const IN_PARTITION: &str = "_sinkPartition";
    /// The value of a vertex property, and its own properties.
    pub(crate) const VALUE: &str = "_value";
    pub(crate) const META: &str = "_meta";
}

/// How a graph lies in its container.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The name of the property that is the partition key; none where the container was made without a key.
    pub(crate) partition: Option<Arc<str>>,
}

impl Layout {
    /// Finds out how a graph lies in a container, or says why none can.
    pub(crate) fn of(definition: &ContainerDefinition) -> Result<Layout, String> {
        let key = &definition.partition_key;
        if key.system_key {
            return Ok(Layout { partition: None });
        }
        let name = match key.paths.as_slice() {
            [path] => match path.names() {
                [name] => name.as_str(),
                _ => "",
            },
            _ => "",
        };
        match name {
            "" => Err("a graph needs a container whose partition key is one property, such as /pk: make one with such a \
                       key"
            .to_owned()),
            "id" | "label" => {
                Err(format!("a graph cannot have /{name} for its partition key: make a container with another"))
            }
            name => Ok(Layout { partition: Some(name.into()) }),
        }
    }

    /// Says whether a property is the partition key.
    pub(crate) fn is_partition(&self, name: &str) -> bool {
        self.partition.as_deref() == Some(name)
    }

    /// Returns the logical partition that a value of the partition key leads to; none if no element can have it.
    pub(crate) fn key(&self, value: Option<&Value>) -> Option<PartitionKey> {
        if self.partition.is_none() {
            return Some(PartitionKey(vec![Component::Undefined]));
        }
        match value {
            None => Some(PartitionKey(vec![Component::Undefined])),
            Some(value) => Some(PartitionKey(vec![Component::of(&values::to_stored(value)?)])),
        }
    }
}

/// Says whether a property may have a name.
pub(crate) fn is_free(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('_') && !RESERVED.contains(&name)
}
