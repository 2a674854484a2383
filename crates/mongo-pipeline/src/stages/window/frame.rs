//! Windows: which documents around one are looked at.

use std::ops::Range;

use armilla_mongo_expression::{Error, Result, arithmetic};
use armilla_value::{Value, mongo_cmp};

use crate::arguments::{is_number, type_name};
use crate::stages::time::Unit;
use crate::stages::window::Partition;

/// A window.
#[derive(Debug, Clone)]
pub(super) enum Window {
    /// The whole partition.
    All,
    /// By position.
    Documents(Bound<i64>, Bound<i64>),
    /// By value.
    Range(Bound<Value>, Bound<Value>, Option<Unit>),
}

/// An end of a window.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bound<T> {
    /// The end of the partition.
    Unbounded,
    /// So far from the document.
    Offset(T),
}

impl Window {
    /// Says whether it begins with the partition.
    pub(super) fn begins_with_partition(&self) -> bool {
        matches!(
            self,
            Window::All | Window::Documents(Bound::Unbounded, _) | Window::Range(Bound::Unbounded, _, _)
        )
    }

    /// Says whether it ends with the partition.
    pub(super) fn ends_with_partition(&self) -> bool {
        matches!(
            self,
            Window::All | Window::Documents(_, Bound::Unbounded) | Window::Range(_, Bound::Unbounded, _)
        )
    }

    /// Returns the indexes in the window of each document of a partition.
    pub(super) fn frames(&self, partition: &Partition<'_>) -> Result<Vec<Range<usize>>> {
        let count = partition.len();
        match self {
            Window::All => Ok(vec![0..count; count]),
            Window::Documents(lower, upper) => Ok((0..count)
                .map(|index| {
                    let at =
                        |offset: i64| (index as i64).saturating_add(offset).clamp(0, count as i64) as usize;
                    let start = match lower {
                        Bound::Unbounded => 0,
                        Bound::Offset(offset) => at(*offset),
                    };
                    let end = match upper {
                        Bound::Unbounded => count,
                        Bound::Offset(offset) => at(offset.saturating_add(1)),
                    };
                    start..end.max(start)
                })
                .collect()),
            Window::Range(lower, upper, unit) => {
                let values = sort_values(partition, unit.as_ref())?;
                values
                    .iter()
                    .map(|value| {
                        let start = match lower {
                            Bound::Unbounded => 0,
                            Bound::Offset(offset) => {
                                let bound = moved(value, offset, unit.as_ref())?;
                                values.partition_point(|value| mongo_cmp(value, &bound).is_lt())
                            }
                        };
                        let end = match upper {
                            Bound::Unbounded => count,
                            Bound::Offset(offset) => {
                                let bound = moved(value, offset, unit.as_ref())?;
                                values.partition_point(|value| mongo_cmp(value, &bound).is_le())
                            }
                        };
                        Ok(start..end.max(start))
                    })
                    .collect()
            }
        }
    }
}

/// Returns the values by which documents are ordered, which must be dates if there is a unit, and numbers if not.
fn sort_values(partition: &Partition<'_>, unit: Option<&Unit>) -> Result<Vec<Value>> {
    (0..partition.len())
        .map(|index| {
            let value = partition.sort_value(index)?.unwrap_or(Value::Null);
            match unit {
                Some(_) if !matches!(value, Value::Date(_)) => Err(Error::new(
                    5429513,
                    format!(
                        "Invalid range: Expected the sortBy field to be a Date, but it was {}",
                        type_name(&value)
                    ),
                )),
                None if !is_number(&value) => Err(Error::new(
                    5429414,
                    format!(
                        "Invalid range: Expected the sortBy field to be a number, but it was {}",
                        type_name(&value)
                    ),
                )),
                _ => Ok(value),
            }
        })
        .collect()
}

fn moved(value: &Value, offset: &Value, unit: Option<&Unit>) -> Result<Value> {
    match (value, unit) {
        (Value::Date(ms), Some(unit)) => Ok(Value::Date(unit.add(*ms, offset.as_i64().unwrap_or_default())?)),
        _ => Ok(arithmetic::add(value, offset).unwrap_or(Value::Null)),
    }
}
