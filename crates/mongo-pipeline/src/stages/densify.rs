//! `$densify`: documents in the gaps of a sequence of numbers or dates.
//!
//! Partitions come out one after the other, in the order in which they first came, each in the order of the field.

use std::collections::HashMap;
use std::sync::Arc;

use armilla_mongo_expression::{Error, Result, arithmetic, is_nullish};
use armilla_value::{Object, Value, mongo_cmp};

use crate::Documents;
use crate::arguments::{
    Integer, as_double, integer, is_number, known_members, missing_member, object_or, shown, type_name,
    wrong_type,
};
use crate::canonical;
use crate::limits::DENSIFY_DOCUMENTS_MAX;
use crate::memory::{Budget, object_bytes};
use crate::path::FieldPath;
use crate::run::deferred;
use crate::stages::time::Unit;

/// `$densify` as it was read.
#[derive(Debug, Clone)]
pub struct Densify {
    field: FieldPath,
    partition_by: Vec<FieldPath>,
    step: Value,
    unit: Option<Unit>,
    bounds: Bounds,
}

#[derive(Debug, Clone)]
enum Bounds {
    /// From the least to the greatest value of all documents.
    Full,
    /// From the least to the greatest value of the partition.
    Partition,
    /// From this value to before that.
    Explicit(Value, Value),
}

impl Densify {
    /// Reads the arguments.
    pub(crate) fn parse(argument: &Value) -> Result<Densify> {
        let object = object_or(argument, 5733402, || {
            format!("The $densify stage specification must be an object, found {}", type_name(argument))
        })?;
        known_members("$densify", object, &["field", "partitionByFields", "range"])?;
        let field = match object.get("field") {
            None => return Err(missing_member("$densify", "field")),
            Some(Value::String(field)) => FieldPath::parse(field)?,
            Some(other) => return Err(wrong_type("$densify", "field", other, "string")),
        };
        let mut partition_by = Vec::new();
        match object.get("partitionByFields") {
            None => {}
            Some(Value::Array(fields)) => {
                for field in fields {
                    let Value::String(field) = field else {
                        return Err(wrong_type("$densify", "partitionByFields", field, "string"));
                    };
                    partition_by.push(FieldPath::parse(field)?);
                }
            }
            Some(other) => return Err(wrong_type("$densify", "partitionByFields", other, "array")),
        }
        if partition_by.iter().any(|path| path.begins_with(&field)) {
            return Err(Error::new(
                8993000,
                "BSON field '$densify.partitionByFields' contains the field that is being densified",
            ));
        }
        if partition_by.iter().any(|path| field.begins_with(path)) {
            return Err(Error::new(
                9554500,
                "The field that is being densified contains the BSON field '$densify.partitionByFields'",
            ));
        }
        let range = match object.get("range") {
            None => return Err(missing_member("$densify", "range")),
            Some(Value::Object(range)) => range,
            Some(other) => return Err(wrong_type("$densify", "range", other, "object")),
        };
        known_members("$densify.range", range, &["step", "unit", "bounds"])?;
        let step = range.get("step").ok_or_else(|| missing_member("$densify.range", "step"))?.clone();
        let Some(step_size) = as_double(&step) else {
            return Err(wrong_type("$densify.range", "step", &step, "[int, decimal, double, long]"));
        };
        if step_size.is_nan() || step_size <= 0.0 {
            return Err(Error::new(
                5733401,
                "The step parameter in a range statement must be a strictly positive numeric value",
            ));
        }
        let unit = match range.get("unit") {
            None => None,
            Some(Value::String(unit)) => {
                if !matches!(integer(&step), Integer::Is(_)) {
                    return Err(Error::new(
                        6586400,
                        "The step parameter in a range statement must be a whole number when densifying a date range",
                    ));
                }
                Some(Unit::parse(unit)?)
            }
            Some(other) => return Err(wrong_type("$densify.range", "unit", other, "string")),
        };
        let bounds = match range.get("bounds") {
            None => return Err(missing_member("$densify.range", "bounds")),
            Some(Value::String(name)) => match name.as_str() {
                "full" => Bounds::Full,
                "partition" if partition_by.is_empty() => {
                    return Err(Error::new(
                        5733408,
                        "one may not specify the bounds as 'partition' without specifying a non-empty array of \
                         partitionByFields. You may have meant to specify 'full' bounds.",
                    ));
                }
                "partition" => Bounds::Partition,
                other => {
                    return Err(Error::new(
                        5946802,
                        format!("Bounds string must either be 'full' or 'partition', found {other}"),
                    ));
                }
            },
            Some(Value::Array(bounds)) => explicit(bounds, unit.is_some())?,
            Some(other) => {
                return Err(Error::new(
                    5733409,
                    format!(
                        "the bounds in a range statement must be the string 'full' or 'partition' or an ascending \
                         array of two numbers or two dates, found {}",
                        shown(other)
                    ),
                ));
            }
        };
        Ok(Densify { field, partition_by, step, unit, bounds })
    }

