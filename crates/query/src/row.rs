//! Rows as they leave a query: values, or whole items, for the caller to write in its own form.
//!
//! Nothing is made for a row before a form asks for it: JSON is written straight from what is stored, and a form that
//! wants the item gets the item.

use armilla_functions::Datum;
use armilla_functions::limits::STEP_BYTES;

use crate::bound::Projection;
use crate::error::Result;
use crate::eval::Evaluator;
use crate::expr::Expr;
use crate::frame::{Bound, Frame};
use crate::source::SourceItem;

/// How rows are written onto a page.
///
/// A form has no memory: a page may be begun anew, and rows may be written that are passed over afterwards.
pub trait RowForm: Send + Sync {
    /// What stands between two rows.
    fn separator(&self) -> &'static [u8] {
        b""
    }

    /// Appends a row. Returns false, having appended nothing, where there is no row because its value is undefined.
    fn write(&self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<bool>;
}

/// JSON texts joined by commas, ready to be put between brackets.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonRows;

impl RowForm for JsonRows {
    fn separator(&self) -> &'static [u8] {
        b","
    }

    fn write(&self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<bool> {
        row.write_json(out)
    }
}

/// One row.
pub struct Row<'r>(Content<'r>);

enum Content<'r> {
    /// What is bound, and what is to be made of it.
    Bound { evaluator: &'r Evaluator<'r>, projection: &'r Projection, frame: &'r Frame<'r> },
    /// What was made of it already.
    Value(&'r Datum<'r>),
}

impl<'r> Row<'r> {
    pub(crate) fn bound(
        evaluator: &'r Evaluator<'r>,
        projection: &'r Projection,
        frame: &'r Frame<'r>,
    ) -> Row<'r> {
        Row(Content::Bound { evaluator, projection, frame })
    }

    pub(crate) fn of_value(value: &'r Datum<'r>) -> Row<'r> {
        Row(Content::Value(value))
    }

    /// Returns the item, where the row is a whole item as its source has it.
    pub fn item(&self) -> Option<&'r SourceItem> {
        match &self.0 {
            Content::Bound { projection: Projection::Value(Expr::Slot(slot)), frame, .. } => {
                match frame.find(*slot) {
                    Bound::Item(_, item, _) => Some(item),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the row's value; undefined where there is no row.
    pub fn value(&self) -> Result<Datum<'r>> {
        match &self.0 {
            Content::Bound { evaluator, projection, frame } => evaluator.project_datum(projection, frame),
            Content::Value(value) => Ok((*value).clone()),
        }
    }

    /// Appends the row as JSON. Returns false, having appended nothing, where there is no row.
    pub fn write_json(&self, out: &mut Vec<u8>) -> Result<bool> {
        match &self.0 {
            Content::Bound { evaluator, projection, frame } => evaluator.write_row(projection, frame, out),
            Content::Value(value) => {
                let is_row = value.is_defined();
                if is_row {
                    value.write_json(out);
                }
                Ok(is_row)
            }
        }
    }

    /// Appends the row in a form. What is bound has its size checked, and its bytes counted as steps.
    pub(crate) fn write(&self, form: &dyn RowForm, out: &mut Vec<u8>) -> Result<bool> {
        let Content::Bound { evaluator, .. } = &self.0 else { return form.write(self, out) };
        let start = out.len();
        evaluator.begin_row(start);
        let is_row = form.write(self, out)?;
        evaluator.check_row(out)?;
        evaluator.step(((out.len() - start) / STEP_BYTES) as u64)?;
        Ok(is_row)
    }
}
