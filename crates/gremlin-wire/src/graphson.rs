//! GraphSON: one reader of all versions, a writer of typed values, a writer of the service's untyped shape.

mod numbers;
mod read;
mod read_elements;
mod typed;
mod typed_elements;
mod untyped;

pub(crate) use read::{members, object_value, simple_name, value};
pub(crate) use typed::{TypedWriter, Version};
pub(crate) use untyped::UntypedWriter;
