//! What operators see besides the value at their path.

use std::cell::Cell;

use armilla_mongo_expression::measure::bson_value_bytes;
use armilla_mongo_expression::{Environment, Error, Result};
use armilla_value::Value;

use crate::limits::DOCUMENT_BYTES_MAX;
use crate::render::render_id;

/// What operators see besides the value at their path.
pub(crate) struct Context<'a> {
    /// The command's.
    pub(crate) environment: &'a Environment,
    /// Whether the document is that of an upsert which found none.
    pub(crate) is_insert: bool,
    /// The way from the document to the value.
    pub(crate) place: Vec<Segment<'a>>,
    renamed: &'a [Option<Value>],
    id: Option<&'a Value>,
    bytes_left: Cell<usize>,
}

/// A step from a value into it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Segment<'a> {
    /// To a member, or by digits to an element.
    Name(&'a str),
    /// To an element.
    Index(usize),
}

impl std::fmt::Display for Segment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Segment::Name(name) => f.write_str(name),
            Segment::Index(index) => write!(f, "{index}"),
        }
    }
}

impl<'a> Context<'a> {
    /// Begins at a document. `renamed` are the values that `$rename` moves, `id` is the document's for messages.
    pub(crate) fn new(
        environment: &'a Environment,
        is_insert: bool,
        renamed: &'a [Option<Value>],
        id: Option<&'a Value>,
    ) -> Context<'a> {
        let bytes_left = Cell::new(DOCUMENT_BYTES_MAX);
        Context { environment, is_insert, place: Vec::new(), renamed, id, bytes_left }
    }

    /// Returns the path of the value.
    pub(crate) fn path(&self) -> String {
        self.place.iter().map(Segment::to_string).collect::<Vec<_>>().join(".")
    }

    /// Returns the name of the value in what holds it.
    pub(crate) fn last_name(&self) -> String {
        self.place.last().map(Segment::to_string).unwrap_or_default()
    }

    /// Returns how messages call the document.
    pub(crate) fn id_text(&self) -> String {
        render_id(self.id)
    }

    /// Returns the value that a `$rename` moves, if it moves any.
    pub(crate) fn renamed(&self, index: usize) -> Option<&'a Value> {
        self.renamed.get(index).and_then(Option::as_ref)
    }

    /// Counts a value that is put into the document.
    pub(crate) fn count(&self, value: &Value) -> Result<()> {
        self.count_bytes(bson_value_bytes(value))
    }

    /// Counts bytes that are put into the document.
    pub(crate) fn count_bytes(&self, bytes: usize) -> Result<()> {
        let left = self.bytes_left.get().checked_sub(bytes).ok_or_else(|| {
            Error::new(17419, format!("Resulting document after update is larger than {DOCUMENT_BYTES_MAX}"))
        })?;
        self.bytes_left.set(left);
        Ok(())
    }
}