    /// Returns the value so many steps after the first.
    fn after(&self, first: &Value, previous: &Value, steps: u64) -> Result<Value> {
        match (first, &self.unit) {
            // Counted from the first, so that the end of a month stays one.
            (Value::Date(ms), Some(unit)) => {
                let count =
                    self.step.as_i64().unwrap_or(1).saturating_mul(i64::try_from(steps).unwrap_or(i64::MAX));
                Ok(Value::Date(unit.add(*ms, count)?))
            }
            _ => arithmetic::add(previous, &self.step)
                .ok_or_else(|| Error::new(5733201, "Densify field type must be numeric or a date")),
        }
    }

    fn check(&self, value: &Value) -> Result<()> {
        match (value, &self.unit) {
            (Value::Date(_), Some(_)) => Ok(()),
            (Value::Date(_), None) => Err(Error::new(
                6053600,
                "Encountered date densify value in collection when step does not have a date unit.",
            )),
            (value, None) if is_number(value) => Ok(()),
            (value, Some(_)) if is_number(value) => Err(Error::new(
                6053600,
                "Encountered numeric densify value in collection when step has a date unit.",
            )),
            _ => Err(Error::new(5733201, "Densify field type must be numeric or a date")),
        }
    }
}

fn explicit(bounds: &[Value], has_unit: bool) -> Result<Bounds> {
    let [lower, upper] = bounds else {
        return Err(Error::new(
            5733403,
            "a bounding array in a range statement must have exactly two elements",
        ));
    };
    match (lower, upper) {
        (Value::Date(_), Value::Date(_)) if !has_unit => {
            return Err(Error::new(5733405, "a bounding array of dates must be specified with a unit"));
        }
        (Value::Date(_), Value::Date(_)) => {}
        (Value::Date(_), _) => {
            return Err(Error::new(
                5733402,
                "a bounding array must be an ascending array of either two dates or two numbers",
            ));
        }
        (lower, upper) if !is_number(lower) || !is_number(upper) => {
            return Err(Error::new(
                5733406,
                "a bounding array must contain either both dates or both numeric types",
            ));
        }
        _ if has_unit => return Err(Error::new(5733409, "numeric bounds may not have unit parameter")),
        _ => {}
    }
    if mongo_cmp(lower, upper).is_gt() {
        return Err(Error::new(5733402, "the bounds in a range statement must be in ascending order"));
    }
    Ok(Bounds::Explicit(lower.clone(), upper.clone()))
}

/// Documents that belong together.
struct Partition {
    /// What they have in common.
    common: Object,
    documents: Vec<(Value, Object)>,
}

/// Runs it.
pub(crate) fn run(stage: Arc<Densify>, input: Documents) -> Documents {
    deferred(move || {
        let mut budget = Budget::new("$densify");
        let mut positions: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut partitions: Vec<Partition> = Vec::new();
        let mut aside: Vec<Object> = Vec::new();
        for document in input {
            let document = document?;
            budget.take(object_bytes(&document))?;
            let value = match stage.field.get(&document) {
                Some(value) if !is_nullish(Some(value)) => value.clone(),
                _ => {
                    aside.push(document);
                    continue;
                }
            };
            stage.check(&value)?;
            let mut common = Object::new();
            let mut key = Vec::new();
            for path in &stage.partition_by {
                let value = path.get(&document).cloned();
                canonical::encode(value.as_ref().unwrap_or(&Value::Null), &mut key);
                if let Some(value) = value {
                    path.set(&mut common, value);
                }
            }
            let position = *positions.entry(key).or_insert_with(|| {
                partitions.push(Partition { common, documents: Vec::new() });
                partitions.len() - 1
            });
            partitions[position].documents.push((value, document));
        }
        if partitions.is_empty()
            && stage.partition_by.is_empty()
            && matches!(stage.bounds, Bounds::Explicit(..))
        {
            partitions.push(Partition { common: Object::new(), documents: Vec::new() });
        }
        for partition in &mut partitions {
            partition.documents.sort_by(|left, right| mongo_cmp(&left.0, &right.0));
        }
        let grids =
            partitions.iter().map(|partition| Grid::of(&stage, partition, &partitions)).collect::<Vec<_>>();
        let mut added_count = 0u64;
        let dense = partitions
            .into_iter()
            .zip(grids)
            .flat_map(move |(partition, grid)| densified(Arc::clone(&stage), partition, grid));
        let counted = dense.map(move |document| {
            let (document, is_added) = document?;
            added_count += u64::from(is_added);
            if added_count > DENSIFY_DOCUMENTS_MAX {
                return Err(Error::new(
                    5897900,
                    format!(
                        "Generated {added_count} documents in $densify, which is over the limit of \
                         {DENSIFY_DOCUMENTS_MAX}. Increase the 'internalQueryMaxAllowedDensifyDocs' parameter to \
                         allow more generated documents"
                    ),
                ));
            }
            Ok(document)
        });
        Ok(Box::new(aside.into_iter().map(Ok).chain(counted)) as Documents)
    })
}

/// The values at which a partition must have documents.
struct Grid {
    first: Value,
    next: Option<Value>,
    steps: u64,
    end: Value,
    includes_end: bool,
}

impl Grid {
    fn of(stage: &Densify, partition: &Partition, all: &[Partition]) -> Option<Grid> {
        let least = |partition: &Partition| partition.documents.first().map(|(value, _)| value.clone());
        let greatest = |partition: &Partition| partition.documents.last().map(|(value, _)| value.clone());
        let (first, end, includes_end) = match &stage.bounds {
            Bounds::Explicit(lower, upper) => (lower.clone(), upper.clone(), false),
            Bounds::Partition => (least(partition)?, greatest(partition)?, true),
            Bounds::Full => (
                all.iter().filter_map(least).min_by(mongo_cmp)?,
                all.iter().filter_map(greatest).max_by(mongo_cmp)?,
                true,
            ),
        };
        let mut grid = Grid { next: Some(first.clone()), first, steps: 0, end, includes_end };
        grid.stop_at_end();
        Some(grid)
    }

    fn stop_at_end(&mut self) {
        if let Some(next) = &self.next {
            let order = mongo_cmp(next, &self.end);
            if order.is_gt() || (order.is_eq() && !self.includes_end) {
                self.next = None;
            }
        }
    }

    fn advance(&mut self, stage: &Densify) -> Result<()> {
        if let Some(previous) = self.next.take() {
            self.steps += 1;
            let next = stage.after(&self.first, &previous, self.steps)?;
            // A step too small to change a number would go on for ever.
            self.next = mongo_cmp(&next, &previous).is_gt().then_some(next);
            self.stop_at_end();
        }
        Ok(())
    }
}

/// Gives the documents of a partition and those added, each with whether it was added.
fn densified(
    stage: Arc<Densify>,
    partition: Partition,
    mut grid: Option<Grid>,
) -> impl Iterator<Item = Result<(Object, bool)>> {
    let Partition { common, documents } = partition;
    let mut documents = documents.into_iter().peekable();
    std::iter::from_fn(move || {
        let value = grid.as_ref().and_then(|grid| grid.next.clone());
        let order = match (documents.peek(), &value) {
            (None, None) => return None,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((own, _)), Some(value)) => mongo_cmp(own, value),
        };
        if order.is_ge()
            && let Some(grid) = &mut grid
            && let Err(error) = grid.advance(&stage)
        {
            grid.next = None;
            return Some(Err(error));
        }
        if order.is_le() {
            return documents.next().map(|(_, document)| Ok((document, false)));
        }
        let mut document = common.clone();
        stage.field.set(&mut document, value?);
        Some(Ok((document, true)))
    })
}
